"""Text formats of diagrams: each file is a format, and its `write` returns the text."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from krm_fn import registry

if TYPE_CHECKING:
    from krm_fn.review.diagram import Diagram


def names() -> tuple[str, ...]:
    """The names of all formats."""
    return registry.entries(sys.modules[__name__])


def write(name: str, diagram: Diagram) -> str:
    """A diagram in a format. Raises KeyError for an unknown name."""
    text: str = registry.get(sys.modules[__name__], name).write(diagram)
    return text
