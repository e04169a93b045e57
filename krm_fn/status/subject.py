"""A Dynamo resource as the status logic sees it: all that the syncer keeps of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import workload_list
from krm_fn.kube import identity, labels, values
from krm_fn.kube.identity import ObjectKey
from krm_fn.records import NamedTuple
from krm_fn.status import fields, forms

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_fn.kube.types import Resource
    from krm_fn.results import Path
    from krm_fn.status.forms import Form
    from krm_fn.workload_list import Entry

GRAPH, COMPONENT, ADAPTER = identity.GRAPH, identity.COMPONENT, identity.ADAPTER
UNREADABLE, REFUSED = "InvalidWorkloads", "ValidationFailed"
"""Reasons why a resource is not judged: its annotation cannot be read, or its spec breaks a rule."""
_BY_SYNCER = "sync"
_PLANNER = "planner"


class Planned(NamedTuple):
    """A service of a graph with a planner. `path` leads to it in the spec."""

    name: str
    replicas: int | None
    path: Path


class Subject(NamedTuple):
    """One graph, component or scaling adapter.

    `services` holds the services of a graph, `idle` those of them that have 0 replicas. `entries` is None if the resource has no annotation
    `workloads`. `wrong` says why the resource cannot be judged, and `reason` is then the reason of its conditions. `restart` is
    `spec.restart`, and `restart_by_syncer` is true if the syncer stamps the pod templates (annotation `dynamo.krm-fn.io/restart: sync`).
    `graph` and `service` are the graph and the service that a component or an adapter belongs to. `replicas` is an adapter's
    `spec.replicas`. `planned` has the services of a graph with their `replicas`, if one of them is a planner, which reads these numbers.
    `status` is the status as it is stored now.
    """

    key: ObjectKey
    generation: int
    services: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    entries: tuple[Entry, ...] | None = None
    wrong: str = ""
    reason: str = UNREADABLE
    restart: dict[str, Any] | None = None
    restart_by_syncer: bool = False
    graph: str = ""
    service: str = ""
    replicas: int | None = None
    planned: tuple[Planned, ...] = ()
    models: tuple[str, ...] = ()
    request: ObjectKey | None = None
    """The request that a graph was generated for, by its labels."""
    deleted: bool = False
    status: dict[str, Any] = {}
    form: Form = forms.OLDER
    """The names of the fields in the version of the resource."""

    @property
    def workloads(self) -> tuple[ObjectKey, ...]:
        """The keys of the workloads in the annotation."""
        return tuple(workload(entry, self.key.namespace) for entry in self.entries or ())


def read(resource: Resource, home: str = "") -> Subject:
    """Reads one Dynamo resource. `home` is the namespace of a resource without one. Never raises for what a user wrote."""
    spec, metadata = values.mapping(resource, "spec"), values.mapping(resource, "metadata")
    form = forms.of(resource)
    services = forms.components(spec, form)
    annotations = labels.notes(resource)
    entries, wrong = _entries(annotations.get(labels.WORKLOADS))
    graph, service = _place(resource, spec, form)
    restart = spec.get("restart")
    return Subject(
        identity.key(resource, home),
        fields.number(metadata.get("generation")) or 0,
        tuple(services),
        tuple(name for name, service in services.items() if values.mapping(service).get("replicas") == 0),
        entries,
        wrong,
        restart=restart if isinstance(restart, dict) else None,
        restart_by_syncer=annotations.get(labels.RESTART) == _BY_SYNCER,
        graph=graph,
        service=service,
        replicas=fields.number(spec.get("replicas")),
        planned=_planned(services, spec, form),
        models=_models([spec, *services.values()]),
        request=_request(resource),
        deleted="deletionTimestamp" in metadata,
        status=values.mapping(resource, "status"),
        form=form,
    )


def _planned(services: dict[str, Any], spec: dict[str, Any], form: Form) -> tuple[Planned, ...]:
    """The services with their `replicas`, if one of them is a planner."""
    if not any(values.mapping(service).get(form.type) == _PLANNER for service in services.values()):
        return ()
    places = forms.places(spec, form)
    return tuple(Planned(name, fields.number(values.mapping(services[name]).get("replicas")), path) for name, path in places)


def _request(resource: Resource) -> ObjectKey | None:
    name, namespace = fields.label(resource, labels.REQUEST_NAME), fields.label(resource, labels.REQUEST_NAMESPACE)
    return ObjectKey(identity.DYNAMO_GROUP, identity.REQUEST, namespace, name) if name and namespace else None


def _models(served: Iterable[Any]) -> tuple[str, ...]:
    """The base models in `modelRef`, each once."""
    found = (values.text(values.mapping(each, "modelRef").get("name")) for each in served)
    return tuple(dict.fromkeys(name for name in found if name))


def workload(entry: Entry, namespace: str) -> ObjectKey:
    """The key of a workload. An entry names no namespace: its object is always in the namespace of the graph."""
    return ObjectKey(entry.api_version.rpartition("/")[0], entry.kind, namespace, entry.name)


def _entries(annotation: Any) -> tuple[tuple[Entry, ...] | None, str]:
    """The entries of the annotation `workloads`, each once, and why they cannot be read."""
    if annotation is None:
        return None, ""
    try:
        found = workload_list.read(values.text(annotation))
    except ValueError as problem:
        told = f"the annotation {labels.WORKLOADS} cannot be read: {problem}"
        return None, f"{told}; render the graph again and apply the result as it is"
    return tuple(dict.fromkeys(_shared(entry) for entry in found)), ""


def _shared(entry: Entry) -> Entry:
    """An entry whose version and kind are in memory once."""
    return entry._replace(api_version=fields.shared(entry.api_version), kind=fields.shared(entry.kind))


def _place(resource: Resource, spec: dict[str, Any], form: Form) -> tuple[str, str]:
    """The graph and the service of an adapter, from its spec, or of a component, from its labels."""
    target = values.mapping(spec, "dgdRef")
    if target:
        return values.text(target.get("name")), values.text(target.get(form.target))
    if resource.get("kind") == GRAPH:
        return "", ""
    return fields.label(resource, labels.GRAPH), fields.label(resource, labels.COMPONENT) or values.text(spec.get(form.name))
