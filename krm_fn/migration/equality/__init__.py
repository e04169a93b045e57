"""How equal a render is to the objects that an operator runs: each difference of an export with its cause."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping
from krm_fn.migration import adopt
from krm_fn.migration.adopt import all_namespaces, exported_objects, inferred_settings, migration_files, unfinished_updates
from krm_fn.migration.adopt import verification as adopt_verification
from krm_fn.migration.adopt.exported_objects import ExportedObjects
from krm_fn.migration.adopt.migration_files import NamespacePart
from krm_fn.migration.adopt.verification import Verification
from krm_fn.migration.equality.difference_causes import Cause, CauseFinder, GraphStates
from krm_fn.migration.equality.release_evidence import ReleaseEvidence
from krm_fn.render import dynamo_api, labels
from krm_fn.render.manifests import ownership
from krm_fn.render.resolve import release_choice
from krm_fn.render.schema import object_changes
from krm_fn.render.schema.object_changes import FieldChange, ObjectChange
from krm_fn.review.diff import comparison, diff_report, live_states, rendered_state
from krm_fn.review.live import cluster_export, server_fields

_BEHAVIOUR = "behaviour"
_OPEN = ("unknown", "pending")
"""The kinds of causes that do not explain a difference."""


class LiveDifference(NamedTuple):
    """One difference: a field of an object, or the whole object if `field` is empty.

    `path` is the path of the field with indexes of lists. `live` and `rendered` are the values as JSON without secret values; empty if one
    side does not have the field or the object.
    """

    key: ObjectKey
    field: str
    path: results.Path
    live: str
    rendered: str
    cause: Cause


class _Compared(NamedTuple):
    """The changes from the live objects to the rendered ones, the live objects, and the rendered ones with their marks."""

    changes: Sequence[ObjectChange]
    live: Mapping[ObjectKey, Resource]
    rendered: Mapping[ObjectKey, Resource]


class Equality(NamedTuple):
    """One namespace: the settings of the render, the numbers of objects and pod templates, those that are the same, and all differences.

    `findings` are the errors of the export and of the render, and warnings about settings that are not certain.
    """

    settings: Mapping[str, Any]
    objects: int = 0
    same_objects: int = 0
    templates: int = 0
    same_templates: int = 0
    differences: tuple[LiveDifference, ...] = ()
    findings: tuple[Result, ...] = ()

    @property
    def is_explained(self) -> bool:
        """True if the namespace was compared, and each difference has a cause that is known."""
        return not results.has_errors([*self.findings]) and not any(difference.cause.kind in _OPEN for difference in self.differences)


def compare(values: Sequence[Any]) -> dict[str, Equality]:
    """Compares each namespace of an export with a render of its graphs. Never raises for the content of the export.

    An export that cannot be used has one entry with an empty name.
    """
    adopted = all_namespaces.adopt_all(values)
    if not adopted.namespaces:
        return {"": Equality({}, findings=tuple(adopted.findings))}
    export = cluster_export.read(values)
    return {name: _compare(adoption, export.objects) for name, adoption in adopted.namespaces.items()}


def _compare(adoption: adopt.Adoption, exported: Sequence[Resource]) -> Equality:
    part, verification = adoption.part, adoption.verification
    if part is None or verification is None:
        return Equality({}, findings=tuple(adoption.results))
    namespace = part.exported.namespace
    rendered = rendered_state.render([*part.exported.written, *part.exported.accounts], migration_files.settings(part.spec))
    in_namespace = [resource for resource in exported if results.ref(resource).namespace == namespace]
    states = live_states.states(cluster_export.Export(in_namespace, []), rendered)
    old, new = (_without_marks(state.objects, namespace) for state in (states.old, states.new))
    owners = dict(_owners(part.exported))
    only_live = [*dict.fromkeys((*adoption.leftovers, *(key for key, named in owners.items() if named and key not in new)))]
    live, by_render = ({identity.key(resource, namespace): resource for resource in side} for side in (in_namespace, rendered.objects))
    natives = _without_marks([server_fields.native(resource) for resource in in_namespace], namespace)
    changes = [
        _with_metadata(_with_template_fields(change, verification), natives.get(change.key, {}))
        for change in object_changes.between_states(old, new)
    ]
    causes = _causes(adoption, part, owners, _Compared(changes, live, by_render))
    differences = [difference for change in changes for difference in _differences(change, causes)]
    differences += [LiveDifference(key, "", (), "exists", "", causes.of_live_object(key)) for key in only_live]
    different = {difference.key for difference in differences}
    total = len({*new, *only_live})
    findings = tuple(finding for finding in adoption.results if finding.code not in _SHOWN_AS_DIFFERENCES)
    return Equality(part.spec, total, total - len(different), verification.total, verification.same, tuple(differences), findings)


def _causes(
    adoption: adopt.Adoption,
    part: NamespacePart,
    owners: Mapping[ObjectKey, Sequence[tuple[str, str]]],
    compared: _Compared,
) -> CauseFinder:
    """Returns the finder of causes for a namespace."""
    rolling = {
        difference.key.workload: [field.path for field in unfinished_updates.in_progress(difference, part.exported)]
        for difference in (adoption.verification.differences if adoption.verification else ())
    }
    refused = {
        (finding.ref.kind, finding.ref.name): finding.code for finding in adoption.results if finding.ref and finding.severity == "error"
    }

    @cache
    def other_releases() -> Mapping[str, Mapping[ObjectKey, Resource]]:
        return {release: _render_by_key({**part.spec, _BEHAVIOUR: release}, part.exported) for release in _others(part.spec)}

    graphs = {key: _text(owners.get(key, ())) for key in compared.live}
    evidence = ReleaseEvidence(compared.changes, compared.rendered, graphs, other_releases)
    of_rendered = {key: _rendered_owners(resource) for key, resource in compared.rendered.items()}
    pending = [
        (resource["kind"], results.ref(resource).name) for resource, _ in unfinished_updates.warn_of_unobserved(part.exported.exported)
    ]
    return CauseFinder(compared.live, rolling, GraphStates({**of_rendered, **owners}, refused, pending), evidence)


def _rendered_owners(resource: Resource) -> list[tuple[str, str]]:
    """Returns the Dynamo resources that made a rendered object, by kind and name."""
    return [(kind, name) for kind, _, name in (owner.partition("/") for owner in ownership.owners(resource))]


def _text(owners: Sequence[tuple[str, str]]) -> str:
    return "/".join(owners[0]) if owners else ""


def _with_metadata(change: ObjectChange, live: Resource) -> ObjectChange:
    """Returns a change with all labels and annotations that only the live object has, also those that another writer may own."""
    if change.old is None or change.new is None:
        return change
    known, paths_of_fields = mapping(change.new.get("metadata")), {field.path for field in change.fields}
    fields = [
        FieldChange(path, value, None, path, path)
        for name in ("labels", "annotations")
        for key, value in mapping(live.get("metadata"), name).items()
        if key not in mapping(known, name) and (path := ("metadata", name, key)) not in paths_of_fields
    ]
    return change._replace(fields=(*change.fields, *fields))


def _with_template_fields(change: ObjectChange, verification: Verification) -> ObjectChange:
    """Returns a change with all fields that count as differences of its pod templates, also those that another writer owns."""
    if change.old is None or change.new is None:
        return change
    fields = [*change.fields]
    for difference in verification.differences:
        if difference.key.workload == change.key and difference.live and difference.rendered:
            at, old_at = difference.rendered.path[:-1], difference.live.path[:-1]
            for field in adopt_verification.template_changes(difference.live, difference.rendered):
                path = (*at, *field.path)
                if not any(path[: len(other.path)] == other.path or other.path[: len(path)] == path for other in change.fields):
                    fields.append(field._replace(path=path, old_path=(*old_at, *field.old_path), names=(*at, *field.names)))
    return change._replace(fields=tuple(fields))


_SHOWN_AS_DIFFERENCES = (codes.PODS_WOULD_RESTART, codes.WORKLOAD_ON_ONE_SIDE_ONLY, codes.REPLICAS_WOULD_CHANGE)
"""The findings of an adoption about differences, which have causes here."""


def _others(spec: Mapping[str, Any]) -> list[str]:
    return [release for release in release_choice.RELEASES if release != spec.get(_BEHAVIOUR)]


def _render_by_key(spec: dict[str, Any], exported: ExportedObjects) -> dict[ObjectKey, Resource]:
    resources = inferred_settings.render_with_settings(spec, exported).resources
    return {identity.key(resource, exported.namespace): resource for resource in resources}


def _without_marks(resources: Sequence[Resource], namespace: str) -> dict[ObjectKey, Resource]:
    """Returns objects without the marks by which operators and krm-fn know their objects."""
    return {identity.key(resource, namespace): _remove_marks(resource) for resource in resources}


def _remove_marks(resource: Resource) -> Resource:
    unmarked = {
        "labels": {name: value for name, value in labels.of(resource).items() if name != labels.MANAGED_BY},
        "annotations": {name: value for name, value in labels.annotations(resource).items() if not name.startswith(labels.PREFIX)},
    }
    others = {name: value for name, value in mapping(resource.get("metadata")).items() if name not in unmarked}
    return {**resource, "metadata": others | {name: entries for name, entries in unmarked.items() if entries}}


def _owners(exported: ExportedObjects) -> Iterator[tuple[ObjectKey, list[tuple[str, str]]]]:
    """Yields the live objects with their owners of users, by kind and name, also through a component that an operator made."""
    components = [resource for resource in exported.exported if resource["kind"] == dynamo_api.COMPONENT]
    graphs = {component["metadata"]["name"]: exported_objects.owner(component, dynamo_api.GRAPH) for component in components}
    written = {(resource["kind"], resource["metadata"]["name"]) for resource in exported.written}
    for resource in exported.live:
        component = exported_objects.owner(resource, dynamo_api.COMPONENT)
        graph = exported_objects.owner(resource, dynamo_api.GRAPH) or graphs.get(component, "")
        if component and not graph:
            graph = f"{labels.of(resource).get(labels.GRAPH)}"
        yield identity.key(resource, exported.namespace), sorted({(dynamo_api.COMPONENT, component), (dynamo_api.GRAPH, graph)} & written)


def _differences(change: ObjectChange, causes: CauseFinder) -> Iterator[LiveDifference]:
    if change.old is None:
        yield LiveDifference(change.key, "", (), "", "exists", causes.of_rendered_object(change.key))
        return
    shown = comparison.without_secrets(change)
    for field, hidden in zip(change.fields, shown.fields, strict=True):
        name = diff_report.field_path(field)
        yield LiveDifference(change.key, name, field.path, _value(hidden.old), _value(hidden.new), causes.of_field(change, field, name))


def _value(value: Any) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False)
