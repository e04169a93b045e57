"""Which workload kind runs a component, and on how many nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from krm_fn.resolve.context import Shared


def nodes(written: dict[str, Any]) -> int:
    """How many nodes one replica spans; the schema's default for an empty `multinode` is two."""
    return 1 if written.get("multinode") is None else written["multinode"].get("nodeCount") or 2


def name(facts: Shared, written: dict[str, Any]) -> str:
    """The workload kind: the orchestrator's own, or in deployment mode the one for the number of nodes."""
    if facts.orchestrator != "deployment":
        return facts.orchestrator
    return "leaderworkerset" if nodes(written) > 1 and facts.config.leader_worker_set.enabled else "deployment"
