"""What an API server refuses in a pod, beyond types and unknown fields.

Not its business: where the user wrote it (`krm_fn.validation` knows). Follows Kubernetes' `pkg/apis/core/validation/validation.go`, the
rules that a pod written by hand trips over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from krm_fn.kube import merge
from krm_fn.kube.admission import fields, resources
from krm_fn.kube.admission.fields import Fault
from krm_fn.kube.types import Container, PodSpec
from krm_fn.results import Path

_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_NO_KEY = "is no key that Kubernetes takes; write name or domain/name"


def pod(spec: PodSpec) -> Iterator[Fault]:
    """Everything that a pod would be refused for."""
    volumes = [volume.get("name") for volume in spec.get("volumes") or ()]
    claims = {claim.get("name") for claim in spec.get("resourceClaims") or ()}
    yield from fields.pod(spec)
    yield from _names(spec, "volumes", set())
    yield from _names(spec, "resourceClaims", set())
    seen: set[Any] = set()
    for kind in ("initContainers", "containers"):
        yield from _names(spec, kind, seen)
        for index, container in enumerate(spec.get(kind) or ()):
            for fault in _container(container, set(volumes), claims):
                yield fault._replace(path=(kind, index, *fault.path))
    if spec.get("ephemeralContainers"):
        yield Fault("DYN200", ("ephemeralContainers",), "cannot be part of a template; remove them")
    if spec.get("activeDeadlineSeconds") is not None:
        yield Fault("DYN201", ("activeDeadlineSeconds",), "cannot be set on pods that are to stay; remove it")
    if spec.get("dnsPolicy") == "None" and not (spec.get("dnsConfig") or {}).get("nameservers"):
        yield Fault("DYN225", ("dnsConfig", "nameservers"), "is required with dnsPolicy: None; name a server, or leave the policy out")
    for fault in labels(spec.get("nodeSelector") or {}):
        yield fault._replace(path=("nodeSelector", *fault.path))
    for index, toleration in enumerate(spec.get("tolerations") or ()):
        yield from _toleration(toleration, ("tolerations", index))


def labels(found: dict[str, str]) -> Iterator[Fault]:
    """Labels whose key or value Kubernetes does not take."""
    for key, value in found.items():
        if not fields.is_qualified(key):
            yield Fault("DYN203", (key,), _NO_KEY)
        if not _LABEL_VALUE.fullmatch(value):
            yield Fault("DYN204", (key,), f"{value!r} is no label value; use at most 63 letters, digits, dashes, underscores and dots")


def annotation_keys(found: dict[str, str]) -> Iterator[Fault]:
    """Keys that are no qualified names; their case does not count, as it does in labels."""
    for key in found:
        if not fields.is_qualified(key.lower()):
            yield Fault("DYN203", (key,), _NO_KEY)


def _container(container: Container, volumes: set[Any], claims: set[Any]) -> Iterator[Fault]:
    if not container.get("image"):
        yield Fault("DYN205", ("image",), "is required; name the image to run")
    yield from fields.container(container)
    yield from _mounts(container, volumes)
    yield from resources.check(container.get("resources") or {}, claims)
    for name in merge.PROBES:
        if container.get(name) is not None:
            for fault in _probe(name, container[name]):
                yield fault._replace(path=(name, *fault.path))
    yield from _ports(container)
    yield from _env(container)


def _names(spec: PodSpec, kind: str, seen: set[Any]) -> Iterator[Fault]:
    """Names are there, are DNS labels, and stand once."""
    for index, entry in enumerate(spec.get(kind) or ()):
        name = entry.get("name")
        if not isinstance(name, str) or not fields.DNS_LABEL.fullmatch(name):
            yield Fault(
                "DYN206", (kind, index, "name"), f"{name or ''!r} is no name; use lower-case letters, digits and dashes, at most 63"
            )
        elif name in seen:
            yield Fault("DYN207", (kind, index, "name"), f"{name} is taken by another one in this pod; rename one of them")
        seen.add(name)


def _mounts(container: Container, volumes: set[Any]) -> Iterator[Fault]:
    taken: set[Any] = set()
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        name, place = mount.get("name"), mount.get("mountPath")
        if name not in volumes:
            yield Fault("DYN208", ("volumeMounts", index, "name"), f"the pod has no volume {name}; add it under extraPodSpec.volumes")
        if place in taken:
            yield Fault("DYN209", ("volumeMounts", index, "mountPath"), f"{place} is mounted twice; mount one of them elsewhere")
        taken.add(place)


def _probe(name: str, probe: dict[str, Any]) -> Iterator[Fault]:
    handlers = [key for key in merge.HANDLERS if probe.get(key) is not None]
    if not handlers:
        yield Fault("DYN214", (), f"does nothing; give it one of {', '.join(merge.HANDLERS)}, or remove it")
    elif len(handlers) > 1:
        yield Fault("DYN215", (), f"has the handlers {' and '.join(handlers)}; keep one")
    for field in ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"):
        if (probe.get(field) or 0) < 0:
            yield Fault("DYN216", (field,), f"{probe[field]} is below zero; write a count or a number of seconds")
    if name != "readinessProbe" and probe.get("successThreshold") not in (None, 0, 1):
        yield Fault("DYN217", ("successThreshold",), "must be 1 here; remove it")
    if name == "readinessProbe" and probe.get("terminationGracePeriodSeconds") is not None:
        yield Fault("DYN217", ("terminationGracePeriodSeconds",), "a readiness probe ends nothing; remove it")


def _ports(container: Container) -> Iterator[Fault]:
    """Server-side apply takes each number and protocol once."""
    seen: set[Any] = set()
    for index, port in enumerate(container.get("ports") or ()):
        name, listened = port.get("name"), (port.get("containerPort"), port.get("protocol") or "TCP")
        if listened in seen:
            yield Fault("DYN219", ("ports", index, "containerPort"), f"{listened[0]} is listed twice; keep one")
        if name and not fields.PORT_NAME.fullmatch(name):
            message = f"{name!r} is no port name; use at most 15 lower-case letters, digits and dashes, one letter at least"
            yield Fault("DYN219", ("ports", index, "name"), message)
        if name and name in seen:
            yield Fault("DYN219", ("ports", index, "name"), f"{name} names two ports; rename one of them")
        seen.update((name, listened))


def _toleration(toleration: dict[str, Any], at: Path) -> Iterator[Fault]:
    key, exists = toleration.get("key"), toleration.get("operator") == "Exists"
    if key and not fields.is_qualified(key):
        yield Fault("DYN203", (*at, "key"), _NO_KEY)
    if not key and not exists:
        yield Fault("DYN227", (*at, "operator"), "must be Exists where no key is named; write it, or a key")
    if exists and toleration.get("value"):
        yield Fault("DYN227", (*at, "value"), "is not looked at by the operator Exists; remove it, or write Equal")
    if toleration.get("tolerationSeconds") is not None and toleration.get("effect") != "NoExecute":
        yield Fault("DYN227", (*at, "tolerationSeconds"), "only fits the effect NoExecute; remove it, or write that effect")


def _env(container: Container) -> Iterator[Fault]:
    """Server-side apply takes each variable once."""
    seen: set[Any] = set()
    for index, variable in enumerate(container.get("env") or ()):
        name = variable.get("name")
        if not name or "=" in name:
            yield Fault("DYN220", ("env", index, "name"), f"{name or ''!r} is no name of a variable; write one")
        elif name in seen:
            yield Fault("DYN221", ("env", index, "name"), f"{name} is set twice; keep one")
        if variable.get("value") and variable.get("valueFrom"):
            yield Fault("DYN222", ("env", index, "valueFrom"), "stands beside a value; keep one of them")
        seen.add(name)
