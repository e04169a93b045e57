"""The GPUs that pods get through ResourceClaims, for the totals of a forecast.

A node lists no GPUs of claims, so they count in no placement. A claim from a template belongs to one pod, and a claim with a name counts
once for all pods. A claim that is not among the objects of a state may ask for any number, so the GPUs of its pods are unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.kubernetes import device_claims
from krm_fn.kubernetes.device_claims import Devices
from krm_fn.kubernetes.gpu_demand import ClaimUse
from krm_fn.render.schema.object_changes import ObjectChange
from krm_fn.review.forecast.gpu_capacity import Demand
from krm_fn.review.forecast.rollouts import Rollout

_RESOURCE = "claims"
"""The name of a resource for the devices of claims."""


ClaimKey = tuple[str, str, str]
"""Kind, namespace and name of a ResourceClaim or of its template."""


class StateDevices(NamedTuple):
    """The claims and the device classes of both states."""

    old: Devices
    new: Devices


class Shared(NamedTuple):
    """The GPUs of claims with a name that pods use before and after a change, and the GPUs of both states together."""

    before: int = 0
    peak: int = 0
    after: int = 0


def read(changes: Sequence[ObjectChange]) -> StateDevices:
    """Reads the claims and the classes among the objects of both states."""
    old = ((change.key.namespace, change.old) for change in changes if change.old)
    new = ((change.key.namespace, change.new) for change in changes if change.new)
    return StateDevices(device_claims.read(old), device_claims.read(new))


def count_claims(rollouts: Sequence[Rollout], namespace: str, devices: StateDevices) -> tuple[Rollout, ...]:
    """Returns rollouts whose pods also have the GPUs of their claims from templates, as far as the number is known.

    The pods of a rollout that replaces none have their old demands in both states, and new ones have claims of the new state.
    """
    return tuple(
        rollout._replace(
            old_demands=tuple(_count_demand(demand, namespace, *_states(rollout, devices)) for demand in rollout.old_demands),
            new_demands=tuple(_count_demand(demand, namespace, devices.new) for demand in rollout.new_demands),
        )
        for rollout in rollouts
    )


def _states(rollout: Rollout, devices: StateDevices) -> tuple[Devices, ...]:
    """Returns the states that show the claims of the old demands of a rollout. The first state that knows a claim counts."""
    return (devices.old,) if rollout.replaces else (devices.old, devices.new)


def _count_demand(demand: Demand, namespace: str, *states: Devices) -> Demand:
    claims = [use for use in demand.claims if use.kind == device_claims.TEMPLATE]
    gpus = 0
    for use in claims:
        numbers = (_number(use, namespace, known) for known in states)
        gpus += next((number for number in numbers if number is not None), 0) * use.times
    return demand._replace(amounts=(*demand.amounts, (_RESOURCE, gpus))) if gpus else demand


def shared_gpus(rollouts: Sequence[tuple[str, Rollout]], devices: StateDevices) -> Shared:
    """Returns the GPUs of claims with a name. Each rollout comes with its namespace."""
    before: dict[tuple[str, str], int] = {}
    after: dict[tuple[str, str], int] = {}
    for namespace, rollout in rollouts:
        for use, is_new in _named_claims(rollout):
            numbers, known = (after, devices.new) if is_new else (before, devices.old)
            numbers[namespace, use.name] = max(numbers.get((namespace, use.name), 0), _number(use, namespace, known) or 0)
    peak = sum(max(before.get(key, 0), after.get(key, 0)) for key in before | after)
    return Shared(sum(before.values()), peak, sum(after.values()))


def _named_claims(rollout: Rollout) -> Iterator[tuple[ClaimUse, bool]]:
    """Yields the claims with a name that a rollout uses, and true for those of new pods."""
    for demands, units, is_new in ((rollout.old_demands, rollout.old_units, False), (_new_demands(rollout), rollout.new_units, True)):
        for demand in demands if units else ():
            yield from ((use, is_new) for use in demand.claims if use.kind == device_claims.CLAIM)


def unknown(rollouts: Sequence[Rollout], namespace: str, devices: StateDevices) -> tuple[frozenset[ClaimKey], frozenset[ClaimKey]]:
    """Returns the claims of unknown size that the pods use before and after a change."""
    before = (key for rollout in rollouts if rollout.old_units for key in _unknown(rollout.old_demands, namespace, devices.old))
    after = (key for rollout in rollouts if rollout.new_units for key in _unknown(_new_demands(rollout), namespace, devices.new))
    return frozenset(before), frozenset(after)


def _new_demands(rollout: Rollout) -> tuple[Demand, ...]:
    return rollout.new_demands if rollout.replaces else rollout.old_demands


def _unknown(demands: Sequence[Demand], namespace: str, known: Devices) -> Iterator[ClaimKey]:
    uses = (use for demand in demands for use in demand.claims)
    return ((use.kind, namespace, use.name) for use in uses if _number(use, namespace, known) is None)


def _number(use: ClaimUse, namespace: str, known: Devices) -> int | None:
    """Returns the GPUs of one claim; None if the objects do not show the number."""
    try:
        return device_claims.of_claim(known, use.kind, namespace, use.name, use.requests)
    except ValueError:
        return None


def findings(change: ObjectChange, rollouts: Sequence[Rollout], devices: StateDevices) -> Iterator[Result]:
    """Warns of each claim of the new pods of an object whose number of GPUs is unknown, with the reason."""
    demands = [demand for rollout in rollouts if rollout.new_units for demand in _new_demands(rollout)]
    for use in dict.fromkeys(use for demand in demands for use in demand.claims):
        try:
            device_claims.of_claim(devices.new, use.kind, change.key.namespace, use.name, use.requests)
        except ValueError as problem:
            message = f"{problem}, so the GPUs of these pods are unknown; add the object to the input, with a fixed number of devices"
            yield results.warning(codes.UNKNOWN_GPUS_IN_FORECAST, message, results.ref(change.new or {}))
