"""Rules of an API server about the network of a pod: namespaces that it shares with its node, names of hosts, and DNS."""

from __future__ import annotations

import re

from krm_fn.base import codes
from krm_fn.kubernetes.api_server import name_formats, networks
from krm_fn.kubernetes.api_server.rejections import Rejection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from krm_fn.kubernetes.api_server.by_field import Context

    Fields = Mapping[str, Any]


_LONGEST_NAME = 64


def validate_host(spec: Fields, _context: Context) -> Iterator[Rejection]:
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
        yield Rejection(codes.FIELDS_NOT_ALLOWED_TOGETHER, ("shareProcessNamespace",), message)


def _alias(alias: Fields) -> Iterator[Rejection]:
    """Checks an alias (ValidateHostAliases)."""
    address = alias.get("ip") or ""
    if not networks.is_address(address):
        yield Rejection(
            codes.INVALID_ADDRESS, ("ip",), f"{address!r} is not an IP address; write the address of the host, for example 10.0.0.10"
        )
    for index, name in enumerate(alias.get("hostnames") or ()):
        if not name_formats.DNS_SUBDOMAIN.fullmatch(name):
            message = f"{name!r} is not a valid name of a host; use lower-case letters, digits, dashes and dots"
            yield Rejection(codes.INVALID_ADDRESS, ("hostnames", index), message)


def _host_ports(spec: Fields) -> Iterator[Rejection]:
    """Checks that a container on the network of the node has the same port there (validatePodHostNetworkDeps). 0 is no port."""
    for index, container in enumerate(spec.get("containers") or ()):
        for position, port in enumerate(container.get("ports") or ()):
            number = port.get("hostPort")
            if number and number != port.get("containerPort"):
                message = (
                    f"hostPort is {number}, but with hostNetwork it must be the containerPort {port.get('containerPort')}; remove hostPort"
                )
                yield Rejection(codes.NUMBER_NOT_ALLOWED, ("containers", index, "ports", position, "hostPort"), message)


def _user_namespace(spec: Fields) -> Iterator[Rejection]:
    """Checks a pod with a user namespace (validateHostUsers).

    A feature gate decides if it may use the network of the node, so `hostNetwork` is not checked.
    """
    for field in ("hostPID", "hostIPC"):
        if spec.get(field):
            yield Rejection(
                codes.FIELDS_NOT_ALLOWED_TOGETHER, (field,), f"{field} is not allowed with hostUsers: false; remove one of the two"
            )
    for kind in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(kind) or ()):
            if container.get("volumeDevices"):
                message = "volumeDevices are not allowed with hostUsers: false; mount the volumes, or remove hostUsers"
                yield Rejection(codes.FIELDS_NOT_ALLOWED_TOGETHER, (kind, index, "volumeDevices"), message)


def _hostname(spec: Fields, name: str) -> Iterator[Rejection]:
    """Checks the name that replaces the host name of the pod (validatePodHostName)."""
    path = ("hostnameOverride",)
    for field in ("setHostnameAsFQDN", "hostNetwork"):
        if spec.get(field):
            yield Rejection(
                codes.FIELDS_NOT_ALLOWED_TOGETHER, path, f"hostnameOverride is not allowed with {field}: true; remove one of the two"
            )
    if len(name) > _LONGEST_NAME or not name_formats.DNS_SUBDOMAIN.fullmatch(name):
        message = f"{name!r} is not a valid name of a host; use at most {_LONGEST_NAME} lower-case letters, digits, dashes and dots"
        yield Rejection(codes.INVALID_NAME_IN_POD, path, message)


_MOST_SERVERS, _MOST_DOMAINS, _LONGEST_LIST = 3, 32, 2048
_LABEL = r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_DOMAIN = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(\.{_LABEL})*")


def validate_dns(spec: Mapping[str, Any], _context: Context) -> Iterator[Rejection]:
    """Yields the rejections of `dnsPolicy` and `dnsConfig` (validatePodDNSConfig)."""
    config = spec.get("dnsConfig") or {}
    servers = config.get("nameservers") or ()
    if spec.get("dnsPolicy") == "None" and not servers:
        message = "a name server is required with dnsPolicy: None; name a server, or remove the policy"
        yield Rejection(codes.EMPTY_REQUIRED_FIELD, ("dnsConfig", "nameservers"), message)
    if len(servers) > _MOST_SERVERS:
        message = f"{len(servers)} name servers are listed, but at most {_MOST_SERVERS} are allowed; remove the others"
        yield Rejection(codes.TOO_MANY_ENTRIES, ("dnsConfig", "nameservers"), message)
    for index, server in enumerate(servers):
        if not networks.is_address(server):
            message = f"{server!r} is not an IP address; write the address of the name server, for example 10.0.0.10"
            yield Rejection(codes.INVALID_ADDRESS, ("dnsConfig", "nameservers", index), message)
    yield from _searches(config.get("searches") or ())
    for index, option in enumerate(config.get("options") or ()):
        if not option.get("name"):
            yield Rejection(
                codes.EMPTY_REQUIRED_FIELD,
                ("dnsConfig", "options", index, "name"),
                "the name of the option is required; write it, for example ndots",
            )


def _searches(searches: Sequence[str]) -> Iterator[Rejection]:
    """Checks the search domains (ValidateDNS1123SubdomainWithUnderScore). A dot at their end and a domain of one dot are allowed."""
    path = ("dnsConfig", "searches")
    if len(searches) > _MOST_DOMAINS:
        message = f"{len(searches)} search domains are listed, but at most {_MOST_DOMAINS} are allowed; remove the others"
        yield Rejection(codes.TOO_MANY_ENTRIES, path, message)
    length = len(" ".join(searches).encode())
    if length > _LONGEST_LIST:
        message = (
            f"the search domains have {length} characters with spaces between them, but at most {_LONGEST_LIST} are allowed; remove some"
        )
        yield Rejection(codes.TOO_MANY_ENTRIES, path, message)
    for index, search in enumerate(searches):
        if search != "." and not _DOMAIN.fullmatch(search.removesuffix(".")):
            message = f"{search!r} is not a valid domain; use lower-case letters, digits, dashes, underscores and dots"
            yield Rejection(codes.INVALID_ADDRESS, (*path, index), message)
