"""Formats of a comparison: each file here is one, and its `write` makes the text."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from krm_fn import registry

if TYPE_CHECKING:
    from krm_fn.review.diff.report import Report


def names() -> tuple[str, ...]:
    """The names of all formats."""
    return registry.entries(sys.modules[__name__])


def write(style: str, report: Report) -> str:
    """A comparison in a format. Raises KeyError if the format does not exist."""
    text: str = registry.get(sys.modules[__name__], style).write(report)
    return text
