"""The capacity of a component: resources of each pod, nodes of each replica, and scaling.

Follows the operator's common types and DynamoComponentDeploymentSharedSpec.
"""

from pydantic import Field

from krm_fn.api import base, common, native


class ResourceItem(base.Model):
    """Resource requests or limits. Every amount is a string with a Kubernetes quantity."""

    cpu: str | None = None
    """CPU, for example `"4"` or `500m`."""
    memory: str | None = None
    """Memory, for example `32Gi`."""
    gpu: str | None = None
    """The number of GPUs of each pod, for example `"1"`."""
    gpu_type: str | None = None
    """The resource name of the GPUs; default `nvidia.com/gpu`."""
    custom: base.Texts | None = None
    """Other resources by their full names, for example `rdma/ib: "1"` or `ephemeral-storage: 100Gi`."""


class Resources(base.Model):
    """The resources of each pod."""

    requests: ResourceItem | None = None
    """The amounts that the scheduler reserves."""
    limits: ResourceItem | None = None
    """The amounts that the pod may not exceed. Set GPUs here."""
    claims: list[native.ResourceClaim] | None = None
    """Devices of dynamic resource allocation, by the names in `extraPodSpec.resourceClaims`."""


class Autoscaling(base.Model):
    """Deprecated and ignored; use `scalingAdapter` with an autoscaler."""

    enabled: bool | None = None
    """Deprecated and ignored."""
    min_replicas: int | None = None
    """Deprecated and ignored."""
    max_replicas: int | None = None
    """Deprecated and ignored."""
    behavior: native.HorizontalPodAutoscalerBehavior | None = None
    """Deprecated and ignored."""
    metrics: list[native.MetricSpec] | None = None
    """Deprecated and ignored."""


class ScalingAdapter(base.Model):
    """The scaling adapter of a service. An autoscaler sets the service's replicas through it."""

    enabled: bool = False
    """If true, a DynamoGraphDeploymentScalingAdapter is generated for the service. The adapter then owns the replicas."""


class Multinode(base.Model):
    """A service whose replicas span several nodes."""

    node_count: base.Int32 = Field(default=2, ge=2)
    """The number of nodes of each replica. Resources, for example GPUs, are per node."""
    leader: common.RoleOverride | None = None
    """The pod of the first node. krm-fn refuses it."""
    worker: common.RoleOverride | None = None
    """The pods of the other nodes. krm-fn refuses it."""
