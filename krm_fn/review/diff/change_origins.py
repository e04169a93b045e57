"""Finds the input fields that make a change.

If a render made both states, the fields in which the inputs differ are reverted one at a time, and the inputs are rendered again
(`krm_fn.provenance.ablation`): a reverted field makes each change that then disappears. Otherwise, for example for live objects, the origin
is the field or the component from which the new object was made.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property

from krm_fn import expand, function_config
from krm_fn.config import Config
from krm_fn.kube import identity, labels, paths
from krm_fn.kube.admission import Rejection
from krm_fn.kube.identity import ObjectKey
from krm_fn.kube.types import Resource
from krm_fn.manifests.pod_builder import Pods
from krm_fn.plan import GraphPlan
from krm_fn.provenance import ablation
from krm_fn.provenance.ablation import Ablation, FieldNumber
from krm_fn.results import Path
from krm_fn.review import pods
from krm_fn.review.diff import rendered_state
from krm_fn.review.diff.alike_graphs import AlikeGraphs, KnownOrigins
from krm_fn.review.diff.rendered_state import ChangeOrigin, RenderedState, StateName
from krm_fn.rules import field_origin
from krm_fn.schema import object_changes
from krm_fn.schema.object_changes import FieldChange, ObjectChange

_MOST = 4000
"""The largest number of objects that all renders of one resource make. With more, the fields of a service are reverted together."""
_SERVICE = 3
"""The number of steps of the path of a service in its graph."""
_FEW = 3
"""The largest number of fields that are named as the origins of one change."""
_REPLICAS: Path = ("spec", "replicas")


class _States:
    """Both states, with the indexes of their inputs by key. `known` are the origins for graphs by their keys in `alike`."""

    def __init__(self, old: RenderedState, new: RenderedState) -> None:
        self.old, self.new = old, new
        self.old_indexes, self.new_indexes = (_indexes(state) for state in (old, new))
        self._components: dict[tuple[StateName, int], list[Pods]] = {}
        self.alike = AlikeGraphs(old, new)
        self.known: dict[Hashable | None, KnownOrigins] = {}

    @cached_property
    def others(self) -> list[Resource]:
        """The resources of the new state beside the Dynamo resources."""
        return [resource for resource in self.new.inputs if not rendered_state.is_expanded(resource)]

    @cached_property
    def reverted_configs(self) -> list[tuple[ChangeOrigin, Config]]:
        """The configurations in which one field is reverted."""
        return [*_reverted_configs(self.old, self.new)]

    @cached_property
    def reverted_others(self) -> list[tuple[ChangeOrigin, list[Resource]]]:
        """The resources beside the Dynamo resources, with one of them reverted."""
        return [*_reverted_others(self.old, self.new)]

    def get(self, name: StateName) -> tuple[RenderedState, dict[ObjectKey, int]]:
        """Returns one state with its indexes."""
        return (self.old, self.old_indexes) if name == "old" else (self.new, self.new_indexes)

    def components(self, name: StateName, number: int) -> list[Pods]:
        """Returns the components of a Dynamo resource of one state; empty if it does not render, or has none."""
        state = self.get(name)[0]
        if (name, number) not in self._components:
            others = [resource for resource in state.inputs if not rendered_state.is_expanded(resource)]
            plans = expand.plans([state.inputs[number], *others], state.config)
            self._components[name, number] = list(plans[0].pods) if plans and isinstance(plans[0].plan, GraphPlan) else []
        return self._components[name, number]


def _indexes(state: RenderedState) -> dict[ObjectKey, int]:
    namespace = rendered_state.default_namespace(state.config)
    return {identity.key(resource, namespace): index for index, resource in enumerate(state.inputs)}


def find(old: RenderedState, new: RenderedState, changes: Sequence[ObjectChange]) -> Mapping[FieldNumber, tuple[ChangeOrigin, ...]]:
    """Returns the origins of changes, by the number of the change and of its field; None for the object as a whole."""
    states = _States(old, new)
    origins: dict[FieldNumber, tuple[ChangeOrigin, ...]] = {}
    numbers_by_owner: dict[ObjectKey, list[int]] = {}
    for number, change in enumerate(changes):
        if not change.fields and change.old is not None and change.new is not None:
            continue
        resource = change.new or change.old or {}
        keys = [change.key] if rendered_state.is_expanded(resource) else rendered_state.owner_keys(resource, change.key.namespace)
        owner = next((key for key in keys if key in states.new_indexes or key in states.old_indexes), None)
        if owner is None:
            origins |= _of_input(states, number, change)
        else:
            numbers_by_owner.setdefault(owner, []).append(number)
    for owner, numbers in numbers_by_owner.items():
        origins |= _by_ablation(states, owner, [(number, changes[number]) for number in numbers])
        for number in numbers:
            for index, field in _fields(changes[number]):
                if (number, index) not in origins:
                    origins[number, index] = _of_component(states, owner, changes[number], field)
    return origins


def _fields(change: ObjectChange) -> list[tuple[int | None, FieldChange | None]]:
    """Returns the fields of a change with their numbers; None for an object that is new or was removed."""
    return [(None, None)] if change.old is None or change.new is None else [*enumerate(change.fields)]


def _path(change: ObjectChange, field: FieldChange | None) -> tuple[StateName, Path]:
    """Returns the state that has the line of a change, and the path of the field in the object there."""
    if field is None:
        return ("old" if change.new is None else "new"), ()
    return ("old", field.old_path) if field.new is None else ("new", field.path)


def _of_input(states: _States, number: int, change: ObjectChange) -> dict[FieldNumber, tuple[ChangeOrigin, ...]]:
    """Returns the origins of a change of an object that is an input itself."""
    origins: dict[FieldNumber, tuple[ChangeOrigin, ...]] = {}
    for index, field in _fields(change):
        name, path = _path(change, field)
        input_number = states.get(name)[1].get(change.key)
        if input_number is not None:
            origins[number, index] = (ChangeOrigin(name, input_number, path),)
    return origins


def _by_ablation(
    states: _States, owner: ObjectKey, changes: Sequence[tuple[int, ObjectChange]]
) -> dict[FieldNumber, tuple[ChangeOrigin, ...]]:
    """Returns the origins that renders with reverted fields of the inputs find."""
    old, new = states.old, states.new
    if owner in old.built | new.built or owner not in states.old_indexes or owner not in states.new_indexes:
        return {}
    old_number, new_number = states.old_indexes[owner], states.new_indexes[owner]
    if old.inputs[old_number].get("apiVersion") != new.inputs[new_number].get("apiVersion"):
        return {}
    numbers, owned = [number for number, _ in changes], [change for _, change in changes]
    key = states.alike.key(old_number, new_number, owned)
    known = None if key is None else states.known.get(key)
    if known is None:
        origins = _by_renders(_RevertedInputs(states, old_number, new_number), [*enumerate(owned)])
        known = states.known[key] = KnownOrigins(origins, old_number, new_number)
    return known.of(old_number, new_number, numbers)


def _by_renders(reverted: _RevertedInputs, changes: Sequence[tuple[int, ObjectChange]]) -> dict[FieldNumber, tuple[ChangeOrigin, ...]]:
    """Returns the origins of changes: the fields that are reverted singly, then together for the rest."""
    origins = ablation.attribute(reverted.singly(len(changes)), changes)
    rest = [(number, change) for number, change in changes if any((number, index) not in origins for index, _ in _fields(change))]
    return {**ablation.attribute(reverted.together(), rest), **origins} if rest else origins


class _RevertedInputs:
    """The inputs of the new state with fields of one Dynamo resource, of the configuration or of other resources reverted."""

    def __init__(self, states: _States, old_number: int, new_number: int) -> None:
        self._states, self._new_state, self._old_number, self._new_number = states, states.new, old_number, new_number
        self._old, self._new = states.old.inputs[old_number], states.new.inputs[new_number]
        self._others = states.others
        self._fields = object_changes.between(self._old, self._new)

    def singly(self, objects: int) -> list[Ablation[ChangeOrigin]]:
        """Returns one render for each field in which the states differ. `objects` is the number of objects that a render makes."""
        if len(self._fields) * objects > _MOST:
            renders = self._by_service()
        else:
            resources = ablation.reverted_singly(self._new, self._old, self._fields)
            renders = [self._render(resource, [field]) for resource, field in zip(resources, self._fields, strict=True)]
        for origin, config in self._states.reverted_configs:
            renders.append(Ablation((origin,), [self._new], config, self._others))
        for origin, others in self._states.reverted_others:
            renders.append(Ablation((origin,), [self._new], self._new_state.config, others))
        return renders

    def together(self) -> list[Ablation[ChangeOrigin]]:
        """Renders with several fields reverted, for changes that no field makes alone: the fields of each service, then all."""
        return [*self._by_service(), self._render(self._old, self._fields)] if len(self._fields) > 1 else []

    def _by_service(self) -> list[Ablation[ChangeOrigin]]:
        groups: dict[Path, list[FieldChange]] = {}
        for field in self._fields:
            groups.setdefault(field.names[:_SERVICE], []).append(field)
        renders = []
        for fields in groups.values():
            path, old_path = fields[0].path[:_SERVICE], fields[0].old_path[:_SERVICE]
            service = FieldChange(path, paths.at(self._old, old_path), paths.at(self._new, path), old_path)
            renders.append(self._render(ablation.reverted(self._new, self._old, service), fields, service))
        return renders

    def _render(self, resource: Resource, fields: Sequence[FieldChange], service: FieldChange | None = None) -> Ablation[ChangeOrigin]:
        named = fields if len(fields) <= _FEW else [service or FieldChange((), self._old, self._new)]
        state = self._new_state
        config = state.config if state.settings is not self._new else function_config.read(resource)[0]
        origins = tuple(_origin(field, self._old_number, self._new_number) for field in named)
        return Ablation(origins, [resource], config, self._others)


def _origin(field: FieldChange, old_number: int | None, new_number: int | None) -> ChangeOrigin:
    """Returns the line of a field: in the new state, or in the old state if it was removed."""
    return ChangeOrigin("old", old_number, field.old_path) if field.new is None else ChangeOrigin("new", new_number, field.path)


def _reverted_configs(old: RenderedState, new: RenderedState) -> Iterator[tuple[ChangeOrigin, Config]]:
    """Yields the configurations in which one field is reverted."""
    if old.config == new.config or (new.settings and rendered_state.is_expanded(new.settings)):
        return
    if old.settings is None or new.settings is None or old.settings.get("kind") != new.settings.get("kind"):
        yield ChangeOrigin("new" if new.settings else "old", None, ()), old.config
        return
    namespace = new.config.namespace
    is_given = function_config.read(new.settings)[0].namespace != namespace
    for field in object_changes.between(old.settings, new.settings):
        config = function_config.read(ablation.reverted(new.settings, old.settings, field))[0]
        yield _origin(field, None, None), config._replace(namespace=namespace if is_given else config.namespace)


def _reverted_others(old: RenderedState, new: RenderedState) -> Iterator[tuple[ChangeOrigin, list[Resource]]]:
    """Yields the resources beside the Dynamo resources, such as Secrets, with one of them reverted."""
    old_others, new_others = (
        {
            identity.key(resource, rendered_state.default_namespace(state.config)): (number, resource)
            for number, resource in enumerate(state.inputs)
            if not rendered_state.is_expanded(resource)
        }
        for state in (old, new)
    )
    for key in dict.fromkeys((*new_others, *old_others)):
        old_other, new_other = old_others.get(key), new_others.get(key)
        if (old_other and old_other[1]) != (new_other and new_other[1]):
            rest = [resource for name, (_, resource) in new_others.items() if name != key]
            origin = ChangeOrigin("new", new_other[0], ()) if new_other else ChangeOrigin("old", old_other[0] if old_other else None, ())
            yield origin, [*rest, *([old_other[1]] if old_other else [])]


def _of_component(states: _States, owner: ObjectKey, change: ObjectChange, field: FieldChange | None) -> tuple[ChangeOrigin, ...]:
    """Returns the component, and if possible the field, from which an object itself says that it was made.

    For live objects, in the new state.
    """
    name, path = _path(change, field)
    resource = change.old if name == "old" else change.new
    name = name if owner in states.get(name)[1] else "new"
    state, indexes = states.get(name)
    if owner not in indexes or resource is None:
        return ()
    number = indexes[owner]
    return (ChangeOrigin(name, number, _source_path(state.inputs[number], states.components(name, number), resource, path)),)


def _source_path(source: Resource, components: Sequence[Pods], resource: Resource, field: Path) -> Path:
    """Returns the path in a Dynamo resource from which a field of an object was made: of a field, a component or the whole."""
    for template in pods.of(resource):
        template_path = template.path[:-2] if template.path[-1] == "podSpec" else template.path[:-1]  # a clique has its pod spec in `spec`
        if field[: len(template_path)] != template_path:
            continue
        match = pods.component_of(template, components)
        if match is None:
            return _component_path(components, template.labels)
        component, pod = match
        pod_path = field[len(template.path) :] if field[: len(template.path)] == template.path else ()
        exact = _pod_source_path(component, pod.spec, pod_path) if pod_path else None
        return exact if exact is not None and paths.at(source, exact) is not None else component.plan.paths.path
    component_path = _component_path(components, labels.of(resource))
    replicas = next((component.plan.at("replicas") for component in components if component.plan.paths.path == component_path), ())
    return replicas if field == _REPLICAS and paths.at(source, replicas) is not None else component_path


def _pod_source_path(component: Pods, pod_spec: object, pod_path: Path) -> Path | None:
    try:
        return field_origin.path(component, pod_spec, Rejection("", pod_path, ""))  # type: ignore[arg-type]
    except (KeyError, IndexError, TypeError):  # a live pod has containers and volumes that no render makes
        return None


def _component_path(components: Sequence[Pods], object_labels: dict[str, object]) -> Path:
    """Returns the path of the component that labels name; the path of the whole resource without such labels."""
    names = (object_labels.get(labels.COMPONENT), object_labels.get(labels.SELECTOR))
    return next((component.plan.paths.path for component in components if component.plan.identity.service in names), ())
