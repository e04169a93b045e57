"""Semantic versions: those of operators in annotations, and those of runtimes in image tags.

Follows Semantic Versioning 2.0.0. The operator reads them with `Masterminds/semver` (`internal/features`).
"""

from __future__ import annotations

import re
from functools import lru_cache

Version = tuple[int, int, int]

_DIGITS = 9
_CORE = r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})"
_LABELS = r"[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*"
_VERSION = rf"v?{_CORE}(-{_LABELS})?(\+{_LABELS})?"  # most texts are plain versions, so few renders compile it
_ORIGIN = (
    rf"v?(0|[1-9][0-9]{{0,8}})(?:\.(0|[1-9][0-9]{{0,8}}))?(?:\.(0|[1-9][0-9]{{0,8}}))?(-{_LABELS})?(\+{_LABELS})?"  # few renders read it
)


def core(text: str) -> Version | None:
    """Returns the major, minor and patch version of a text.

    Returns None for a text that is not a semantic version. A leading `v` is allowed.

    >>> core("v1.5.0-rc1+gpu"), core("latest")
    ((1, 5, 0), None)

    Rule worker-hash.runtime-version: see `krm_fn.kubernetes.version`.
    """
    if plain := _plain(text):
        return plain
    match = re.fullmatch(_VERSION, text)
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def _plain(text: str) -> Version | None:
    """Returns the version in a text of three numbers; None for another text, which can be a version, too."""
    numbers = text.removeprefix("v").split(".")
    if len(numbers) != 3 or not all(_is_number(number) for number in numbers):
        return None
    major, minor, patch = map(int, numbers)
    return major, minor, patch


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _DIGITS and (text[0] != "0" or text == "0")


def of_operator(text: str) -> Version | None:
    """Returns the version of an operator; None for another text. Missing numbers are 0.

    >>> of_operator("v1.6"), of_operator("1.6.0-rc1"), of_operator("main")
    ((1, 6, 0), (1, 6, 0), None)
    """
    if plain := _plain(text):
        return plain
    match = re.fullmatch(_ORIGIN, text)
    return (int(match[1]), int(match[2] or 0), int(match[3] or 0)) if match else None


def at_least(text: str, least: Version) -> bool:
    """Returns true if a text is a version of at least `least`. A pre-release is lower than its release. Missing numbers are 0.

    >>> at_least("1.0.0", (1, 0, 0)), at_least("v1.6", (1, 6, 0)), at_least("1.0.0-rc1", (1, 0, 0)), at_least("main", (1, 0, 0))
    (True, True, False, False)
    """
    if plain := _plain(text):
        return plain >= least
    match, version = re.fullmatch(_ORIGIN, text), of_operator(text)
    if match is None or version is None:
        return False
    return version > least or (version == least and not match[4])


@lru_cache(maxsize=1024)  # most components have the image of another one
def of_image(image: str) -> Version | None:
    """Returns the version in the tag of an image; a digest does not count.

    Returns None if there is no tag, or if the tag is not a version.

    >>> of_image("nvcr.io:5000/a/b:1.5.0@sha256:0a"), of_image("localhost:5000/b"), of_image("b:latest")
    ((1, 5, 0), None, None)

    Rule worker-hash.runtime-version: The worker hash reads the major, minor and patch version in the tag of a worker's image; a digest does
    not count. (operator: internal/features)
    """
    name = image.partition("@")[0].rpartition("/")[2]
    return core(name.partition(":")[2])
