"""DynamoComponentDeployments as an inventory: `kubectl get dcd` lists the components of a graph, and no controller acts on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.plan import GraphPlan


def inventory(plan: GraphPlan) -> Iterator[Resource]:
    """One resource for each component whose plan holds an inventory."""
    for component in plan.components:
        if component.inventory is not None:
            yield {
                "apiVersion": plan.ref.api_version,
                "kind": "DynamoComponentDeployment",
                "metadata": {"name": component.who.workload_name, "namespace": plan.namespace, "labels": component.who.labels},
                "spec": component.inventory,
            }
