"""What containers may ask for: limits, requests and claims, as an API server judges them.

Not its business: where the user wrote it. Follows Kubernetes' `pkg/apis/core/validation/validation.go` (ValidateResourceRequirements).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from krm_fn.kube import quantity
from krm_fn.kube.admission import fields
from krm_fn.kube.admission.fields import Fault
from krm_fn.results import Path

_PAGES = "hugepages-"
_NATIVE = ("cpu", "memory", "ephemeral-storage")


def check(resources: dict[str, Any], claims: set[Any]) -> Iterator[Fault]:
    """What is wrong with a container's resources, in a pod that has these claims."""
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, amount in requests.items():
        yield from _request(name, amount, limits.get(name))
    for side in ("limits", "requests"):
        for name, amount in (resources.get(side) or {}).items():
            yield from _one(name, amount, ("resources", side, name))
    asked = {*limits, *requests}
    if any(name.startswith(_PAGES) for name in asked) and not asked & {"cpu", "memory"}:
        yield Fault("DYN229", ("resources", "limits"), "holds huge pages only; ask for cpu or memory too")
    for index, claim in enumerate(resources.get("claims") or ()):
        if claim.get("name") not in claims:
            message = f"the pod has no resource claim {claim.get('name')}; add it under extraPodSpec.resourceClaims"
            yield Fault("DYN213", ("resources", "claims", index, "name"), message)


def _one(name: str, amount: Any, at: Path) -> Iterator[Fault]:
    """A resource and its amount."""
    size = quantity.value(amount)
    if not _is_resource(name):
        yield Fault("DYN229", at, "is no resource that a container can ask for; write cpu, memory, ephemeral-storage, or domain/name")
    if size < 0:
        yield Fault("DYN212", at, f"{amount} is below zero; write an amount")
    elif name.startswith(_PAGES) and size % (quantity.value(name.removeprefix(_PAGES)) or quantity.UNIT):
        yield Fault("DYN212", at, f"{amount} is no multiple of the page's size; write one")
    elif not _overcommits(name) and size % quantity.UNIT:
        yield Fault("DYN212", at, f"{amount} is not a whole number of {name}; write one")


def _request(name: str, amount: Any, limit: Any) -> Iterator[Fault]:
    """A request against its limit."""
    at: Path = ("resources", "requests", name)
    if limit is None:
        if not _overcommits(name):
            message = f"{name} is requested but not limited, and cannot be overcommitted; set the same amount under limits"
            yield Fault("DYN210", ("resources", "limits", name), message)
    elif quantity.value(amount) > quantity.value(limit):
        yield Fault("DYN211", at, f"{amount} is more than the limit {limit}; lower it, or raise the limit")
    elif quantity.value(amount) != quantity.value(limit) and not _overcommits(name):
        yield Fault("DYN211", at, f"{amount} must equal the limit {limit}; write the same amount")


def _overcommits(name: str) -> bool:
    """Whether a node may promise more of it than it has: native resources other than huge pages."""
    return name in _NATIVE or (("/" not in name or "kubernetes.io/" in name) and not name.startswith(_PAGES))


def _is_resource(name: str) -> bool:
    """A native resource, or an extended one, which has a domain (reference: validateContainerResourceName)."""
    if not fields.is_qualified(name):
        return False
    if "/" not in name:
        return name in _NATIVE or name.startswith(_PAGES)
    return "kubernetes.io/" in name or not name.startswith("requests.")
