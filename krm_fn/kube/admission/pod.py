"""The refusals of a whole pod by an API server: the rules about single fields, and the rules about several fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import merge
from krm_fn.kube.admission import Refusal, fields, metadata, resources

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from krm_fn.kube.types import Container, PodSpec, Probe, ProbeName, Toleration

_COUNTS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
NO_IMAGE = "the image is required; name the image to run"


def refusals(spec: PodSpec, field: str = "spec") -> Iterator[Refusal]:
    """All refusals of a pod template with this spec. `field` is the name of the spec in messages."""
    volumes = {volume.get("name") for volume in spec.get("volumes") or ()}
    claims = {claim.get("name") for claim in spec.get("resourceClaims") or ()}
    yield from fields.pod(spec)
    yield from _names("volumes", spec.get("volumes") or (), set())
    yield from _names("resourceClaims", spec.get("resourceClaims") or (), set())
    taken: set[Any] = set()
    for kind, containers in (("initContainers", spec.get("initContainers")), ("containers", spec.get("containers"))):
        yield from _names(kind, containers or (), taken)
        for index, container in enumerate(containers or ()):
            for refusal in _container(container, volumes, claims, field):
                yield refusal.below(kind, index)
    if spec.get("ephemeralContainers"):
        yield Refusal("DYN200", ("ephemeralContainers",), "a pod template cannot have ephemeral containers; remove them")
    if spec.get("activeDeadlineSeconds") is not None:
        yield Refusal("DYN201", ("activeDeadlineSeconds",), "activeDeadlineSeconds would end pods that must keep running; remove it")
    if spec.get("dnsPolicy") == "None" and not (spec.get("dnsConfig") or {}).get("nameservers"):
        message = "a name server is required with dnsPolicy: None; name a server, or remove the policy"
        yield Refusal("DYN225", ("dnsConfig", "nameservers"), message)
    for refusal in metadata.labels(spec.get("nodeSelector") or {}):
        yield refusal.below("nodeSelector")
    for index, toleration in enumerate(spec.get("tolerations") or ()):
        for refusal in _toleration(toleration):
            yield refusal.below("tolerations", index)


def _container(container: Container, volumes: set[Any], claims: set[Any], field: str) -> Iterator[Refusal]:
    if not container.get("image"):
        yield Refusal("DYN205", ("image",), NO_IMAGE)
    yield from fields.container(container)
    yield from _mounts(container, volumes, field)
    for refusal in resources.refusals(container.get("resources") or {}, claims, field):
        yield refusal.below("resources")
    for name in merge.PROBES:
        probe = container.get(name)
        if probe is not None:
            for refusal in _probe(name, probe):
                yield refusal.below(name)
    yield from _ports(container)
    yield from _env(container)


def _names(kind: str, entries: Sequence[Mapping[str, Any]], taken: set[Any]) -> Iterator[Refusal]:
    """Each entry must have a name that is a DNS label and that no other entry has."""
    for index, entry in enumerate(entries):
        name = entry.get("name")
        if not isinstance(name, str) or not fields.DNS_LABEL.fullmatch(name):
            message = f"the name {name or ''!r} is not valid; use lower-case letters, digits and dashes, at most 63"
            yield Refusal("DYN206", (kind, index, "name"), message)
        elif name in taken:
            yield Refusal("DYN207", (kind, index, "name"), f"the name {name} is used twice in this pod; rename one of the two")
        taken.add(name)


def _mounts(container: Container, volumes: set[Any], field: str) -> Iterator[Refusal]:
    taken: set[Any] = set()
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        name, place = mount.get("name"), mount.get("mountPath")
        if name not in volumes and not name:
            yield Refusal("DYN225", ("volumeMounts", index, "name"), "the name of a volume is required; write it")
        elif name not in volumes:
            message = f"the pod has no volume {name}; add it under {field}.volumes"
            yield Refusal("DYN208", ("volumeMounts", index, "name"), message)
        if place in taken:
            message = f"two volumes are mounted at {place}; mount one of them elsewhere"
            yield Refusal("DYN209", ("volumeMounts", index, "mountPath"), message)
        taken.add(place)


def _probe(name: ProbeName, probe: Probe) -> Iterator[Refusal]:
    handlers = [key for key in merge.HANDLERS if probe.get(key) is not None]
    if not handlers:
        yield Refusal("DYN214", (), f"the probe has no handler; give it one of {', '.join(merge.HANDLERS)}, or remove it")
    elif len(handlers) > 1:
        yield Refusal("DYN215", (), f"the probe has the handlers {' and '.join(handlers)}; keep one")
    for field, number in probe.items():
        if field in _COUNTS and isinstance(number, int) and number < 0:
            yield Refusal("DYN216", (field,), f"the number {number} is below zero; write 0 or a larger number")
    if name != "readinessProbe" and probe.get("successThreshold") not in (None, 0, 1):
        yield Refusal("DYN217", ("successThreshold",), "successThreshold must be 1 in liveness and startup probes; remove it")
    if name == "readinessProbe" and probe.get("terminationGracePeriodSeconds") is not None:
        message = "a readiness probe never terminates a pod and cannot have a grace period; remove it"
        yield Refusal("DYN217", ("terminationGracePeriodSeconds",), message)


def _ports(container: Container) -> Iterator[Refusal]:
    """Each pair of number and protocol must be unique, because server-side apply refuses duplicates."""
    taken: set[Any] = set()
    for index, port in enumerate(container.get("ports") or ()):
        name, listened = port.get("name"), (port.get("containerPort"), port.get("protocol") or "TCP")
        if listened in taken:
            yield Refusal("DYN219", ("ports", index, "containerPort"), f"the port {listened[0]} is listed twice; keep one entry")
        if name and not fields.PORT_NAME.fullmatch(name):
            message = f"the port name {name!r} is not valid; use at most 15 lower-case letters, digits and dashes, with at least one letter"
            yield Refusal("DYN219", ("ports", index, "name"), message)
        if name and name in taken:
            yield Refusal("DYN219", ("ports", index, "name"), f"two ports have the name {name}; rename one of them")
        taken.update((name, listened))


def _toleration(toleration: Toleration) -> Iterator[Refusal]:
    key, exists = toleration.get("key"), toleration.get("operator") == "Exists"
    if key and not metadata.is_qualified(key):
        yield Refusal("DYN203", ("key",), metadata.BAD_KEY)
    if not key and not exists:
        yield Refusal("DYN227", ("operator",), "the operator of a toleration without a key must be Exists; write Exists, or add a key")
    if exists and toleration.get("value"):
        yield Refusal("DYN227", ("value",), "the operator Exists cannot have a value; remove the value, or write the operator Equal")
    if toleration.get("tolerationSeconds") is not None and toleration.get("effect") != "NoExecute":
        message = "tolerationSeconds is allowed only with the effect NoExecute; remove it, or write that effect"
        yield Refusal("DYN227", ("tolerationSeconds",), message)


def _env(container: Container) -> Iterator[Refusal]:
    """Each variable must be unique, because server-side apply refuses duplicates."""
    taken: set[Any] = set()
    for index, variable in enumerate(container.get("env") or ()):
        name = variable.get("name")
        if not name or "=" in name:
            yield Refusal("DYN220", ("env", index, "name"), f"the name {name or ''!r} of the variable is not valid; write a name without =")
        elif name in taken:
            yield Refusal("DYN221", ("env", index, "name"), f"the variable {name} is set twice; keep one entry")
        if variable.get("value") and variable.get("valueFrom"):
            yield Refusal("DYN222", ("env", index, "valueFrom"), "the variable has both a value and a source; keep one of them")
        taken.add(name)
