"""The models as others want to see them: API servers, editors, kustomize, readers.

Not its business: what the models say.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from krm_fn.api import structural, table

if TYPE_CHECKING:
    from krm_fn.api.table import Schema


@cache
def definitions() -> dict[str, Schema]:
    """Every definition by name: the native ones as the table has them, ours with what is told to people and to API servers besides."""
    known = table.load().definitions
    return known | structural.described(known)
