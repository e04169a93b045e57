"""For `zarf package create`: a package with one component that holds the images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.review.images import mirror
from krm_fn.yamlio import emitter

if TYPE_CHECKING:
    from krm_fn.review.images.formats import Listing

NEEDS_ALL = FILLS_MIRROR = True


def write(listing: Listing) -> str:
    """The package."""
    component = {"name": "images", "required": True, "images": mirror.images(listing)}
    package = {"apiVersion": "zarf.dev/v1alpha1", "kind": "ZarfPackageConfig", "metadata": {"name": "dynamo-images"}}
    return emitter.text({**package, "components": [component]})
