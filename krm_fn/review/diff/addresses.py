"""Addresses under which clients reach graphs: names of Services, and hosts of ingresses and routes.

A client has the address of a frontend, or of an object that somebody wrote beside the graphs. Services of workers are left out: Dynamo
finds workers by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import values
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels
from krm_fn.render.manifests import ownership
from krm_fn.render.schema.object_changes import ObjectChange
from krm_fn.review.forecast import object_rules

_FRONTEND = "frontend"
_ANY_HOST = "*"
_REACHED_FROM_OUTSIDE = ("LoadBalancer", "NodePort")


class ChangedAddresses(NamedTuple):
    """The addresses that only the old state has, and those that only the new state has."""

    lost: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


def compare_addresses(changes: Iterable[ObjectChange]) -> ChangedAddresses:
    """Compares the addresses of both states. An address that moves to another object stays an address."""
    old, new = dict[str, None](), dict[str, None]()
    for change in changes:
        for resource, addresses in ((change.old, old), (change.new, new)):
            addresses.update(dict.fromkeys(of(change.key, resource) if resource else ()))
    return ChangedAddresses(tuple(name for name in old if name not in new), tuple(name for name in new if name not in old))


def of(key: ObjectKey, resource: Resource) -> Iterator[str]:
    """Yields the addresses that an object gives to clients: `NAME.NAMESPACE:PORT` of a Service, and the hosts of an ingress or a route."""
    reader = _READERS.get((key.group, key.kind))
    if reader:
        yield from reader(key, resource)


def _of_service(key: ObjectKey, resource: Resource) -> Iterator[str]:
    spec = object_rules.spec(resource)
    component_type = values.mapping(spec.get("selector")).get(labels.COMPONENT_TYPE)
    is_internal = ownership.is_generated(resource) and component_type not in (None, _FRONTEND)
    if is_internal and spec.get("type") not in _REACHED_FROM_OUTSIDE:
        return
    name = f"{key.name}.{key.namespace}"
    ports = [f"{name}:{port.get('port')}" for port in values.objects(spec.get("ports"))]
    yield from ports or [name]


def _of_ingress(_: ObjectKey, resource: Resource) -> Iterator[str]:
    for rule in values.objects(object_rules.spec(resource).get("rules")):
        yield f"{rule.get('host') or _ANY_HOST}"


def _of_hosts(name: str) -> Callable[[ObjectKey, Resource], Iterator[str]]:
    """Returns the reader of a list of hosts in the spec."""

    def read(_: ObjectKey, resource: Resource) -> Iterator[str]:
        hosts = object_rules.spec(resource).get(name)
        yield from (f"{host}" for host in (hosts if isinstance(hosts, list) else ()))

    return read


def _of_gateway(_: ObjectKey, resource: Resource) -> Iterator[str]:
    for listener in values.objects(object_rules.spec(resource).get("listeners")):
        if listener.get("hostname"):
            yield f"{listener['hostname']}"


def _of_openshift_route(_: ObjectKey, resource: Resource) -> Iterator[str]:
    if host := object_rules.spec(resource).get("host"):
        yield f"{host}"


_GATEWAY_API = "gateway.networking.k8s.io"
_READERS: dict[tuple[str, str], Callable[[ObjectKey, Resource], Iterator[str]]] = {
    ("", "Service"): _of_service,
    ("networking.k8s.io", "Ingress"): _of_ingress,
    ("networking.istio.io", "VirtualService"): _of_hosts("hosts"),
    ("route.openshift.io", "Route"): _of_openshift_route,
    (_GATEWAY_API, "Gateway"): _of_gateway,
    **{(_GATEWAY_API, kind): _of_hosts("hostnames") for kind in ("HTTPRoute", "GRPCRoute", "TLSRoute")},
}
"""The readers of addresses by group and kind."""
