"""How equal a render is to the objects that an operator runs: each difference of an export with its cause."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from krm_fn import results
from krm_fn.kube import identity, labels
from krm_fn.kube.identity import ObjectKey
from krm_fn.kube.types import Resource
from krm_fn.kube.values import mapping
from krm_fn.records import NamedTuple
from krm_fn.resolve import release_choice
from krm_fn.results import Result
from krm_fn.review import adopt
from krm_fn.review.adopt import all_namespaces, exported_objects, inferred_settings, migration_files, unfinished_updates
from krm_fn.review.adopt.exported_objects import ExportedObjects
from krm_fn.review.diff import comparison, diff_report, live_states, rendered_state
from krm_fn.review.equality.difference_causes import Cause, CauseFinder
from krm_fn.review.live import cluster_export
from krm_fn.schema import object_changes
from krm_fn.schema.object_changes import ObjectChange

_BEHAVIOUR = "behaviour"


class Difference(NamedTuple):
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


class Equality(NamedTuple):
    """One namespace: the settings of the render, the numbers of objects and pod templates, those that are the same, and all differences.

    `findings` are the errors of the export and of the render, and warnings about settings that are not certain.
    """

    settings: Mapping[str, Any]
    objects: int = 0
    same_objects: int = 0
    templates: int = 0
    same_templates: int = 0
    differences: tuple[Difference, ...] = ()
    findings: tuple[Result, ...] = ()

    @property
    def is_explained(self) -> bool:
        """True if the namespace was compared, and each difference has a cause."""
        return not results.failed([*self.findings]) and all(difference.cause.kind != "unknown" for difference in self.differences)


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
    config = migration_files.settings(part.spec)
    rendered = rendered_state.render([*part.exported.written, *part.exported.accounts], config)
    namespace = part.exported.namespace
    in_namespace = [resource for resource in exported if results.ref(resource).namespace == namespace]
    states = live_states.states(cluster_export.Export(in_namespace, []), rendered)
    live = {identity.key(resource, namespace): resource for resource in in_namespace}
    differing = {difference.key.workload: difference for difference in verification.differences}
    rolling = {
        key: [field.path for field in unfinished_updates.in_progress(difference, part.exported)] for key, difference in differing.items()
    }

    @cache
    def other_releases() -> Mapping[str, Mapping[ObjectKey, Resource]]:
        return {release: _rendered({**part.spec, _BEHAVIOUR: release}, part.exported) for release in _others(part.spec)}

    owners = {identity.key(resource, namespace): _owners(resource, part.exported) for resource in part.exported.live}
    refused = {
        (finding.ref.kind, finding.ref.name): finding.code for finding in adoption.results if finding.ref and finding.severity == "error"
    }
    causes = CauseFinder(live, rolling, owners, refused, other_releases)
    pairs = [_without_marks(state.objects, namespace) for state in (states.old, states.new)]
    changes = object_changes.between_states(*pairs)
    only_live = [*dict.fromkeys((*adoption.leftovers, *_unrendered(part.exported, {*pairs[1]})))]
    differences = [difference for change in changes for difference in _differences(change, causes)]
    differences += [Difference(key, "", (), "exists", "", causes.of_live_object(key)) for key in only_live]
    different = {difference.key for difference in differences}
    total = len({*pairs[1], *only_live})
    findings = tuple(finding for finding in adoption.results if finding.code not in _SHOWN_AS_DIFFERENCES)
    return Equality(part.spec, total, total - len(different), verification.total, verification.same, tuple(differences), findings)


_SHOWN_AS_DIFFERENCES = ("DYN568", "DYN569", "DYN570")
"""The findings of an adoption about differences, which have causes here."""


def _others(spec: Mapping[str, Any]) -> list[str]:
    return [release for release in release_choice.RELEASES if release != spec.get(_BEHAVIOUR)]


def _rendered(spec: dict[str, Any], exported: ExportedObjects) -> dict[ObjectKey, Resource]:
    resources = inferred_settings.rendered(spec, exported).resources
    return {identity.key(resource, exported.namespace): resource for resource in resources}


def _without_marks(resources: Sequence[Resource], namespace: str) -> dict[ObjectKey, Resource]:
    """Returns objects without the marks by which operators and krm-fn know their objects."""
    return {identity.key(resource, namespace): _unmarked(resource) for resource in resources}


def _unmarked(resource: Resource) -> Resource:
    metadata = dict(mapping(resource.get("metadata")))
    kept = {
        "labels": {name: value for name, value in labels.of(resource).items() if name != labels.MANAGED_BY},
        "annotations": {name: value for name, value in labels.annotations(resource).items() if not name.startswith(labels.PREFIX)},
    }
    for name, entries in kept.items():
        if entries:
            metadata[name] = entries
        else:
            metadata.pop(name, None)
    return {**resource, "metadata": metadata}


def _owners(resource: Resource, exported: ExportedObjects) -> list[tuple[str, str]]:
    """Returns kind and name of the Dynamo resources of users that own a live object, also through a component of an operator."""
    owners = {kind: exported_objects.owner(resource, kind) for kind in (identity.GRAPH, identity.COMPONENT)}
    named = {(kind, name) for kind, name in owners.items() if name}
    components = (entry for entry in exported.exported if entry["kind"] == identity.COMPONENT)
    graphs = {component["metadata"]["name"]: exported_objects.owner(component, identity.GRAPH) for component in components}
    if graph := graphs.get(owners[identity.COMPONENT]) or labels.of(resource).get(labels.GRAPH):
        named.add((identity.GRAPH, f"{graph}"))
    written = {(entry["kind"], entry["metadata"]["name"]) for entry in exported.written}
    return sorted(named & written)


def _unrendered(exported: ExportedObjects, rendered: set[ObjectKey]) -> Iterator[ObjectKey]:
    """Yields the live objects that a Dynamo resource owns, and that the render does not make."""
    for resource in exported.live:
        key = identity.key(resource, exported.namespace)
        has_owner = any(exported_objects.owner(resource, kind) for kind in (identity.GRAPH, identity.COMPONENT))
        if key not in rendered and has_owner and _owners(resource, exported):
            yield key


def _differences(change: ObjectChange, causes: CauseFinder) -> Iterator[Difference]:
    if change.old is None:
        yield Difference(change.key, "", (), "", "exists", causes.of_rendered_object(change.key))
        return
    shown = comparison.without_secrets(change)
    for field, hidden in zip(change.fields, shown.fields, strict=True):
        name = diff_report.field_path(field)
        yield Difference(change.key, name, field.path, _value(hidden.old), _value(hidden.new), causes.of_field(change, field, name))


def _value(value: Any) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False)
