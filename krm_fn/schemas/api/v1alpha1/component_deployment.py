"""DynamoComponentDeployment: one component without a graph.

Follows the operator's dynamocomponentdeployment_types.go.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from krm_fn.schemas.api import base, common
from krm_fn.schemas.api.v1alpha1 import component


class ComponentDeploymentSpec(component.Component):
    """The desired state of a component."""

    backend_framework: common.Framework | None = None
    """The engine. If absent, the command decides."""


class ComponentDeploymentStatus(base.Model):
    """The observed state of a component."""

    observed_generation: base.Generation | None = None
    """The `metadata.generation` that this status describes."""
    conditions: base.Conditions
    """Conditions of the component. `Available` is true when enough pods are available."""
    pod_selector: base.Texts | None = None
    """The labels of its pods."""
    service: base.ServiceReplicaStatus | None = None
    """The replicas of the component."""


class DynamoComponentDeployment(base.Kind):
    """One component of an inference graph, with its workload and Service."""

    served: ClassVar = base.Served(
        short_names=("dcd",),
        columns=(
            base.Column("DynamoComponent", ".spec.serviceName"),
            base.Column("Available", '.status.conditions[?(@.type=="Available")].status'),
            base.Column("Backend", ".spec.backendFramework"),
            base.Column("Type", ".spec.componentType", wide=True),
            base.Column("Pods", ".status.service.readyReplicas", "integer", wide=True),
        ),
    )

    api_version: Literal["nvidia.com/v1alpha1"]
    """Group and version."""
    kind: Literal["DynamoComponentDeployment"]
    """The kind."""
    spec: ComponentDeploymentSpec | None = None
    """The desired state."""
    status: ComponentDeploymentStatus | None = None
    """The observed state. The cluster writes it."""
