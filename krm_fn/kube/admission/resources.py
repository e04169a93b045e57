"""The refusals of a container's limits, requests and claims by an API server (ValidateResourceRequirements)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import quantity
from krm_fn.kube.admission import Refusal, metadata

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.types import Quantity, Resources
    from krm_fn.results import Path

_PAGES = "hugepages-"
_NATIVE = ("cpu", "memory", "ephemeral-storage")


def refusals(resources: Resources, claims: set[Any], field: str) -> Iterator[Refusal]:
    """The refusals of a container's resources. `claims` holds the names of the pod's resource claims, `field` the name of the pod spec."""
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, amount in requests.items():
        yield from _request(name, amount, limits.get(name))
    for name, amount in limits.items():
        yield from _one(name, amount, ("limits", name))
    for name, amount in requests.items():
        yield from _one(name, amount, ("requests", name))
    asked = {*limits, *requests}
    if any(name.startswith(_PAGES) for name in asked) and not asked & {"cpu", "memory"}:
        yield Refusal("DYN229", ("limits",), "the container requests only huge pages; request cpu or memory too")
    for index, claim in enumerate(resources.get("claims") or ()):
        if claim.get("name") not in claims:
            message = f"the pod has no resource claim {claim.get('name')}; add it under {field}.resourceClaims"
            yield Refusal("DYN213", ("claims", index, "name"), message)


def _one(name: str, amount: Quantity, at: Path) -> Iterator[Refusal]:
    """Checks the name of a resource and its amount."""
    size = quantity.value(amount)
    if not _is_resource(name):
        message = f"{name} is not a resource that a container can request; write cpu, memory, ephemeral-storage, or domain/name"
        yield Refusal("DYN229", at, message)
    if size < 0:
        yield Refusal("DYN212", at, f"the amount {amount} is below zero; write 0 or a larger amount")
    elif name.startswith(_PAGES) and size % (quantity.value(name.removeprefix(_PAGES)) or quantity.UNIT):
        yield Refusal("DYN212", at, f"the amount {amount} is not a multiple of the page size; write a multiple")
    elif not _overcommits(name) and size % quantity.UNIT:
        yield Refusal("DYN212", at, f"the amount {amount} of {name} is not a whole number; write a whole number")


def _request(name: str, amount: Quantity, limit: Quantity | None) -> Iterator[Refusal]:
    """Compares a request with its limit."""
    at: Path = ("requests", name)
    if limit is None:
        if not _overcommits(name):
            message = f"{name} is requested without a limit, and cannot be overcommitted; set the same amount under limits"
            yield Refusal("DYN210", ("limits", name), message)
    elif quantity.value(amount) > quantity.value(limit):
        yield Refusal("DYN211", at, f"the request {amount} is more than the limit {limit}; lower the request, or raise the limit")
    elif quantity.value(amount) != quantity.value(limit) and not _overcommits(name):
        yield Refusal("DYN211", at, f"the request {amount} differs from the limit {limit} of {name}; write the same amount")


def _overcommits(name: str) -> bool:
    """True if a request may be lower than its limit: native resources other than huge pages."""
    return name in _NATIVE or (("/" not in name or "kubernetes.io/" in name) and not name.startswith(_PAGES))


def _is_resource(name: str) -> bool:
    """True for a native resource, or an extended resource, whose name has a domain (validateContainerResourceName)."""
    if name in _NATIVE:
        return True
    if not metadata.is_qualified(name):
        return False
    if "/" not in name:
        return name.startswith(_PAGES)
    return "kubernetes.io/" in name or not name.startswith("requests.")
