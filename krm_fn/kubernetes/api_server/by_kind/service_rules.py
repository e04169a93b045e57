"""Rules of an API server about Services.

Follows validateService of `pkg/apis/core/validation/validation.go`. Addresses and node ports of the cluster are not checked.
"""

from __future__ import annotations

from krm_fn.kubernetes.api_server import name_formats, networks, object_meta, rejections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from krm_fn.kubernetes.api_server.rejections import Rejection
    from krm_fn.kubernetes.types import Resource

    Fields = Mapping[str, Any]

_CLUSTER, _NODE, _BALANCED, _EXTERNAL = "ClusterIP", "NodePort", "LoadBalancer", "ExternalName"
_HINTS, _MODE = "service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode"
_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"
_LONGEST_AFFINITY = 86400  # seconds
_DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")
_HEADLESS = "None"


def validate(service: Resource) -> Iterator[Rejection]:
    """Yields the rejections of a Service (validateService)."""
    spec: Fields = service.get("spec") or {}
    annotations: Fields = (service.get("metadata") or {}).get("annotations") or {}
    if _MODE in annotations and _HINTS in annotations and annotations[_MODE] != annotations[_HINTS]:
        problem = f"the annotation differs from {_HINTS}"
        yield rejections.conflict(("metadata", "annotations", _MODE), problem, "write the same value, or remove the older annotation")
    for rejection in _spec(spec, spec.get("type") or _CLUSTER):
        yield rejection.below("spec")
    if not spec.get("loadBalancerSourceRanges") and _RANGES in annotations:
        yield from _ranges_annotation(annotations[_RANGES], spec)


def _spec(spec: Fields, kind: str) -> Iterator[Rejection]:
    headless = _addresses_of(spec) == [_HEADLESS]
    ports = spec.get("ports") or ()
    if not ports and not headless and kind != _EXTERNAL:
        yield rejections.required_field(("ports",), "a port")
    if headless and kind in (_BALANCED, _NODE):
        yield rejections.conflict(("clusterIP",), f"a Service of the type {kind} cannot be headless", "remove clusterIP: None, or the type")
    yield from _ports(ports, kind)
    for rejection in name_formats.validate_labels(spec.get("selector") or {}):
        yield rejection.below("selector")
    yield from _external_name(spec) if kind == _EXTERNAL else _addresses(spec)
    yield from _affinity(spec)
    yield from _external_addresses(spec.get("externalIPs") or ())
    yield from _balancer(spec, kind)
    yield from _traffic(spec, kind)


def _addresses_of(spec: Fields) -> list[str]:
    """Returns the addresses of a Service. The server copies a single clusterIP to clusterIPs (normalizeClusterIPs)."""
    address = spec.get("clusterIP")
    return list(spec.get("clusterIPs") or ()) or ([address] if address else [])


def _external_name(spec: Fields) -> Iterator[Rejection]:
    """Checks a name outside of the cluster, which may end with a dot."""
    if _addresses_of(spec):
        yield rejections.conflict(("clusterIP",), "a Service of the type ExternalName has no address", "remove clusterIP and clusterIPs")
    for field in ("ipFamilies", "ipFamilyPolicy"):
        if spec.get(field):
            yield rejections.conflict((field,), f"a Service of the type ExternalName has no {field}", "remove it")
    name = (spec.get("externalName") or "").removesuffix(".")
    if not name:
        yield rejections.required_field(("externalName",), "externalName")
    elif not object_meta.is_subdomain(name):
        yield rejections.bad_name(name, ("externalName",))


def _addresses(spec: Fields) -> Iterator[Rejection]:
    """Checks addresses in the cluster (ValidateServiceClusterIPsRelatedFields)."""
    addresses, first = _addresses_of(spec), spec.get("clusterIP") or ""
    if addresses and addresses[0] != first:
        yield rejections.conflict(("clusterIPs",), "the first entry differs from clusterIP", "write the same address in both")
    if addresses[:1] == [_HEADLESS] and len(addresses) > 1:
        yield rejections.conflict(("clusterIPs",), "a headless Service has no other address", "write None alone")
        return
    for index, address in enumerate(addresses):
        if not (index == 0 and address == _HEADLESS) and not networks.is_address(address):
            yield rejections.malformed_text(address, ("clusterIPs", index) if spec.get("clusterIPs") else ("clusterIP",), "an IP address")
    versions = [":" in address for address in addresses]
    if len(addresses) > 1 and sorted(versions) != [False, True]:
        yield rejections.conflict(("clusterIPs",), "a Service has at most one address of each family", "remove the others")
    families = spec.get("ipFamilies") or ()
    for index, family in enumerate(families):
        if family in families[:index]:
            yield rejections.twice(family, ("ipFamilies", index))
        if not family:
            yield rejections.unknown(family, ("IPv4", "IPv6"), ("ipFamilies", index))
    if spec.get("ipFamilyPolicy") == "":
        yield rejections.unknown("", ("SingleStack", "PreferDualStack", "RequireDualStack"), ("ipFamilyPolicy",))


def _ports(ports: Sequence[Fields], kind: str) -> Iterator[Rejection]:
    """Checks the ports (validateServicePort). Each name, and each pair of port and protocol, must be unique."""
    names: set[str] = set()
    listeners: set[Any] = set()
    node_ports: set[Any] = set()
    for index, port in enumerate(ports):
        name, protocol, node_port = port.get("name") or "", port.get("protocol") or "TCP", port.get("nodePort") or 0
        for rejection in _port(port, name, named=len(ports) > 1):
            yield rejection.below("ports", index)
        if name and name in names:
            yield rejections.twice(f"the port name {name}", ("ports", index, "name"))
        if (port.get("port"), protocol) in listeners:
            yield rejections.twice(f"the port {port.get('port')}", ("ports", index, "port"))
        if node_port and kind == _CLUSTER:
            yield rejections.conflict(("ports", index, "nodePort"), "a Service of the type ClusterIP has no node ports", "remove it")
        if node_port and (node_port, protocol) in node_ports:
            yield rejections.twice(f"the node port {node_port}", ("ports", index, "nodePort"))
        names.add(name)
        listeners.add((port.get("port"), protocol))
        node_ports.add((node_port, protocol))


def _port(port: Fields, name: str, *, named: bool) -> Iterator[Rejection]:
    if name and not object_meta.is_label(name):
        yield rejections.bad_name(name, ("name",), "lower-case letters, digits and dashes")
    elif named and not name:
        yield rejections.required_field(("name",), "the name of each of several ports")
    number, target, protocol = port.get("port") or 0, port.get("targetPort"), port.get("appProtocol")
    if not 0 < number <= 65535:
        yield rejections.out_of_range(number, ("port",), 1, 65535)
    if isinstance(target, int) and target and not 0 < target <= 65535:
        yield rejections.out_of_range(target, ("targetPort",), 1, 65535)
    elif isinstance(target, str) and target and not name_formats.PORT_NAME.fullmatch(target):
        yield rejections.bad_name(target, ("targetPort",), "the number of a port, or its name with at most 15 characters")
    if protocol is not None and not name_formats.is_qualified(protocol):
        yield rejections.bad_name(protocol, ("appProtocol",), "a name such as http, or domain/name")


def _affinity(spec: Fields) -> Iterator[Rejection]:
    """Checks session affinity (validateClientIPAffinityConfig). Without affinity, the server drops its configuration."""
    seconds = ((spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}).get("timeoutSeconds")
    if spec.get("sessionAffinity") == "ClientIP" and seconds is not None and not 0 < seconds <= _LONGEST_AFFINITY:
        yield rejections.out_of_range(seconds, ("sessionAffinityConfig", "clientIP", "timeoutSeconds"), 1, _LONGEST_AFFINITY)


def _external_addresses(addresses: Sequence[str]) -> Iterator[Rejection]:
    """Checks addresses outside of the cluster (ValidateEndpointIP)."""
    for index, address in enumerate(addresses):
        if not networks.is_address(address):
            yield rejections.malformed_text(address, ("externalIPs", index), "an IP address")
        elif networks.is_special(address):
            yield rejections.malformed_text(address, ("externalIPs", index), "an address that other machines can reach")


def _balancer(spec: Fields, kind: str) -> Iterator[Rejection]:
    """Checks the fields that only a load balancer has (validateLoadBalancerClassField)."""
    balanced, name = kind == _BALANCED, spec.get("loadBalancerClass")
    for field in ("allocateLoadBalancerNodePorts", "loadBalancerClass", "loadBalancerSourceRanges"):
        if not balanced and spec.get(field) is not None and spec[field] != []:
            yield rejections.conflict(
                (field,), f"only a Service of the type {_BALANCED} has {field}", f"remove it, or write type: {_BALANCED}"
            )
    if balanced and name is not None and not name_formats.is_qualified(name):
        yield rejections.bad_name(name, ("loadBalancerClass",), "a name, or domain/name")
    for index, network in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        if not networks.is_network(network.strip()):
            yield rejections.malformed_text(network, ("loadBalancerSourceRanges", index), "a network such as 10.0.0.0/8")


def _ranges_annotation(text: str, spec: Fields) -> Iterator[Rejection]:
    """Checks the annotation that the field `loadBalancerSourceRanges` replaces."""
    path = ("metadata", "annotations", _RANGES)
    if spec.get("type") != _BALANCED:
        yield rejections.conflict(path, f"only a Service of the type {_BALANCED} has source ranges", "remove the annotation")
    for network in text.split(",") if text.strip() else ():
        if not networks.is_network(network.strip()):
            yield rejections.malformed_text(network.strip(), path, "a network such as 10.0.0.0/8")


def _traffic(spec: Fields, kind: str) -> Iterator[Rejection]:
    """Checks where traffic may go (validateServiceExternalTrafficPolicy, validateServiceTrafficDistribution)."""
    policy, distribution = spec.get("externalTrafficPolicy"), spec.get("trafficDistribution")
    external = kind in (_NODE, _BALANCED) or (kind == _CLUSTER and bool(spec.get("externalIPs")))
    if policy and not external:
        problem = "only a Service that is reachable from outside has externalTrafficPolicy"
        yield rejections.conflict(("externalTrafficPolicy",), problem, "remove it, or write type: NodePort or type: LoadBalancer")
    checked = kind == _BALANCED and policy == "Local"
    if spec.get("healthCheckNodePort") and not checked:
        problem = "only a LoadBalancer with externalTrafficPolicy: Local has healthCheckNodePort"
        yield rejections.conflict(("healthCheckNodePort",), problem, "remove it")
    if spec.get("internalTrafficPolicy") == "":
        yield rejections.unknown("", ("Cluster", "Local"), ("internalTrafficPolicy",))
    if distribution is not None and distribution not in _DISTRIBUTIONS:
        yield rejections.unknown(distribution, _DISTRIBUTIONS, ("trafficDistribution",))
