"""Tags of the images with Dynamo: which variants NVIDIA publishes in which releases, and the tag of an image in another release.

A variant is an image of the same release for other hardware, for example `1.2.0-cuda13`. The table is data: a new variant is a new row.
Source: the page "Release Artifacts" in the documentation of Dynamo 1.0 to 1.3 (docs.nvidia.com/dynamo, resources/release-artifacts). Since
1.3, the image without a suffix has CUDA 13.
"""

from __future__ import annotations

import re

from krm_fn.base.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.kubernetes.version import Version

PUBLISHED = frozenset(("vllm-runtime", "sglang-runtime", "tensorrtllm-runtime", "dynamo-frontend", "dynamo-planner"))
"""The names of the images with Dynamo that NVIDIA publishes for graphs. A mirror keeps these names."""
_NEWEST = (2**31, 0)
_WORDS = re.compile(r"cuda[0-9.]+|efa|amd64|arm64")
_CORE = re.compile(r"(?P<prefix>v?)(?P<minor>[0-9]{1,9}\.[0-9]{1,9})\.[0-9]+(?:-(?P<suffix>.*))?")
_PRE_RELEASE = re.compile(r"(?:alpha|beta|rc|dev|pre)[-.]?[0-9]*(?:\.[0-9]+)*(?:-|$)")
_EARLY_ACCESS = re.compile(r".*-dev(?:\.[0-9]+)?")


class TagVariant(NamedTuple):
    """A suffix of tags. `first` and `last` are the minor releases that have it.

    `before` and `after` are the suffixes of the same image in older and in newer releases.
    """

    suffix: str
    first: tuple[int, int]
    last: tuple[int, int] = _NEWEST
    before: str | None = None
    after: str | None = None


VARIANTS = (
    TagVariant("cuda13", (0, 8), (1, 2), after=""),
    TagVariant("efa-amd64", (1, 0), (1, 1), after="efa"),
    TagVariant("efa", (1, 2), before="efa-amd64"),
)


class NewTag(NamedTuple):
    """The tag of an image in another release; None if it cannot be known. `is_certain` is false for a suffix with an unknown meaning."""

    tag: str | None
    is_certain: bool = True


def in_release(name: str, tag: str, runtime: Version) -> NewTag:
    """Returns the tag of an image with a runtime version. `name` is the name of the image, with its registry, and `tag` its tag.

    The tag is a semantic version, with or without `v`. The suffix of a pre-release goes. A build that is made for one model
    (`1.5.0-kimi-k3-dev.1`) has no tag in another release.

    >>> [in_release("nvcr.io/a/vllm-runtime", tag, (1, 6, 1)).tag for tag in ("v1.5.0", "1.5.0-rc1", "1.2.0-cuda13", "1.1.1-efa-amd64")]
    ['v1.6.1', '1.6.1', '1.6.1', '1.6.1-efa']
    """
    match = _CORE.fullmatch(tag)
    if match is None:
        return NewTag(None)
    plain, suffix = match["prefix"] + ".".join(map(str, runtime)), match["suffix"] or ""
    suffix = _PRE_RELEASE.sub("", suffix, count=1) if _PRE_RELEASE.match(suffix) else suffix
    if _EARLY_ACCESS.fullmatch(suffix):
        return NewTag(None)
    if name.rpartition("/")[2] in PUBLISHED:
        major, _, minor = match["minor"].partition(".")
        suffix = _published_suffix(suffix, (int(major), int(minor)), runtime)
    is_certain = not suffix or all(_WORDS.fullmatch(word) for word in suffix.split("-"))
    return NewTag(f"{plain}-{suffix}" if suffix else plain, is_certain)


def _published_suffix(suffix: str, release: tuple[int, int], runtime: Version) -> str:
    """Returns the suffix of the same image in another release. A suffix stays if NVIDIA did not publish it, or if it has no successor."""
    for variant in VARIANTS:
        if variant.suffix == suffix and variant.first <= release <= variant.last:
            other = variant.before if runtime[:2] < variant.first else variant.after if runtime[:2] > variant.last else None
            return suffix if other is None else other
    return suffix
