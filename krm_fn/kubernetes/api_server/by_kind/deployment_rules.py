"""Rules of an API server about Deployments and ReplicaSets.

Follows ValidateDeploymentSpec and ValidateReplicaSetSpec of `pkg/apis/apps/validation/validation.go`.
"""

from __future__ import annotations

from krm_fn.kubernetes.api_server import rejections
from krm_fn.kubernetes.api_server.by_kind import workload_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.api_server import Rejection
    from krm_fn.kubernetes.types import Resource

    Fields = Mapping[str, Any]

_QUARTER = "25%"
_DEADLINE = 600  # seconds


def validate(workload: Resource) -> Iterator[Rejection]:
    """Yields the rejections of a Deployment or a ReplicaSet (ValidateDeployment, ValidateReplicaSet)."""
    spec = workload.get("spec") or {}
    for rejection in workload_rules.counts(spec, "replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"):
        yield rejection.below("spec")
    for rejection in workload_rules.validate(spec, spec.get("template") or {}):
        yield rejection.below("spec")
    if workload["kind"] == "Deployment":
        yield from _deployment(spec)


def _deployment(spec: Fields) -> Iterator[Rejection]:
    if spec.get("progressDeadlineSeconds", _DEADLINE) <= (spec.get("minReadySeconds") or 0):
        problem = "progressDeadlineSeconds is not more than minReadySeconds"
        yield rejections.conflict(("spec", "progressDeadlineSeconds"), problem, "write a larger number")
    for rejection in _strategy(spec.get("strategy") or {}):
        yield rejection.below("spec", "strategy")


def _strategy(strategy: Fields) -> Iterator[Rejection]:
    """Checks how pods are replaced (ValidateDeploymentStrategy)."""
    rolling = strategy.get("rollingUpdate")
    if strategy.get("type") == "Recreate":
        if rolling is not None:
            yield rejections.conflict(("rollingUpdate",), "the type Recreate has no rollingUpdate", "remove one of the two")
        return
    for rejection in workload_rules.amounts(rolling or {}, "maxUnavailable", "maxSurge", limited=("maxUnavailable",)):
        yield rejection.below("rollingUpdate")
    unavailable, surge = ((rolling or {}).get(field, _QUARTER) for field in ("maxUnavailable", "maxSurge"))
    if workload_rules.number(unavailable) == 0 and workload_rules.number(surge) == 0:
        problem = "maxUnavailable and maxSurge are both 0, so no pod could be replaced"
        yield rejections.conflict(("rollingUpdate", "maxUnavailable"), problem, "raise one of them")
