"""Patches that replace all arguments of a container, so that flags of the base are lost, and findings that say so in other words.

A list of words has no keys, so a merge patch, and an operation on the list, replace it as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import paths
from krm_fn.kubernetes.paths import EVERY
from krm_fn.kubernetes.values import mapping
from krm_fn.repository.files import reading
from krm_fn.repository.files.reading import Source

_CONTAINERS: tuple[Path, ...] = (
    ("spec", "components", EVERY, "podTemplate", "spec", "containers", EVERY),
    ("spec", "services", EVERY, "extraPodSpec", "mainContainer"),
    ("spec", "services", EVERY, "extraPodSpec", "containers", EVERY),
)
_LISTS = tuple((*container, name) for container in _CONTAINERS for name in ("args", "command"))
_FLAG = re.compile(r"(?<!\S)--[a-z][\w-]*")
_MISSING = re.compile(r"\b(?:add|without|no|needs?|lacks?)\s+`?(--[a-z][\w-]*)")
"""How a finding names a flag that a command does not have."""


class _Replaced(NamedTuple):
    """A list of words that a patch replaced: its path in the built resource, and the flags of the base that it does not have."""

    source: Source
    path: Path
    flags: tuple[str, ...]


def explain_replaced(findings: Sequence[Result], sources: Iterable[Source]) -> list[Result]:
    """Returns the findings with one about each patch that replaced arguments, in place of those about the flags that are lost by it.

    A patch that loses flags of which no finding says that they are missing has none: an overlay may leave out a flag.
    """
    remaining, added = list(findings), list[Result]()
    for replaced in (replaced for source in sources for replaced in _lists(source)) if findings else ():
        caused = [finding for finding in remaining if _is_caused(finding, replaced)]
        if caused:
            remaining = [finding for finding in remaining if finding not in caused]
            added.append(_finding(replaced, caused))
    return sorted([*remaining, *added], key=results.order) if added else remaining


def _lists(source: Source) -> Iterator[_Replaced]:
    """Yields the lists of words that patches of a resource replaced, with loss of flags."""
    for path, words in paths.find(source.value, _LISTS) if source.patches and source.unbuilt is not None else ():
        author, _ = reading.find_written_field(source, path)
        before = paths.at(source.unbuilt, paths.by_names(path, source.value, source.unbuilt))
        lost = tuple(flag for flag in _flags(before) if flag not in _flags(words))
        if lost and author in source.patches:
            yield _Replaced(source, path, lost)


def _flags(words: Any) -> list[str]:
    return (
        [*dict.fromkeys(flag for word in words if isinstance(word, str) for flag in _FLAG.findall(word))] if isinstance(words, list) else []
    )


def _is_caused(finding: Result, replaced: _Replaced) -> bool:
    """True for a finding about the container that says that one of the lost flags is missing."""
    container = replaced.path[:-1]
    if finding.ref != replaced.source.address or finding.path[: len(container)] != container:
        return False
    return not {*replaced.flags}.isdisjoint(_MISSING.findall(finding.message))


def _finding(replaced: _Replaced, caused: list[Result]) -> Result:
    source, path = replaced.source, replaced.path
    name = mapping(paths.at(source.value, path[:3])).get("name") if path[1] == "components" else path[2]
    flags = " and ".join(filter(None, (", ".join(replaced.flags[:-1]), replaced.flags[-1])))
    problem = f"this patch replaces {path[-1]} as a whole, so {name} loses {flags}"
    message = f"{problem}; write them into the patch too, or change single words with a JSON patch"
    make = results.error if results.has_errors(caused) else results.warning
    return make(codes.PATCH_REPLACES_ARGUMENTS, message, source.address, path, **source.location(path))
