"""Changes of features that only newer releases have. Follows ValidateUpdate of the operator's `internal/webhook/validation/`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.kube import labels
from krm_fn.kube.values import mapping
from krm_fn.rules.graph_updates import spec_field
from krm_fn.schema import rule_messages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.results import Path, Result
    from krm_fn.rules.graph_updates import Change

_GROUPS = "the pods of the component are grouped in another way, and Grove cannot regroup running ones"
_MOVES = "Grove does not move running pods"
_BETWEEN_PODS = "InterPod"


def check(change: Change) -> Iterator[Result]:
    """Reports changes that the CRD or Grove rejects, and warns of changes that only a running operator rejects."""
    yield from _of_graph(change)
    for paths, was, now in change.both():
        if _min_available(was) != _min_available(now):
            message = rule_messages.of("DYN480")
            yield results.error("DYN480", message, path=paths.at("minAvailable"), current=_min_available(now), proposed=_min_available(was))
        grove: tuple[tuple[Path, Any, Any, str], ...] = (
            (("topologyConstraint",), was.get("topologyConstraint"), now.get("topologyConstraint"), _MOVES),
            (("experimental", "gpuMemoryService"), _has_pods(was, "gpuMemoryService"), _has_pods(now, "gpuMemoryService"), _GROUPS),
            (("experimental", "failover"), _has_pods(was, "failover"), _has_pods(now, "failover"), _GROUPS),
            (("experimental", "grove", "forceScalingGroup"), _grouped(was), _grouped(now), _GROUPS),
        )
        for field, old, new, reason in grove:
            if old != new:
                yield _fixed(paths.at(*field), reason)
        if _power(was) != _power(now):
            yield _rejected(paths.at("podTemplate", "metadata", "annotations", labels.POWER_LIMIT))


def _of_graph(change: Change) -> Iterator[Result]:
    if spec_field(change.was, "topologyConstraint") != spec_field(change.now, "topologyConstraint"):
        yield _fixed(change.paths.at("topologyConstraint"), _MOVES)
    if spec_field(change.was, "experimental", "kvTransferPolicy") != spec_field(change.now, "experimental", "kvTransferPolicy"):
        yield _rejected(change.paths.at("experimental", "kvTransferPolicy"))
    old, new = (state.annotations.get(labels.WORKLOAD_PROVIDER) for state in (change.was, change.now))
    if old is not None and old != new:
        yield _rejected(("metadata", "annotations", labels.WORKLOAD_PROVIDER))


def _fixed(path: Path, reason: str) -> Result:
    message = f"{path[-1]} cannot change, because {reason}; set it back, or make a graph with another name"
    return results.error("DYN483", message, path=path)


def _rejected(path: Path) -> Result:
    message = f"{path[-1]} was changed, which a running operator refuses; set it back, or make a graph with another name"
    return results.warning("DYN484", message, path=path)


def _min_available(component: dict[str, Any]) -> Any:
    """Returns the number of replicas that Grove starts together. Absent means 1."""
    return component.get("minAvailable", 1)


def _has_pods(component: dict[str, Any], feature: str) -> bool:
    """Returns true if a feature runs in separate pods."""
    return mapping(mapping(component.get("experimental")).get(feature)).get("mode") == _BETWEEN_PODS


def _grouped(component: dict[str, Any]) -> bool:
    """Returns true if a scaling group always contains the component."""
    return mapping(mapping(component.get("experimental")).get("grove")).get("forceScalingGroup") is True


def _power(component: dict[str, Any]) -> Any:
    metadata = mapping(mapping(component.get("podTemplate")).get("metadata"))
    return mapping(metadata.get("annotations")).get(labels.POWER_LIMIT)
