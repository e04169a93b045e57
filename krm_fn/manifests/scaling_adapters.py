"""Scaling adapters, through which an autoscaler sets the replicas of one service of a graph.

Follows the reference's `internal/controller/dynamographdeployment_controller.go` reconcileScalingAdapters.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from krm_fn.kube import labels

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.plan import GraphPlan


def adapters(plan: GraphPlan) -> Iterator[Resource]:
    """One adapter per service with an enabled scaling adapter, in the API version of the graph."""
    for component in plan.components:
        if component.placement.autoscaled:
            yield {
                "apiVersion": plan.ref.api_version,
                "kind": "DynamoGraphDeploymentScalingAdapter",
                "metadata": {
                    "name": component.who.name,
                    "namespace": plan.namespace,
                    "labels": {labels.GRAPH: plan.name, labels.COMPONENT: component.who.service},
                },
                "spec": {
                    "replicas": component.placement.replicas_or_one,
                    "dgdRef": {"name": plan.name, plan.word("adapter.component"): component.who.service},
                },
            }
