"""Parts that both versions of the API have in the same form, for example topology, provider overrides and checkpoints.

Follows the operator's api/v1beta1/common.go and api/v1alpha1/topology_types.go.
"""

from typing import Annotated, Literal

from pydantic import Field

from krm_fn.base import registry
from krm_fn.schemas.api import base, rules

Framework = Annotated[str, base.Registered("render.engines")]
"""An inference engine."""
Topology = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$")]
"""A level of a cluster's topology."""
ContainerName = Annotated[str, Field(min_length=1, max_length=63, pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")]
"""The name of a container."""
RuntimeVersion = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})$")]
"""A version of Dynamo's runtime, for example `1.5.0`."""
TYPES = ", ".join(f"`{name}`" for name in registry.entries_of("render.kinds.types"))
"""The types of components, for descriptions."""

_LABEL = (
    r"^(([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*/)?"
    r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)$"
)


class ProviderOverride(base.Model):
    """Fields of the object that Grove reads. Only for Grove, and only for components of a graph."""

    api_version: str
    """Group and version of the object: `grove.io/v1alpha1`."""
    target: str | None = None
    """The type whose fields are set, for example `PodCliqueSet`. If absent, it is the only type that is possible at this place."""
    value: base.Anything
    """The fields: `topologyConstraint`, and for a component also the minimum of its replicas."""


class TopologyConstraint(base.Model):
    """The level of the topology inside which the pods of one component stay."""

    pack_domain: Topology
    """The level, for example `rack`."""


class KvTransferPolicy(base.Model):
    """Choice of decode workers that may receive the key-value cache of a prefill worker, by their location in the topology."""

    model_config = base.rules(*rules.KV_TRANSFER)

    cluster_topology_name: str | None = Field(default=None, min_length=1)
    """The ClusterTopology that defines the levels. Set either this or `labelKey`."""
    label_key: str | None = Field(default=None, min_length=1, max_length=317, pattern=_LABEL)
    """The label of nodes whose value is the place of a worker, for example `topology.kubernetes.io/zone`."""
    domain: Topology
    """The level of the topology, for example `zone`."""
    enforcement: Literal["required", "preferred"] = "required"
    """`required` allows only workers in the same place. `preferred` favours them."""
    preferred_weight: float | None = Field(default=None, ge=0, le=1)
    """Weight of workers in the same location. Only for `preferred`, which requires it."""


class GraphExperimental(base.Model):
    """Features of a graph that may change in any release."""

    kv_transfer_policy: KvTransferPolicy | None = None
    """Choice of decode workers that may receive the key-value cache of a prefill worker."""


class GMSClientPod(base.Model):
    """A pod that uses the GPU memory service. Not supported by any release yet."""

    name: ContainerName
    """The name of the pod."""
    pod_template: base.Anything
    """The pod."""


class CheckpointIdentity(base.Model):
    """Deprecated: what a checkpoint was made of. Use `checkpointRef`."""

    model: str = Field(min_length=1)
    """The model."""
    backend_framework: Framework
    """The engine."""
    dynamo_version: str | None = None
    """The version of Dynamo."""
    tensor_parallel_size: base.Int32 = Field(default=1, ge=1)
    """The number of GPUs that share a layer."""
    pipeline_parallel_size: base.Int32 = Field(default=1, ge=1)
    """The number of GPUs that share the sequence of layers."""
    dtype: str | None = None
    """The data type, for example `bf16`."""
    max_model_len: base.Int32 | None = Field(default=None, ge=1)
    """The maximum number of tokens of a sequence."""
    extra_parameters: base.Texts | None = None
    """Other parameters."""


class CheckpointJob(base.Model):
    """Job that creates a checkpoint."""

    gms_client_containers: Annotated[list[ContainerName], base.Unique()] | None = None
    """Containers of the Job that use the GPU memory service."""
    pod_template: base.Anything | None = None
    """Fields of the Job's pod."""


class Checkpoint(base.Model):
    """A saved state of a worker's container from which new pods start. Only an operator can make one."""

    model_config = base.rules(*rules.CHECKPOINT)

    enabled: bool
    """If true, pods start from a checkpoint."""
    mode: Literal["Auto", "Manual"] | None = None
    """Deprecated: use `checkpointRef` instead of `Manual`."""
    startup_policy: Literal["Immediate", "WaitForCheckpoint"] = "Immediate"
    """`Immediate` starts pods without a checkpoint too. `WaitForCheckpoint` starts them when the checkpoint is ready."""
    deletion_policy: Literal["Delete", "Retain"] = "Delete"
    """Action on the checkpoint when its graph is deleted."""
    checkpoint_ref: str | None = None
    """The name of an existing DynamoCheckpoint."""
    identity: CheckpointIdentity | None = None
    """Deprecated: what the checkpoint was made of."""
    target_container_name: ContainerName = "main"
    """The container that is saved and restored."""
    job: CheckpointJob | None = None
    """Job that creates the checkpoint. Not together with `checkpointRef`."""


RollingUpdatePhase = Literal["Pending", "InProgress", "Completed", "Failed", ""]


class CheckpointStatus(base.Model):
    """The checkpoint of one component."""

    checkpoint_name: str | None = None
    """The name of the DynamoCheckpoint."""
    checkpoint_id: str | None = Field(default=None, alias="checkpointID")
    """The identity of its data."""
    identity_hash: str | None = None
    """Deprecated: the hash of `identity`."""
    ready: bool | None = None
    """True if pods can start from it."""


class PlacementStatus(base.Model):
    """Score of the placement of the pods of a graph."""

    score: float | None = Field(default=None, ge=0, le=1)
    """The quality of the placement; 1 is the best."""
    state: Literal["Reported", "Partial", "Unsupported", "Unknown"] | None = None
    """State of the score: known or not."""
