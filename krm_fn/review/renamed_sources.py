"""Graphs of a build in which kustomize renamed only the objects to which they refer, after the function had read them.

kustomize changes references at the end of a build. The function therefore reads `hf-token`, and the build has `hf-token-g4ccgkd9kc` in the
graph and in its pods. The pods are right, and the worker hash stays that of the graph as it was read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from krm_fn.base import results
from krm_fn.kubernetes import digest, paths
from krm_fn.kubernetes.references import Reference
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_references, labels
from krm_fn.review.build_index import HASHED_NAME

BuiltName = tuple[str, str, str]
"""Group, kind and name of an object in a build."""


def is_renamed_only(source: Resource, built: Collection[BuiltName]) -> bool:
    """Returns true if a graph was rendered with the spec that it has in the build, apart from new names of objects in the build.

    The annotation with the hash of the spec proves it. Raises nothing: a source without this annotation was not rendered.
    """
    rendered = labels.annotations(source).get(labels.SPEC_HASH)
    renamed = [reference for reference in dynamo_references.of(source) if (reference.group, reference.kind, reference.name) in built]
    return any(digest.of_value(spec) == rendered for spec in _earlier(source, renamed))


def _earlier(source: Resource, renamed: Sequence[Reference]) -> Iterator[object]:
    """Yields the spec with each set of names that the objects may have had before: without a hash, a prefix and a suffix.

    The prefix and the suffix are those of the graph itself, or end or begin at a hyphen, and all renamed objects have the same ones.
    """
    without_hash = {reference.path: _without_hash(reference.name) for reference in renamed}
    for prefix, suffix in _affixes(results.ref(source).name, [*dict.fromkeys(without_hash.values())]):
        earlier = source
        for path, name in without_hash.items():
            if len(name) > len(prefix) + len(suffix):
                earlier = paths.replaced(earlier, path, name.removeprefix(prefix).removesuffix(suffix))
        yield earlier.get("spec")


def _without_hash(name: str) -> str:
    match = HASHED_NAME.fullmatch(name)
    return match[1] if match else name


def _affixes(graph: str, names: Sequence[str]) -> list[tuple[str, str]]:
    """Returns the pairs of a prefix and a suffix that the names may have got, the shortest first."""
    prefixes, suffixes = {""}, {""}
    for name in names[:1]:
        ends = [at + 1 for at, letter in enumerate(name) if letter == "-"]
        prefixes.update(name[:at] for at in (*ends, *range(len(name))) if at in ends or graph.startswith(name[:at]))
        suffixes.update(name[at:] for at in range(1, len(name)) if name[at] == "-" or graph.endswith(name[at:]))
    return sorted(((prefix, suffix) for prefix in prefixes for suffix in suffixes), key=lambda pair: len("".join(pair)))
