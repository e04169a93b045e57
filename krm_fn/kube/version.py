"""Semantic versions: those of operators in annotations, and those of runtimes in image tags.

Follows Semantic Versioning 2.0.0. The reference reads them with `Masterminds/semver` (`internal/features`).
"""

from __future__ import annotations

import re

Version = tuple[int, int, int]

_CORE = r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})"
_LABELS = r"[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*"
_VERSION = re.compile(rf"v?{_CORE}(-{_LABELS})?(\+{_LABELS})?")


def core(text: str) -> Version | None:
    """Major, minor and patch version of a text; None for a text that is no semantic version. A leading `v` is allowed.

    >>> core("v1.5.0-rc1+gpu"), core("latest")
    ((1, 5, 0), None)
    """
    found = _VERSION.fullmatch(text)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def at_least(text: str, least: Version) -> bool:
    """True if a text is a semantic version of at least `least`. A pre-release is lower than its release.

    >>> at_least("1.0.0", (1, 0, 0)), at_least("1.0.0-rc1", (1, 0, 0)), at_least("main", (1, 0, 0))
    (True, False, False)
    """
    found, number = _VERSION.fullmatch(text), core(text)
    if found is None or number is None:
        return False
    return number > least or (number == least and not found[4])


def of_image(image: str) -> Version | None:
    """The version in the tag of an image; None if the tag is no version, or if there is none. A digest does not count.

    >>> of_image("nvcr.io:5000/a/b:1.5.0@sha256:0a"), of_image("localhost:5000/b"), of_image("b:latest")
    ((1, 5, 0), None, None)
    """
    name = image.partition("@")[0].rpartition("/")[2]
    return core(name.partition(":")[2])
