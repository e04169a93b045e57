"""Models, EndpointSlices and pods of a base model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.render import labels, names
from krm_fn.syncer.status import SyncFeatures, cached_model, cached_object, model_status
from krm_fn.syncer.status.base_model_index import BaseModelIndex
from krm_fn.syncer.status.workload_index import WorkloadIndex
from tests.syncer.status import given

if TYPE_CHECKING:
    from krm_fn.syncer.status.cached_model import AdapterLoad
    from krm_fn.syncer.status.model_endpoints import WorkerEndpoint

BASE = "acme/tiny"
HASH = names.model_hash(BASE)
ALIKE = ("acme/tiny-83308", "acme/tiny-89280")
"""Two base models with the same hash."""
ON = SyncFeatures(models=True, loras=True)
TARGET = {"kind": "Pod", "namespace": "team-a"}


def model(name: str = "support", type_: str | None = "lora", base: str = BASE, **spec: Any) -> dict[str, Any]:
    """A model in generation 2. `metadata` and `status` go there, other fields into the spec; None leaves a field out."""
    metadata = {"name": name, "namespace": "team-a", "generation": 2, **spec.pop("metadata", {})}
    stored = {"status": spec.pop("status")} if "status" in spec else {}
    written = {"modelName": "support-v1", "baseModelName": base, "modelType": type_, "source": {"uri": "s3://models/support"}, **spec}
    kept = {key: value for key, value in written.items() if value is not None}
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": cached_model.KIND, "metadata": metadata, "spec": kept, **stored}


def slice_(*endpoints: Any, name: str = "s1", hash_: str = HASH, service: str = "dynamo-model") -> dict[str, Any]:
    """An EndpointSlice of a base model."""
    marks = {labels.BASE_MODEL_HASH: hash_, **({"kubernetes.io/service-name": service} if service else {})}
    metadata = {"name": name, "namespace": "team-a", "labels": marks}
    return {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": metadata, "endpoints": list(endpoints)}


def endpoint(pod: str, *addresses: str, ready: bool | None = True, **target: Any) -> dict[str, Any]:
    """An endpoint of a pod. Its address ends with the number at the end of the pod's name."""
    conditions = {} if ready is None else {"ready": ready}
    return {"addresses": list(addresses or [address(pod)]), "conditions": conditions, "targetRef": {**TARGET, "name": pod, **target}}


def address(pod: str) -> str:
    """The address of a pod that is called `w-5`: 10.0.0.5."""
    return f"10.0.0.{pod.rpartition('-')[2]}"


def worker(name: str, restarts: int = 0, hash_: str = HASH, phase: str = "Running", *addresses: str) -> dict[str, Any]:
    """A pod of a base model."""
    told = {
        "phase": phase,
        "podIPs": [{"ip": each} for each in addresses or [address(name)]],
        "containerStatuses": [{"name": "main", "restartCount": restarts}],
    }
    found = given.workload("Pod", name, told, marks={labels.BASE_MODEL_HASH: hash_})
    return {**found, "metadata": {**found["metadata"], "uid": f"uid-{name}"}}


def graph(*bases: str, name: str = "chat") -> dict[str, Any]:
    """A graph with a service for each base model."""
    services = {f"Worker{number}": {"modelRef": {"name": base}} for number, base in enumerate(bases)}
    metadata = {"name": name, "namespace": "team-a"}
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": cached_object.GRAPH, "metadata": metadata, "spec": {"services": services}}


def status(
    own: dict[str, Any],
    *around: dict[str, Any],
    loads: dict[WorkerEndpoint, AdapterLoad] | None = None,
    features: SyncFeatures = ON,
    now: str = given.NOW,
    settled: bool = True,
) -> dict[str, Any]:
    """The status of a model among other objects."""
    known = None if loads is None else cached_model.AdapterLoads(loads, settled)
    return model_status.of_model(cached_model.read(own), BaseModelIndex.of([own, *around]), WorkloadIndex.of(around), now, features, known)
