"""Explains the fields of generated objects by their origins: fields that users wrote, settings, and rules of krm-fn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from krm_fn import config, expand, results
from krm_fn.config import Config
from krm_fn.kube import identity, secret_values
from krm_fn.kube.identity import ObjectKey
from krm_fn.kube.types import Resource
from krm_fn.provenance import docstring_rules, trace, tracing_loader
from krm_fn.provenance.docstring_rules import DocstringRule
from krm_fn.provenance.marked_values import NONE, ConfigMark, Mark, Marks, RuleMark, UserMark
from krm_fn.provenance.trace import Leaf
from krm_fn.results import Path, Result


class LeafOrigin(NamedTuple):
    """One origin of a value: a field of the resource with index `resource`, a key of the configuration, or a rule.

    `path` is the path of the field or of the key. `value` is the value of a setting.
    """

    kind: str
    path: Path = ()
    resource: int = -1
    value: Any = None
    rule: DocstringRule | None = None


class OverriddenValue(NamedTuple):
    """A value that a field overrides, and its origins."""

    value: Any
    origins: tuple[LeafOrigin, ...]


class ExplainedField(NamedTuple):
    """A leaf of an object with its origins; without any, the origin is unknown. A secret value is hidden.

    `placed` are the rules that set the field, if they are not among the origins.
    """

    path: Path
    value: Any
    origins: tuple[LeafOrigin, ...]
    placed: tuple[LeafOrigin, ...]
    overridden: tuple[OverriddenValue, ...]
    marks: Marks


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
        shown: Resource = secret_values.shown(self.resource, (), secret_values.paths(self.resource))
        return shown


class Explanation(NamedTuple):
    """All generated objects, and the findings of the render. With an error, no object is generated."""

    objects: list[Explained]
    results: list[Result]


def explain(resources: Sequence[Resource], settings: Config) -> Explanation:
    """Renders the resources, and explains every field of every generated object.

    The objects are those of the ordinary render. A field with another value in the traced render has no origin. Objects of an earlier
    render must not be among the resources.
    """
    ordinary = expand.expand(resources, settings)
    if results.failed(ordinary.results):
        return Explanation([], ordinary.results)
    traced, reader = trace.render(resources, settings), _OriginReader(settings)
    new = generated(ordinary.resources, resources)
    return Explanation([reader.explained(resource, traced.leaves.get(identity.key(resource), [])) for resource in new], ordinary.results)


def generated(rendered: Iterable[Resource], inputs: Iterable[Resource]) -> list[Resource]:
    """Returns the objects that a render added to its inputs."""
    keys = {identity.key(resource) for resource in inputs}
    return [resource for resource in rendered if identity.key(resource) not in keys]


def fields_of(resource: Resource) -> Iterator[tuple[Path, Any]]:
    """Returns the paths and values of all leaves of a resource."""
    return ((leaf.path, leaf.value) for leaf in trace.leaves(resource))


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
    """Turns marks into origins."""

    def __init__(self, settings: Config) -> None:
        self._settings = settings

    def explained(self, resource: Resource, leaves: Iterable[Leaf]) -> Explained:
        """An object with its fields."""
        traced, secrets = {leaf.path: leaf for leaf in leaves}, secret_values.paths(resource)
        return Explained(resource, [self._field(path, value, traced.get(path), secrets) for path, value in fields_of(resource)])

    def _field(self, path: Path, value: Any, leaf: Leaf | None, secrets: Sequence[Path]) -> ExplainedField:
        shown = secret_values.shown(value, path, secrets)
        if leaf is None or leaf.value != value:
            return ExplainedField(path, shown, (), (), (), NONE)
        overridden = tuple(OverriddenValue(_shown(old.value, path, secrets), self._origins(old.marks)) for old in leaf.overridden)
        origins = self._origins(leaf.marks)
        placed = tuple(origin for origin in self._origins(leaf.placed) if origin not in origins)
        return ExplainedField(path, shown, origins, placed, overridden, leaf.marks)

    def _origins(self, marks: Marks) -> tuple[LeafOrigin, ...]:
        """The origins of marks, each once: the user's fields, settings, rules."""
        origins = (self._origin(mark) for mark in sorted(marks, key=_order))
        return tuple({(origin.kind, origin.resource, origin.path, origin.rule): origin for origin in origins}.values())

    def _origin(self, mark: Mark) -> LeafOrigin:
        if isinstance(mark, UserMark):
            return LeafOrigin("user", mark.path, mark.resource)
        if isinstance(mark, ConfigMark):
            return LeafOrigin("config", mark.path, value=setting(self._settings, mark.path))
        return LeafOrigin("rule", rule=docstring_rules.rule(mark.module, mark.function))


def _shown(value: Any, path: Path, secrets: Sequence[Path]) -> Any:
    """A value that the field had before, without its own secret values and those of the field."""
    return secret_values.shown(secret_values.shown(value, (), secret_values.paths(value)), path, secrets)


def _order(mark: Mark) -> tuple[Any, ...]:
    """A sort key. Indexes sort before keys, and a rule that made the whole value, such as a hash, before other rules."""
    if isinstance(mark, RuleMark):
        return 2, mark.module not in tracing_loader.COMPUTING, mark.module, mark.function
    steps = tuple((isinstance(step, str), step if isinstance(step, int) else 0, str(step)) for step in mark.path)
    return (0, mark.resource, steps) if isinstance(mark, UserMark) else (1, steps)
