"""The names of the cluster: a small DNS server for `*.svc.cluster.local`. It knows no other name, and asks nobody.

Source of the rules: "DNS-Based Service Discovery" of Kubernetes. A records of Services: the cluster IP, or the ready pods of a headless
Service (all of them with `publishNotReadyAddresses`); and of pods with a `hostname` in a `subdomain`. No SRV or PTR records.
"""

from __future__ import annotations

import asyncio
import ipaddress
import struct
from typing import TYPE_CHECKING, Any

from tests.testbed.node.services import of_service

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.testbed.node.cluster import Key

Object = dict[str, Any]

DOMAIN = "cluster.local"
_A, _IN, _TTL = 1, 1, 5
_NO_SUCH_NAME, _RESPONSE = 3, 0x8580  # authoritative, recursion desired and available


def resolver(namespace: str, server: str) -> str:
    """The text of resolv.conf in the pods of a namespace."""
    return f"search {namespace}.svc.{DOMAIN} svc.{DOMAIN} {DOMAIN}\nnameserver {server}\noptions ndots:5\n"


def addresses(name: str, services: dict[Key, Object], slices: list[Object]) -> list[str] | None:
    """The addresses of a name, or None if the name does not exist."""
    words = name.lower().rstrip(".").split(".")
    if words[-3:] != ["svc", *DOMAIN.split(".")] or len(words) not in (5, 6):
        return None
    *host, service_name, namespace = words[:-3]
    service = services.get((namespace, service_name))
    if service is None:
        return None
    if service["spec"].get("clusterIP", "None") not in ("None", ""):
        return None if host else [service["spec"]["clusterIP"]]
    found = []
    for endpoint, _ in of_service(slices, (namespace, service_name)):
        ready = (endpoint.get("conditions") or {}).get("ready", True)
        if ready and host in ([], [(endpoint.get("hostname") or "").lower()]):
            found += endpoint["addresses"]
    return found or None


class Server(asyncio.DatagramProtocol):
    """Answers queries with `lookup`."""

    def __init__(self, lookup: Callable[[str], list[str] | None]) -> None:
        self._lookup = lookup
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: Any) -> None:
        """Called by the loop."""
        self._transport = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        """Answer one query. Other packets are ignored."""
        assert self._transport
        try:
            self._transport.sendto(answer(data, self._lookup), addr)
        except (struct.error, IndexError, UnicodeDecodeError):
            return


def answer(query: bytes, lookup: Callable[[str], list[str] | None]) -> bytes:
    """The response to a query with one question. Raises struct.error or IndexError if it is none."""
    number, _, _ = struct.unpack_from("!HHH", query)
    labels, at = [], 12
    while size := query[at]:
        labels.append(query[at + 1 : at + 1 + size].decode("ascii"))
        at += size + 1
    kind, _ = struct.unpack_from("!HH", query, at + 1)
    question = query[12 : at + 5]
    found = lookup(".".join(labels))
    records = [ipaddress.ip_address(each).packed for each in found or ()] if kind == _A else []
    flags = _RESPONSE if found is not None else _RESPONSE | _NO_SUCH_NAME
    header = struct.pack("!HHHHHH", number, flags, 1, len(records), 0, 0)
    body = b"".join(struct.pack("!HHHIH", 0xC00C, _A, _IN, _TTL, len(each)) + each for each in records)
    return header + question + body
