"""Rules of an API server about Ingresses.

Follows ValidateIngressCreate of `pkg/apis/networking/validation/validation.go`.
"""

from __future__ import annotations

from krm_fn.kubernetes.api_server import name_formats, networks, object_meta, rejections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.api_server.rejections import Rejection
    from krm_fn.kubernetes.types import Resource

    Fields = Mapping[str, Any]

_CLASS = "kubernetes.io/ingress.class"
_TYPES = ("Exact", "Prefix", "ImplementationSpecific")
_BAD_PARTS, _BAD_ENDS = ("//", "/./", "/../", "%2f", "%2F"), ("/..", "/.")


def validate(ingress: Resource) -> Iterator[Rejection]:
    """Yields the rejections of an Ingress (ValidateIngressCreate)."""
    spec: Fields = ingress.get("spec") or {}
    written = ((ingress.get("metadata") or {}).get("annotations") or {}).get(_CLASS)
    if written is not None and spec.get("ingressClassName") not in (None, written):
        problem = "the annotation differs from spec.ingressClassName"
        yield rejections.conflict(("metadata", "annotations", _CLASS), problem, "remove the annotation")
    for rejection in _spec(spec):
        yield rejection.below("spec")


def _spec(spec: Fields) -> Iterator[Rejection]:
    """Checks the spec (ValidateIngressSpec)."""
    rules, default, name = spec.get("rules") or (), spec.get("defaultBackend"), spec.get("ingressClassName")
    if not rules and default is None:
        yield rejections.required_field(("rules",), "a rule or a defaultBackend")
    if default is not None:
        for rejection in _backend(default):
            yield rejection.below("defaultBackend")
    for index, rule in enumerate(rules):
        for rejection in _rule(rule):
            yield rejection.below("rules", index)
    for index, tls in enumerate(spec.get("tls") or ()):
        for rejection in _tls(tls):
            yield rejection.below("tls", index)
    if name is not None and not object_meta.is_subdomain(name):
        yield rejections.bad_name(name, ("ingressClassName",))


def _tls(tls: Fields) -> Iterator[Rejection]:
    """Checks hosts and their certificate (validateIngressTLS)."""
    for index, host in enumerate(tls.get("hosts") or ()):
        if not _is_host(host):
            yield rejections.malformed_text(host, ("hosts", index), "a host name")
    name = tls.get("secretName") or ""
    if name and not object_meta.is_subdomain(name):
        yield rejections.bad_name(name, ("secretName",))


def _is_host(host: str) -> bool:
    return object_meta.is_wildcard(host) if "*" in host else object_meta.is_subdomain(host)


def _rule(rule: Fields) -> Iterator[Rejection]:
    """Checks the host and the paths of a rule (validateIngressRules)."""
    host, http = rule.get("host") or "", rule.get("http")
    if host and (not _is_host(host) or networks.is_sloppy(host)):
        yield rejections.malformed_text(host, ("host",), "a host name")
    if http is None:
        return
    if not http.get("paths"):
        yield rejections.required_field(("http", "paths"), "a path")
    for index, path in enumerate(http.get("paths") or ()):
        for rejection in _path(path):
            yield rejection.below("http", "paths", index)


def _path(path: Fields) -> Iterator[Rejection]:
    """Checks one path (validateHTTPIngressPath)."""
    kind, text = path.get("pathType"), path.get("path") or ""
    if kind is None:
        yield rejections.required_field(("pathType",), "pathType")
        return
    if kind not in _TYPES:
        yield rejections.unknown(kind, _TYPES, ("pathType",))
    elif not text.startswith("/") and (text or kind != _TYPES[2]):
        yield rejections.malformed_text(text, ("path",), "a path that begins with a slash")
    elif kind != _TYPES[2] and (any(part in text for part in _BAD_PARTS) or text.endswith(_BAD_ENDS)):
        yield rejections.malformed_text(text, ("path",), "a path without empty parts, dots as parts, and escaped slashes")
    for rejection in _backend(path.get("backend") or {}):
        yield rejection.below("backend")


def _backend(backend: Fields) -> Iterator[Rejection]:
    """Checks the target of a path (validateIngressBackend)."""
    resource, service = backend.get("resource"), backend.get("service")
    if resource is not None and service is not None:
        yield rejections.conflict((), "a backend is either a resource or a service", "keep one of the two")
    elif resource is not None:
        for rejection in _resource(resource):
            yield rejection.below("resource")
    elif service is not None:
        for rejection in _service(service):
            yield rejection.below("service")
    else:
        yield rejections.required_field(("service",), "a service or a resource")


def _resource(reference: Fields) -> Iterator[Rejection]:
    """Checks a reference to an object that serves files (validateIngressTypedLocalObjectReference)."""
    group = reference.get("apiGroup")
    if group is not None and not object_meta.is_subdomain(group):
        yield rejections.bad_name(group, ("apiGroup",))
    for field in ("kind", "name"):
        text = reference.get(field) or ""
        if not text:
            yield rejections.required_field((field,), f"the {field} of the resource")
        elif not object_meta.is_path_segment(text):
            yield rejections.bad_name(text, (field,), "a text without / and %")


def _service(service: Fields) -> Iterator[Rejection]:
    name, port = service.get("name") or "", service.get("port") or {}
    if not name:
        yield rejections.required_field(("name",), "the name of the service")
    elif not object_meta.is_label(name):
        yield rejections.bad_name(name, ("name",), "lower-case letters, digits and dashes")
    number, port_name = port.get("number") or 0, port.get("name") or ""
    if number and port_name:
        yield rejections.conflict(("port",), "a port has either a name or a number", "keep one of the two")
    elif port_name and not name_formats.PORT_NAME.fullmatch(port_name):
        yield rejections.bad_name(port_name, ("port", "name"), "at most 15 lower-case letters, digits and dashes")
    elif number and not 0 < number <= 65535:
        yield rejections.out_of_range(number, ("port", "number"), 1, 65535)
    elif not number and not port_name:
        yield rejections.required_field(("port",), "the number or the name of the port")
