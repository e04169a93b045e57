"""Models, pods and EndpointSlices in a namespace of a real control plane, and what their statuses say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.render import labels, names
from tests.testbed.place import Object, conditions

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.testbed.place import Place

MODEL = "DynamoModel"
BASE = "acme/tiny"
URI = "s3://models/support"
CLOSED = "192.0.2.200"
"""The address of a pod whose port is closed."""


def put(place: Place, resource: Object) -> None:
    """Apply one object, without kubectl."""
    answer = place.plane.apply(resource, dry_run=False)
    assert answer.ok, answer.message


def model(place: Place, name: str = "support", type_: str = "lora", base: str = BASE, uri: str = URI, **spec: Any) -> None:
    """A model."""
    written = {"modelName": f"{name}-v1", "baseModelName": base, "modelType": type_, "source": {"uri": uri}, **spec}
    metadata = {"name": name, "namespace": place.namespace}
    put(place, {"apiVersion": "nvidia.com/v1alpha1", "kind": MODEL, "metadata": metadata, "spec": written})


def pod(place: Place, name: str, *addresses: str, base: str = BASE, restarts: int = 0) -> None:
    """A pod with these addresses that runs, and that the fake kubelet leaves alone."""
    metadata = {"name": name, "namespace": place.namespace, "labels": {labels.BASE_MODEL_HASH: names.model_hash(base)} if base else {}}
    spec = {"containers": [{"name": "main", "image": "worker:Untouched"}]}
    put(place, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    running(place, name, *addresses, restarts=restarts)


def running(place: Place, name: str, *addresses: str, restarts: int = 0) -> None:
    """What a kubelet tells about that pod."""
    status = {"name": "main", "image": "worker:1", "imageID": "", "restartCount": restarts, "ready": True, "state": {"running": {}}}
    told = {"phase": "Running", "podIP": addresses[0], "podIPs": [{"ip": each} for each in addresses], "containerStatuses": [status]}
    place.patch("Pod", name, {"status": told}, "/status")


def listed(place: Place, *endpoints: Object, base: str = BASE, name: str = "s1") -> None:
    """An EndpointSlice of a base model."""
    marks = {labels.BASE_MODEL_HASH: names.model_hash(base), "kubernetes.io/service-name": "workers"}
    metadata = {"name": name, "namespace": place.namespace, "labels": marks}
    own = {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": metadata}
    put(place, {**own, "addressType": "IPv4", "endpoints": list(endpoints), "ports": []})


def endpoint(place: Place, pod: str, address: str, **target: str) -> Object:
    """An endpoint of a pod."""
    return {"addresses": [address], "targetRef": {"kind": "Pod", "name": pod, "namespace": place.namespace, **target}}


def serves(place: Place, address: str, name: str = "w-1", base: str = BASE) -> None:
    """A pod with an address in an EndpointSlice."""
    pod(place, name, address, base=base)
    listed(place, endpoint(place, name, address), base=base)


def is_(type_: str, reason: str) -> Callable[[Object], bool]:
    """True for a status whose condition has this reason."""
    return lambda status: bool(conditions(status).get(type_, {}).get("reason") == reason)


READY = is_("Ready", "AllEndpointsReady")


def events(place: Place, reason: str) -> list[str]:
    """The notes of the events about models with this reason. A graph has events of its own, some with the same reason."""
    found = place.plane.client.get(f"/apis/events.k8s.io/v1/namespaces/{place.namespace}/events")["items"]
    return [each["note"] for each in found if each["reason"] == reason and each["regarding"]["kind"] == MODEL]


def gone(place: Place, name: str = "support") -> bool:
    """True if the model does not exist any more."""
    return place.plane.client.request("GET", place.path(MODEL, name)).status == 404


def post(name: str = "support-v1", uri: str = URI) -> str:
    """How `Workers.done` tells that an adapter was loaded."""
    return f"POST {name} {uri}"
