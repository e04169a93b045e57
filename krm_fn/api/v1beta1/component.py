"""The specification of a component, which graphs and standalone components share.

Follows the operator's api/v1beta1/dynamocomponentdeployment_types.go, DynamoComponentDeploymentSharedSpec.
"""

from typing import Annotated

from pydantic import Field

from krm_fn.api import base, common, native, rules
from krm_fn.api.v1alpha1 import picker
from krm_fn.api.v1beta1 import experiments, pod

Name = Annotated[str, Field(min_length=1, max_length=63, pattern="^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?$")]
"""The name of a component."""


class MultinodeV1beta1(base.Model):
    """A component whose replicas span several nodes."""

    node_count: base.Int32 = Field(default=2, ge=2)
    """The number of nodes of each replica. Resources, for example GPUs, are per node."""
    leader: common.RoleOverride | None = None
    """The pod of the first node. krm-fn refuses it."""
    worker: common.RoleOverride | None = None
    """The pods of the other nodes. krm-fn refuses it."""


class ModelReferenceV1beta1(base.Model):
    """The model that a component serves. DynamoModels find the component's endpoints by it."""

    name: str = Field(min_length=1)
    """The base model's name, for example `Qwen/Qwen3-0.6B`."""
    revision: str | None = None
    """The base model's revision."""


class ScalingAdapterV1beta1(base.Model):
    """The scaling adapter of a component. It has no fields: `{}` switches it on."""


class CompilationCacheV1beta1(base.Model):
    """The PersistentVolumeClaim in which the engine keeps its compiled kernels, so that later starts are faster."""

    pvc_name: str = Field(min_length=1)
    """The name of the claim."""
    mount_path: str | None = None
    """The mount path. Required unless the engine has a default folder."""


class ComponentV1beta1(base.Model):
    """One component of a graph: its pod, replicas and nodes."""

    model_config = base.rules(*rules.picker("type"), *rules.component())

    provider_override: common.ProviderOverride | None = None
    """Fields of the object that runs the component. krm-fn refuses it: operators newer than 1.5 act on it."""
    name: Name
    """The name of the component."""
    type: Annotated[str, base.Registered("kinds.types")] | None = None
    """What the component does. The type decides the default probes, ports and environment."""
    runtime_version_override: common.RuntimeVersion | None = None
    """The version of Dynamo in the image. Required if the tag of the image is not a version."""
    global_dynamo_namespace: bool | None = None
    """If true, the component uses the Dynamo namespace `dynamo`, which all graphs of the cluster share, instead of the graph's."""
    pod_template: pod.PodTemplateV1beta1 | None = None
    """The pod. It must have a container `main` with an image."""
    replicas: base.Int32 | None = Field(default=None, ge=0)
    """The number of replicas: pods, or groups of pods for components on several nodes. 1 if absent."""
    min_available: base.Int32 | None = Field(default=None, ge=1)
    """The number of replicas that Grove starts together. Only for Grove; 1 if absent."""
    multinode: MultinodeV1beta1 | None = None
    """Multinode settings. If set, each replica spans several nodes."""
    shared_memory_size: native.Quantity | None = None
    """The size limit of `/dev/shm`, for example `16Gi`; default `8Gi`. With `"0"` the pod gets no shared memory volume."""
    model_ref: ModelReferenceV1beta1 | None = None
    """The model that the component serves. DynamoModels find its endpoints by it."""
    scaling_adapter: ScalingAdapterV1beta1 | None = None
    """The scaling adapter, through which an autoscaler sets the replicas. Write `{}`; without the field there is no adapter."""
    epp_config: picker.EPPConfig | None = None
    """The endpoint picker's configuration; only for components of type `epp`."""
    frontend_sidecar: str | None = None
    """The name of a container in `podTemplate` that runs a frontend. It gets the defaults of frontends."""
    compilation_cache: CompilationCacheV1beta1 | None = None
    """The claim in which the engine keeps its compiled kernels."""
    topology_constraint: common.TopologyConstraint | None = None
    """The level of the topology inside which the pods stay. The graph must have a `topologyConstraint` too."""
    experimental: experiments.ComponentExperimentalV1beta1 | None = None
    """Features that may change in any release."""
