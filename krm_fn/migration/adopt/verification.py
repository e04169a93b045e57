"""Compares the pod templates of a render with those that run, and forecasts the changes of the workloads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path
from krm_fn.kubernetes import identity, paths, secret_values, stored_templates
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, name_of, objects
from krm_fn.migration.adopt import exported_objects
from krm_fn.migration.adopt.exported_objects import ExportedObjects, TemplateKey, templates_of
from krm_fn.render.manifests import workloads
from krm_fn.render.schema import object_changes
from krm_fn.render.schema.object_changes import FieldChange, ObjectChange
from krm_fn.review import forecast
from krm_fn.review.forecast import ObjectForecast
from krm_fn.review.live import server_fields
from krm_fn.review.pods import Template

_SET, _SET_PARTS = "PodCliqueSet", ("PodClique", "PodCliqueScalingGroup")


class ComparedField(NamedTuple):
    """A field that differs: its path in the pod template, and both values as JSON; empty for a missing field.

    If `is_order` is true, only the order of a list differs.
    """

    path: str
    live: str
    rendered: str
    is_order: bool = False


class TemplateDifference(NamedTuple):
    """A pod template that differs. `live` or `rendered` is None if only the other side has the template."""

    key: TemplateKey
    live: Template | None
    rendered: Template | None
    fields: tuple[ComparedField, ...]


class ReplicaDifference(NamedTuple):
    """A workload whose number of replicas would change, or a part of a PodCliqueSet: a clique, or a scaling group."""

    workload: ObjectKey
    live: int
    rendered: int
    part: str = ""


class Verification(NamedTuple):
    """The number of pod templates, the number of those that are the same, and the others. `replicas` are the replicas that differ.

    `outcomes` are the forecasts for the objects that are on both sides. It is empty if only templates were compared.
    """

    total: int
    same: int
    differences: tuple[TemplateDifference, ...]
    replicas: tuple[ReplicaDifference, ...] = ()
    outcomes: tuple[ObjectForecast, ...] = ()

    @property
    def keeps_all(self) -> bool:
        """True if no pod restarts, ends or starts, and the cluster rejects nothing."""
        return (
            self.same == self.total
            and not self.replicas
            and not any(outcome.effect in ("restarts", "refused") for outcome in self.outcomes)
        )


class DifferenceCounts(NamedTuple):
    """The number of pod templates on both sides, of those that differ, and of the fields that differ in them."""

    total: int
    different: int
    fields: int


def verify(rendered: Sequence[Resource], exported: ExportedObjects) -> Verification:
    """Compares the pod templates, and forecasts the change of each live object to the rendered one."""
    live = {identity.key(resource, exported.namespace): resource for resource in exported.live}
    keyed = [(identity.key(resource, exported.namespace), resource) for resource in rendered]
    changes = [
        ObjectChange(key, live[key], resource, object_changes.between(server_fields.native(live[key]), resource))
        for key, resource in keyed
        if key in live
    ]
    return compare(rendered, exported)._replace(outcomes=forecast.forecast(changes).outcomes)


def compare(rendered: Sequence[Resource], exported: ExportedObjects) -> Verification:
    """Compares all pod templates of the rendered workloads, and of the live workloads of their graphs."""
    pairs = _pairs(rendered, exported)
    differences = [TemplateDifference(key, live, desired, _fields(live, desired)) for key, live, desired in pairs]
    different = tuple(
        difference for difference in differences if difference.fields or difference.live is None or difference.rendered is None
    )
    return Verification(len(pairs), len(pairs) - len(different), different, tuple(_replicas(rendered, exported)))


def counts(rendered: Sequence[Resource], exported: ExportedObjects) -> DifferenceCounts:
    """Counts what `compare` finds, without the values of fields."""
    pairs = _pairs(rendered, exported)
    fields = [None if live is None or desired is None else len(template_changes(live, desired)) for _, live, desired in pairs]
    return DifferenceCounts(len(pairs), sum(number != 0 for number in fields), sum(number or 0 for number in fields))


def _pairs(rendered: Sequence[Resource], exported: ExportedObjects) -> list[tuple[TemplateKey, Template | None, Template | None]]:
    """The live and the rendered template of each key."""
    desired = templates_of(rendered, exported.namespace)
    workload_keys = {key.workload for key in desired}
    candidates = [
        resource for resource in exported.live if identity.key(resource, exported.namespace) in workload_keys or exported.runs(resource)
    ]
    live = templates_of(candidates, exported.namespace)
    return [(key, live.get(key), desired.get(key)) for key in sorted(desired.keys() | live.keys())]


def _replicas(rendered: Sequence[Resource], exported: ExportedObjects) -> Iterator[ReplicaDifference]:
    """The replicas that differ. A Deployment without a number keeps the one that it has."""
    live = {identity.key(resource, exported.namespace): resource for resource in exported.live if workloads.is_workload(resource)}
    for resource in rendered:
        key = identity.key(resource, exported.namespace)
        desired, actual = ((item.get("spec") or {}).get("replicas") for item in (resource, live.get(key, {})))
        if desired is not None and actual is not None and desired != actual:
            yield ReplicaDifference(key, actual, desired)
        if key in live and key.kind == _SET:
            numbers, live_numbers = _part_replicas(resource), _part_replicas(live[key]) | _scaled_parts(live[key], exported.live)
            for part in sorted(numbers.keys() & live_numbers.keys()):
                if numbers[part] != live_numbers[part]:
                    yield ReplicaDifference(key, live_numbers[part], numbers[part], part)


def _part_replicas(pod_clique_set: Resource) -> dict[str, int]:
    """The replicas of the cliques and scaling groups of a PodCliqueSet, by their names. The cliques of a group scale with it."""
    template = mapping(pod_clique_set.get("spec"), "template")
    groups = objects(template.get("podCliqueScalingGroups"))
    members = {name for group in groups for name in group.get("cliqueNames") or ()}
    cliques = {name_of(clique): mapping(clique.get("spec")) for clique in objects(template.get("cliques"))}
    numbers = {name: spec.get("replicas", 1) for name, spec in cliques.items() if name not in members}
    return numbers | {name_of(group): group.get("replicas", 1) for group in groups}


def _scaled_parts(pod_clique_set: Resource, live: Sequence[Resource]) -> dict[str, int]:
    """The replicas of the PodCliques and scaling groups that Grove made, by the names of their parts. Autoscalers change them."""
    name = pod_clique_set["metadata"]["name"]
    children = [child for child in live if child["kind"] in _SET_PARTS and exported_objects.owner(child, _SET) == name]
    named = [(re.fullmatch(rf"{re.escape(name)}-[0-9]+-(.+)", child["metadata"]["name"]), child) for child in children]
    numbers = [(match[1], mapping(child.get("spec")).get("replicas")) for match, child in named if match]
    return {part: number for part, number in numbers if isinstance(number, int)}


def template_changes(live: Template, rendered: Template) -> tuple[FieldChange, ...]:
    """Returns the fields that differ in the form in which the API server stores templates of this kind. Paths begin at the template."""
    form = stored_templates.form(rendered.path)
    if form is None:
        return ()
    templates = (_template(live), _template(rendered))
    return object_changes.in_parts(*({**template, "spec": mapping(form(template)).get("spec")} for template in templates))


def _fields(live: Template | None, rendered: Template | None) -> tuple[ComparedField, ...]:
    """The fields that differ, with their values as they are written."""
    if live is None or rendered is None:
        return ()
    current, desired, changes = _template(live), _template(rendered), template_changes(live, rendered)
    if not changes:
        return ()
    old_secrets, new_secrets = secret_values.paths(current), secret_values.paths(desired)
    return tuple(
        ComparedField(
            _path(change),
            _value(current, change.old_path, change.old, old_secrets),
            _value(desired, change.path, change.new, new_secrets),
            change.order,
        )
        for change in changes
    )


def _template(template: Template) -> dict[str, Any]:
    return {"metadata": {"labels": template.labels, "annotations": template.annotations}, "spec": template.spec}


def _path(change: FieldChange) -> str:
    """The path with the names of list entries: `spec.containers[main].image`."""
    steps = zip(change.path, change.names, strict=True)
    return "".join(f"[{name}]" if isinstance(index, int) else f".{name}" for index, name in steps).removeprefix(".")


def _value(template: Any, path: Path, stored_value: Any, secrets: Sequence[Path]) -> str:
    """The value as it is written, else as it is stored, without secret values; a default is not written."""
    if stored_value is None:
        return ""
    written = paths.at(template, path)
    return json.dumps(secret_values.hide_secrets(stored_value if written is None else written, path, secrets))
