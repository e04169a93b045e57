"""Rules of an API server about DaemonSets.

Follows ValidateDaemonSetSpec of `pkg/apis/apps/validation/validation.go`.
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


def validate(workload: Resource) -> Iterator[Rejection]:
    """Yields the rejections of a DaemonSet (ValidateDaemonSet)."""
    spec = workload.get("spec") or {}
    for rejection in workload_rules.counts(spec, "minReadySeconds", "revisionHistoryLimit"):
        yield rejection.below("spec")
    for rejection in workload_rules.validate(spec, spec.get("template") or {}):
        yield rejection.below("spec")
    strategy = spec.get("updateStrategy") or {}
    if strategy.get("type") != "OnDelete":
        for rejection in _rolling(strategy.get("rollingUpdate") or {}):
            yield rejection.below("spec", "updateStrategy", "rollingUpdate")


def _rolling(rolling: Mapping[str, Any]) -> Iterator[Rejection]:
    """Checks how pods are replaced (ValidateRollingUpdateDaemonSet)."""
    yield from workload_rules.amounts(rolling, "maxUnavailable", "maxSurge", limited=("maxUnavailable", "maxSurge"))
    unavailable, surge = (workload_rules.number(rolling.get(field, default)) for field, default in (("maxUnavailable", 1), ("maxSurge", 0)))
    if unavailable and surge:
        yield rejections.conflict(
            ("maxSurge",), "maxSurge and maxUnavailable exclude each other", "write maxUnavailable: 0, or remove maxSurge"
        )
    elif not unavailable and not surge:
        problem = "maxUnavailable and maxSurge are both 0, so no pod could be replaced"
        yield rejections.conflict(("maxUnavailable",), problem, "raise one of them")
