"""Formats of a comparison. `write` of `<format>_diff.py` returns the text."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from krm_fn import registry

if TYPE_CHECKING:
    from krm_fn.review.diff.diff_report import Report

_SUFFIX = "_diff"


def names() -> tuple[str, ...]:
    """The names of all formats."""
    return tuple(name.removesuffix(_SUFFIX) for name in registry.entries(sys.modules[__name__]))


def write(style: str, report: Report) -> str:
    """A comparison in a format. Raises KeyError if the format does not exist."""
    text: str = registry.get(sys.modules[__name__], style + _SUFFIX).write(report)
    return text
