"""The rules of a forecast for one object: its types, and the rules for objects without pods, such as ConfigMaps and roles.

The rules for workloads are in `native_workloads`, `leader_worker_sets` and `podcliquesets`; `native_kinds` has the immutable fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import paths, references, stored_objects, values
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, labels
from krm_fn.render.schema.object_changes import ObjectChange
from krm_fn.review.forecast import native_kinds
from krm_fn.review.forecast.rollouts import Rollout, Service, Steps

Effect = Literal["same", "updated", "restarts", "created", "deleted", "refused", "unknown"]
"""The effect of a change on one object.

`same`: nothing. `updated`: the object changes, and its pods stay. `restarts`: the pods are replaced. `created` and `deleted`: the object
is in one state only. `refused`: the cluster refuses the change, so the object must be deleted and created again. `unknown`: krm-fn does not
know what the kind does with a change.
"""

MOST = 5000
"""The largest number of units that a simulation runs. A larger number in a file must not keep a review from ending."""

_DATA = (("", "ConfigMap"), ("", "Secret"))
_WITHOUT_PODS = (
    *(
        (dynamo_api.GROUP, kind)
        for kind in (dynamo_api.GRAPH, dynamo_api.COMPONENT, dynamo_api.ADAPTER, dynamo_api.REQUEST, dynamo_api.MODEL)
    ),
    *((dynamo_api.GROUP, kind) for kind in ("DynamoCheckpoint", "DynamoComponent", "DynamoWorkerMetadata")),
    *(("gateway.networking.k8s.io", "HTTPRoute"), ("gateway.networking.k8s.io", "GRPCRoute")),
    *(("inference.networking.k8s.io", ""), ("inference.networking.x-k8s.io", ""), ("networking.istio.io", ""), ("security.istio.io", "")),
    *(("keda.sh", "ScaledObject"), ("keda.sh", "TriggerAuthentication"), ("keda.sh", "ClusterTriggerAuthentication")),
    *(("monitoring.coreos.com", kind) for kind in ("PodMonitor", "PrometheusRule", "ServiceMonitor")),
    *(("scheduling.volcano.sh", ""), ("scheduling.run.ai", ""), ("scheduling.x-k8s.io", "PodGroup")),
    ("scheduling.k8s.io", "PodGroup"),
)
"""The kinds besides those of Kubernetes whose objects make no pods, by group and kind. An empty kind is every kind of the group."""


class ClusterState(NamedTuple):
    """The state of the cluster beside one object.

    `old_replicas` and `new_replicas` are the replicas that scaling adapters have for services in both states. `readers` are the services
    whose pods read a ConfigMap or a Secret, by the key of the object. `autoscaled` are the objects whose replicas something in the cluster
    owns.
    """

    old_replicas: Mapping[Service, int]
    new_replicas: Mapping[Service, int]
    readers: Mapping[ObjectKey, tuple[Service, ...]]
    autoscaled: frozenset[ObjectKey] = frozenset()


class KindForecast(NamedTuple):
    """The forecast for one object without its GPUs, and its rollouts, each with the service whose pods it has.

    `findings` are those of its kind. If the effect is `refused` and no error is among them, an API server refuses the change.
    """

    effect: Effect
    services: tuple[Service, ...] = ()
    restarting: tuple[Service, ...] = ()
    causes: tuple[Path, ...] = ()
    rollouts: tuple[Rollout, ...] = ()
    findings: tuple[Result, ...] = ()


class Choice(NamedTuple):
    """Other steps of a rollout, which need fewer GPUs: the advice that asks for them, and their cost."""

    steps: Steps
    advice: str
    cost: str


def forecast(change: ObjectChange, cluster_state: ClusterState) -> KindForecast:
    """Forecasts the change of an object without pods of its own."""
    states = differing_states(change)
    if states is None:
        return KindForecast(simple_effect(change))
    key = change.key
    if refused := native_kinds.refused_fields(key.group, key.kind, *states):
        return KindForecast("refused", causes=refused)
    if key[:2] in _DATA and _stored_data(states[0]) != _stored_data(states[1], states[0]):
        return KindForecast("updated", findings=tuple(_stale_readers(change, cluster_state)))
    is_known = key[:2] in native_kinds.KINDS or not {key[:2], (key.group, "")}.isdisjoint(_WITHOUT_PODS)
    return KindForecast("updated") if is_known else KindForecast("unknown", findings=(_unknown(change),))


def _stored_data(resource: Resource, before: Resource | None = None) -> list[Any]:
    """Returns the data of a ConfigMap or a Secret as an API server stores it. `before` is the object that it updates."""
    stored = stored_objects.of(resource, before)
    return [stored.get(name) for name in ("data", "binaryData")]


def _unknown(change: ObjectChange) -> Result:
    """Returns the finding about a changed object of a kind that krm-fn does not know."""
    message = f"krm-fn does not know the kind {change.key.kind} of {change.key.group}, so the effect of the change on pods is unknown"
    return results.info(codes.UNKNOWN_KIND_CHANGES, f"{message}; read the documentation of its controller", results.ref(change.new or {}))


def _stale_readers(change: ObjectChange, cluster_state: ClusterState) -> Iterator[Result]:
    """Names the services whose pods read a ConfigMap or Secret that changed."""
    services = cluster_state.readers.get(change.key, ())
    if services:
        names = ", ".join(service.name for service in services)
        message = f"the pods of {names} read the new values when they start again, because a change of a {change.key.kind} restarts no pod"
        yield results.warning(
            codes.CHANGE_RESTARTS_NO_PODS, f"{message}; restart them if they need the values at once", results.ref(change.new or {})
        )


def service_of_labels(metadata: Any, namespace: str) -> Service | None:
    """Returns the service that the labels of an object or a pod name; None without such labels.

    Labels of a standalone component name no graph.
    """
    pod_labels = values.mapping(metadata, "labels")
    name = pod_labels.get(labels.COMPONENT) or pod_labels.get(labels.SELECTOR)
    return Service(namespace, f"{pod_labels.get(labels.GRAPH) or ''}", name) if isinstance(name, str) else None


def service_of_workload(change: ObjectChange) -> Service | None:
    """Returns the service of a workload: the service of its labels, or the standalone component that owns it."""
    metadata = values.mapping((change.new or change.old or {}).get("metadata"))
    kind, _, name = f"{values.mapping(metadata.get('annotations')).get(labels.OWNER)}".partition("/")
    standalone = Service(change.key.namespace, "", name) if kind == dynamo_api.COMPONENT else None
    return service_of_labels(metadata, change.key.namespace) or standalone


def spec(resource: Resource | None) -> dict[str, Any]:
    """Returns the spec of a resource; an empty object without one."""
    return values.mapping((resource or {}).get("spec"))


def simple_effect(change: ObjectChange) -> Effect:
    """Returns the effect of a change that needs no rule of its kind: the object is new, was removed, or is the same in both states."""
    return "created" if change.old is None else "deleted" if change.new is None else "same"


def differing_states(change: ObjectChange) -> tuple[Resource, Resource] | None:
    """Returns both states of an object that differ; None if `simple_effect` has the effect."""
    return (change.old, change.new) if change.fields and change.old is not None and change.new is not None else None


def scalable_parts(resource: Resource, namespace: str) -> Iterator[tuple[Service | None, dict[str, Any]]]:
    """Yields the part of a workload that has its number of replicas, with its service. An object without pods has none."""
    written = spec(resource)
    if values.mapping(written.get("template")) or values.mapping(written.get("leaderWorkerTemplate")):
        yield service_of_labels(resource.get("metadata"), namespace), written


def present_fields(value: Any) -> dict[str, Any]:
    """Returns the fields of an object that are not null."""
    return {name: entry for name, entry in values.mapping(value).items() if entry is not None}


def replicas(resource: Resource | None, adapters: Mapping[Service, int], service: Service | None) -> int:
    """Replicas of an object: as written, else those of the scaling adapter of its service, else one. Zero without an object."""
    if resource is None:
        return 0
    return replica_count(spec(resource).get("replicas"), adapters.get(service, 1) if service else 1)


def dropped_replicas(change: ObjectChange, cluster_state: ClusterState) -> int:
    """Returns the number of replicas that stop because the change removes `replicas` from the file; 0 if another writer owns the number.

    An API server removes a field that nobody owns any more, and writes the default, which is 1 (server-side apply, and the patch of a
    client-side apply). An autoscaler or a scaling adapter scales the object only after that.
    """
    if change.old is None or change.new is None or change.key in cluster_state.autoscaled:
        return 0
    old_replicas, new_replicas = (spec(resource).get("replicas") for resource in (change.old, change.new))
    return replica_count(old_replicas, 1) - 1 if old_replicas and new_replicas is None else 0


def may_have_pods(resource: Resource | None) -> bool:
    """True unless an object has zero replicas in its own field. Without this field, something else scales it, so its pods are unknown."""
    return resource is not None and spec(resource).get("replicas") != 0


def replica_count(value: Any, default: int) -> int:
    """Returns a number of replicas, or the default if the field is missing. Larger numbers than any cluster runs count as `MOST`."""
    return max(0, min(value, MOST)) if isinstance(value, int) else default


def read_cluster_state(changes: Sequence[ObjectChange]) -> ClusterState:
    """Reads replicas of scaling adapters, readers of ConfigMaps and Secrets, and owners of replicas from both states of all objects."""
    old = [(change.key.namespace, change.old) for change in changes if change.old is not None]
    new = [(change.key.namespace, change.new) for change in changes if change.new is not None]
    autoscaled = frozenset(change.key for change in changes if _is_autoscaled(change.old))
    return ClusterState(adapter_replicas(old), adapter_replicas(new), readers(new), autoscaled)


def adapter_replicas(resources: Iterable[tuple[str, Resource]]) -> dict[Service, int]:
    """Returns the replicas that scaling adapters have for their services, as written. Each resource comes with its namespace."""
    numbers: dict[Service, int] = {}
    for namespace, resource in resources:
        if resource.get("kind") == dynamo_api.ADAPTER:
            service = service_of_labels(resource.get("metadata"), namespace)
            if service is not None:
                written = spec(resource)
                numbers[service] = replica_count(written.get("desiredReplicas", written.get("replicas")), 1)
    return numbers


def _is_autoscaled(resource: Resource | None) -> bool:
    """True if an autoscaler or another client owns the replicas of a live object, too: through its subresource `scale`, or by applying."""
    managers = values.objects(values.mapping((resource or {}).get("metadata")).get("managedFields"))
    owners = [entry for entry in managers if "f:replicas" in values.mapping(entry.get("fieldsV1"), "f:spec")]
    return len({entry.get("manager") for entry in owners}) > 1 or any(entry.get("subresource") == "scale" for entry in owners)


def readers(resources: Iterable[tuple[str, Resource]]) -> dict[ObjectKey, tuple[Service, ...]]:
    """Returns the services that read each ConfigMap and Secret. Each resource comes with its namespace."""
    services_by_object: dict[ObjectKey, dict[Service, None]] = {}
    for namespace, resource in resources:
        for service, pod_spec in _pod_specs(resource, namespace):
            for key in _read_objects(pod_spec, namespace):
                services_by_object.setdefault(key, {})[service] = None
    return {key: tuple(services) for key, services in services_by_object.items()}


def _pod_specs(resource: Resource, namespace: str) -> Iterator[tuple[Service, Any]]:
    """Yields the pod specs of a workload, each with its service."""
    for template in paths.POD_TEMPLATES:
        is_template = template.metadata[-1] == "metadata"  # the labels of a clique are fields of the clique itself
        parent = template.metadata[:-1] if is_template else template.metadata
        for _, holder in paths.find(resource, (parent,)):
            service = service_of_labels(values.mapping(holder).get("metadata") if is_template else holder, namespace)
            if service is not None:
                yield from ((service, pod_spec) for _, pod_spec in paths.find(holder, (template.spec[len(parent) :],)))


def _read_objects(pod_spec: Any, namespace: str) -> Iterator[ObjectKey]:
    """Yields the keys of the ConfigMaps and Secrets that a pod needs when it starts."""
    for reference in references.of_pod(pod_spec):
        if (reference.group, reference.kind) in _DATA:
            yield ObjectKey("", reference.kind, namespace, reference.name)
