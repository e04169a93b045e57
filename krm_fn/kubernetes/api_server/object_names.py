"""The forms of the names of objects and of keys in them, by the kind of object.

Follows apimachinery `pkg/api/validation/generic.go` and `pkg/util/validation/validation.go`.
"""

from __future__ import annotations

import re

from krm_fn.kubernetes.api_server.name_formats import DNS_LABEL, DNS_SUBDOMAIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_DATA_KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}")
_DOMAIN_PATH = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+")


def is_label(name: str) -> bool:
    """Returns true for a DNS label (IsDNS1123Label)."""
    return DNS_LABEL.fullmatch(name) is not None


def is_subdomain(name: str) -> bool:
    """Returns true for a DNS subdomain (IsDNS1123Subdomain)."""
    return DNS_SUBDOMAIN.fullmatch(name) is not None


def is_path_segment(name: str) -> bool:
    """Returns true for a name that can be a part of a URL (IsPathSegmentName)."""
    return name not in (".", "..") and "/" not in name and "%" not in name


def is_wildcard(host: str) -> bool:
    """Returns true for a host with an asterisk as its first part (IsWildcardDNS1123Subdomain).

    >>> is_wildcard("*.example.org"), is_wildcard("a.*.org")
    (True, False)
    """
    return host.startswith("*.") and is_subdomain(host.removeprefix("*.")) and len(host) <= 253


def is_data_key(key: str) -> bool:
    """Returns true for a key of a ConfigMap or a Secret (IsConfigMapKey)."""
    return _DATA_KEY.fullmatch(key) is not None and key != "." and not key.startswith("..")


def is_domain_path(name: str) -> bool:
    """Returns true for a domain, a slash, and a path (IsDomainPrefixedPath)."""
    domain, _, path = name.partition("/")
    return is_subdomain(domain) and _DOMAIN_PATH.fullmatch(path) is not None


_LABEL, _SUBDOMAIN, _SEGMENT = (
    (is_label, "at most 63 lower-case letters, digits and dashes"),
    (is_subdomain, "lower-case letters, digits, dashes and dots"),
    (is_path_segment, "a text without / and %"),
)
_FORMS: dict[str, tuple[Callable[[str], bool], str]] = {
    "Namespace": _LABEL,
    "Service": _LABEL,
    "StatefulSet": _LABEL,
    **dict.fromkeys(("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"), _SEGMENT),
}


def form(kind: str) -> tuple[Callable[[str], bool], str]:
    """Returns the check of the names of a kind, and its words. Most kinds have DNS subdomains as names."""
    return _FORMS.get(kind, _SUBDOMAIN)
