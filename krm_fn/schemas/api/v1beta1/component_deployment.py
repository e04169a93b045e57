"""DynamoComponentDeployment: one component without a graph.

Follows the operator's api/v1beta1/dynamocomponentdeployment_types.go.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from krm_fn.schemas.api import base, common
from krm_fn.schemas.api.v1beta1.component import ComponentReplicaStatusV1beta1, ComponentV1beta1, Name


class ComponentDeploymentSpecV1beta1(ComponentV1beta1):
    """The desired state of a component."""

    backend_framework: common.Framework | None = None
    """The engine. If absent, the command decides."""
    name: Name | None = None  # type: ignore[assignment]  # a graph needs the name, a component has that of the resource
    """The name of the component; default the name of the resource."""


class ComponentDeploymentStatusV1beta1(base.Model):
    """The observed state of a component."""

    observed_generation: base.Generation | None = None
    """The `metadata.generation` that this status describes."""
    conditions: base.Conditions | None = None
    """Conditions of the component. `Available` is true when enough pods are available."""
    component: ComponentReplicaStatusV1beta1 | None = None
    """The replicas of the component."""


class DynamoComponentDeploymentV1beta1(base.Kind):
    """One component of an inference graph, with its workload and Service."""

    served: ClassVar = base.Served(
        short_names=("dcd",),
        columns=(
            base.Column("Available", '.status.conditions[?(@.type=="Available")].status'),
            base.Column("Backend", ".spec.backendFramework"),
            base.Column("Type", ".spec.type", wide=True),
            base.Column("Pods", ".status.component.readyReplicas", "integer", wide=True),
        ),
    )

    api_version: Literal["nvidia.com/v1beta1"]
    """Group and version."""
    kind: Literal["DynamoComponentDeployment"]
    """The kind."""
    spec: ComponentDeploymentSpecV1beta1 | None = None
    """The desired state."""
    status: ComponentDeploymentStatusV1beta1 | None = None
    """The observed state. The cluster writes it."""
