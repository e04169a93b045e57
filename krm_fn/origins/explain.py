"""Explains the fields of generated objects by their origins: fields that users wrote, settings, and rules of krm-fn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from krm_fn.base import results
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import identity, paths, secret_values
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.origins import trace, tracing_loader
from krm_fn.origins.docstring_rules import DocstringRule
from krm_fn.origins.marked_values import Marks
from krm_fn.origins.origin import Origin
from krm_fn.origins.trace import Leaf, Trace
from krm_fn.render import config, dynamo_resources, expand, labels
from krm_fn.render.config import Config
from krm_fn.render.resolve import cluster

_OWNERS = 10
"""The largest number of Dynamo resources that are traced together. Of an object with more owners, only the annotation differs."""
_MOST_TRACES = 8
"""The largest number of traces that are kept for objects that follow."""
_MOST_KNOWN = 5000
"""The largest number of combinations of marks whose origins are kept."""
_OWNER_FIELDS: tuple[Path, ...] = (("kind",), ("metadata", "name"))
_OWNER_PATH: Path = ("metadata", "annotations", labels.OWNER)


class OverriddenValue(NamedTuple):
    """A value that a field overrides, and its origins."""

    value: Any
    origins: tuple[Origin, ...]


class ExplainedField(NamedTuple):
    """A leaf of an object with its origins; without any, the origin is unknown. A secret value is hidden.

    `placed` are the rules that set the field, if they are not among the origins.
    """

    path: Path
    value: Any
    origins: tuple[Origin, ...]
    placed: tuple[Origin, ...]
    overridden: tuple[OverriddenValue, ...]


class Explained(NamedTuple):
    """One generated object and its fields, in their order."""

    resource: Resource
    fields: list[ExplainedField]

    @property
    def key(self) -> ObjectKey:
        """The key of the object."""
        return identity.key(self.resource)

    @property
    def shown(self) -> Resource:
        """The object with hidden secret values."""
        shown: Resource = secret_values.hide_secrets(self.resource, (), secret_values.paths(self.resource))
        return shown


class Explanation(NamedTuple):
    """All generated objects, and the resources that render, in their order, with the configuration.

    A resource with an error generates no object.
    """

    objects: list[Explained]
    resources: list[Resource]
    settings: Config


class Renderable(NamedTuple):
    """The resources of the input that render, by their indexes, the objects that they generate, and the findings about all resources."""

    resources: dict[int, Resource]
    objects: list[Resource]
    results: list[Result]


def renderable(resources: Sequence[Resource], settings: Config) -> Renderable:
    """Renders the resources without those that have an error. No resource renders if an error is not about one of them."""
    remaining, findings = dict(enumerate(resources)), None
    while True:
        expansion = expand.expand([*remaining.values()], settings)
        findings = expansion.results if findings is None else findings
        wrong = {result.ref for result in results.errors_of(expansion.results)}
        if not wrong:
            return Renderable(remaining, generated_objects(expansion.resources, remaining.values()), findings)
        kept = {index: resource for index, resource in remaining.items() if results.ref(resource) not in wrong}
        remaining = kept if len(kept) < len(remaining) and None not in wrong else {}


def explain(resources: Sequence[Resource], settings: Config) -> Explanation:
    """Renders the resources, and explains every field of every generated object.

    The objects are those of the ordinary render. A field with another value in the traced render has no origin. Objects of an earlier
    render must not be among the resources.
    """
    rendered = renderable(resources, settings)
    return Explanation([*explain_objects(rendered, rendered.objects, settings)], [*rendered.resources.values()], settings)


def explain_objects(rendered: Renderable, objects: Iterable[Resource], settings: Config) -> Iterator[Explained]:
    """Yields generated objects with their fields."""
    reader = _OriginReader(rendered.resources)
    for resource, leaves in trace_objects(rendered.resources, objects, settings, trace.render):
        yield reader.explain_object(resource, leaves)


def trace_objects(
    resources: Mapping[int, Resource],
    objects: Iterable[Resource],
    settings: Config,
    render: Callable[[Sequence[Resource], Config], Trace],
) -> Iterator[tuple[Resource, list[Leaf]]]:
    """Yields generated objects with their leaves. A few Dynamo resources at a time are traced, because a trace needs much memory."""
    namespace = cluster.default_namespace(settings)
    keys = {index: identity.key(resource, namespace) for index, resource in resources.items() if dynamo_resources.is_expanded(resource)}
    traces: dict[frozenset[ObjectKey], Trace] = {}
    listed = _with_traced_owners([*objects])
    left = Counter(owners for _, owners in listed)
    for resource, owners in listed:
        if owners not in traces:
            read = [entry for index, entry in resources.items() if index not in keys or keys[index] in owners or not owners]
            if len(traces) == _MOST_TRACES:
                del traces[next(iter(traces))]
            traces[owners] = render(read, settings)
        others = {*_owner_keys(resource)} - owners
        refs = [results.ref(resources[index]) for index, key in keys.items() if key in others] if others else ()
        more = frozenset(Origin("user", path, ref) for ref in refs for path in _OWNER_FIELDS)
        leaves = traces[owners].leaves.get(identity.key(resource), [])
        left[owners] -= 1
        if not left[owners]:
            del traces[owners]
        yield resource, [_with_owners(leaf, resource, more) for leaf in leaves] if more else leaves


def _with_traced_owners(objects: Sequence[Resource]) -> list[tuple[Resource, frozenset[ObjectKey]]]:
    """Returns objects with the owners that are traced together for them, a few at a time. No owners: every resource can be one.

    A build orders objects by their kinds, so those of an owner are not consecutive.
    """
    groups: list[set[ObjectKey]] = [set()]
    numbers: dict[frozenset[ObjectKey], int] = {}
    number = 0
    chosen: list[int] = []
    for resource in objects:
        keys = frozenset(_owner_keys(resource)[:_OWNERS])
        if keys:
            number = numbers[keys] if keys in numbers else numbers.setdefault(keys, _group_of(keys, groups))
        chosen.append(number)
    owners = [frozenset(group) for group in groups]
    return [(resource, owners[index]) for resource, index in zip(objects, chosen, strict=True)]


def _group_of(keys: frozenset[ObjectKey], groups: list[set[ObjectKey]]) -> int:
    """Returns the number of the group that has some owners. They join the last group, or a new one if it has too many owners then."""
    found = next((number for number, group in enumerate(groups) if keys <= group), None)
    if found is not None:
        return found
    if len(groups[-1] | keys) > _OWNERS:
        groups.append(set())
    groups[-1] |= keys
    return len(groups) - 1


def _owner_keys(resource: Resource) -> list[ObjectKey]:
    return dynamo_resources.owner_keys(resource, results.ref(resource).namespace)


def _with_owners(leaf: Leaf, resource: Resource, more: Marks) -> Leaf:
    """Adds to the annotation with the owners of an object those that were not traced. It has the kinds and names of all owners."""
    return leaf._replace(value=labels.annotations(resource)[labels.OWNER], marks=leaf.marks | more) if leaf.path == _OWNER_PATH else leaf


def generated_objects(rendered: Iterable[Resource], inputs: Iterable[Resource]) -> list[Resource]:
    """Returns the objects that a render added to its inputs."""
    keys = {identity.key(resource) for resource in inputs}
    return [resource for resource in rendered if identity.key(resource) not in keys]


def setting(settings: Config, path: Path) -> Any:
    """Returns the value of a key of the configuration. The path is that of the functionConfig."""
    value: Any = settings
    for step in path:
        value = next(inner for name, inner in zip(value._fields, value, strict=True) if config.key(name) == step)
    return value


def settings_of(settings: Config) -> Iterator[Path]:
    """Returns the paths of all keys of the configuration that have no keys below them."""
    return _settings_of(settings, type(settings)(), ())


def _settings_of(value: Any, default: Any, path: Path) -> Iterator[Path]:
    if not hasattr(default, "_fields"):
        yield path
        return
    for name, inner, inner_default in zip(value._fields, value, default, strict=True):
        yield from _settings_of(inner, inner_default, (*path, config.key(name)))


class _OriginReader:
    """Sorts the marks of values, and leaves out functions of the same rule. `resources` is the input, for the order of its fields."""

    def __init__(self, resources: Mapping[int, Resource]) -> None:
        self._indexes = {results.ref(resources[index]): index for index in sorted(resources, reverse=True)}
        self._known: dict[Marks, tuple[Origin, ...]] = {}
        self._read: dict[Origin, tuple[tuple[Any, ...], Origin]] = {}
        self._rules: dict[DocstringRule, Origin] = {}

    def explain_object(self, resource: Resource, leaves: Iterable[Leaf]) -> Explained:
        """An object with its fields."""
        traced, secrets = {leaf.path: leaf for leaf in leaves}, secret_values.paths(resource)
        return Explained(resource, [self._field(path, value, traced.get(path), secrets) for path, value in paths.leaves(resource)])

    def _field(self, path: Path, value: Any, leaf: Leaf | None, secrets: Sequence[Path]) -> ExplainedField:
        shown = secret_values.hide_secrets(value, path, secrets)
        if leaf is None or leaf.value != value:
            return ExplainedField(path, shown, (), (), ())
        overridden = tuple(OverriddenValue(_hide_secrets(old.value, path, secrets), self._origins(old.marks)) for old in leaf.overridden)
        origins = self._origins(leaf.marks)
        placed = tuple(origin for origin in self._origins(leaf.placed) if origin not in origins)
        return ExplainedField(path, shown, origins, placed, overridden)

    def _origins(self, marks: Marks) -> tuple[Origin, ...]:
        """The origins of marks, each once: the user's fields, settings, rules."""
        if marks not in self._known:
            if len(self._known) > _MOST_KNOWN:  # those of earlier graphs
                self._known.clear()
                self._read.clear()
            ordered = [self._read[mark] if mark in self._read else self._reading(mark) for mark in marks]
            self._known[marks] = tuple(dict.fromkeys([origin for _, origin in sorted(ordered, key=itemgetter(0))]))
        return self._known[marks]

    def _reading(self, mark: Origin) -> tuple[tuple[Any, ...], Origin]:
        """Returns the sort key of a mark, and the first known origin with its rule."""
        origin = self._rules.setdefault(mark.rule, mark) if mark.kind == "rule" else mark
        self._read[mark] = read = self._order(mark), origin
        return read

    def _order(self, mark: Origin) -> tuple[Any, ...]:
        """A sort key. Indexes sort before keys, and a rule that made the whole value, such as a hash, before other rules."""
        if mark.kind == "rule":
            return 2, mark.path[0] not in tracing_loader.COMPUTING, *mark.path
        steps = tuple((isinstance(step, str), step if isinstance(step, int) else 0, str(step)) for step in mark.path)
        return (1, steps) if mark.ref is None else (0, self._indexes[mark.ref], steps)


def _hide_secrets(value: Any, path: Path, secrets: Sequence[Path]) -> Any:
    """A value that the field had before, without its own secret values and those of the field."""
    return secret_values.hide_secrets(secret_values.hide_secrets(value, (), secret_values.paths(value)), path, secrets)
