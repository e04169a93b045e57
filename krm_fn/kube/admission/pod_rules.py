"""Rules of an API server about a whole pod: those about single fields, those about several fields, and those about resources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import merge, quantity
from krm_fn.kube.admission import Rejection, field_rules, name_formats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from krm_fn.kube.native_types import Container, PodSpec, Probe, ResourceRequirements, Toleration
    from krm_fn.kube.types import ProbeName, Quantity

_COUNTS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_HUGE_PAGES = "hugepages-"
_NATIVE_RESOURCES = ("cpu", "memory", "ephemeral-storage")
NO_IMAGE = "the image is required; name the image to run"


def validate(spec: PodSpec, field: Callable[[], str] = lambda: "spec") -> Iterator[Rejection]:
    """Yields the rejections of a pod template with this spec. `field` returns the name of the spec in messages."""
    volumes = {volume.get("name") for volume in spec.get("volumes") or ()}
    claims = {claim.get("name") for claim in spec.get("resourceClaims") or ()}
    yield from field_rules.validate_pod(spec)
    yield from _names("volumes", spec.get("volumes") or (), set())
    yield from _names("resourceClaims", spec.get("resourceClaims") or (), set())
    names: set[Any] = set()
    for kind, containers in (("initContainers", spec.get("initContainers")), ("containers", spec.get("containers"))):
        yield from _names(kind, containers or (), names)
        for index, container in enumerate(containers or ()):
            for rejection in _container(container, volumes, claims, field):
                yield rejection.below(kind, index)
    yield from _pod(spec)


def _pod(spec: PodSpec) -> Iterator[Rejection]:
    if spec.get("ephemeralContainers"):
        yield Rejection("DYN200", ("ephemeralContainers",), "a pod template cannot have ephemeral containers; remove them")
    if spec.get("activeDeadlineSeconds") is not None:
        yield Rejection("DYN201", ("activeDeadlineSeconds",), "activeDeadlineSeconds would end pods that must keep running; remove it")
    if spec.get("dnsPolicy") == "None" and not (spec.get("dnsConfig") or {}).get("nameservers"):
        message = "a name server is required with dnsPolicy: None; name a server, or remove the policy"
        yield Rejection("DYN225", ("dnsConfig", "nameservers"), message)
    for rejection in name_formats.validate_labels(spec.get("nodeSelector") or {}):
        yield rejection.below("nodeSelector")
    for index, toleration in enumerate(spec.get("tolerations") or ()):
        for rejection in _toleration(toleration):
            yield rejection.below("tolerations", index)


def _container(container: Container, volumes: set[Any], claims: set[Any], field: Callable[[], str]) -> Iterator[Rejection]:
    if not container.get("image"):
        yield Rejection("DYN205", ("image",), NO_IMAGE)
    yield from field_rules.validate_container(container)
    yield from _mounts(container, volumes, field)
    for rejection in _resources(container.get("resources") or {}, claims, field):
        yield rejection.below("resources")
    for name in merge.PROBES:
        probe = container.get(name)
        if probe is not None:
            for rejection in _probe(name, probe):
                yield rejection.below(name)
    yield from _ports(container)
    yield from _env(container)


def _names(kind: str, entries: Sequence[Mapping[str, Any]], names: set[Any]) -> Iterator[Rejection]:
    """Each entry must have a name that is a DNS label and that no other entry has."""
    for index, entry in enumerate(entries):
        name = entry.get("name")
        if not isinstance(name, str) or not name_formats.DNS_LABEL.fullmatch(name):
            message = f"the name {name or ''!r} is not valid; use lower-case letters, digits and dashes, at most 63"
            yield Rejection("DYN206", (kind, index, "name"), message)
        elif name in names:
            yield Rejection("DYN207", (kind, index, "name"), f"the name {name} is used twice in this pod; rename one of the two")
        names.add(name)


def _mounts(container: Container, volumes: set[Any], field: Callable[[], str]) -> Iterator[Rejection]:
    paths: set[Any] = set()
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        name, path = mount.get("name"), mount.get("mountPath")
        if name not in volumes and not name:
            yield Rejection("DYN225", ("volumeMounts", index, "name"), "the name of a volume is required; write it")
        elif name not in volumes:
            message = f"the pod has no volume {name}; add it under {field()}.volumes"
            yield Rejection("DYN208", ("volumeMounts", index, "name"), message)
        if path in paths:
            message = f"two volumes are mounted at {path}; mount one of them elsewhere"
            yield Rejection("DYN209", ("volumeMounts", index, "mountPath"), message)
        paths.add(path)


def _probe(name: ProbeName, probe: Probe) -> Iterator[Rejection]:
    handlers = [key for key in merge.HANDLERS if probe.get(key) is not None]
    if not handlers:
        yield Rejection("DYN214", (), f"the probe has no handler; give it one of {', '.join(merge.HANDLERS)}, or remove it")
    elif len(handlers) > 1:
        yield Rejection("DYN215", (), f"the probe has the handlers {' and '.join(handlers)}; keep one")
    for field, number in probe.items():
        if field in _COUNTS and isinstance(number, int) and number < 0:
            yield Rejection("DYN216", (field,), f"the number {number} is below zero; write 0 or a larger number")
    if name != "readinessProbe" and probe.get("successThreshold") not in (None, 0, 1):
        yield Rejection("DYN217", ("successThreshold",), "successThreshold must be 1 in liveness and startup probes; remove it")
    if name == "readinessProbe" and probe.get("terminationGracePeriodSeconds") is not None:
        message = "a readiness probe never terminates a pod and cannot have a grace period; remove it"
        yield Rejection("DYN217", ("terminationGracePeriodSeconds",), message)


def _ports(container: Container) -> Iterator[Rejection]:
    """Each pair of number and protocol must be unique, because server-side apply rejects duplicates."""
    ports: set[Any] = set()
    names: set[Any] = set()
    for index, port in enumerate(container.get("ports") or ()):
        name, listener = port.get("name"), (port.get("containerPort"), port.get("protocol") or "TCP")
        if listener in ports:
            yield Rejection("DYN219", ("ports", index, "containerPort"), f"the port {listener[0]} is listed twice; keep one entry")
        if name and not name_formats.PORT_NAME.fullmatch(name):
            message = f"the port name {name!r} is not valid; use at most 15 lower-case letters, digits and dashes, with at least one letter"
            yield Rejection("DYN219", ("ports", index, "name"), message)
        if name and name in names:
            yield Rejection("DYN219", ("ports", index, "name"), f"two ports have the name {name}; rename one of them")
        ports.add(listener)
        names.add(name)


def _toleration(toleration: Toleration) -> Iterator[Rejection]:
    key, exists = toleration.get("key"), toleration.get("operator") == "Exists"
    if key and not name_formats.is_qualified(key):
        yield Rejection("DYN203", ("key",), name_formats.BAD_KEY)
    if not key and not exists:
        yield Rejection("DYN227", ("operator",), "the operator of a toleration without a key must be Exists; write Exists, or add a key")
    if exists and toleration.get("value"):
        yield Rejection("DYN227", ("value",), "the operator Exists cannot have a value; remove the value, or write the operator Equal")
    if toleration.get("tolerationSeconds") is not None and toleration.get("effect") != "NoExecute":
        message = "tolerationSeconds is allowed only with the effect NoExecute; remove it, or write that effect"
        yield Rejection("DYN227", ("tolerationSeconds",), message)


def _env(container: Container) -> Iterator[Rejection]:
    """Each variable must be unique, because server-side apply rejects duplicates."""
    names: set[Any] = set()
    for index, variable in enumerate(container.get("env") or ()):
        name = variable.get("name")
        if not name or "=" in name:
            message = f"the name {name or ''!r} of the variable is not valid; write a name without ="
            yield Rejection("DYN220", ("env", index, "name"), message)
        elif name in names:
            yield Rejection("DYN221", ("env", index, "name"), f"the variable {name} is set twice; keep one entry")
        if variable.get("value") and variable.get("valueFrom"):
            yield Rejection("DYN222", ("env", index, "valueFrom"), "the variable has both a value and a source; keep one of them")
        names.add(name)


def _resources(resources: ResourceRequirements, claims: set[Any], field: Callable[[], str]) -> Iterator[Rejection]:
    """Checks limits, requests and claims of a container (ValidateResourceRequirements). `claims` holds the names of the pod's claims."""
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    limit_sizes, request_sizes = quantity.values(limits), quantity.values(requests)
    for name, amount in requests.items():
        if limits.get(name) is not None:
            yield from _against_limit(name, (amount, request_sizes[name]), (limits[name], limit_sizes[name]))
        elif not _overcommits(name):
            message = f"{name} is requested without a limit, and cannot be overcommitted; set the same amount under limits"
            yield Rejection("DYN210", ("limits", name), message)
    for name, amount in limits.items():
        yield from _amount(amount, limit_sizes[name], ("limits", name))
    for name, amount in requests.items():
        yield from _amount(amount, request_sizes[name], ("requests", name))
    names = {*limits, *requests}
    if any(name.startswith(_HUGE_PAGES) for name in names) and not names & {"cpu", "memory"}:
        yield Rejection("DYN229", ("limits",), "the container requests only huge pages; request cpu or memory too")
    for index, claim in enumerate(resources.get("claims") or ()):
        if claim.get("name") not in claims:
            message = f"the pod has no resource claim {claim.get('name')}; add it under {field()}.resourceClaims"
            yield Rejection("DYN213", ("claims", index, "name"), message)


def _amount(amount: Quantity, size: int, path: tuple[str, str]) -> Iterator[Rejection]:
    """Checks the name of a resource, which ends `path`, and its amount. `size` is the amount in billionths."""
    name = path[1]
    if not _is_resource(name):
        message = f"{name} is not a resource that a container can request; write cpu, memory, ephemeral-storage, or domain/name"
        yield Rejection("DYN229", path, message)
    if size < 0:
        yield Rejection("DYN212", path, f"the amount {amount} is below zero; write 0 or a larger amount")
    elif name.startswith(_HUGE_PAGES) and size % (quantity.value(name.removeprefix(_HUGE_PAGES)) or quantity.UNIT):
        yield Rejection("DYN212", path, f"the amount {amount} is not a multiple of the page size; write a multiple")
    elif not _overcommits(name) and size % quantity.UNIT:
        yield Rejection("DYN212", path, f"the amount {amount} of {name} is not a whole number; write a whole number")


def _against_limit(name: str, request: tuple[Quantity, int], limit: tuple[Quantity, int]) -> Iterator[Rejection]:
    """Compares a request with its limit. Each has the amount as written, and its size in billionths."""
    path = ("requests", name)
    (amount, size), (limit_amount, limit_size) = request, limit
    if size > limit_size:
        message = f"the request {amount} is more than the limit {limit_amount}; lower the request, or raise the limit"
        yield Rejection("DYN211", path, message)
    elif size != limit_size and not _overcommits(name):
        message = f"the request {amount} differs from the limit {limit_amount} of {name}; write the same amount"
        yield Rejection("DYN211", path, message)


def _overcommits(name: str) -> bool:
    """True if a request may be lower than its limit: native resources other than huge pages."""
    return name in _NATIVE_RESOURCES or (("/" not in name or "kubernetes.io/" in name) and not name.startswith(_HUGE_PAGES))


def _is_resource(name: str) -> bool:
    """True for a native resource, or an extended resource, whose name has a domain (validateContainerResourceName)."""
    if name in _NATIVE_RESOURCES:
        return True
    if not name_formats.is_qualified(name):
        return False
    if "/" not in name:
        return name.startswith(_HUGE_PAGES)
    return "kubernetes.io/" in name or not name.startswith("requests.")
