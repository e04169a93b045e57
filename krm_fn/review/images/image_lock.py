"""Reads and writes the lock, a file with the digest of each image.

The format is a YAML mapping: `formatVersion`, and under `images` the digest by the image as pods write it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.base.yaml import emitter
from krm_fn.review.images import FORMAT_VERSION, image_references
from krm_fn.review.images.image_uses import ImageUse

_HEADER = "# Written by krm-fn images --lock; the digest of each image. Remove an image to find its digest again.\n"


class ImageLock(NamedTuple):
    """The digest of each image, and the findings about the file. With an error among them, the digests must not be used."""

    digests: dict[str, str]
    results: list[Result]


def text(digests: dict[str, str]) -> str:
    """Writes the text of a lock, with its images in alphabetical order."""
    return _HEADER + emitter.text({"formatVersion": FORMAT_VERSION, "images": {image: digests[image] for image in sorted(digests)}})


def read(value: Any, file: str) -> ImageLock:
    """Reads the value of a lock. `file` is its name in findings."""
    problem = _problem(value)
    if problem:
        return ImageLock(
            {}, [results.error(codes.UNREADABLE_LOCK_FILE, f"{problem}; remove the file, and write it again with --resolve", file=file)]
        )
    if value["formatVersion"] > FORMAT_VERSION:
        message = f"the lock has the format {value['formatVersion']}, and this krm-fn reads {FORMAT_VERSION}; update krm-fn"
        return ImageLock({}, [results.error(codes.LOCK_FILE_TOO_NEW, message, file=file)])
    images = value.get("images") or {}
    invalid = [image for image, digest in images.items() if not isinstance(digest, str) or not image_references.DIGEST.fullmatch(digest)]
    message = "the digest of {!r} is not `sha256:` and 64 hexadecimal digits; remove the line, and find the digest again with --resolve"
    return ImageLock(
        {image: digest for image, digest in images.items() if image not in invalid},
        [results.error(codes.UNREADABLE_LOCK_FILE, message.format(image), file=file) for image in invalid],
    )


def _problem(value: Any) -> str:
    """The mistake in the parts of a lock that all formats have; empty without one."""
    if not isinstance(value, dict):
        return "the lock is not a mapping"
    version = value.get("formatVersion")
    if type(version) is not int or version < 1:
        return "the lock has no number under formatVersion"
    if version <= FORMAT_VERSION and not isinstance(value.get("images") or {}, dict):
        return "the lock has no mapping under images"
    return ""


def images_without_digest(uses: Iterable[ImageUse]) -> list[str]:
    """Lists the images that need a digest, in alphabetical order: those with a valid reference that has none."""
    parts = {use.image: image_references.read(use.image) for use in uses}
    return sorted(image for image, part in parts.items() if part and not part.digest)


def only(digests: dict[str, str], images: Iterable[str]) -> dict[str, str]:
    """Returns the digests of these images only, so that a lock loses the images that no pod needs any more."""
    return {image: digests[image] for image in images if image in digests}


def missing(uses: Iterable[ImageUse], digests: dict[str, str], file: str) -> Iterator[Result]:
    """Reports each image without a digest, at the first field that names the image."""
    known: set[str] = set()
    for use in uses:
        if "@" in use.image or use.image in digests or use.image in known:
            continue
        known.add(use.image)
        message = f"the image {use.image} is not in the lock {file}; add it with `--lock {file} --resolve 'crane digest {{}}'`"
        yield results.error(codes.IMAGE_NOT_LOCKED, message, *use.where)


def warn_of_unpinned(uses: Iterable[ImageUse], digests: dict[str, str]) -> Iterator[Result]:
    """Warns of each image that pods name by its tag and a mirror holds by its digest, at the first field that names the image."""
    known: set[str] = set()
    for use in uses:
        if use.image in digests and use.image not in known:
            known.add(use.image)
            message = f"pods ask the mirror for {use.image}, and it has this image by its digest only; pin the pods with --format kustomize"
            yield results.warning(codes.MIRROR_BY_DIGEST_ONLY, message, *use.where)
