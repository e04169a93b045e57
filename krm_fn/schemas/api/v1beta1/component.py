"""The specification and the status of a component, which graphs and standalone components share.

Follows the operator's api/v1beta1/dynamocomponentdeployment_types.go, DynamoComponentDeploymentSharedSpec, and
api/v1beta1/common.go.
"""

from typing import Annotated, Literal

from pydantic import Field

from krm_fn.base import codes
from krm_fn.render import labels
from krm_fn.schemas.api import base, common, endpoint_picker, native, rules

Name = Annotated[str, Field(min_length=1, max_length=63, pattern="^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?$")]
"""The name of a component."""
Mode = Literal["IntraPod", "InterPod"]
_BACKEND = f'"{labels.EXECUTOR_BACKEND}"'


class MultinodeV1beta1(base.Model):
    """A component whose replicas span several nodes."""

    node_count: base.Int32 = Field(default=2, ge=2)
    """The number of nodes of each replica. Resources, for example GPUs, are per node."""


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


class RolePodMetadataV1beta1(base.Model):
    """Metadata of the pods of a role."""

    name: str | None = None
    """Ignored: workloads name their pods."""
    namespace: str | None = None
    """Ignored: pods are in the namespace of the graph."""
    labels: base.Texts | None = None
    """Additional labels of each pod."""
    annotations: base.Texts | None = None
    """Annotations of each pod."""
    finalizers: list[str] | None = None
    """Finalizers of each pod."""


class PodTemplateMetadataV1beta1(RolePodMetadataV1beta1):
    """Metadata of the pods."""

    model_config = base.rules(
        base.Rule(
            codes.INVALID_VLLM_EXECUTOR,
            f'!({_BACKEND} in self.?annotations.orValue({{}})) || self.annotations[{_BACKEND}].lowerAscii() in ["mp", "ray"]',
            "annotations",
        )
    )


class PodTemplateV1beta1(base.Model):
    """The pod of a component. The container `main` runs the component; its fields are merged over the defaults of the type."""

    model_config = base.rules(*rules.POD_TEMPLATE)

    metadata: PodTemplateMetadataV1beta1 | None = None
    """Labels and annotations of each pod."""
    spec: native.PodSpec | None = None
    """The container `main` with its image and command, sidecars, and every other field of a pod."""


class RolePodTemplateV1beta1(base.Model):
    """The whole pod of a role. The container `main` runs the role; its fields are merged over the defaults of the type.

    An API server limits the cost of rules, so it checks fewer of them here than in the pod template of a component.
    """

    metadata: RolePodMetadataV1beta1 | None = None
    """Labels and annotations of each pod."""
    spec: native.PodSpec | None = None
    """The container `main` with its image and command, sidecars, and every other field of a pod."""


class GPUMemoryServiceV1beta1(base.Model):
    """The service that keeps weights in the memory of GPUs, so that several processes share them."""

    model_config = base.rules(*rules.gpu_memory("IntraPod"))

    mode: Mode = "IntraPod"
    """`IntraPod` runs the service beside the engine. `InterPod` runs it in pods of its own."""
    device_class_name: str = "gpu.nvidia.com"
    """The DeviceClass from which the GPUs are claimed."""
    extra_client_containers: Annotated[list[common.ContainerName], base.Unique()] | None = None
    """Other containers of the pod that use the service. Only for `IntraPod`."""
    extra_client_pods: Annotated[list[common.GMSClientPod], base.ByKey()] | None = None
    """Reserved: no release supports it."""


class FailoverV1beta1(base.Model):
    """A second engine that takes over when the first one fails."""

    mode: Mode = "IntraPod"
    """The mode of `gpuMemoryService`, which failover needs."""
    num_shadows: base.Int32 = Field(default=1, ge=1, le=1)
    """The number of waiting engines."""


class ComponentGroveV1beta1(base.Model):
    """Settings of a component under Grove."""

    force_scaling_group: bool | None = None
    """If true, a scaling group contains the component, also if it has only one pod."""


class ComponentExperimentalV1beta1(base.Model):
    """Features of a component that may change in any release."""

    gpu_memory_service: GPUMemoryServiceV1beta1 | None = None
    """The service that keeps weights in the memory of GPUs."""
    failover: FailoverV1beta1 | None = None
    """A second engine that takes over when the first one fails."""
    grove: ComponentGroveV1beta1 | None = None
    """Settings of the component under Grove."""
    checkpoint: common.Checkpoint | None = None
    """A saved state from which new pods start."""


class RoleV1beta1(base.Model):
    """One role of a component on several nodes: the leader, which is the pod of the first node, or the workers on the other nodes."""

    name: Annotated[str, Field(max_length=63, pattern="^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")]
    """`leader` or `worker`. A component with roles has both."""
    replicas: base.Int32 | None = Field(default=None, ge=1)
    """The number of pods of the role in one replica of the component: 1 for the leader, `nodeCount` - 1 for the workers."""
    provider_override: common.ProviderOverride | None = None
    """Fields of the role's clique. Only for Grove."""
    pod_template: RolePodTemplateV1beta1 | None = None
    """The whole pod of the role, with its own launch line. Either both roles have one, or the component has `podTemplate`.
    Since Dynamo 1.6."""


class ComponentV1beta1(base.Model):
    """One component of a graph: its pod, replicas and nodes."""

    model_config = base.rules(*rules.picker("type"), *rules.component())

    provider_override: common.ProviderOverride | None = None
    """Fields of the component's clique, or of its scaling group. Only for Grove."""
    name: Name
    """The name of the component."""
    type: Annotated[str, base.Registered("render.kinds.types")] | None = None
    """Type of the component. It determines the default probes, ports and environment."""
    runtime_version_override: common.RuntimeVersion | None = None
    """The version of Dynamo in the image. Required if the tag of the image is not a version."""
    global_dynamo_namespace: bool | None = None
    """If true, the component uses the Dynamo namespace `dynamo`, which all graphs of the cluster share, instead of the graph's."""
    pod_template: PodTemplateV1beta1 | None = None
    """The pod. It must have a container `main` with an image."""
    replicas: base.Int32 | None = Field(default=None, ge=0)
    """The number of replicas: pods, or groups of pods for components on several nodes. 1 if absent."""
    min_available: base.Int32 | None = Field(default=None, ge=1)
    """The number of replicas that Grove starts together. Only for Grove; 1 if absent."""
    multinode: MultinodeV1beta1 | None = None
    """Multinode settings. If set, each replica spans several nodes."""
    roles: Annotated[list[RoleV1beta1], base.ByKey(), Field(max_length=2)] | None = None
    """The leader and the workers of a component on several nodes."""
    shared_memory_size: native.Quantity | None = None
    """The size limit of `/dev/shm`, for example `16Gi`; default `8Gi`. With `"0"` the pod gets no shared memory volume."""
    model_ref: ModelReferenceV1beta1 | None = None
    """The model that the component serves. DynamoModels find its endpoints by it."""
    scaling_adapter: ScalingAdapterV1beta1 | None = None
    """The scaling adapter, through which an autoscaler sets the replicas. Write `{}`; without the field there is no adapter."""
    epp_config: endpoint_picker.EPPConfig | None = None
    """The endpoint picker's configuration; only for components of type `epp`."""
    frontend_sidecar: str | None = None
    """The name of a container in `podTemplate` that runs a frontend. It gets the defaults of frontends."""
    compilation_cache: CompilationCacheV1beta1 | None = None
    """The claim in which the engine keeps its compiled kernels."""
    topology_constraint: common.TopologyConstraint | None = None
    """The level of the topology inside which the pods stay. The graph must have a `topologyConstraint` too."""
    experimental: ComponentExperimentalV1beta1 | None = None
    """Features that may change in any release."""


class ComponentReplicaStatusV1beta1(base.Model):
    """The number of pods of one component, and how many of them are ready."""

    component_kind: base.ComponentKind
    """The kind of the component's workload."""
    component_names: list[str] | None = None
    """The names of its workloads."""
    replicas: base.Int32 = Field(ge=0)
    """Pods that exist and are not terminating. For components on several nodes: groups of pods."""
    updated_replicas: base.Int32 = Field(ge=0)
    """Pods of the latest template."""
    ready_replicas: base.Int32 | None = Field(default=None, ge=0)
    """Pods whose readiness probe succeeds. Absent if the workload does not report them."""
    available_replicas: base.Int32 | None = Field(default=None, ge=0)
    """Pods that have been ready for at least `minReadySeconds`. Absent if the workload does not report them."""
    scheduled_replicas: base.Int32 | None = Field(default=None, ge=0)
    """Pods that have a node. Only Grove reports them."""
    runtime_namespace: str | None = None
    """The Dynamo namespace in which the pods register themselves."""
    gpus_per_engine: base.Int32 | None = Field(default=None, ge=0)
    """The GPUs of the main container on all its nodes. Planners need it. Absent if it is unknown."""
    gpus_per_replica: base.Int32 | None = Field(default=None, ge=0)
    """The GPUs of all pods of one replica. Planners need it. Absent if it is unknown."""
    served_model_name: str | None = None
    """The model in the flags of the main container."""
    runtime_component_name: str | None = None
    """The name under which the pods register themselves in their Dynamo namespace."""
    gpu_power_limit_watts: base.Int64 | None = Field(default=None, ge=1)
    """The power limit of each GPU, from the annotation `dynamo.nvidia.com/gpu-power-limit` of the pods."""
