"""Rules of an API server about the resources and the overhead of a whole pod."""

from __future__ import annotations

from krm_fn.base import codes
from krm_fn.kubernetes import quantity
from krm_fn.kubernetes.api_server import pod_rules
from krm_fn.kubernetes.api_server.rejections import Rejection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.api_server.by_field import Context
    from krm_fn.kubernetes.types import ResourceSide

    Fields = Mapping[str, Any]

_HUGE_PAGES = "hugepages-"


def validate(spec: Fields, _context: Context) -> Iterator[Rejection]:
    """Yields the rejections of `resources` and `overhead` of a pod."""
    resources: Any = spec.get("resources")
    if resources is not None:
        for rejection in _resources(resources, spec):
            yield rejection.below("resources")
    overhead: Any = spec.get("overhead")
    for rejection in pod_rules.validate_resources({"limits": overhead or {}}):
        yield rejection._replace(path=("overhead", *rejection.path[1:]))


def _resources(resources: Fields, spec: Fields) -> Iterator[Rejection]:
    """Checks the resources (validatePodResources, validatePodResourceName)."""
    if resources.get("claims") is not None:
        yield Rejection(codes.FIELDS_NOT_ALLOWED_TOGETHER, ("claims",), "a pod has no claims under resources; write them in the containers")
    amounts: Any = {side: resources.get(side) or {} for side in ("limits", "requests")}
    yield from pod_rules.validate_resources(amounts)
    for side, entries in amounts.items():
        for name in entries:
            if pod_rules.is_resource(name) and name not in ("cpu", "memory") and not name.startswith(_HUGE_PAGES):
                message = f"{name} is not a resource of a whole pod; write it in a container, or write cpu, memory or hugepages-<size>"
                yield Rejection(codes.UNKNOWN_RESOURCE, (side, name), message)
    yield from _below_containers(amounts, spec)


def _below_containers(amounts: Mapping[str, Fields], spec: Fields) -> Iterator[Rejection]:
    """Compares the resources with those of the containers (validatePodResourceConsistency).

    Requests and huge pages must cover all containers together, other limits each container.
    """
    for name, needed in _together(spec, "requests").items():
        yield from _covers(amounts, ("requests", name), needed)
    for name, needed in _together(spec, "limits").items():
        if name.startswith(_HUGE_PAGES):
            yield from _covers(amounts, ("limits", name), needed)
    for container in spec.get("containers") or ():
        for name, amount in ((container.get("resources") or {}).get("limits") or {}).items():
            limit = amounts["limits"].get(name)
            if limit is not None and quantity.value(amount) > quantity.value(limit):
                message = f"the limit {limit} of the pod is below the limit {amount} of container {container.get('name')}"
                yield Rejection(codes.POD_RESOURCES_TOO_LOW, ("limits", name), f"{message}; raise the first, or lower the second")


def _covers(amounts: Mapping[str, Fields], path: tuple[str, str], needed: int) -> Iterator[Rejection]:
    side, name = path
    amount = amounts[side].get(name)
    if amount is not None and needed > quantity.value(amount):
        word = side.removesuffix("s")
        yield Rejection(
            codes.POD_RESOURCES_TOO_LOW,
            path,
            f"the {word} {amount} of the pod is below those of its containers together; raise it, or lower theirs",
        )


def _together(spec: Fields, side: ResourceSide) -> dict[str, int]:
    """Returns the amounts that a pod needs at once, in billionths (AggregateContainerRequests, AggregateContainerLimits).

    Sidecars run beside all later containers, and other init containers alone.
    """
    total: dict[str, int] = {}
    for container in spec.get("containers") or ():
        _add(total, container, side)
    sidecars: dict[str, int] = {}
    first: dict[str, int] = {}
    for container in spec.get("initContainers") or ():
        at_once = dict(sidecars)
        _add(at_once, container, side)
        if container.get("restartPolicy") == "Always":
            _add(total, container, side)
            sidecars = at_once
        first = {name: max(first.get(name, 0), at_once.get(name, 0)) for name in {*first, *at_once}}
    return {name: max(total.get(name, 0), first.get(name, 0)) for name in {*total, *first}}


def _add(total: dict[str, int], container: Fields, side: ResourceSide) -> None:
    for name, amount in ((container.get("resources") or {}).get(side) or {}).items():
        total[name] = total.get(name, 0) + quantity.value(amount)
