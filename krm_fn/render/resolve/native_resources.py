"""Converts Dynamo's resources to native resources. Follows the operator's `internal/controller_common/resource.go` GetResourcesConfig."""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.base.results import Path, Ref, Result
from krm_fn.kubernetes import quantity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.kubernetes.native_types import ResourceRequirements
    from krm_fn.kubernetes.types import ResourceSide

_GPU = "nvidia.com/gpu"
"""The resource name of GPUs.

Rule container.gpus: GPUs without a `gpuType` are requested as `nvidia.com/gpu`. (operator: internal/controller_common/resource.go
GetResourcesConfig)
"""
_SIDES: tuple[ResourceSide, ...] = ("limits", "requests")


def native(written: dict[str, Any], ref: Ref, path: Path, findings: list[Result]) -> ResourceRequirements:
    """Returns limits, requests and claims with canonical quantities. Adds an error to `findings` for each value that is not a quantity."""
    sides: ResourceRequirements = {"limits": {}, "requests": {}}
    for side in _SIDES:
        for name, (field, amount) in _amounts(written.get(side) or {}, gpus=side == "limits").items():
            try:
                sides[side][name] = quantity.parse(amount).text
            except ValueError as problem:
                meant = quantity.meant(f"{amount}")
                message = f"{problem}; write {meant or 'for example 500m, 2 or 4Gi'}"
                findings.append(
                    results.error(codes.INVALID_QUANTITY, message, ref, (*path, "resources", side, *field), proposed=meant or None)
                )
    return {**sides, "claims": written.get("claims") or []}


def overridden(written: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Returns the resources with the amounts of `DYN_DEPLOYMENT_CONFIG` as limits and as requests."""
    if not over:
        return written
    return {**written, **{side: {**(written.get(side) or {}), **over} for side in ("limits", "requests")}}


def gpus(written: dict[str, Any], merged: ResourceRequirements) -> int:
    """Returns the number of GPUs of one pod, from the service and its main container. `merged` are the main container's resources.

    Rule container.gpu-number: see `krm_fn.render.resolve.requested_gpus`.
    """
    name = (written.get("limits") or {}).get("gpuType") or _GPU
    return quantity.value(merged.get("limits", {}).get(name, "0")) // quantity.UNIT


def _amounts(written: dict[str, Any], *, gpus: bool) -> dict[str, tuple[Path, str]]:
    """Returns the amounts of one side of a service's resources by native name, each with its path. With `gpus`, those of GPUs too.

    GPUs count only as limits; Kubernetes derives the request.

    Rule container.resources: The amounts of a v1alpha1 service become amounts of native resources. (operator:
    internal/controller_common/resource.go GetResourcesConfig)
    """
    named = {"cpu": "cpu", "memory": "memory", **({"gpu": written.get("gpuType") or _GPU} if gpus else {})}
    amounts: dict[str, tuple[Path, str]] = {named[field]: ((field,), written[field]) for field in named if written.get(field)}
    for name, amount in (written.get("custom") or {}).items():
        amounts[name] = (("custom", name), amount)
    return amounts
