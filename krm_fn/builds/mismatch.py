"""A field that names something which is not there: the codes, and what is known of it.

Not its business: how it is found (`krm_fn.builds.statements`, `krm_fn.builds.references`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from krm_fn.results import Path

MOVED, RENAMED, RELABELLED = "DYN060", "DYN061", "DYN062"


class Mismatch(NamedTuple):
    """A field that names something which is not there; `truth` is empty where nobody knows what it should name."""

    code: str
    path: Path
    says: str
    truth: str = ""
