"""Headless Services that select the pods of one base model, for LoRA adapters.

Follows the reference's `internal/dynamo/model_service.go` ReconcileModelServicesForComponents.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from krm_fn.kube import labels, names
from krm_fn.manifests import workloads

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.plan import GraphPlan


def services(plan: GraphPlan) -> Iterator[Resource]:
    """One Service per base model. Several services of the graph can serve the same model."""
    port = plan.behaviour.ports.system
    shared = {} if workloads.get(plan.orchestrator).per_component else plan.features.annotations
    for model in dict.fromkeys(component.edge.model for component in plan.components if component.edge.model):
        marks = {labels.BASE_MODEL_HASH: names.model_hash(model)}
        yield {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {
                "name": names.model_service(model),
                "namespace": plan.namespace,
                "labels": {**marks, labels.MODEL_MANAGED_BY: labels.OPERATOR},
                "annotations": {**shared, labels.BASE_MODEL: model},
            },
            "spec": {
                "clusterIP": "None",
                "selector": marks,
                "ports": [{"name": "system", "port": port, "targetPort": port, "protocol": "TCP"}],
            },
        }
