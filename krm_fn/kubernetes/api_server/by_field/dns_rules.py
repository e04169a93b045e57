"""Rules of an API server about the DNS configuration of a pod."""

from __future__ import annotations

import re

from krm_fn.kubernetes.api_server import Rejection, ip_addresses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from krm_fn.kubernetes.api_server.by_field import Context

_MOST_SERVERS, _MOST_DOMAINS, _LONGEST_LIST = 3, 32, 2048
_LABEL = r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_DOMAIN = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(\.{_LABEL})*")


def validate(spec: Mapping[str, Any], _context: Context) -> Iterator[Rejection]:
    """Yields the rejections of `dnsPolicy` and `dnsConfig` (validatePodDNSConfig)."""
    config = spec.get("dnsConfig") or {}
    servers = config.get("nameservers") or ()
    if spec.get("dnsPolicy") == "None" and not servers:
        message = "a name server is required with dnsPolicy: None; name a server, or remove the policy"
        yield Rejection("DYN225", ("dnsConfig", "nameservers"), message)
    if len(servers) > _MOST_SERVERS:
        message = f"{len(servers)} name servers are listed, but at most {_MOST_SERVERS} are allowed; remove the others"
        yield Rejection("DYN235", ("dnsConfig", "nameservers"), message)
    for index, server in enumerate(servers):
        if not ip_addresses.is_address(server):
            message = f"{server!r} is not an IP address; write the address of the name server, for example 10.0.0.10"
            yield Rejection("DYN234", ("dnsConfig", "nameservers", index), message)
    yield from _searches(config.get("searches") or ())
    for index, option in enumerate(config.get("options") or ()):
        if not option.get("name"):
            yield Rejection(
                "DYN225", ("dnsConfig", "options", index, "name"), "the name of the option is required; write it, for example ndots"
            )


def _searches(searches: Sequence[str]) -> Iterator[Rejection]:
    """Checks the search domains (ValidateDNS1123SubdomainWithUnderScore). A dot at their end and a domain of one dot are allowed."""
    path = ("dnsConfig", "searches")
    if len(searches) > _MOST_DOMAINS:
        message = f"{len(searches)} search domains are listed, but at most {_MOST_DOMAINS} are allowed; remove the others"
        yield Rejection("DYN235", path, message)
    length = len(" ".join(searches).encode())
    if length > _LONGEST_LIST:
        message = (
            f"the search domains have {length} characters with spaces between them, but at most {_LONGEST_LIST} are allowed; remove some"
        )
        yield Rejection("DYN235", path, message)
    for index, search in enumerate(searches):
        if search != "." and not _DOMAIN.fullmatch(search.removesuffix(".")):
            message = f"{search!r} is not a valid domain; use lower-case letters, digits, dashes, underscores and dots"
            yield Rejection("DYN234", (*path, index), message)
