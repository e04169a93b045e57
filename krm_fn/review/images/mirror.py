"""The images that a mirror must hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.review.images import reference

if TYPE_CHECKING:
    from krm_fn.review.images.formats import Listing


def images(listing: Listing) -> list[str]:
    """The images with their digests where the lock has them, each once. Invalid references are left out, because nothing can pull them."""
    return sorted({reference.pinned(image, listing.digests) for image in listing.images if reference.read(image)})
