"""Output formats of `krm-fn images`: `write` of `<format>_images.py` returns the text.

`NEEDS_ALL` of a format is true if another program reads the output as the whole list, so that it must not be printed after an error.
`FILLS_MIRROR` is true if that program copies the images into a mirror.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from krm_fn import registry
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from krm_fn.results import Result
    from krm_fn.review.images import Use

_SUFFIX = "_images"


class ImageLocation(NamedTuple):
    """Where the field is that names an image: its path as text, and file, line and column; empty and 0 where unknown."""

    field: str
    file: str = ""
    line: int = 0
    column: int = 0


class Listing(NamedTuple):
    """All uses of images, each with its place, the digests of images, and the findings."""

    uses: Sequence[tuple[Use, ImageLocation]]
    digests: dict[str, str]
    results: Sequence[Result] = ()

    @property
    def images(self) -> dict[str, list[tuple[Use, ImageLocation]]]:
        """The uses by image, in alphabetical order of the images."""
        found: dict[str, list[tuple[Use, ImageLocation]]] = {}
        for use, place in sorted(self.uses, key=lambda each: each[0].image):
            found.setdefault(use.image, []).append((use, place))
        return found


def names() -> tuple[str, ...]:
    """The names of all formats."""
    return tuple(name.removesuffix(_SUFFIX) for name in registry.entries(sys.modules[__name__]))


def get(name: str) -> ModuleType:
    """The module of a format. Raises KeyError for an unknown name."""
    return registry.get(sys.modules[__name__], name + _SUFFIX)


def write(name: str, listing: Listing) -> str:
    """The listing in a format."""
    text: str = get(name).write(listing)
    return text


def fills_mirror(name: str) -> bool:
    """True if a program copies the images of the output into a mirror."""
    return bool(getattr(get(name), "FILLS_MIRROR", False))


def needs_all(name: str) -> bool:
    """True if a program would take the output for the whole list."""
    found: Any = get(name).NEEDS_ALL
    return bool(found)
