"""The topology domains in which the pods of a graph, or of one component, run.

Follows the reference's `internal/dynamo/grove.go` groveTopologyConstraint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import merge

if TYPE_CHECKING:
    from krm_fn.plan import ComponentPlan, GraphPlan


def of_graph(graph: GraphPlan) -> dict[str, Any] | None:
    """The constraint of a PodCliqueSet; None if it has none."""
    wanted = graph.features.topology
    return _constraint(wanted.name, wanted.domain) if wanted else None


def of_component(graph: GraphPlan, plan: ComponentPlan) -> dict[str, Any] | None:
    """The constraint of a clique or scaling group. It names the topology if it cannot inherit the name from the PodCliqueSet."""
    whole, own = graph.features.topology, plan.features.topology
    return _constraint(whole.name if whole and not whole.domain else "", own.domain) if own else None


def _constraint(name: str, domain: str) -> dict[str, Any] | None:
    return merge.present(topologyName=name or None, pack={"required": domain}) if domain else None
