"""The lock: a file with the digest of each image.

The format is a YAML mapping: `formatVersion`, and under `images` the digest by the image as pods write it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.records import NamedTuple
from krm_fn.review.images import FORMAT_VERSION, reference
from krm_fn.yamlio import emitter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krm_fn.results import Result
    from krm_fn.review.images import Use

_HEADER = "# Written by krm-fn images --lock; the digest of each image. Remove an image to find its digest again.\n"


class Lock(NamedTuple):
    """The digest of each image, and the findings about the file. With an error among them, the digests must not be used."""

    digests: dict[str, str]
    results: list[Result]


def text(digests: dict[str, str]) -> str:
    """The text of a lock, with its images in alphabetical order."""
    return _HEADER + emitter.text({"formatVersion": FORMAT_VERSION, "images": {image: digests[image] for image in sorted(digests)}})


def read(value: Any, file: str) -> Lock:
    """Reads the value of a lock. `file` is its name in findings."""
    problem = _problem(value)
    if problem:
        return Lock({}, [results.error("DYN557", f"{problem}; remove the file, and write it again with --resolve", file=file)])
    if value["formatVersion"] > FORMAT_VERSION:
        message = f"the lock has the format {value['formatVersion']}, and this krm-fn reads {FORMAT_VERSION}; update krm-fn"
        return Lock({}, [results.error("DYN558", message, file=file)])
    images = value.get("images") or {}
    wrong = [image for image, digest in images.items() if not isinstance(digest, str) or not reference.DIGEST.fullmatch(digest)]
    message = "the digest of {!r} is not `sha256:` and 64 hexadecimal digits; remove the line, and find the digest again with --resolve"
    return Lock(
        {image: digest for image, digest in images.items() if image not in wrong},
        [results.error("DYN557", message.format(image), file=file) for image in wrong],
    )


def _problem(value: Any) -> str:
    """What is wrong with the parts of a lock that all formats have."""
    if not isinstance(value, dict):
        return "the lock is not a mapping"
    version = value.get("formatVersion")
    if type(version) is not int or version < 1:
        return "the lock has no number under formatVersion"
    if version <= FORMAT_VERSION and not isinstance(value.get("images") or {}, dict):
        return "the lock has no mapping under images"
    return ""


def wanted(found: Iterable[Use]) -> list[str]:
    """The images that need a digest, in alphabetical order: those with a valid reference that has none."""
    parts = {use.image: reference.read(use.image) for use in found}
    return sorted(image for image, part in parts.items() if part and not part.digest)


def kept(digests: dict[str, str], images: Iterable[str]) -> dict[str, str]:
    """The digests of these images only, so that a lock does not keep images that no pod needs any more."""
    return {image: digests[image] for image in images if image in digests}


def missing(found: Iterable[Use], digests: dict[str, str], file: str) -> Iterator[Result]:
    """An error for each image without a digest, at the first field that names the image."""
    known: set[str] = set()
    for use in found:
        if "@" in use.image or use.image in digests or use.image in known:
            continue
        known.add(use.image)
        message = f"the image {use.image} is not in the lock {file}; add it with `--lock {file} --resolve 'crane digest {{}}'`"
        yield results.error("DYN556", message, *use.where)


def unpinned(found: Iterable[Use], digests: dict[str, str]) -> Iterator[Result]:
    """A warning for each image that pods name by its tag, and a mirror holds by its digest, at the first field that names the image."""
    known: set[str] = set()
    for use in found:
        if use.image in digests and use.image not in known:
            known.add(use.image)
            message = f"pods ask the mirror for {use.image}, and it has this image by its digest only; pin the pods with --format kustomize"
            yield results.warning("DYN561", message, *use.where)


def invalid(found: Iterable[Use]) -> Iterator[Result]:
    """A warning for each reference that a container runtime refuses, at the field that names it."""
    for use in found:
        if reference.read(use.image) is None:
            message = f"{use.image!r} is not a reference of an image; write host/path:tag in lower case"
            yield results.warning("DYN555", message, *use.where)
