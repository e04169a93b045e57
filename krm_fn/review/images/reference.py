"""References of container images: `host:port/path:tag@digest`.

The grammar is that of the reference package of `distribution`, which container runtimes use.
"""

from __future__ import annotations

import re

from krm_fn.records import NamedTuple

_HOST = r"(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_STEP = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REFERENCE = re.compile(rf"(?P<name>(?:{_HOST}/)?{_STEP}(?:/{_STEP})*)(?::(?P<tag>\w[\w.-]{{0,127}}))?(?:@(?P<digest>[^@]+))?", re.ASCII)
DIGEST = re.compile(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")
_LONGEST = 4096


class Reference(NamedTuple):
    """The parts of a reference. `tag` and `digest` are empty if the reference has none."""

    name: str
    tag: str
    digest: str


def read(image: str) -> Reference | None:
    """The parts of an image reference; None if a container runtime would refuse it.

    >>> read("nvcr.io:5000/a/b:1.0"), read("a b"), read("-x")
    (Reference(name='nvcr.io:5000/a/b', tag='1.0', digest=''), None, None)
    """
    found = _REFERENCE.fullmatch(image) if len(image) <= _LONGEST else None
    if not found or (found["digest"] and not DIGEST.fullmatch(found["digest"])):
        return None
    return Reference(found["name"], found["tag"] or "", found["digest"] or "")


def pinned(image: str, digests: dict[str, str]) -> str:
    """The image with the digest that the lock has for it. An image with a digest of its own, or without one in the lock, stays as it is."""
    return image if "@" in image or image not in digests else f"{image}@{digests[image]}"
