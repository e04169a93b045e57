"""Changes of features that only newer releases have. Follows ValidateUpdate of the reference's `internal/webhook/validation/`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.kube import labels
from krm_fn.kube.values import mapping
from krm_fn.schema import sentences
from krm_fn.validation.updates.graphs import written

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.plan.address import Field, GraphField
    from krm_fn.results import Path, Result
    from krm_fn.validation.updates.change import Change

_GROUPS = "the pods of the component are grouped in another way, and Grove cannot regroup running ones"
_PLACES = "Grove does not move running pods"
_BETWEEN_PODS = "InterPod"


def check(change: Change) -> Iterator[Result]:
    """Reports changes that the CRD or Grove refuses, and warns of changes that a running operator alone refuses."""
    yield from _of_graph(change)
    for address, was, now in change.both():
        if _least(was) != _least(now):
            message = sentences.of("DYN480")
            yield results.error("DYN480", message, path=address.at("min_available"), current=_least(now), proposed=_least(was))
        grove: tuple[tuple[Field, Any, Any, str], ...] = (
            ("topology", was.get("topologyConstraint"), now.get("topologyConstraint"), _PLACES),
            ("gpu_memory", _apart(was, "gpuMemoryService"), _apart(now, "gpuMemoryService"), _GROUPS),
            ("failover", _apart(was, "failover"), _apart(now, "failover"), _GROUPS),
            ("grouped", _grouped(was), _grouped(now), _GROUPS),
        )
        for field, before, after, why in grove:
            if before != after:
                yield _fixed(address.at(field), why)
        if _power(was) != _power(now):
            yield _refused(address.at("pod.annotations", labels.POWER_LIMIT))


def _of_graph(change: Change) -> Iterator[Result]:
    if written(change.was, "topologyConstraint") != written(change.now, "topologyConstraint"):
        yield _fixed(change.book.at("topology"), _PLACES)
    policy: GraphField = "kv_transfer"
    if written(change.was, "experimental", "kvTransferPolicy") != written(change.now, "experimental", "kvTransferPolicy"):
        yield _refused(change.book.at(policy))
    before, after = (state.annotations.get(labels.WORKLOAD_PROVIDER) for state in (change.was, change.now))
    if before is not None and before != after:
        yield _refused(("metadata", "annotations", labels.WORKLOAD_PROVIDER))


def _fixed(path: Path, why: str) -> Result:
    message = f"{path[-1]} cannot change, because {why}; set it back, or make a graph with another name"
    return results.error("DYN483", message, path=path)


def _refused(path: Path) -> Result:
    message = f"{path[-1]} was changed, which a running operator refuses; set it back, or make a graph with another name"
    return results.warning("DYN484", message, path=path)


def _least(component: dict[str, Any]) -> Any:
    """The number of replicas that Grove starts together. Absent means 1."""
    return component.get("minAvailable", 1)


def _apart(component: dict[str, Any], feature: str) -> bool:
    """True if a feature runs in pods of its own."""
    return mapping(mapping(component.get("experimental")).get(feature)).get("mode") == _BETWEEN_PODS


def _grouped(component: dict[str, Any]) -> bool:
    """True if a scaling group always contains the component."""
    return mapping(mapping(component.get("experimental")).get("grove")).get("forceScalingGroup") is True


def _power(component: dict[str, Any]) -> Any:
    metadata = mapping(mapping(component.get("podTemplate")).get("metadata"))
    return mapping(metadata.get("annotations")).get(labels.POWER_LIMIT)
