"""The pods behind a base model, as EndpointSlices list them.

Follows the reference's `internal/modelendpoint/discovery.go` ExtractCandidates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import identity, labels, values
from krm_fn.kube.identity import ObjectKey
from krm_fn.records import NamedTuple
from krm_fn.status import fields

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_fn.kube.types import Resource
    from krm_fn.status.children import Children
    from krm_fn.status.observe import Observation

GROUP, KIND = "discovery.k8s.io", "EndpointSlice"
PORT = 9090
"""The port of a worker's API for adapters, in all releases of Dynamo. The ports in a slice do not count."""
_SERVICE = "kubernetes.io/service-name"


class Target(NamedTuple):
    """One address of a pod in a slice."""

    address: str
    pod: str
    ready: bool


class Slice(NamedTuple):
    """One EndpointSlice. `model` is the hash of a base model in its label, `service` the Service that it belongs to, or empty."""

    key: ObjectKey
    model: str
    service: str
    targets: tuple[Target, ...]


class Place(NamedTuple):
    """One address of one pod, as long as its containers run. An adapter that is loaded there is lost when a container restarts."""

    pod: str
    uid: str
    restarts: int
    address: str


class Endpoint(NamedTuple):
    """One address of a pod of a base model. `place` is None if the pod cannot be the one behind the address; `why` then says why."""

    address: str
    pod: str
    ready: bool
    place: Place | None = None
    why: str = ""

    @property
    def url(self) -> str:
        """The URL of the worker's API."""
        return url(self.address)


def read(resource: Resource, home: str = "") -> Slice:
    """Reads one EndpointSlice. `home` is the namespace of a resource without one. Never raises for what somebody wrote.

    A target that is no pod, or a pod of another namespace, is left out. `ready` is true if it is absent (Kubernetes' EndpointConditions).
    """
    key = identity.key(resource, home)
    found = []
    for each in values.objects(resource.get("endpoints")):
        target, pod = values.mapping(each, "targetRef"), values.text(values.mapping(each, "targetRef").get("name"))
        if target.get("kind") == "Pod" and pod and target.get("namespace") in (None, "", key.namespace):
            ready = values.mapping(each, "conditions").get("ready") is not False
            addresses = each.get("addresses")
            found += [Target(text, pod, ready) for text in addresses if isinstance(text, str)] if isinstance(addresses, list) else []
    return Slice(key, fields.label(resource, labels.BASE_MODEL_HASH), fields.label(resource, _SERVICE), tuple(found))


def url(address: str) -> str:
    """The URL of the API for adapters at an IP address.

    >>> url("10.0.0.5"), url("fd00::5")
    ('http://10.0.0.5:9090', 'http://[fd00::5]:9090')
    """
    return f"http://[{address}]:{PORT}" if ":" in address else f"http://{address}:{PORT}"


def services(slices: Iterable[Slice]) -> set[str]:
    """The names of the Services behind slices."""
    return {each.service for each in slices if each.service}


def listed(slices: Iterable[Slice], children: Children) -> list[Endpoint]:
    """The endpoints in slices, slice by slice in the order of their names, each pod and address once.

    A slice is no proof: who may write one can name any address. So an endpoint is only called if the pod itself has the address and the
    label, and still runs: a pod that has ended keeps an address that may belong to another pod by now.
    """
    found: dict[tuple[str, str], Endpoint] = {}
    for each in sorted(slices, key=lambda each: each.key):
        for target in each.targets:
            before = found.get((target.address, target.pod))
            ready = target.ready or (before is not None and before.ready)
            found[target.address, target.pod] = _checked(target._replace(ready=ready), each, children)
    return list(found.values())


def place(pod: Observation, address: str) -> Place | None:
    """The place of a pod at an address; None if the pod does not have the address, or has ended."""
    if pod.peer is None or address not in pod.peer.addresses:
        return None
    return Place(pod.key.name, pod.peer.uid, pod.peer.restarts, address)


def stands(found: Place, namespace: str, children: Children) -> bool:
    """True if the pod still runs in this place."""
    pod = children.alone(_pod(namespace, found.pod))
    return pod is not None and place(pod, found.address) == found


def _pod(namespace: str, name: str) -> ObjectKey:
    return ObjectKey("", "Pod", namespace, name)


def _checked(target: Target, own: Slice, children: Children) -> Endpoint:
    pod = children.alone(_pod(own.key.namespace, target.pod))
    if pod is None or pod.peer is None or pod.peer.model != own.model:
        return Endpoint(*target, why=f"no running pod of this name has the label {labels.BASE_MODEL_HASH}: {own.model}")
    found = place(pod, target.address)
    return Endpoint(*target, found, "" if found else f"the pod does not have the address {target.address}")
