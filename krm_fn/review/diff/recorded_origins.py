"""Finds the fields of the files from which changed objects of a cluster were made.

No commit made the change of a live object, so no line can be reverted. A render records for each pod from which component and field it is
made, and an object names its component in its labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from krm_fn.base.results import Path
from krm_fn.kubernetes import identity, paths
from krm_fn.kubernetes.api_server.rejections import Rejection
from krm_fn.kubernetes.types import Resource
from krm_fn.origins import reversion
from krm_fn.origins.ablation import FieldNumber
from krm_fn.render import dynamo_resources, expand, labels
from krm_fn.render.manifests.pod_builder import Pods
from krm_fn.render.plan import GraphPlan
from krm_fn.render.resolve import cluster
from krm_fn.render.rules import field_origin
from krm_fn.render.schema.object_changes import ObjectChange
from krm_fn.review import pods
from krm_fn.review.diff.rendered_state import Render

_REPLICAS: Path = ("spec", "replicas")
InputField = tuple[int, Path]
"""The number of an input of a state, and the path of a field in it."""


def find(state: Render, changes: Sequence[ObjectChange]) -> Mapping[FieldNumber, InputField]:
    """Returns the fields of inputs from which changed objects are made, by the numbers of the changes and of their fields."""
    namespace = cluster.default_namespace(state.config)
    numbers = {identity.key(resource, namespace): number for number, resource in enumerate(state.inputs)}
    components: dict[int, list[Pods]] = {}
    fields: dict[FieldNumber, InputField] = {}
    for number, change in enumerate(changes):
        resource = change.new or change.old or {}
        keys = [change.key] if dynamo_resources.is_expanded(resource) else dynamo_resources.owner_keys(resource, change.key.namespace)
        owner = next((numbers[key] for key in keys if key in numbers), None)
        itself = numbers.get(change.key)
        if owner is not None and owner not in components:
            components[owner] = _components(state, owner)
        for _, index in reversion.field_numbers(number, change):
            path = _path(change, index)
            if owner is not None:
                fields[number, index] = owner, _source_path(state.inputs[owner], components[owner], *path)
            elif itself is not None and change.new is not None:
                fields[number, index] = itself, path[1]
    return fields


def _path(change: ObjectChange, index: int | None) -> tuple[Resource, Path]:
    """Returns the object that has a changed field, and the path there."""
    if index is None:
        return change.new or change.old or {}, ()
    field = change.fields[index]
    return (change.old or {}, field.old_path) if field.new is None else (change.new or {}, field.path)


def _components(state: Render, number: int) -> list[Pods]:
    """Returns the components of a Dynamo resource; empty if it does not render, or has none."""
    others = [resource for resource in state.inputs if not dynamo_resources.is_expanded(resource)]
    plans = expand.plans([state.inputs[number], *others], state.config)
    return list(plans[0].pods) if plans and isinstance(plans[0].plan, GraphPlan) else []


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
