"""The format of IP addresses in fields of a pod.

Follows IsValidIPForLegacyField of apimachinery `pkg/util/validation/ip.go`.
"""

from __future__ import annotations

import ipaddress


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
