"""The fields of a graph, a component or a scaling adapter that the syncer caches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import identity, values
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, labels, workload_list
from krm_fn.render.workload_list import WorkloadEntry
from krm_fn.syncer.status import FIELD_MANAGER, live_fields, version_adapter
from krm_fn.syncer.status.version_adapter import PlannedComponent

GRAPH, COMPONENT, ADAPTER = dynamo_api.GRAPH, dynamo_api.COMPONENT, dynamo_api.ADAPTER
UNREADABLE, TOO_MANY, REJECTED = "InvalidWorkloads", "TooManyWorkloads", "ValidationFailed"
"""Reasons of a resource without a computed status: its annotation cannot be read or is too long, or its spec breaks a rule."""
_BY_SYNCER = "sync"
_PLANNER, _FRONTEND = "planner", "frontend"


class CachedObject(NamedTuple):
    """A graph, a component or a scaling adapter.

    `components` holds the components of a graph, `idle` those of them that have 0 replicas. `entries` is None if the resource has no
    annotation `workloads`. `problem` is the reason why no status can be computed, and `reason` is then the reason of its conditions.
    `restart` is `spec.restart`, and `restart_by_syncer` is true if the syncer annotates the pod templates (annotation
    `dynamo.krm-fn.io/restart: sync`). `graph` and `component` are those that a component or an adapter belongs to. `replicas` is the
    desired number of an adapter, and None until it has one. `is_initialized` is false if the syncer has to write it to `spec.replicas`.
    `owners` are the owner references of an adapter. `autoscaled` has the components of a graph whose replicas an adapter sets, with the
    number of the graph. `planned` has the components of a graph with their `replicas`, if one of them is a planner, which reads these
    counts. `status` is the stored status, in `version`.
    """

    key: ObjectKey
    generation: int
    components: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    entries: tuple[WorkloadEntry, ...] | None = None
    problem: str = ""
    reason: str = UNREADABLE
    restart: dict[str, Any] | None = None
    restart_by_syncer: bool = False
    graph: str = ""
    component: str = ""
    replicas: int | None = None
    is_initialized: bool = False
    owners: tuple[dict[str, Any], ...] = ()
    autoscaled: tuple[tuple[str, int], ...] = ()
    planned: tuple[PlannedComponent, ...] = ()
    frontends: tuple[str, ...] = ()
    """The components of a graph that clients reach through a Service."""
    models: tuple[str, ...] = ()
    request: ObjectKey | None = None
    """The request that a graph was generated for, by its labels."""
    deleted: bool = False
    status_by_syncer: bool = False
    """True if the syncer was the last that wrote the status, by the field managers."""
    status: dict[str, Any] = {}
    version: str = dynamo_api.ALPHA1

    @property
    def workloads(self) -> tuple[ObjectKey, ...]:
        """The keys of the workloads in the annotation."""
        return tuple(workload_key(entry, self.key.namespace) for entry in self.entries or ())

    def entries_by_service(self) -> dict[str, list[WorkloadEntry]]:
        """Groups the entries of the annotation by their component."""
        grouped: dict[str, list[WorkloadEntry]] = {}
        for entry in self.entries or ():
            grouped.setdefault(entry.service, []).append(entry)
        return grouped


def read(resource: Resource, default_namespace: str = "") -> CachedObject:
    """Reads a Dynamo resource. `default_namespace` is that of a resource without one. Never raises for what a user wrote."""
    spec, metadata = version_adapter.hub_spec(resource), values.mapping(resource, "metadata")
    components = _components(spec)
    annotations = labels.annotations(resource)
    entries, problem, reason = _entries(annotations.get(labels.WORKLOADS))
    graph, component = _membership(resource, spec)
    restart = spec.get("restart")
    replicas, is_initialized = _adapter_replicas(spec, metadata)
    return CachedObject(
        identity.key(resource, default_namespace),
        live_fields.whole_number(metadata.get("generation")) or 0,
        tuple(components),
        tuple(name for name, fields in components.items() if fields.get("replicas") == 0),
        entries,
        problem,
        reason,
        restart=restart if isinstance(restart, dict) else None,
        restart_by_syncer=annotations.get(labels.RESTART) == _BY_SYNCER,
        graph=graph,
        component=component,
        replicas=replicas,
        is_initialized=is_initialized,
        owners=tuple(values.objects(metadata.get("ownerReferences"))) if resource.get("kind") == ADAPTER else (),
        autoscaled=_autoscaled_replicas(components, entries or ()),
        planned=_planned_components(components, spec),
        frontends=tuple(name for name, fields in components.items() if fields.get("type") == _FRONTEND),
        models=_models([spec, *components.values()]),
        request=_request(resource),
        deleted="deletionTimestamp" in metadata,
        status_by_syncer=_status_by_syncer(metadata),
        status=values.mapping(resource, "status"),
        version=version_adapter.version_of(resource),
    )


def workload_key(entry: WorkloadEntry, namespace: str) -> ObjectKey:
    """Returns the key of a workload. An entry has no namespace: its object is always in the namespace of the graph."""
    return ObjectKey(entry.api_version.rpartition("/")[0], entry.kind, namespace, entry.name)


def _components(spec: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Reads the components of a graph by name, in the order of the spec."""
    listed = values.objects(spec.get("components"))
    return {name: component for component in listed if (name := values.text(component.get("name")))}


def _adapter_replicas(spec: dict[str, Any], metadata: dict[str, Any]) -> tuple[int | None, bool]:
    """Reads the desired number of an adapter; None if it has none. Returns false with it if `spec.replicas` does not hold it yet.

    An adapter of an earlier version has the number of Git in `spec.replicas`, and its own in `spec.desiredReplicas`. While a file still
    sets the former, the latter counts. After an autoscaler has written the former, or no file has it any more, one number is left.
    """
    replicas, desired = (live_fields.whole_number(spec.get(field)) for field in ("replicas", "desiredReplicas"))
    if desired is None:
        return replicas, replicas is not None
    if replicas is None:
        return desired, False
    return (replicas, False) if _is_scaled(metadata) else (desired, True)


def _is_scaled(metadata: dict[str, Any]) -> bool:
    """True if the last writer of `spec.replicas` scaled the adapter. One that applies a file writes the whole object."""
    entries = values.objects(metadata.get("managedFields"))
    writers = [entry for entry in entries if "f:replicas" in values.mapping(entry, "fieldsV1", "f:spec")]
    return bool(writers) and all(entry.get("subresource") == "scale" for entry in writers)


def _autoscaled_replicas(components: dict[str, dict[str, Any]], entries: Iterable[WorkloadEntry]) -> tuple[tuple[str, int], ...]:
    """Reads the replicas of the components whose workloads have none in Git."""
    services = dict.fromkeys(entry.service for entry in entries if entry.replicas is None)
    return tuple((name, live_fields.desired_replicas(components[name])) for name in services if name in components)


def _planned_components(components: dict[str, dict[str, Any]], spec: dict[str, Any]) -> tuple[PlannedComponent, ...]:
    """Reads the components with their `replicas`, if one of them is a planner."""
    if not any(component.get("type") == _PLANNER for component in components.values()):
        return ()
    names = [values.text(values.mapping(component).get("name")) for component in spec["components"]]
    replicas = {name: live_fields.whole_number(component.get("replicas")) for name, component in components.items()}
    return tuple(PlannedComponent(name, replicas[name], index) for index, name in enumerate(names) if name)


def _request(resource: Resource) -> ObjectKey | None:
    name, namespace = live_fields.label(resource, labels.REQUEST_NAME), live_fields.label(resource, labels.REQUEST_NAMESPACE)
    return ObjectKey(dynamo_api.GROUP, dynamo_api.REQUEST, namespace, name) if name and namespace else None


def _status_by_syncer(metadata: dict[str, Any]) -> bool:
    """Compares the times of the field managers of the status, which are whole seconds."""
    times: dict[bool, str] = {}
    for entry in values.objects(metadata.get("managedFields")):
        if entry.get("subresource") == "status":
            is_ours = entry.get("manager") == FIELD_MANAGER
            times[is_ours] = max(times.get(is_ours, ""), values.text(entry.get("time")))
    return times.get(True, "") > times.get(False, "")


def _models(specs: Iterable[dict[str, Any]]) -> tuple[str, ...]:
    """Lists the base models in `modelRef`, each once."""
    names = (values.text(values.mapping(spec, "modelRef").get("name")) for spec in specs)
    return tuple(dict.fromkeys(name for name in names if name))


def _entries(annotation: Any) -> tuple[tuple[WorkloadEntry, ...] | None, str, str]:
    """Reads the entries of the annotation `workloads`, each once, or why they cannot be read, with the reason of the conditions."""
    if annotation is None:
        return None, "", UNREADABLE
    try:
        entries = workload_list.read(values.text(annotation))
    except workload_list.TooManyWorkloadsError as error:
        return None, f"the annotation {labels.WORKLOADS} cannot be read: {error}", TOO_MANY
    except ValueError as error:
        problem = f"the annotation {labels.WORKLOADS} cannot be read: {error}"
        return None, f"{problem}; render the graph again and apply the result as it is", UNREADABLE
    return tuple(dict.fromkeys(_intern_entry(entry) for entry in entries)), "", UNREADABLE


def _intern_entry(entry: WorkloadEntry) -> WorkloadEntry:
    """Returns an entry whose version and kind are in memory once."""
    return entry._replace(api_version=live_fields.intern_text(entry.api_version), kind=live_fields.intern_text(entry.kind))


def _membership(resource: Resource, spec: dict[str, Any]) -> tuple[str, str]:
    """Reads the graph and the component of an adapter, from its spec, or of a component, from its labels."""
    target = values.mapping(spec, "dgdRef")
    if target:
        return values.text(target.get("name")), values.text(target.get("componentName"))
    if resource.get("kind") == GRAPH:
        return "", ""
    component = live_fields.label(resource, labels.COMPONENT) or values.text(spec.get("name"))
    return live_fields.label(resource, labels.GRAPH), component
