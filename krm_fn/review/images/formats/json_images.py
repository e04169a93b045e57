"""For programs: everything, as JSON. Its schema is `krm_fn/review/schemas/images.json`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.review import findings
from krm_fn.review.images import FORMAT_VERSION, reference

if TYPE_CHECKING:
    from krm_fn.results import Ref
    from krm_fn.review.images import Use
    from krm_fn.review.images.formats import ImageLocation, Listing

NEEDS_ALL = False


def write(listing: Listing) -> str:
    """The listing as one JSON object."""
    images = [_image(image, found, listing.digests) for image, found in listing.images.items()]
    about = [findings.value(each) for each in listing.results]
    return json.dumps({"formatVersion": FORMAT_VERSION, "images": images, "findings": about}, indent=2) + "\n"


def _image(image: str, found: list[tuple[Use, ImageLocation]], digests: dict[str, str]) -> dict[str, Any]:
    parts = reference.read(image)
    digest = digests.get(image) or (parts.digest if parts else "")
    return {"image": image, **({"digest": digest} if digest else {}), "uses": [_use(*each) for each in found]}


def _use(use: Use, place: ImageLocation) -> dict[str, Any]:
    where = {key: value for key, value in place._asdict().items() if value}
    author = {**where, **({"resource": _resource(use.author.ref)} if use.author and use.author.ref else {})}
    return {
        "resource": _resource(use.ref),
        "field": results.field(use.path),
        "role": use.role,
        "name": use.name,
        **({"author": author} if where else {}),
    }


def _resource(ref: Ref) -> dict[str, str]:
    found = {"apiVersion": ref.api_version, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}
    return {key: value for key, value in found.items() if value}
