"""For kustomize: a file for `transformers:`, behind the function, that replaces tags by digests in all pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import paths, pod_templates
from krm_fn.yamlio import emitter

if TYPE_CHECKING:
    from krm_fn.review.images.formats import Listing

NEEDS_ALL = True


def write(listing: Listing) -> str:
    """One image transformer for each image with a digest in the lock."""
    wanted = [image for image in listing.images if image in listing.digests]
    return "---\n".join(emitter.text(_transformer(number, image, listing)) for number, image in enumerate(wanted, 1))


def _transformer(number: int, image: str, listing: Listing) -> dict[str, Any]:
    mounted = any(use.role == "volume" for use, _ in listing.images[image])
    return {
        "apiVersion": "builtin",
        "kind": "ImageTagTransformer",
        "metadata": {"name": f"image-{number}"},
        "imageTag": {"name": image, "digest": listing.digests[image]},
        **({"fieldSpecs": [{"path": path} for path in _volumes()]} if mounted else {}),
    }


def _volumes() -> list[str]:
    """The paths of image volumes. kustomize finds containers itself in every kind of object."""
    specs = [place.spec for place in pod_templates.ALL]
    patterns = ["/".join(str(step) for step in spec).replace(f"/{paths.EVERY}", "[]") for spec in (*specs, ("spec",))]
    return [f"{pattern}/volumes[]/image/reference" for pattern in patterns]
