"""How much a component takes: resources of each pod, nodes of each instance, and who sets the replicas.

Follows the reference's common types and DynamoComponentDeploymentSharedSpec.
"""

from pydantic import Field

from krm_fn.api import base, native


class ResourceItem(base.Model):
    """One side of a resource request. Every amount is a string, written as a Kubernetes quantity."""

    cpu: str | None = None
    """Processor time, for example `"4"` or `500m`."""
    memory: str | None = None
    """Memory, for example `32Gi`."""
    gpu: str | None = None
    """How many GPUs each pod gets, for example `"1"`."""
    gpu_type: str | None = None
    """The resource name that GPUs go by in the cluster; `nvidia.com/gpu` unless given."""
    custom: base.Texts | None = None
    """Any other resource by its full name, for example `rdma/ib: "1"` or `ephemeral-storage: 100Gi`."""


class Resources(base.Model):
    """What each pod of a service asks of its node."""

    requests: ResourceItem | None = None
    """What the scheduler sets aside."""
    limits: ResourceItem | None = None
    """What the pod may not exceed. GPUs belong here."""
    claims: list[native.ResourceClaim] | None = None
    """Devices claimed through dynamic resource allocation, by the names in `extraPodSpec.resourceClaims`."""


class Autoscaling(base.Model):
    """Deprecated and without effect; use `scalingAdapter` with an autoscaler instead."""

    enabled: bool | None = None
    """Once switched autoscaling on."""
    min_replicas: int | None = None
    """Once the fewest pods."""
    max_replicas: int | None = None
    """Once the most pods."""
    behavior: native.HorizontalPodAutoscalerBehavior | None = None
    """Once how fast to scale up and down."""
    metrics: list[native.MetricSpec] | None = None
    """Once what to scale on."""


class ScalingAdapter(base.Model):
    """The way for an autoscaler to set a service's replicas."""

    enabled: bool = False
    """Write a DynamoGraphDeploymentScalingAdapter for this service; its replicas are then no longer set from here."""


class Multinode(base.Model):
    """One instance of a service spread over several nodes."""

    node_count: base.Int32 = Field(default=2, ge=2)
    """How many nodes each instance takes. GPUs are counted per node."""
