"""Addresses and networks of IP in fields of objects.

Follows apimachinery `pkg/util/validation/ip.go`, and ValidateEndpointIP of `pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

import ipaddress
import re

from krm_fn.kubernetes import values

_OCTETS = re.compile(r"[0-9]+(\.[0-9]+){3}")
_LARGEST_OCTET = 255


def is_network(text: str) -> bool:
    """Returns true for a network in CIDR form without bits beyond its length (IsValidCIDRForLegacyField).

    >>> is_network("10.0.0.0/8"), is_network("10.0.0.1/8"), is_network("10.0.0.0"), is_network("::ffff:10.0.0.0/104")
    (True, False, False, False)
    """
    address, _, length = text.partition("/")
    if not length.isdecimal() or (length.startswith("0") and length != "0"):
        return False
    try:
        network = ipaddress.ip_network(text)
    except ValueError:
        return False
    return "%" not in address and not (":" in address and "." in address) and getattr(network.network_address, "ipv4_mapped", None) is None


def is_special(address: str) -> bool:
    """Returns true for an unspecified, loopback or link-local address, which other machines cannot reach. `address` is valid."""
    parsed = ipaddress.ip_address(address)
    multicast = ipaddress.ip_network("ff02::/16" if parsed.version == 6 else "224.0.0.0/24")
    return parsed.is_unspecified or parsed.is_loopback or parsed.is_link_local or parsed in multicast


def is_sloppy(text: str) -> bool:
    """Returns true for a text that could be read as an address of IPv4, also with leading zeros (ParseIPSloppy)."""
    return _OCTETS.fullmatch(text) is not None and all(_is_octet(octet) for octet in text.split("."))


def _is_octet(digits: str) -> bool:
    number = values.int64(digits)
    return number is not None and number <= _LARGEST_OCTET


def is_address(text: str) -> bool:
    """Returns true for an address of IPv4 or IPv6. Octets with leading zeros and IPv4 addresses in IPv6 form are ambiguous, so refused.

    >>> is_address("10.0.0.1"), is_address("2001:db8::1"), is_address("10.0.0.010"), is_address("::ffff:1.2.3.4")
    (True, True, False, False)
    """
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text and getattr(address, "ipv4_mapped", None) is None
