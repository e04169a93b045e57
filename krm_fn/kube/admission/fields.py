"""What an API server asks of single fields of a pod beyond their types, as tables of places and what may stand there.

Not its business: rules that span fields (`krm_fn.kube.admission.pod`). Follows Kubernetes' `pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from krm_fn.kube import merge, quantity
from krm_fn.kube.types import Container, PodSpec
from krm_fn.results import Path

DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
DNS_SUBDOMAIN = re.compile(r"(?=.{1,253}\Z)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
PORT_NAME = re.compile(r"(?=.{1,15}\Z)(?=.*[a-z])[a-z0-9]([a-z0-9]|-(?!-))*(?<!-)")
_QUALIFIED = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_POD_FIELD = re.compile(
    r"metadata\.(name|namespace|uid|(labels|annotations)\['[^']+'\])|spec\.(nodeName|serviceAccountName)|status\.(host|pod)IPs?"
)
_CONTAINER_FIELD = re.compile(r"(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)")
_HOOKS = ("lifecycle.postStart", "lifecycle.preStop")


class Fault(NamedTuple):
    """One reason to refuse. `path` is inside the pod spec."""

    code: str
    path: Path
    message: str


class _Rule(NamedTuple):
    """What holds at some places, where there is something; with `bool`, that there is something."""

    code: str
    message: str
    allows: Callable[[Any], object]
    places: tuple[str, ...]


class _Place(NamedTuple):
    """One place with what holds there, who needs it, and the places inside it. `[]` is every entry of a list."""

    rules: list[_Rule]
    needs: list[_Rule]
    inside: dict[str, _Place]


def pod(spec: PodSpec) -> list[Fault]:
    """The fields of a pod, those of its containers not among them."""
    return _broken(spec, _POD)


def container(spec: Container) -> list[Fault]:
    """The fields of a container."""
    return _broken(spec, _CONTAINER)


def is_qualified(key: str) -> bool:
    """Whether a text is a name, or a domain and a name: the key of a label, a resource.

    >>> is_qualified("nvidia.com/gpu"), is_qualified("a b")
    (True, False)
    """
    prefix, slash, name = key.rpartition("/")
    return bool(_QUALIFIED.fullmatch(name)) and not (slash and not DNS_SUBDOMAIN.fullmatch(prefix))


def _broken(spec: dict[str, Any], place: _Place) -> list[Fault]:
    found: list[Fault] = []
    _walk(spec, place, (), found)
    return found


def _walk(value: Any, place: _Place, path: Path, found: list[Fault]) -> None:
    """Each place is looked at once, whatever the number of rules: pods are many."""
    found.extend(Fault(rule.code, path, rule.message) for rule in place.rules if not rule.allows(value))
    for step, inner in place.inside.items():
        if step == "[]":
            for index, entry in enumerate(value):
                _walk(entry, inner, (*path, index), found)
            continue
        there = value.get(step)
        if there is not None:
            _walk(there, inner, (*path, step), found)
        if not there:
            found.extend(Fault(rule.code, (*path, step), rule.message) for rule in inner.needs)


def _map(*rules: _Rule) -> _Place:
    """The places that rules name, from the outside in."""
    top = _Place([], [], {})
    for rule in rules:
        for name in rule.places:
            place = top
            for step in name.replace("[]", ".[]").split("."):
                place = place.inside.setdefault(step, _Place([], [], {}))
            (place.needs if rule.allows is bool else place.rules).append(rule)
    return top


def _rule(code: str, message: str, allows: Callable[[Any], object], *places: str) -> _Rule:
    return _Rule(code, message, allows, places)


def _matches(form: re.Pattern[str]) -> Callable[[Any], object]:
    return lambda name: not name or form.fullmatch(name)


def _single(*beside: str) -> Callable[[Any], object]:
    """Exactly one field, not counting those named here."""
    return lambda value: len(value.keys() - {*beside}) == 1


def _between(low: int, high: int = 2**31 - 1) -> Callable[[Any], object]:
    return lambda number: low <= number <= high


def _port(port: Any) -> object:
    """A port by number or by the name that a container gives it."""
    return PORT_NAME.fullmatch(port) if isinstance(port, str) else 0 < port < 65536


def _inside(path: str) -> bool:
    """Whether a path leads nowhere above its volume."""
    return _downward(path) and not path.startswith("/")


def _downward(path: str) -> bool:
    return ".." not in path.split("/")


_SOURCES = (
    *("envFrom[].secretRef.name", "envFrom[].configMapRef.name"),
    *("env[].valueFrom.secretKeyRef.name", "env[].valueFrom.configMapKeyRef.name"),
)
_NAME = "is no name that Kubernetes takes; use lower-case letters, digits and dashes"
_NEEDED = "is required; set it"
_POD = _map(
    _rule("DYN202", _NAME, _matches(DNS_SUBDOMAIN), "serviceAccountName", "priorityClassName", "runtimeClassName"),
    _rule("DYN202", _NAME, _matches(DNS_LABEL), "hostname", "subdomain"),
    _rule("DYN224", "names one claim or one template of claims; keep one of the two", _single("name"), "resourceClaims[]"),
    _rule("DYN224", "is one kind of volume; keep one of them", lambda value: len(value.keys() - {"name"}) <= 1, "volumes[]"),
    _rule("DYN225", _NEEDED, bool, "volumes[].secret.secretName", "volumes[].configMap.name", "volumes[].persistentVolumeClaim.claimName"),
    _rule("DYN225", _NEEDED, bool, "volumes[].hostPath.path"),
    _rule("DYN228", "must not go up; write the path it leads to", _downward, "volumes[].hostPath.path"),
    _rule(
        "DYN226",
        "must be 0 or more; write an id",
        _between(0),
        *(f"securityContext.{who}" for who in ("runAsUser", "runAsGroup", "fsGroup")),
    ),
    _rule("DYN226", "must be 0 or more; write an amount", lambda size: quantity.value(size) >= 0, "volumes[].emptyDir.sizeLimit"),
    _rule("DYN226", "must be 1 or more; write how much pods may differ", _between(1), "topologySpreadConstraints[].maxSkew"),
)
_CONTAINER = _map(
    _rule("DYN224", "takes exactly one source; keep one", _single(), "env[].valueFrom"),
    _rule("DYN224", "takes exactly one of secretRef and configMapRef; keep one", _single("prefix"), "envFrom[]"),
    _rule("DYN224", "does exactly one thing; keep one of exec, httpGet, tcpSocket and sleep", _single(), *_HOOKS),
    _rule("DYN225", _NEEDED, bool, *_SOURCES),
    _rule("DYN225", _NEEDED, bool, "env[].valueFrom.secretKeyRef.key", "env[].valueFrom.configMapKeyRef.key"),
    _rule("DYN225", "is required; write what to run", bool, *(f"{holder}.exec.command" for holder in (*merge.PROBES, *_HOOKS))),
    _rule("DYN225", "is required; write a folder", bool, "volumeMounts[].mountPath"),
    _rule(
        "DYN218",
        "is no port; write a number from 1 to 65535",
        _between(1, 65535),
        "ports[].containerPort",
        *(f"{probe}.grpc.port" for probe in merge.PROBES),
    ),
    _rule("DYN218", "is no port; write a number from 1 to 65535", _between(0, 65535), "ports[].hostPort"),
    _rule(
        "DYN218",
        "is no port; write a number from 1 to 65535, or the name of a port",
        _port,
        *(f"{holder}.{handler}.port" for holder in (*merge.PROBES, *_HOOKS) for handler in ("httpGet", "tcpSocket")),
    ),
    _rule("DYN226", "must be 0 or more; write an id", _between(0), "securityContext.runAsUser", "securityContext.runAsGroup"),
    _rule(
        "DYN230",
        "is nothing that a variable can show; write for example metadata.name, metadata.labels['a'], spec.nodeName or status.podIP",
        _matches(_POD_FIELD),
        "env[].valueFrom.fieldRef.fieldPath",
    ),
    _rule(
        "DYN230",
        "is nothing that a variable can show; write for example limits.cpu or requests.memory",
        _matches(_CONTAINER_FIELD),
        "env[].valueFrom.resourceFieldRef.resource",
    ),
    _rule("DYN202", _NAME, _matches(DNS_SUBDOMAIN), *_SOURCES),
    _rule("DYN228", "must stay inside the volume; write a relative path without ..", _inside, "volumeMounts[].subPath"),
)
