"""Renders a graph of a finished build again, and finds the fields of its objects in that render.

The settings of the render are those in the annotation `rendered-by`. Renders under another name and in another namespace show which
fields depend on them. The other names have the same length, so that both renders cut the same names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from krm_fn.base import results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path
from krm_fn.kubernetes import digest, paths
from krm_fn.kubernetes.references import Reference
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import text
from krm_fn.render import dynamo_references, expand, labels, render_mark
from krm_fn.render.config import Config
from krm_fn.render.resolve import release_choice
from krm_fn.review import build_index
from krm_fn.review.build_index import HASHED_NAME

_NO_NAMESPACE = "default"
_NO_NAME = "/"
"""No object has this name."""
_NEXT = str.maketrans("abcdefghijklmnopqrstuvwxyz0123456789", "bcdefghijklmnopqrstuvwxyza1234567890")


class Field(NamedTuple):
    """A text of a built object, with the text that the second render has in its place.

    `at` is the path in the second render, `path` that in the build. `before` is the text under the name that the graph had at its render.
    `position` is that of the rendered object. `targets` are the positions of the objects whose name is the expected text.
    """

    position: int
    at: Path
    path: Path
    value: str
    expected: str
    before: str
    targets: Sequence[int]


class SecondRender:
    """The objects of one graph, rendered under its name in the build. Further renders are made only if a field needs them."""

    def __init__(self, source: Resource, built: Iterable[Resource], config: Config, names: Collection[BuiltName] = ()) -> None:
        """Renders a source under its name in the build. `built` holds its objects in the build, and `names` the names of all objects."""
        ref = results.ref(source)
        self._source, self._names = source, names
        self._config = render_mark.read(text(labels.annotations(source).get(labels.RENDERED_BY))) or config
        self._name, self._namespace = ref.name, ref.namespace
        self.objects = self._render_copy(ref.name, ref.namespace)
        """The objects in the order in which a render makes them; empty if the graph has errors."""
        before = build_index.name_at_render(source)
        self._before = self.objects if before == ref.name else self._render_copy(before, ref.namespace)
        self._targets: dict[str, list[int]] = {}
        for index, item in enumerate((*self.objects, source)):
            self._targets.setdefault(results.ref(item).name, []).append(index)
        self._built = {self._index(item): results.ref(item).name for item in built}
        self._built[len(self.objects)] = ref.name

    def fields(self, built: Resource) -> Iterator[Field]:
        """Yields the texts of a built object that the second render has, too; none for an object that it does not have."""
        index = self._index(built)
        if index is None:
            return
        before = self._before[index] if index < len(self._before) else {}
        for at, path, expected, value in _texts(self.objects[index], built):
            if value != expected or expected in self._targets:
                earlier = paths.at(before, at)
                yield Field(index, at, path, value, expected, earlier if isinstance(earlier, str) else "", self._targets.get(expected, ()))

    def counterpart(self, built: Resource) -> Resource | None:
        """Returns the rendered object of a built one; None if the second render does not have it."""
        index = self._index(built)
        return None if index is None else self.objects[index]

    def built_name(self, index: int) -> str:
        """Returns the name that a rendered object has in the build; empty if it is not there."""
        return self._built.get(index, "")

    def has_hash(self, field: Field) -> bool:
        """Returns true if a text has a worker hash that another change of the workers explains, too: a layer that sets an image."""
        return field.value != field.before and any(worker_hash in field.expected for worker_hash in self._hashes)

    def depends(self, field: Field, *, name: bool = False, namespace: bool = False) -> bool:
        """Returns true if the text of a field depends on the name or on the namespace of the graph.

        Without a namespace in the build, texts that depend on the namespace cannot be compared.
        """
        by_namespace = _differs(field, self._in_other_namespace)
        if by_namespace and not self._namespace:
            return False
        return (namespace and by_namespace) or (name and _differs(field, self._under_other_name))

    def is_of_other_namespace(self, field: Field) -> bool:
        """Returns true if a text is the expected one with another namespace, under the name of the build or the one before."""
        patterns = (re.escape(known).replace(re.escape(self._namespace), ".+") for known in (field.expected, field.before))
        return any(re.fullmatch(pattern, field.value) for pattern in patterns)

    @cached_property
    def is_renamed_only(self) -> bool:
        """True if the graph differs from what was rendered only by names of objects that kustomize renamed."""
        return _only_references_differ(self._source, self._names)

    @cached_property
    def _hashes(self) -> set[str]:
        patterns = [(*holder, labels.WORKER_HASH) for holder in build_index.POD_LABELS]
        return {worker_hash for item in self.objects for _, worker_hash in paths.find(item, patterns)}

    @cached_property
    def _under_other_name(self) -> list[Resource]:
        return self._render_copy(self._name.translate(_NEXT), self._namespace)

    @cached_property
    def _in_other_namespace(self) -> list[Resource]:
        return self._render_copy(self._name, (self._namespace or _NO_NAMESPACE).translate(_NEXT))

    def _render_copy(self, name: str, namespace: str) -> list[Resource]:
        metadata = {**self._source["metadata"], "name": name, "namespace": namespace or _NO_NAMESPACE}
        planned = expand.plans([{**self._source, "metadata": metadata}], self._config)
        return [entry for resource in planned for entry in release_choice.beside(self._source, resource.objects)]

    def _index(self, built: Resource) -> int | None:
        """Returns the position of the rendered object of a built one.

        It has the same name, or the longest name that the built one contains, or it is the only one of its component.
        """
        kind, name, component = built.get("kind"), results.ref(built).name, labels.of(built).get(labels.COMPONENT)
        same_kind = [index for index, item in enumerate(self.objects) if item["kind"] == kind]
        for rendered in (self.objects, self._before):
            for index in same_kind:
                if _name_of(rendered, index) == name:
                    return index
        similar = [index for index in same_kind if build_index.is_like(name, _name_of(self._before, index))]
        if similar:
            return max(similar, key=lambda index: len(_name_of(self._before, index)))
        of_component = [index for index in same_kind if component and labels.of(self.objects[index]).get(labels.COMPONENT) == component]
        return of_component[0] if len(of_component) == 1 else None


def _name_of(objects: Sequence[Resource], index: int) -> str:
    return results.ref(objects[index]).name if index < len(objects) else _NO_NAME


def _differs(field: Field, objects: Sequence[Resource]) -> bool:
    return field.position < len(objects) and paths.at(objects[field.position], field.at) != field.expected


def _texts(expected: Any, built: Any, at: Path = (), path: Path = ()) -> Iterator[tuple[Path, Path, str, str]]:
    """Yields each text of a rendered value that stands at the same place of the built value: both paths, and both texts."""
    if isinstance(expected, str) and isinstance(built, str):
        yield at, path, expected, built
    elif isinstance(expected, dict) and isinstance(built, dict):
        for key in filter(built.__contains__, expected):
            yield from _texts(expected[key], built[key], (*at, key), (*path, key))
    elif isinstance(expected, list) and isinstance(built, list):
        for index, other in _align_entries(expected, built):
            yield from _texts(expected[index], built[other], (*at, index), (*path, other))


def _align_entries(expected: list[Any], built: list[Any]) -> Iterator[tuple[int, int]]:
    """Yields the positions of the same entries in two lists: by name, in lists of the same length by position, else by the entry before."""
    named = {_name(entry): index for index, entry in enumerate(built) if _name(entry)}
    for index, entry in enumerate(expected):
        if _name(entry) in named:
            yield index, named[_name(entry)]
        elif len(expected) == len(built):
            yield index, index
        elif index and isinstance(entry, str) and expected[index - 1] in built[:-1]:
            yield index, built.index(expected[index - 1]) + 1


def _name(entry: Any) -> str:
    name = entry.get("name") if isinstance(entry, dict) else None
    return name if isinstance(name, str) else ""


BuiltName = tuple[str, str, str]
"""Group, kind and name of an object in a build."""


def _only_references_differ(source: Resource, built: Collection[BuiltName]) -> bool:
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
                earlier = paths.replace_at(earlier, path, name.removeprefix(prefix).removesuffix(suffix))
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
