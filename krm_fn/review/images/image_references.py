"""Parses references of container images, `host:port/path:tag@digest`, and adds digests to them.

The grammar is that of the reference package of `distribution`, which container runtimes use. kustomize compares the `name` of an image
transformer as a regular expression, `^<name>(:tag)?(@sha256:digest)?$`. So a name with a tag changes only images with that tag, but a name
without a tag changes the images with every tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.review.images.image_uses import ImageUse

_HOST = r"(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_STEP = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REFERENCE = re.compile(rf"(?P<name>(?:{_HOST}/)?{_STEP}(?:/{_STEP})*)(?::(?P<tag>\w[\w.-]{{0,127}}))?(?:@(?P<digest>[^@]+))?", re.ASCII)
DIGEST = re.compile(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")
_LONGEST = 4096


class ImageReference(NamedTuple):
    """The parts of a reference. `tag` and `digest` are empty if the reference has none."""

    name: str
    tag: str
    digest: str


def read(image: str) -> ImageReference | None:
    """Parses an image reference; None if a container runtime would reject it.

    >>> read("nvcr.io:5000/a/b:1.0"), read("a b"), read("-x")
    (ImageReference(name='nvcr.io:5000/a/b', tag='1.0', digest=''), None, None)
    """
    match = _REFERENCE.fullmatch(image) if len(image) <= _LONGEST else None
    if not match or (match["digest"] and not DIGEST.fullmatch(match["digest"])):
        return None
    return ImageReference(match["name"], match["tag"] or "", match["digest"] or "")


def pin_image(image: str, digests: dict[str, str]) -> str:
    """Adds the digest of the lock to an image. An image that has a digest, or has none in the lock, stays as it is."""
    return image if "@" in image or image not in digests else f"{image}@{digests[image]}"


def invalid(uses: Iterable[ImageUse]) -> Iterator[Result]:
    """Warns of each reference that a container runtime rejects, at the field that names it."""
    for use in uses:
        if read(use.image) is None:
            message = f"{use.image!r} is not a valid image reference; write host/path:tag in lower case"
            yield results.warning(codes.INVALID_IMAGE_REFERENCE, message, *use.where)


def conflicts(uses: Iterable[ImageUse], digests: dict[str, str]) -> Iterator[Result]:
    """Reports each image whose entry in a kustomization would give another image a wrong digest."""
    listed = {use.image: use for use in uses}
    for image, digest in digests.items():
        others = [other for other in listed if other != image and _transforms(image, other) and _digest(other, digests) != digest]
        if image in listed and others:
            use = listed[image]
            message = f"kustomize cannot pin {image}, because it would change {others[0]} too; write a tag that only this image has"
            yield results.error(codes.UNPINNABLE_IMAGE, message, *use.where)


def _transforms(name: str, image: str) -> bool:
    """True if kustomize changes an image by a transformer with this name."""
    return re.fullmatch(rf"{name}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?", image) is not None


def _digest(image: str, digests: dict[str, str]) -> str:
    parts = read(image)
    return digests.get(image) or (parts.digest if parts else "")
