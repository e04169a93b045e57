"""For people: each image with its digest, and below it every use with the line that names the image."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import report
from krm_fn.review.images import reference

if TYPE_CHECKING:
    from krm_fn.review.images import Use
    from krm_fn.review.images.formats import ImageLocation, Listing

NEEDS_ALL = False


def write(listing: Listing) -> str:
    """The listing as lines."""
    lines: list[str] = []
    for image, found in listing.images.items():
        lines.append(report.printable(reference.pinned(image, listing.digests)))
        lines.extend(f"  {report.printable(_line(use, place))}" for use, place in found)
    return "".join(f"{line}\n" for line in lines)


def _line(use: Use, place: ImageLocation) -> str:
    name = f"{use.ref.namespace}/{use.ref.name}" if use.ref.namespace else use.ref.name
    position = ":".join(str(part) for part in (place.file, place.line, place.column) if part)
    return f"{use.ref.kind} {name}, {use.role} {use.name}: {' '.join(part for part in (position, place.field) if part) or 'unknown'}"
