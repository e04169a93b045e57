"""The workload kind and the number of nodes of a component."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from krm_fn.resolve.context import Shared


def nodes(written: dict[str, Any]) -> int:
    """The number of nodes of one replica. The schema's default for an empty `multinode` is two."""
    return 1 if written.get("multinode") is None else written["multinode"].get("nodeCount") or 2


def name(facts: Shared, written: dict[str, Any]) -> str:
    """The name of the workload kind. In deployment mode it depends on the number of nodes; otherwise it is the orchestrator's."""
    if facts.orchestrator != "deployment":
        return facts.orchestrator
    several = nodes(written) > 1 and facts.config.leader_worker_set.enabled
    return facts.behaviour.multinode_workload if several else "deployment"
