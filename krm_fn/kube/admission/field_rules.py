"""Rules about single fields of a pod, as tables of fields and allowed values.

`krm_fn.kube.admission.pod_rules` has the rules about several fields.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from krm_fn.kube import merge, quantity
from krm_fn.kube.admission import Rejection
from krm_fn.kube.admission.name_formats import DNS_LABEL, DNS_SUBDOMAIN, PORT_NAME
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from krm_fn.kube.native_types import Container, PodSpec
    from krm_fn.results import Path

_POD_FIELD = re.compile(
    r"metadata\.(name|namespace|uid|(labels|annotations)\['[^']+'\])|spec\.(nodeName|serviceAccountName)|status\.(host|pod)IPs?"
)
_CONTAINER_FIELD = re.compile(r"(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)")
_HOOKS = ("lifecycle.postStart", "lifecycle.preStop")


class _Rule(NamedTuple):
    """A rule about the values of some fields. It applies only to fields that are set; if `allows` is `bool`, the fields are required."""

    code: str
    message: str
    allows: Callable[[Any], object]
    fields: tuple[str, ...]


class _Field(NamedTuple):
    """One field: the rules about its value, the rules that require it, and the fields inside it.

    The rules of a list apply to each of its entries.
    """

    rules: list[_Rule]
    required: list[_Rule]
    fields: dict[str, _Field]


def validate_pod(spec: PodSpec) -> list[Rejection]:
    """The rejections of a pod's own fields. `validate_container` checks its containers."""
    return _validate(spec, _POD)


def validate_container(container: Container) -> list[Rejection]:
    """The rejections of a container's fields."""
    return _validate(container, _CONTAINER)


def _validate(spec: Mapping[str, Any], field: _Field) -> list[Rejection]:
    rejections: list[Rejection] = []
    _walk(spec, field, (), rejections)
    return rejections


def _walk(value: Any, field: _Field, path: Path, rejections: list[Rejection]) -> None:
    """Visits each field once for all rules."""
    if type(value) is list:
        _walk_entries(value, field, path, rejections)
        return
    for rule in field.rules:
        if not rule.allows(value):
            rejections.append(Rejection(rule.code, path, rule.message))  # noqa: PERF401 - a loop costs less than a generator
    for step, inner in field.fields.items():
        inner_value = value.get(step)
        if inner_value is not None:
            _walk(inner_value, inner, (*path, step), rejections)
        if inner.required and not inner_value:
            rejections.extend(Rejection(rule.code, (*path, step), rule.message) for rule in inner.required)


def _walk_entries(entries: list[Any], field: _Field, path: Path, rejections: list[Rejection]) -> None:
    """Visits the entries of a list. Entries without a field that has a rule are skipped."""
    always = field.rules or any(inner.required for inner in field.fields.values())
    steps = field.fields.keys()
    for index, entry in enumerate(entries):
        if always or not steps.isdisjoint(entry):
            _walk(entry, field, (*path, index), rejections)


def _tree(*rules: _Rule) -> _Field:
    """The fields that the rules name, as a tree. `[]` after a name marks a list for the reader of the code."""
    top = _Field([], [], {})
    for rule in rules:
        for name in rule.fields:
            field = top
            for step in name.replace("[]", "").split("."):
                field = field.fields.setdefault(step, _Field([], [], {}))
            (field.required if rule.allows is bool else field.rules).append(rule)
    return top


def _rule(code: str, message: str, allows: Callable[[Any], object], *fields: str) -> _Rule:
    return _Rule(code, message, allows, fields)


def _matches(pattern: re.Pattern[str]) -> Callable[[Any], object]:
    return lambda name: not name or pattern.fullmatch(name)


def _single(*beside: str) -> Callable[[Any], object]:
    """Allows exactly one field, not counting the fields in `beside`."""
    return lambda value: len(value.keys() - {*beside}) == 1


def _between(low: int, high: int = 2**31 - 1) -> Callable[[Any], object]:
    return lambda number: low <= number <= high


def _port(port: Any) -> object:
    """Allows a port number or a port name."""
    return PORT_NAME.fullmatch(port) if isinstance(port, str) else 0 < port < 65536


def _inside(path: str) -> bool:
    """True if a path stays inside its volume."""
    return _downward(path) and not path.startswith("/")


def _downward(path: str) -> bool:
    return ".." not in path.split("/")


_SOURCES = (
    *("envFrom[].secretRef.name", "envFrom[].configMapRef.name"),
    *("env[].valueFrom.secretKeyRef.name", "env[].valueFrom.configMapKeyRef.name"),
)
_NAME = "the name is not valid in Kubernetes; use lower-case letters, digits and dashes"
_NEEDED = "the field is required; set it"
_ID = "the id is below zero; write 0 or a larger number"
_PORT = "the port is not between 1 and 65535; write a number in that range"
_POD = _tree(
    _rule("DYN202", _NAME, _matches(DNS_SUBDOMAIN), "serviceAccountName", "priorityClassName", "runtimeClassName"),
    _rule("DYN202", _NAME, _matches(DNS_LABEL), "hostname", "subdomain"),
    _rule(
        "DYN224",
        "the entry must have either resourceClaimName or resourceClaimTemplateName; keep one of the two",
        _single("name"),
        "resourceClaims[]",
    ),
    _rule(
        "DYN224",
        "the volume has more than one source; keep one of them",
        lambda value: len(value) <= 1 or len(value.keys() - {"name"}) <= 1,
        "volumes[]",
    ),
    _rule("DYN225", _NEEDED, bool, "volumes[].secret.secretName", "volumes[].configMap.name", "volumes[].persistentVolumeClaim.claimName"),
    _rule("DYN225", _NEEDED, bool, "volumes[].hostPath.path"),
    _rule("DYN228", "the path contains ..; write the path without it", _downward, "volumes[].hostPath.path"),
    _rule("DYN226", _ID, _between(0), *(f"securityContext.{id_}" for id_ in ("runAsUser", "runAsGroup", "fsGroup"))),
    _rule(
        "DYN226",
        "the size is below zero; write 0 or a larger amount",
        lambda size: quantity.value(size) >= 0,
        "volumes[].emptyDir.sizeLimit",
    ),
    _rule("DYN226", "maxSkew is below 1; write 1 or a larger number", _between(1), "topologySpreadConstraints[].maxSkew"),
)
_CONTAINER = _tree(
    _rule("DYN224", "the variable must have exactly one source; keep one", _single(), "env[].valueFrom"),
    _rule("DYN224", "the entry must have exactly one of secretRef and configMapRef; keep one", _single("prefix"), "envFrom[]"),
    _rule("DYN224", "the hook must have exactly one of exec, httpGet, tcpSocket and sleep; keep one", _single(), *_HOOKS),
    _rule("DYN225", _NEEDED, bool, *_SOURCES),
    _rule("DYN225", _NEEDED, bool, "env[].valueFrom.secretKeyRef.key", "env[].valueFrom.configMapKeyRef.key"),
    _rule("DYN225", "a command is required; write what to run", bool, *(f"{holder}.exec.command" for holder in (*merge.PROBES, *_HOOKS))),
    _rule("DYN225", "the path of the mount is required; write a folder", bool, "volumeMounts[].mountPath"),
    _rule("DYN218", _PORT, _between(1, 65535), "ports[].containerPort", *(f"{probe}.grpc.port" for probe in merge.PROBES)),
    _rule("DYN218", _PORT, _between(0, 65535), "ports[].hostPort"),
    _rule(
        "DYN218",
        "the port is neither a number between 1 and 65535 nor the name of a port; write one of the two",
        _port,
        *(f"{holder}.{handler}.port" for holder in (*merge.PROBES, *_HOOKS) for handler in ("httpGet", "tcpSocket")),
    ),
    _rule("DYN226", _ID, _between(0), "securityContext.runAsUser", "securityContext.runAsGroup"),
    _rule(
        "DYN230",
        "a variable cannot refer to this field; write for example metadata.name, metadata.labels['a'], spec.nodeName or status.podIP",
        _matches(_POD_FIELD),
        "env[].valueFrom.fieldRef.fieldPath",
    ),
    _rule(
        "DYN230",
        "a variable cannot refer to this resource; write for example limits.cpu or requests.memory",
        _matches(_CONTAINER_FIELD),
        "env[].valueFrom.resourceFieldRef.resource",
    ),
    _rule("DYN202", _NAME, _matches(DNS_SUBDOMAIN), *_SOURCES),
    _rule("DYN228", "the path leaves the volume; write a relative path without ..", _inside, "volumeMounts[].subPath"),
)
