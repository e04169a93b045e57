"""DynamoGraphDeploymentScalingAdapter: an autoscaler sets the replicas of one service through it.

Follows the operator's dynamographdeploymentscalingadapter_types.go.
"""

from typing import ClassVar, Literal

from pydantic import Field

from krm_fn.api import base, native


class GraphServiceReference(base.Model):
    """A service of a graph in the same namespace."""

    name: str = Field(min_length=1)
    """The name of the graph."""
    service_name: str = Field(min_length=1)
    """The key of the service in the graph."""


class ScalingAdapterSpec(base.Model):
    """The desired state of a scaling adapter."""

    replicas: base.Int32 = Field(ge=0)
    """The desired number of replicas. Autoscalers set it through the scale subresource."""
    dgd_ref: GraphServiceReference
    """The service to scale."""


class ScalingAdapterStatus(base.Model):
    """The observed state of a scaling adapter."""

    observed_generation: base.Generation | None = None
    """The `metadata.generation` that this status describes."""
    replicas: base.Int32 | None = Field(default=None, ge=0)
    """The observed number of replicas."""
    selector: str | None = None
    """The label selector of the service's pods, as a string for autoscalers."""
    last_scale_time: native.Time | None = None
    """The time of the last change of the replicas."""
    conditions: base.Conditions | None = None
    """Conditions of the adapter. `Ready` is true when the workload of the service has the desired number of replicas."""


class DynamoGraphDeploymentScalingAdapter(base.Kind):
    """The replicas of one service, for an autoscaler to set.

    A graph has one number of replicas per service, but `kubectl scale` and autoscalers need a resource with exactly one. The adapter is
    that resource: `kubectl scale dgdsa`.
    """

    served: ClassVar = base.Served(
        short_names=("dgdsa",),
        columns=(
            base.Column("DGD", ".spec.dgdRef.name"),
            base.Column("SERVICE", ".spec.dgdRef.serviceName"),
            base.Column("REPLICAS", ".status.replicas", "integer"),
            base.Column("WANTED", ".spec.replicas", "integer", wide=True),
            base.Column("Ready", '.status.conditions[?(@.type=="Ready")].status', wide=True),
        ),
        scale=True,
    )

    api_version: Literal["nvidia.com/v1alpha1"]
    """Group and version."""
    kind: Literal["DynamoGraphDeploymentScalingAdapter"]
    """The kind."""
    spec: ScalingAdapterSpec | None = None
    """The desired state."""
    status: ScalingAdapterStatus | None = None
    """The observed state. The cluster writes it."""
