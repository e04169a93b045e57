"""For `hauler store sync`: a manifest of kind Images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.review.images import mirror
from krm_fn.yamlio import emitter

if TYPE_CHECKING:
    from krm_fn.review.images.formats import Listing

NEEDS_ALL = FILLS_MIRROR = True


def write(listing: Listing) -> str:
    """The manifest."""
    images = [{"name": image} for image in mirror.images(listing)]
    content = {"apiVersion": "content.hauler.cattle.io/v1", "kind": "Images", "metadata": {"name": "dynamo"}, "spec": {"images": images}}
    return emitter.text(content)
