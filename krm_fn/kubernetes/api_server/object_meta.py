"""Rules of an API server about the metadata of an object: its name, which depends on its kind, its owners and finalizers.

Follows apimachinery `pkg/api/validation/objectmeta.go`, and ValidateObjectMeta of `pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

import re

from krm_fn.base import codes
from krm_fn.kubernetes.api_server import name_formats, rejections
from krm_fn.kubernetes.api_server.name_formats import DNS_LABEL, DNS_SUBDOMAIN
from krm_fn.kubernetes.api_server.rejections import Rejection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    Fields = Mapping[str, Any]


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


_STANDARD_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")


def validate(metadata: Fields, kind: str) -> Iterator[Rejection]:
    """Yields the rejections of the metadata of an object of a kind (ValidateObjectMeta). Paths begin at the metadata."""
    name, (is_valid, expected) = metadata.get("name") or "", form(kind)
    if not name:
        yield rejections.required_field(("name",), "the name")
    elif not is_valid(name):
        yield rejections.bad_name(name, ("name",), expected)
    yield from name_formats.validate_metadata(metadata.get("labels"), metadata.get("annotations"))
    yield from _owners(metadata.get("ownerReferences") or ())
    yield from _finalizers(metadata.get("finalizers") or ())


def _owners(owners: Sequence[Fields]) -> Iterator[Rejection]:
    """Checks references to owners (ValidateOwnerReferences). The schema requires their fields, but they may be empty."""
    controllers = 0
    for index, owner in enumerate(owners):
        path = ("ownerReferences", index)
        version = owner.get("apiVersion") or ""
        for field in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(field) or (field == "apiVersion" and version.endswith("/")):
                yield rejections.required_field((*path, field))
        if (version, owner.get("kind")) == ("v1", "Event"):
            yield Rejection(codes.INVALID_OWNER_OR_FINALIZER, (*path, "kind"), "an Event cannot own an object; remove the owner")
        controllers += owner.get("controller") is True
        if owner.get("controller") is True and controllers > 1:
            yield Rejection(
                codes.INVALID_OWNER_OR_FINALIZER,
                (*path, "controller"),
                "another owner is the controller too; write controller: true for one owner",
            )


def _finalizers(finalizers: Sequence[str]) -> Iterator[Rejection]:
    """Checks finalizers (ValidateFinalizers, validateKubeFinalizerName)."""
    for index, finalizer in enumerate(finalizers):
        if not name_formats.is_qualified(finalizer) or ("/" not in finalizer and finalizer not in _STANDARD_FINALIZERS):
            message = f"{finalizer!r} is not a finalizer; write domain/name, orphan or foregroundDeletion"
            yield Rejection(codes.INVALID_OWNER_OR_FINALIZER, ("finalizers", index), message)
    if {"orphan", "foregroundDeletion"} <= {*finalizers}:
        yield Rejection(
            codes.INVALID_OWNER_OR_FINALIZER, ("finalizers",), "orphan and foregroundDeletion exclude each other; keep one of them"
        )
