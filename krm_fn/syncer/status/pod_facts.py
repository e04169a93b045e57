"""The fields in the status of a component that repeat facts of its pods: numbers of GPUs, names and the power limit.

A render writes these facts into the annotation `workloads`. Claims of devices that the render does not know are looked up in the cluster.
"""

from __future__ import annotations

from typing import Any

from krm_fn.kubernetes import gpu_demand, values
from krm_fn.render.workload_list import StatusFacts, WorkloadEntry
from krm_fn.syncer.status import SyncFeatures
from krm_fn.syncer.status.device_index import DeviceIndex

_ENGINE, _REPLICA = "gpusPerEngine", "gpusPerReplica"
_NAMES = {"servedModelName": "served_model", "runtimeComponentName": "runtime_component", "gpuPowerLimitWatts": "power_limit"}
_FIELDS = (_ENGINE, _REPLICA, *_NAMES)
_LISTS = ("components", "services")
_SINGLE = ("component", "service")


def gpu_numbers(entry: WorkloadEntry, namespace: str, index: DeviceIndex, features: SyncFeatures) -> dict[str, int]:
    """Returns the numbers of GPUs of a component; empty if the operator of its release does not report them, or if they are unknown."""
    try:
        return _gpu_numbers(entry.facts, namespace, index, features)
    except ValueError:
        return {}


def gpu_problem(entry: WorkloadEntry, namespace: str, index: DeviceIndex, features: SyncFeatures) -> str:
    """Explains why the numbers of GPUs of a component are unknown; empty if they are known."""
    try:
        _gpu_numbers(entry.facts, namespace, index, features)
    except ValueError as problem:
        return f"the GPUs of service {entry.service} are unknown to planners: {problem}"
    return ""


def names(entry: WorkloadEntry) -> dict[str, Any]:
    """Returns the names and the power limit of a component, as far as its pods have them."""
    found = {field: getattr(entry.facts, attribute) for field, attribute in _NAMES.items()} if entry.facts else {}
    return {field: value for field, value in found.items() if value}


def stored_names(stored: dict[str, Any]) -> dict[str, Any]:
    """Returns the names and the power limit in the stored status of a component."""
    return {field: stored[field] for field in _NAMES if field in stored}


def without(status: dict[str, Any]) -> dict[str, Any]:
    """Removes the facts from the status of a graph or a component, because nothing shows that they are those of its current pods."""
    changed = {name: _without(part) for name in _SINGLE if isinstance(part := status.get(name), dict)}
    for name in _LISTS:
        if isinstance(status.get(name), dict):
            changed[name] = {key: _without(part) for key, part in values.mapping(status, name).items()}
    return {**status, **changed}


def _without(part: Any) -> Any:
    return {field: value for field, value in part.items() if field not in _FIELDS} if isinstance(part, dict) else part


def _gpu_numbers(facts: StatusFacts | None, namespace: str, index: DeviceIndex, features: SyncFeatures) -> dict[str, int]:
    """Returns the numbers of GPUs. Raises ValueError with the reason if they are unknown."""
    if facts is None:
        return {}
    if facts.engine is None or facts.replica is None:
        raise ValueError(facts.gpu_problem or "the annotation has no numbers")
    claims = (*facts.engine.claims, *facts.replica.claims)
    if claims and not features.device_claims:
        raise ValueError(f"its pods use the {claims[0].kind} {claims[0].name}; run krm-fn sync with --device-claims")
    devices = index.devices
    return {
        _ENGINE: gpu_demand.resolve_demand(facts.engine, devices, namespace),
        _REPLICA: gpu_demand.resolve_demand(facts.replica, devices, namespace),
    }
