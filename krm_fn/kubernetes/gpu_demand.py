"""The GPUs that pods ask for: the resources of their containers, and the claims that the containers use.

Follows the operator's `internal/dynamo/gpu_shape.go` and `internal/dra` (dra.go).
"""

from __future__ import annotations

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import quantity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from krm_fn.kubernetes.device_claims import Devices

_LARGEST = 2**31 - 1
"""The largest number of a status."""
_RESTARTABLE = "Always"


class ClaimUse(NamedTuple):
    """The use of a ResourceClaim, or of the claims that are made from a ResourceClaimTemplate.

    `requests` are the used requests of the claim; empty for all. `times` is the number of claims.
    """

    kind: str
    name: str
    requests: tuple[str, ...] = ()
    times: int = 1


class GPUDemand(NamedTuple):
    """The GPUs of pods: a `number` in their resources, and their `claims`."""

    number: int = 0
    claims: tuple[ClaimUse, ...] = ()


def of_pods(pods: Iterable[tuple[Mapping[str, Any], int]]) -> GPUDemand:
    """Returns the demand of the pods of one replica.

    Each entry is the spec of a pod and the number of such pods. Raises ValueError with the reason if the resources or claims of a container
    are ambiguous.

    Rule status.gpu-shape: A replica has the GPUs of all its pods, which share a claim with a name and have their own claims from a
    template. (operator: internal/dynamo/gpu_shape.go)
    """
    listed = list(pods)
    total = sum(_footprint(pod) * count for pod, count in listed)
    if total > _LARGEST:
        raise ValueError(f"{total} GPUs are more than a status can hold")
    return GPUDemand(total, claim_uses(listed))


def claim_uses(pods: Iterable[tuple[Mapping[str, Any], int]]) -> tuple[ClaimUse, ...]:
    """Returns the claims that the containers of pods use, sorted. Each entry is the spec of a pod and the number of such pods.

    Raises ValueError if a container uses a claim that its pod does not have.
    """
    uses: dict[tuple[str, str, int, str], tuple[set[str], int]] = {}
    for index, (pod, count) in enumerate(pods):
        for kind, name, entry, request, shared in _claims(pod):
            key = (kind, name, -1, "") if shared else (kind, name, index, entry)
            requests, _ = uses.setdefault(key, (set(), 1 if shared else count))
            requests.add(request)
    merged: dict[tuple[str, str, tuple[str, ...]], int] = {}
    for (kind, name, _, _), (requests, times) in uses.items():
        use = (kind, name, () if "" in requests else tuple(sorted(requests)))
        merged[use] = merged.get(use, 0) + times
    return tuple(ClaimUse(*use, times) for use, times in sorted(merged.items()) if times)


def of_container(pod: Mapping[str, Any], container: Mapping[str, Any], nodes: int) -> GPUDemand:
    """Returns the demand of one container of a pod on several nodes. Raises ValueError as `of_pods` does.

    Rule status.gpus-per-engine: An engine has the GPUs of the main container on all its nodes. (operator: internal/dynamo/gpu_shape.go)
    """
    return of_pods([({"containers": [container], "resourceClaims": pod.get("resourceClaims")}, nodes)])


def add_demands(demand: GPUDemand, other: GPUDemand) -> GPUDemand:
    """Returns the GPUs of two demands together."""
    return GPUDemand(demand.number + other.number, (*demand.claims, *other.claims))


def resolve_demand(demand: GPUDemand, devices: Devices, namespace: str) -> int:
    """Returns the number of GPUs of a demand. Raises ValueError with the reason if a claim does not show its number."""
    from krm_fn.kubernetes import device_claims  # noqa: PLC0415 - few pods claim devices

    total = demand.number
    for use in demand.claims:
        total += use.times * device_claims.of_claim(devices, use.kind, namespace, use.name, use.requests)
    if total > _LARGEST:
        raise ValueError(f"{total} GPUs are more than a status can hold")
    return total


def _footprint(pod: Mapping[str, Any]) -> int:
    """Returns the number of GPUs that a pod needs. Init containers that restart always keep their GPUs while all others run.

    Rule status.gpu-footprint: A pod needs the GPUs of its containers together, or those of its init containers if these are more.
    (operator: internal/dra)
    """
    running = sum(_gpus(container, "container") for container in pod.get("containers") or ())
    kept = peak = 0
    for container in pod.get("initContainers") or ():
        number = _gpus(container, "init container")
        if container.get("restartPolicy") == _RESTARTABLE:
            kept += number
            peak = max(peak, kept)
        else:
            peak = max(peak, kept + number)
    return max(peak, running + kept)


def _gpus(container: Mapping[str, Any], role: str) -> int:
    """Returns the GPUs in the resources of a container. The limits come before the requests."""
    resources = container.get("resources")
    if not resources:
        return 0
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    names = sorted({name for side in (limits, requests) for name in side if quantity.is_gpu_resource(name)})
    if not names:
        return 0
    described = f"{role} {container.get('name')}"
    if len(names) > 1:
        raise ValueError(f"{described} has two kinds of GPUs, {' and '.join(names)}; keep one of them")
    (name,) = names
    amount = f"{limits[name] if name in limits else requests[name]}"
    try:
        value = quantity.parse(amount).value
    except ValueError as problem:
        raise ValueError(f"{name} of {described}: {problem}") from problem
    if value % quantity.UNIT or value < 0:
        raise ValueError(f"{described} has {amount} of {name}, which is not a whole number; write a whole number")
    return value // quantity.UNIT


def _claims(pod: Mapping[str, Any]) -> Iterable[tuple[str, str, str, str, bool]]:
    """Yields the claims that containers of a pod use.

    For each: kind and name of the object, name of the entry in the pod, request, and true if pods share the claim.
    """
    listed = {claim.get("name"): claim for claim in pod.get("resourceClaims") or ()}
    for field in ("initContainers", "containers"):
        for container in pod.get(field) or ():
            for claim in (container.get("resources") or {}).get("claims") or ():
                from krm_fn.kubernetes import device_claims  # noqa: PLC0415 - few pods claim devices

                kind, name = device_claims.reference(listed.get(claim.get("name")) or {}, claim.get("name"))
                yield kind, name, str(claim.get("name")), str(claim.get("request") or ""), kind == device_claims.CLAIM
