"""DynamoGraphDeploymentScalingAdapter: the handle by which an autoscaler sets the replicas of one service.

Not its business: which services get one. Follows the reference's dynamographdeploymentscalingadapter_types.go.
"""

from typing import ClassVar, Literal

from pydantic import Field

from krm_fn.api import base, native


class GraphServiceReference(base.Model):
    """One service of one graph in the same namespace."""

    name: str = Field(min_length=1)
    """The graph."""
    service_name: str = Field(min_length=1)
    """The service's key in the graph."""


class ScalingAdapterSpec(base.Model):
    """How many instances a service should have."""

    replicas: base.Int32 = Field(ge=0)
    """The wanted number; autoscalers change it through the scale subresource."""
    dgd_ref: GraphServiceReference
    """Which service."""


class ScalingAdapterStatus(base.Model):
    """How many instances a service has."""

    observed_generation: base.Generation | None = None
    """The `metadata.generation` that this was said about."""
    replicas: base.Int32 | None = Field(default=None, ge=0)
    """The present number."""
    selector: str | None = None
    """A label selector for the service's pods, as autoscalers want it: text."""
    last_scale_time: native.Time | None = None
    """When the number was last changed."""


class DynamoGraphDeploymentScalingAdapter(base.Kind):
    """The replicas of one service, for an autoscaler to set.

    A graph has as many numbers of replicas as it has services, so that `kubectl scale` and autoscalers, which know of one, take the
    adapter: `kubectl scale dgdsa`.
    """

    served: ClassVar = base.Served(
        short_names=("dgdsa",),
        columns=(
            base.Column("DGD", ".spec.dgdRef.name"),
            base.Column("SERVICE", ".spec.dgdRef.serviceName"),
            base.Column("REPLICAS", ".status.replicas", "integer"),
            base.Column("WANTED", ".spec.replicas", "integer", wide=True),
        ),
        scale=True,
    )

    api_version: Literal["nvidia.com/v1alpha1"]
    """Group and version."""
    kind: Literal["DynamoGraphDeploymentScalingAdapter"]
    """The kind."""
    spec: ScalingAdapterSpec | None = None
    """How many instances a service should have."""
    status: ScalingAdapterStatus | None = None
    """How many instances a service has."""
