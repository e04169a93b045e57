"""DynamoGraphDeploymentScalingAdapter: an autoscaler sets the replicas of one component through it.

Follows the operator's api/v1beta1/dynamographdeploymentscalingadapter_types.go.
"""

from typing import ClassVar, Literal

from pydantic import Field

from krm_fn.api import base
from krm_fn.api.v1alpha1 import scaling


class GraphComponentReferenceV1beta1(base.Model):
    """A component of a graph in the same namespace."""

    name: str = Field(min_length=1)
    """The name of the graph."""
    component_name: str = Field(min_length=1)
    """The name of the component in the graph."""


class ScalingAdapterSpecV1beta1(base.Model):
    """The desired state of a scaling adapter."""

    replicas: base.Int32 = Field(ge=0)
    """The desired number of replicas. Autoscalers set it through the scale subresource."""
    dgd_ref: GraphComponentReferenceV1beta1
    """The component to scale."""


class DynamoGraphDeploymentScalingAdapterV1beta1(base.Kind):
    """The replicas of one component, for an autoscaler to set.

    A graph has one number of replicas per component, but `kubectl scale` and autoscalers need a resource with exactly one. The adapter is
    that resource: `kubectl scale dgdsa`.
    """

    served: ClassVar = base.Served(
        short_names=("dgdsa",),
        columns=(
            base.Column("DGD", ".spec.dgdRef.name"),
            base.Column("COMPONENT", ".spec.dgdRef.componentName"),
            base.Column("REPLICAS", ".status.replicas", "integer"),
            base.Column("WANTED", ".spec.replicas", "integer", wide=True),
            base.Column("Ready", '.status.conditions[?(@.type=="Ready")].status', wide=True),
        ),
        scale=True,
    )

    api_version: Literal["nvidia.com/v1beta1"]
    """Group and version."""
    kind: Literal["DynamoGraphDeploymentScalingAdapter"]
    """The kind."""
    spec: ScalingAdapterSpecV1beta1 | None = None
    """The desired state."""
    status: scaling.ScalingAdapterStatus | None = None
    """The observed state. The cluster writes it."""
