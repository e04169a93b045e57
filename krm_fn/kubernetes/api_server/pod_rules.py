"""Rules of an API server about a whole pod, and about a pod template.

They are about single fields, about several fields, and about resources.
"""

from __future__ import annotations

from krm_fn.base import codes
from krm_fn.kubernetes import merge, quantity
from krm_fn.kubernetes.api_server import by_field, field_rules, name_formats
from krm_fn.kubernetes.api_server.rejections import Rejection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from typing import Any

    from krm_fn.kubernetes.native_types import Container, PodSpec, Probe, ResourceRequirements
    from krm_fn.kubernetes.types import ProbeName, Quantity


_COUNTS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_HUGE_PAGES = "hugepages-"
_THOUSANDTH = quantity.UNIT // 1000
_NATIVE_RESOURCES = ("cpu", "memory", "ephemeral-storage")
NO_IMAGE = "the image is required; name the image to run"
ONLY_SIDECARS = "an init container that ends cannot have {}; remove it, or write restartPolicy: Always"


def validate(spec: PodSpec, field: Callable[[], str] = lambda: "spec") -> Iterator[Rejection]:
    """Yields the rejections of a pod template with this spec. `field` returns the name of the spec in messages."""
    claims = {claim.get("name") for claim in spec.get("resourceClaims") or ()}
    yield from field_rules.validate_pod(spec)
    yield from _volumes(spec)
    yield from _names("resourceClaims", spec.get("resourceClaims") or (), set())
    yield from _containers(spec, claims, field)
    yield from _pod(spec)


def _volumes(spec: PodSpec) -> Iterator[Rejection]:
    """Checks the volumes (ValidateVolumes). A volume without a source is an emptyDir."""
    volumes = spec.get("volumes") or ()
    yield from _names("volumes", volumes, set())
    for index, volume in enumerate(volumes):
        if not by_field.VOLUME.keys().isdisjoint(volume):
            for rejection in by_field.validate(by_field.VOLUME, volume, by_field.Context(spec)):
                yield rejection.below("volumes", index)


def _containers(spec: PodSpec, claims: set[Any], field: Callable[[], str]) -> Iterator[Rejection]:
    """Checks all containers (validateContainers, validateInitContainers). Init containers run one after the other, so they share ports."""
    if not spec.get("containers"):
        yield Rejection(codes.EMPTY_REQUIRED_FIELD, ("containers",), "a container is required; add one")
    volumes = {volume.get("name") for volume in spec.get("volumes") or ()}
    names: set[Any] = set()
    host_ports: set[Any] = set()
    for kind, containers in (("initContainers", spec.get("initContainers")), ("containers", spec.get("containers"))):
        yield from _names(kind, containers or (), names)
        for index, container in enumerate(containers or ()):
            context = by_field.Context(spec, container, kind == "initContainers")
            for rejection in _container(context, volumes, claims, field):
                yield rejection.below(kind, index)
            for rejection in _ports(container, set() if context.is_init else host_ports):
                yield rejection.below(kind, index)


def _pod(spec: PodSpec) -> Iterator[Rejection]:
    if spec.get("ephemeralContainers"):
        yield Rejection(
            codes.EPHEMERAL_CONTAINERS, ("ephemeralContainers",), "a pod template cannot have ephemeral containers; remove them"
        )
    if spec.get("activeDeadlineSeconds") is not None:
        yield Rejection(
            codes.ACTIVE_DEADLINE_NOT_ALLOWED,
            ("activeDeadlineSeconds",),
            "activeDeadlineSeconds would end pods that must keep running; remove it",
        )
    account = spec.get("serviceAccount")  # the old name of serviceAccountName, which wins
    if account and not spec.get("serviceAccountName") and not name_formats.DNS_SUBDOMAIN.fullmatch(account):
        yield Rejection(
            codes.INVALID_NAME_IN_POD, ("serviceAccount",), f"{account!r} is not a valid name; use lower-case letters, digits and dashes"
        )
    for rejection in name_formats.validate_labels(spec.get("nodeSelector") or {}):
        yield rejection.below("nodeSelector")
    context, security = by_field.Context(spec), spec.get("securityContext")
    yield from by_field.validate(by_field.POD, spec, context)
    if security and not by_field.POD_SECURITY.keys().isdisjoint(security):
        for rejection in by_field.validate(by_field.POD_SECURITY, security, context):
            yield rejection.below("securityContext")


def _container(context: by_field.Context, volumes: set[Any], claims: set[Any], field: Callable[[], str]) -> Iterator[Rejection]:
    container: Container = context.container  # type: ignore[assignment]  # a mapping for the modules of `by_field`
    if not container.get("image"):
        yield Rejection(codes.CONTAINER_WITHOUT_IMAGE, ("image",), NO_IMAGE)
    yield from field_rules.validate_container(container)
    yield from _mounts(context, volumes, field)
    for rejection in validate_resources(container.get("resources") or {}, claims, field):
        yield rejection.below("resources")
    for name in merge.PROBES:
        probe = container.get(name)
        if probe is not None and context.is_init and container.get("restartPolicy") != "Always":
            yield Rejection(codes.FIELDS_NOT_ALLOWED_TOGETHER, (name,), ONLY_SIDECARS.format(name))
        elif probe is not None:
            for rejection in _probe(name, probe):
                yield rejection.below(name)
    yield from _env(context)
    if not by_field.CONTAINER.keys().isdisjoint(container):
        yield from by_field.validate(by_field.CONTAINER, context.container, context)


def _names(kind: str, entries: Sequence[Mapping[str, Any]], names: set[Any]) -> Iterator[Rejection]:
    """Yields a rejection for each name that is not a DNS label or that an earlier entry has."""
    for index, entry in enumerate(entries):
        name = entry.get("name")
        if not isinstance(name, str) or not name_formats.DNS_LABEL.fullmatch(name):
            message = f"the name {name or ''!r} is not valid; use lower-case letters, digits and dashes, at most 63"
            yield Rejection(codes.INVALID_CONTAINER_OR_VOLUME_NAME, (kind, index, "name"), message)
        elif name in names:
            yield Rejection(
                codes.DUPLICATE_NAME_IN_POD, (kind, index, "name"), f"the name {name} is used twice in this pod; rename one of the two"
            )
        names.add(name)


def _mounts(context: by_field.Context, volumes: set[Any], field: Callable[[], str]) -> Iterator[Rejection]:
    """Checks the mounts of a container (ValidateVolumeMounts)."""
    paths: set[Any] = set()
    for index, mount in enumerate(context.container.get("volumeMounts") or ()):
        name, path = mount.get("name"), mount.get("mountPath")
        if name not in volumes and not name:
            yield Rejection(codes.EMPTY_REQUIRED_FIELD, ("volumeMounts", index, "name"), "the name of a volume is required; write it")
        elif name not in volumes:
            from krm_fn.base import spelling  # noqa: PLC0415 - only a rejection needs it

            near = spelling.nearest_name(str(name), sorted(map(str, volumes)))
            message = f"the pod has no volume {name}; {f'write {near}, or ' if near else ''}add it under {field()}.volumes"
            yield Rejection(codes.VOLUME_NOT_FOUND, ("volumeMounts", index, "name"), message, near or None)
        if path in paths:
            message = f"two volumes are mounted at {path}; mount one of them elsewhere"
            yield Rejection(codes.DUPLICATE_MOUNT_PATH, ("volumeMounts", index, "mountPath"), message)
        paths.add(path)
        if not by_field.MOUNT.keys().isdisjoint(mount):
            for rejection in by_field.validate(by_field.MOUNT, mount, context):
                yield rejection.below("volumeMounts", index)


def _probe(name: ProbeName, probe: Probe) -> Iterator[Rejection]:
    handlers = [key for key in merge.HANDLERS if probe.get(key) is not None]
    if not handlers:
        yield Rejection(
            codes.PROBE_WITHOUT_HANDLER, (), f"the probe has no handler; give it one of {', '.join(merge.HANDLERS)}, or remove it"
        )
    elif len(handlers) > 1:
        yield Rejection(codes.PROBE_WITH_SEVERAL_HANDLERS, (), f"the probe has the handlers {' and '.join(handlers)}; keep one")
    yield from field_rules.validate_handler(probe)
    for field, number in probe.items():
        if field in _COUNTS and isinstance(number, int) and number < 0:
            yield Rejection(codes.NEGATIVE_NUMBER_IN_PROBE, (field,), f"the number {number} is below zero; write 0 or a larger number")
    if name != "readinessProbe" and probe.get("successThreshold") not in (None, 0, 1):
        from krm_fn.base import edits  # noqa: PLC0415 - only a finding needs it

        message = "successThreshold must be 1 in liveness and startup probes; remove it"
        yield Rejection(codes.FIELD_NOT_ALLOWED_IN_PROBE, ("successThreshold",), message, edit=edits.Edit(edits.Removal()))
    grace_period = probe.get("terminationGracePeriodSeconds")
    if name == "readinessProbe" and grace_period is not None:
        from krm_fn.base import edits  # noqa: PLC0415 - only a finding needs it

        message = "a readiness probe never terminates a pod and cannot have a grace period; remove it"
        yield Rejection(codes.FIELD_NOT_ALLOWED_IN_PROBE, ("terminationGracePeriodSeconds",), message, edit=edits.Edit(edits.Removal()))
    elif grace_period is not None and grace_period < 1:
        yield Rejection(
            codes.NUMBER_NOT_ALLOWED,
            ("terminationGracePeriodSeconds",),
            "the grace period is below 1; write 1 or a larger number, or remove it",
        )


def _ports(container: Container, host_ports: set[Any]) -> Iterator[Rejection]:
    """Yields the rejections of a container's ports. Server-side apply rejects two ports with the same number and protocol.

    `host_ports` holds those of the other containers of the pod that run at the same time (AccumulateUniqueHostPorts).
    """
    ports: set[Any] = set()
    names: set[Any] = set()
    for index, port in enumerate(container.get("ports") or ()):
        name, protocol = port.get("name"), port.get("protocol")
        listener = (port.get("containerPort"), "TCP" if protocol is None else protocol)
        if listener in ports:
            yield Rejection(
                codes.INVALID_PORT, ("ports", index, "containerPort"), f"the port {listener[0]} is listed twice; keep one entry"
            )
        if name and not name_formats.PORT_NAME.fullmatch(name):
            message = f"the port name {name!r} is not valid; use at most 15 lower-case letters, digits and dashes, with at least one letter"
            yield Rejection(codes.INVALID_PORT, ("ports", index, "name"), message)
        if name and name in names:
            yield Rejection(codes.INVALID_PORT, ("ports", index, "name"), f"two ports have the name {name}; rename one of them")
        ports.add(listener)
        names.add(name)
        if port.get("hostPort"):
            on_host = (port["hostPort"], protocol or "TCP", port.get("hostIP") or "")
            if on_host in host_ports:
                message = f"the port {on_host[0]} of the node is used twice in this pod; change one of the two"
                yield Rejection(codes.DUPLICATE_ENTRY_IN_POD, ("ports", index, "hostPort"), message)
            host_ports.add(on_host)


def _env(context: by_field.Context) -> Iterator[Rejection]:
    """Yields the rejections of a container's variables. Server-side apply rejects two variables with the same name."""
    names: set[Any] = set()
    for index, variable in enumerate(context.container.get("env") or ()):
        name, source = variable.get("name"), variable.get("valueFrom")
        if not name or not name_formats.is_env_name(name):
            start, equals, _ = f"{name or ''}".partition("=")
            is_pair = equals and name_formats.is_env_name(start) and not variable.get("value") and not source
            fix = f"write name: {start}, and the text behind = as its value" if is_pair else "use printable ASCII characters other than ="
            message = f"the name {name or ''!r} of the variable is not valid; {fix}"
            yield Rejection(codes.INVALID_VARIABLE_NAME, ("env", index, "name"), message)
        elif name in names:
            yield Rejection(codes.DUPLICATE_VARIABLE, ("env", index, "name"), f"the variable {name} is set twice; keep one entry")
        if variable.get("value") and source:
            yield Rejection(
                codes.VARIABLE_WITH_TWO_SOURCES, ("env", index, "valueFrom"), "the variable has both a value and a source; keep one of them"
            )
        names.add(name)
        if source and not by_field.SOURCE.keys().isdisjoint(source):
            for rejection in by_field.validate(by_field.SOURCE, source, context):
                yield rejection.below("env", index, "valueFrom")


def validate_resources(
    resources: ResourceRequirements, claims: AbstractSet[Any] = frozenset(), field: Callable[[], str] = lambda: "spec"
) -> Iterator[Rejection]:
    """Yields the rejections of limits, requests and claims of a container (validateResourceRequirements).

    `claims` holds the names of the pod's claims.
    """
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    limit_sizes, request_sizes = _sizes(limits), _sizes(requests)
    for name, amount in requests.items():
        if limits.get(name) is not None:
            yield from _against_limit(name, (amount, request_sizes[name]), (limits[name], limit_sizes[name]))
        elif not _overcommits(name):
            message = f"{name} is requested without a limit, and cannot be overcommitted; set the same amount under limits"
            yield Rejection(codes.REQUEST_WITHOUT_LIMIT, ("limits", name), message)
    for name, amount in limits.items():
        yield from _amount(amount, limit_sizes[name], ("limits", name))
    for name, amount in requests.items():
        yield from _amount(amount, request_sizes[name], ("requests", name))
    names = {*limits, *requests}
    if any(name.startswith(_HUGE_PAGES) for name in names) and not names & {"cpu", "memory"}:
        yield Rejection(codes.UNKNOWN_RESOURCE, ("limits",), "the container requests only huge pages; request cpu or memory too")
    for index, claim in enumerate(resources.get("claims") or ()):
        if claim.get("name") not in claims:
            from krm_fn.base import edits  # noqa: PLC0415 - only a finding needs it

            message = f"the pod has no resource claim {claim.get('name')}; {_claim_fix(str(claim.get('name')), claims, field())}"
            yield Rejection(
                codes.RESOURCE_CLAIM_NOT_FOUND, ("claims", index, "name"), message, edits.word(message.rpartition("; ")[2]) or None
            )
        if claim.get("request") and not name_formats.DNS_LABEL.fullmatch(claim["request"]):
            message = f"{claim['request']!r} is not a valid name of a request; use lower-case letters, digits and dashes, at most 63"
            yield Rejection(codes.INVALID_NAME_IN_POD, ("claims", index, "request"), message)


def _claim_fix(name: str, claims: AbstractSet[Any], field: str) -> str:
    """Returns the fix for a claim that the pod lacks: the only claim of the pod, if one of the two names is a part of the other."""
    (only,) = claims if len(claims) == 1 else ("",)
    is_meant = isinstance(only, str) and only and name and (name in only or only in name)
    return f"write {only}" if is_meant else f"add it under {field}.resourceClaims"


def _sizes(amounts: Mapping[str, Quantity]) -> dict[str, int]:
    """Returns amounts in billionths, without fractions of a thousandth, which a server rounds away from zero (SetDefaults_ResourceList)."""
    return {
        name: -(-size // _THOUSANDTH) * _THOUSANDTH if size >= 0 else size // _THOUSANDTH * _THOUSANDTH
        for name, size in quantity.values(amounts).items()
    }


_GPUS = ("gpu", "gpus")
"""Names that authors write for the resource of NVIDIA's device plugin."""


def _amount(amount: Quantity, size: int, path: tuple[str, str]) -> Iterator[Rejection]:
    """Checks the name of a resource, which ends `path`, and its amount. `size` is the amount in billionths."""
    name = path[1]
    if not is_resource(name):
        from krm_fn.base import edits  # noqa: PLC0415 - only a finding needs it

        fix = f"write {'nvidia.com/gpu' if name.lower() in _GPUS else 'cpu, memory, ephemeral-storage, or domain/name'}"
        message = f"{name} is not a resource that a container can request; {fix}"
        yield Rejection(codes.UNKNOWN_RESOURCE, path, message, edit=edits.of_unknown_field(fix))
    if size < 0:
        yield Rejection(codes.INVALID_AMOUNT, path, f"the amount {amount} is below zero; write 0 or a larger amount")
    elif name.startswith(_HUGE_PAGES) and not _is_multiple(size, name.removeprefix(_HUGE_PAGES)):
        yield Rejection(codes.INVALID_AMOUNT, path, f"the amount {amount} is not a multiple of the page size; write a multiple")
    elif not _overcommits(name) and size % quantity.UNIT:
        yield Rejection(codes.INVALID_AMOUNT, path, f"the amount {amount} of {name} is not a whole number; write a whole number")


def _against_limit(name: str, request: tuple[Quantity, int], limit: tuple[Quantity, int]) -> Iterator[Rejection]:
    """Compares a request with its limit. Each has the amount as written, and its size in billionths."""
    path = ("requests", name)
    (amount, size), (limit_amount, limit_size) = request, limit
    if size > limit_size:
        meant = quantity.intended_memory(limit_amount) if name == "memory" else ""
        fix = f"write the limit {meant}" if quantity.value(meant or None) >= size else "lower the request, or raise the limit"
        message = f"the request {amount} is more than the limit {limit_amount}; {fix}"
        yield Rejection(codes.REQUEST_DIFFERS_FROM_LIMIT, path, message)
    elif size != limit_size and not _overcommits(name):
        message = f"the request {amount} differs from the limit {limit_amount} of {name}; write the same amount"
        yield Rejection(codes.REQUEST_DIFFERS_FROM_LIMIT, path, message)


def _overcommits(name: str) -> bool:
    """True if a request may be lower than its limit: native resources other than huge pages."""
    return name in _NATIVE_RESOURCES or (("/" not in name or "kubernetes.io/" in name) and not name.startswith(_HUGE_PAGES))


def is_resource(name: str) -> bool:
    """Returns true for a native resource, or an extended resource, whose name has a domain (validateContainerResourceName)."""
    if name in _NATIVE_RESOURCES:
        return True
    if not name_formats.is_qualified(name):
        return False
    if "/" not in name:
        return name.startswith(_HUGE_PAGES)
    return "kubernetes.io/" in name or (not name.startswith("requests.") and name_formats.is_qualified(f"requests.{name}"))


def _is_multiple(size: int, page: str) -> bool:
    """True if an amount is whole pages of a size such as `2Mi` (IsHugePageResourceValueDivisible). Fractions of a byte count as a byte."""
    page_size = quantity.value(page)
    return page_size > 0 and not page_size % quantity.UNIT and not -(-size // quantity.UNIT) % (page_size // quantity.UNIT)


def validate_template(template: Mapping[str, Any]) -> Iterator[Rejection]:
    """Yields the rejections of a pod template of a workload that keeps its pods running. Paths begin at the template.

    Types, required fields and enum values are checked by `krm_fn.render.schema.schema_check`. Follows ValidatePodTemplateSpec.
    """
    metadata = template.get("metadata") or {}
    spec: Any = template.get("spec") or {}
    for rejection in name_formats.validate_metadata(metadata.get("labels"), metadata.get("annotations")):
        yield rejection.below("metadata")
    for rejection in by_field.validate_annotations(metadata.get("annotations") or {}, by_field.Context(spec)):
        yield rejection.below("metadata", "annotations")
    for rejection in validate(spec):
        yield rejection.below("spec")
