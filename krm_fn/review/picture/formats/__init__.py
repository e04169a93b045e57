"""Text formats of pictures: each file is a format, and its `write` returns the text."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from krm_fn import registry

if TYPE_CHECKING:
    from krm_fn.review.picture import Picture


def names() -> tuple[str, ...]:
    """The names of all formats."""
    return registry.entries(sys.modules[__name__])


def write(name: str, picture: Picture) -> str:
    """A picture in a format. Raises KeyError for an unknown name."""
    text: str = registry.get(sys.modules[__name__], name).write(picture)
    return text
