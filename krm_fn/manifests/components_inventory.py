"""DynamoComponentDeployments as an inventory: `kubectl get dcd` lists the components of a graph, and no controller acts on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from krm_fn.kube import identity

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.plan import GraphPlan


def inventory(plan: GraphPlan) -> Iterator[Resource]:
    """One resource for each component whose plan holds an inventory, in the API version that the release reads."""
    for component in plan.components:
        if component.inventory is not None:
            yield {
                "apiVersion": f"{identity.DYNAMO_GROUP}/{plan.behaviour.reads}",
                "kind": "DynamoComponentDeployment",
                "metadata": {"name": component.who.workload_name, "namespace": plan.namespace, "labels": component.who.labels},
                "spec": component.inventory,
            }
