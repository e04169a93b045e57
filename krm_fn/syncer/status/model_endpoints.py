"""Finds the pods behind a base model, as EndpointSlices list them.

Follows the operator's `internal/modelendpoint/discovery.go` ExtractCandidates.
"""

from __future__ import annotations

from collections.abc import Iterable

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import identity, values
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels
from krm_fn.syncer.status import live_fields
from krm_fn.syncer.status.replica_status import ReplicaStatus
from krm_fn.syncer.status.workload_index import WorkloadIndex

GROUP, KIND = "discovery.k8s.io", "EndpointSlice"
PORT = 9090
"""The port of a worker's API for adapters, in all releases of Dynamo. The ports in a slice do not count."""
_SERVICE = "kubernetes.io/service-name"


class SliceTarget(NamedTuple):
    """An address of a pod in a slice."""

    address: str
    pod: str
    ready: bool


class ModelSlice(NamedTuple):
    """An EndpointSlice. `model` is the hash of a base model in its label, `service` the Service that it belongs to, or empty."""

    key: ObjectKey
    model: str
    service: str
    targets: tuple[SliceTarget, ...]


class WorkerEndpoint(NamedTuple):
    """An address of a pod, as long as its containers run. An adapter that is loaded there is lost when a container restarts."""

    pod: str
    uid: str
    restarts: int
    address: str


class ModelEndpoint(NamedTuple):
    """An address of a base model in a slice. `worker` is None if the pod does not have the address; `problem` is then the reason."""

    address: str
    pod: str
    ready: bool
    worker: WorkerEndpoint | None = None
    problem: str = ""

    @property
    def url(self) -> str:
        """The URL of the worker's API."""
        return url(self.address)


def read(resource: Resource, default_namespace: str = "") -> ModelSlice:
    """Reads an EndpointSlice. `default_namespace` is that of a resource without one. Never raises for invalid fields.

    A target that is not a pod, or a pod of another namespace, is left out. `ready` is true if it is absent (Kubernetes'
    EndpointConditions).
    """
    key = identity.key(resource, default_namespace)
    targets = []
    for endpoint in values.objects(resource.get("endpoints")):
        ref, pod = values.mapping(endpoint, "targetRef"), values.text(values.mapping(endpoint, "targetRef").get("name"))
        if ref.get("kind") == "Pod" and pod and ref.get("namespace") in (None, "", key.namespace):
            ready = values.mapping(endpoint, "conditions").get("ready") is not False
            addresses = endpoint.get("addresses")
            texts = [text for text in addresses if isinstance(text, str)] if isinstance(addresses, list) else []
            targets += [SliceTarget(text, pod, ready) for text in texts]
    model, service = live_fields.label(resource, labels.BASE_MODEL_HASH), live_fields.label(resource, _SERVICE)
    return ModelSlice(key, model, service, tuple(targets))


def url(address: str) -> str:
    """Returns the URL of the API for adapters at an IP address.

    >>> url("10.0.0.5"), url("fd00::5")
    ('http://10.0.0.5:9090', 'http://[fd00::5]:9090')
    """
    return f"http://[{address}]:{PORT}" if ":" in address else f"http://{address}:{PORT}"


def services(slices: Iterable[ModelSlice]) -> set[str]:
    """Returns the names of the Services behind slices."""
    return {slice_.service for slice_ in slices if slice_.service}


def endpoints(slices: Iterable[ModelSlice], index: WorkloadIndex) -> list[ModelEndpoint]:
    """Lists the endpoints in slices, slice by slice in the order of their names, each pod and address once.

    A slice proves nothing, because every writer of slices can name any address. So the syncer calls an endpoint only if the pod itself has
    the address and the label, and runs. A pod that has ended keeps its address, which another pod may have by now.
    """
    listed: dict[tuple[str, str], ModelEndpoint] = {}
    for slice_ in sorted(slices, key=lambda slice_: slice_.key):
        for target in slice_.targets:
            before = listed.get((target.address, target.pod))
            ready = target.ready or (before is not None and before.ready)
            listed[target.address, target.pod] = _verify_endpoint(target._replace(ready=ready), slice_, index)
    return list(listed.values())


def worker_at(pod: ReplicaStatus, address: str) -> WorkerEndpoint | None:
    """Returns the endpoint of a pod at an address; None if the pod does not have the address, or has ended."""
    if pod.worker is None or address not in pod.worker.addresses:
        return None
    return WorkerEndpoint(pod.key.name, pod.worker.uid, pod.worker.restarts, address)


def still_runs(worker: WorkerEndpoint, namespace: str, index: WorkloadIndex) -> bool:
    """Returns True if the pod still runs at this endpoint."""
    pod = index.single(_pod(namespace, worker.pod))
    return pod is not None and worker_at(pod, worker.address) == worker


def _pod(namespace: str, name: str) -> ObjectKey:
    return ObjectKey("", "Pod", namespace, name)


def _verify_endpoint(target: SliceTarget, slice_: ModelSlice, index: WorkloadIndex) -> ModelEndpoint:
    pod = index.single(_pod(slice_.key.namespace, target.pod))
    if pod is None or pod.worker is None or pod.worker.model != slice_.model:
        return ModelEndpoint(*target, problem=f"no running pod of this name has the label {labels.BASE_MODEL_HASH}: {slice_.model}")
    worker = worker_at(pod, target.address)
    return ModelEndpoint(*target, worker, "" if worker else f"the pod does not have the address {target.address}")
