"""Rules of an API server about a pod that shares namespaces with its node, and about the names of hosts."""

from __future__ import annotations

from krm_fn.kubernetes.api_server import Rejection, ip_addresses, name_formats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.api_server.by_field import Context

    Fields = Mapping[str, Any]


_LONGEST_NAME = 64


def validate(spec: Fields, _context: Context) -> Iterator[Rejection]:
    """Yields the rejections of the fields about hosts."""
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        for rejection in _alias(alias):
            yield rejection.below("hostAliases", index)
    if spec.get("hostNetwork"):
        yield from _host_ports(spec)
    if spec.get("hostUsers") is False:
        yield from _user_namespace(spec)
    if spec.get("hostnameOverride") is not None:
        yield from _hostname(spec, spec["hostnameOverride"])
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        message = "a pod cannot share its process namespace and use that of the node; remove shareProcessNamespace or hostPID"
        yield Rejection("DYN232", ("shareProcessNamespace",), message)


def _alias(alias: Fields) -> Iterator[Rejection]:
    """Checks an alias (ValidateHostAliases)."""
    address = alias.get("ip") or ""
    if not ip_addresses.is_address(address):
        yield Rejection("DYN234", ("ip",), f"{address!r} is not an IP address; write the address of the host, for example 10.0.0.10")
    for index, name in enumerate(alias.get("hostnames") or ()):
        if not name_formats.DNS_SUBDOMAIN.fullmatch(name):
            message = f"{name!r} is not a valid name of a host; use lower-case letters, digits, dashes and dots"
            yield Rejection("DYN234", ("hostnames", index), message)


def _host_ports(spec: Fields) -> Iterator[Rejection]:
    """Checks that a container on the network of the node has the same port there (validatePodHostNetworkDeps). 0 is no port."""
    for index, container in enumerate(spec.get("containers") or ()):
        for position, port in enumerate(container.get("ports") or ()):
            number = port.get("hostPort")
            if number and number != port.get("containerPort"):
                message = (
                    f"hostPort is {number}, but with hostNetwork it must be the containerPort {port.get('containerPort')}; remove hostPort"
                )
                yield Rejection("DYN226", ("containers", index, "ports", position, "hostPort"), message)


def _user_namespace(spec: Fields) -> Iterator[Rejection]:
    """Checks a pod with a user namespace (validateHostUsers).

    A feature gate decides if it may use the network of the node, so `hostNetwork` is not checked.
    """
    for field in ("hostPID", "hostIPC"):
        if spec.get(field):
            yield Rejection("DYN232", (field,), f"{field} is not allowed with hostUsers: false; remove one of the two")
    for kind in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(kind) or ()):
            if container.get("volumeDevices"):
                message = "volumeDevices are not allowed with hostUsers: false; mount the volumes, or remove hostUsers"
                yield Rejection("DYN232", (kind, index, "volumeDevices"), message)


def _hostname(spec: Fields, name: str) -> Iterator[Rejection]:
    """Checks the name that replaces the host name of the pod (validatePodHostName)."""
    path = ("hostnameOverride",)
    for field in ("setHostnameAsFQDN", "hostNetwork"):
        if spec.get(field):
            yield Rejection("DYN232", path, f"hostnameOverride is not allowed with {field}: true; remove one of the two")
    if len(name) > _LONGEST_NAME or not name_formats.DNS_SUBDOMAIN.fullmatch(name):
        message = f"{name!r} is not a valid name of a host; use at most {_LONGEST_NAME} lower-case letters, digits, dashes and dots"
        yield Rejection("DYN202", path, message)
