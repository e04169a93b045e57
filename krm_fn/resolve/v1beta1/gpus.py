"""The GPUs of a main container: those that it requests, otherwise those that it claims.

Follows the reference's `internal/dra` ResolveGPUCount.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import gpus, quantity
from krm_fn.plan import GPUs

if TYPE_CHECKING:
    from krm_fn.kube.types import Container
    from krm_fn.plan import PodFacts
    from krm_fn.resolve.context import Shared
    from krm_fn.results import Path


def requested(container: Container) -> GPUs:
    """The GPUs in the resources: the first name of GPUs among the limits, otherwise among the requests."""
    sides = container.get("resources") or {}
    for amounts in (sides.get("limits") or {}, sides.get("requests") or {}):
        name = next((name for name in sorted(amounts) if gpus.is_resource(name)), None)
        if name is not None:
            amount = f"{amounts[name]}"
            return GPUs(quantity.value(amount) // quantity.UNIT, amount, amount)
    return GPUs(0, "", "")


def counted(facts: Shared, pod: PodFacts, at: Path, *, needed: bool) -> GPUs:
    """The GPUs of a pod, also those of its claims. If they are `needed` and the items do not tell them, adds a finding at this path."""
    if pod.gpus.number or not (pod.container.get("resources") or {}).get("claims"):
        return pod.gpus
    from krm_fn.resolve import devices  # noqa: PLC0415 - few components claim devices

    try:
        number = devices.count(facts.cluster.devices or devices.Devices(), facts.namespace, pod.spec, pod.container)
    except ValueError as problem:
        if needed:
            message = f"the engine needs the number of GPUs of a node, and {problem}; add the claim to the items, or request GPUs in limits"
            facts.found.append(results.error("DYN439", message, facts.ref, at))
        return pod.gpus
    return GPUs(number, f"{number}", f"{number}") if number else pod.gpus
