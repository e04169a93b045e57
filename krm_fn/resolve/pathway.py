"""The fields that a component inherits from its graph. They depend on the workload kind of the graph's orchestrator.

The reference has two pathways. In the first, each service becomes a DynamoComponentDeployment, from which the objects are made
(`internal/dynamo/graph.go` GenerateDynamoComponentsDeployments). In the second, one object holds the whole graph (`grove.go`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import labels
from krm_fn.manifests import workloads

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krm_fn.kube.types import Labels, PodSpec
    from krm_fn.manifests.components import Component
    from krm_fn.resolve.context import Shared

_NOTED = {"grove": "grove", "component": "deployment"}
_INHERITED = (labels.ENABLE_METRICS, labels.DISCOVERY_BACKEND)


def orchestrator(annotations: Mapping[str, Any], configured: str) -> str:
    """The orchestrator of a graph: the configured one, or `deployment` if the graph opts out of Grove."""
    return "deployment" if str(annotations.get(labels.ENABLE_GROVE, "")).lower() == "false" else configured


def admitted_orchestrator(annotations: Mapping[str, Any], configured: str) -> str:
    """The orchestrator that admission noted on the graph (since release 1.0), otherwise as above."""
    return _NOTED.get(str(annotations.get(labels.WORKLOAD_PROVIDER, ""))) or orchestrator(annotations, configured)


def per_component(shared: Shared) -> bool:
    """True if each component has its own objects, as with DynamoComponentDeployments."""
    return workloads.get(shared.orchestrator).per_component


def inherited(shared: Shared, annotations: Labels) -> Labels:
    """The annotations that a service inherits from its graph. They override the service's own annotations."""
    if per_component(shared):
        return {key: annotations[key] for key in _INHERITED if key in annotations}
    return {labels.DISCOVERY_BACKEND: shared.discovery} if shared.discovery else {}


def metrics(shared: Shared, of_graph: Labels, of_service: Labels) -> bool:
    """True if the pods get the label for metrics. `of_service` holds the annotations of the service with the inherited annotations."""
    return (of_service if per_component(shared) else of_graph).get(labels.ENABLE_METRICS) != "false"


def service_labels(shared: Shared, written: Labels) -> Labels:
    """The labels of a service that reach its pods. With DynamoComponentDeployments, none of them do."""
    return {} if per_component(shared) else written


def enforced(shared: Shared, kind: Component) -> PodSpec:
    """The pod fields of a component type that override the user's."""
    return kind.enforced if per_component(shared) else {}


def allows_ingress(shared: Shared, kind: Component) -> bool:
    """True if a component may have an ingress. If one object holds the whole graph, only a frontend may."""
    return kind.is_frontend or per_component(shared)
