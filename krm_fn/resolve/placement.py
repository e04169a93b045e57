"""What will carry a component."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.manifests import workloads

if TYPE_CHECKING:
    from krm_fn.resolve.context import Shared


def nodes(written: dict[str, Any]) -> int:
    """How many nodes one replica spans; the schema's default for an empty `multinode` is two."""
    return 1 if written.get("multinode") is None else written["multinode"].get("nodeCount") or 2


def name(facts: Shared, written: dict[str, Any]) -> str:
    """The carrier: the orchestrator's own, or in deployment mode by the number of nodes."""
    if facts.orchestrator != "deployment":
        return facts.orchestrator
    return "leaderworkerset" if nodes(written) > 1 and facts.config.leader_worker_set.enabled else "deployment"


def by_graph(facts: Shared, written: dict[str, Any]) -> bool:
    """Whether one object carries the whole graph."""
    return workloads.get(name(facts, written)).by_graph
