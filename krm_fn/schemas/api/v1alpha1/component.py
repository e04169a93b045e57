"""The specification of a component, which graphs and standalone components share.

Follows the operator's DynamoComponentDeploymentSharedSpec.
"""

from typing import Annotated, Literal

from pydantic import Field

from krm_fn.base import codes
from krm_fn.schemas.api import base, common, endpoint_picker, native, rules

Mode = Literal["intraPod", "interPod"]
_IS_ZERO = 'type(self.size) == string ? quantity(self.size).compareTo(quantity("0")) == 0 : self.size == 0'


class SharedMemory(base.Model):
    """Shared memory at `/dev/shm`."""

    model_config = base.rules(
        base.Rule(
            codes.SHARED_MEMORY_WITHOUT_SIZE,
            f"self.?disabled.orValue(false) || (has(self.size) && !({_IS_ZERO}))",
            "size",
            "Required",
        )
    )

    disabled: bool | None = None
    """If true, the pod gets no shared memory volume."""
    size: native.Quantity | None = None
    """The size limit, for example `16Gi`."""


class VolumeMount(base.Model):
    """A mount of a PersistentVolumeClaim in the main container. The claim is one of `pvcs`, or exists already."""

    model_config = base.rules(
        base.Rule(codes.MOUNT_WITHOUT_CLAIM, 'self.name != ""', "name", "Required"),
        base.Rule(
            codes.MOUNT_WITHOUT_PATH,
            'self.?useAsCompilationCache.orValue(false) || self.?mountPoint.orValue("") != ""',
            "mountPoint",
            "Required",
            words={"field": "mountPoint", "cache": "useAsCompilationCache"},
        ),
    )

    name: str
    """The name of the PersistentVolumeClaim."""
    mount_point: str | None = None
    """The mount path. Required unless the engine has a default folder for its compilation cache."""
    use_as_compilation_cache: bool = False
    """If true, the engine keeps its compiled kernels in this volume, and later starts are faster."""


class IngressTLS(base.Model):
    """TLS settings of an Ingress."""

    secret_name: str | None = None
    """The Secret with certificate and key."""


class Ingress(base.Model):
    """Access to a service from outside the cluster. The host name is `<hostPrefix><host>.<hostSuffix>`."""

    model_config = base.rules(
        base.Rule(
            codes.INGRESS_WITHOUT_HOST,
            '!self.?enabled.orValue(false) || self.?host.orValue("") != ""',
            "host",
            "Required",
        )
    )

    enabled: bool | None = None
    """If true, an Ingress or a VirtualService is generated."""
    host: str | None = None
    """The host without domain."""
    host_prefix: str | None = None
    """A prefix of the host, without a separator."""
    host_suffix: str | None = None
    """The domain after the host and a dot; default `local`."""
    use_virtual_service: bool | None = None
    """If true, an Istio VirtualService is generated instead of an Ingress."""
    virtual_service_gateway: str | None = None
    """The Istio gateway that the VirtualService binds to."""
    ingress_controller_class_name: str | None = None
    """The ingress class of the Ingress."""
    annotations: base.Texts | None = None
    """Annotations of the Ingress."""
    labels: base.Texts | None = None
    """Labels of the Ingress."""
    tls: IngressTLS | None = None
    """TLS settings of the Ingress."""


class PodMetadata(base.Model):
    """Annotations and labels of the pods."""

    annotations: base.Texts | None = None
    """Annotations of each pod."""
    labels: base.Texts | None = None
    """Additional labels of each pod."""


class MainContainer(base.Extended):
    """The container of the component: a Kubernetes Container whose name is optional."""

    model_config = native.extends(native.CORE + "Container", "name")


class ExtraPodSpec(base.Extended):
    """The pod of the component: a Kubernetes PodSpec whose `containers` are sidecars."""

    model_config = native.extends(native.CORE + "PodSpec", "containers")

    main_container: MainContainer | None = None
    """The component's container. Its fields are merged over the defaults of the component type."""


class ModelReference(base.Model):
    """The model that a service serves. DynamoModels find the service's endpoints by it."""

    name: str
    """The base model's name, for example `Qwen/Qwen3-0.6B`."""
    revision: str | None = None
    """The base model's revision."""


class FrontendSidecar(base.Model):
    """A container that runs a frontend in the pods of a component."""

    image: str
    """The image."""
    args: list[str] | None = None
    """The arguments; default `-m dynamo.frontend`."""
    env_from_secret: str | None = None
    """A Secret whose keys become environment variables of the container."""
    envs: base.EnvVars | None = None
    """Environment variables of the container."""


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


class GPUMemoryService(base.Model):
    """The service that keeps weights in the memory of GPUs, so that several processes share them."""

    model_config = base.rules(*rules.gpu_memory("intraPod"))

    enabled: bool
    """If true, the service runs."""
    mode: Mode = "intraPod"
    """`intraPod` runs the service beside the engine. `interPod` runs it in pods of its own."""
    device_class_name: str = "gpu.nvidia.com"
    """The DeviceClass from which the GPUs are claimed."""
    extra_client_containers: Annotated[list[common.ContainerName], base.Unique()] | None = None
    """Other containers of the pod that use the service. Only for `intraPod`."""
    extra_client_pods: Annotated[list[common.GMSClientPod], base.ByKey()] | None = None
    """Reserved: no release supports it."""


class Failover(base.Model):
    """A second engine that takes over when the first one fails."""

    enabled: bool
    """If true, the second engine runs."""
    mode: Mode = "intraPod"
    """The mode of `gpuMemoryService`, which failover needs."""
    num_shadows: base.Int32 = Field(default=1, ge=1, le=1)
    """The number of waiting engines."""


class Component(base.Model):
    """One component of a graph: its containers, replicas, resources and network access."""

    model_config = base.rules(*rules.picker("componentType"))

    component_type: str | None = Field(
        default=None, description=f"What the component does: {common.TYPES}. The type decides the default probes, ports and environment."
    )
    sub_component_type: str | None = None
    """A subtype, for example `decode` for a worker. Pods have it as a label."""
    service_name: str | None = None
    """Deprecated: the key of the service in the graph is its name."""
    dynamo_namespace: str | None = None
    """Deprecated: the Dynamo namespace is the namespace and name of the graph."""
    global_dynamo_namespace: bool | None = None
    """If true, the component uses the Dynamo namespace `dynamo`, which all graphs of the cluster share, instead of the graph's."""
    replicas: base.Int32 | None = Field(default=None, ge=0)
    """The number of replicas: pods, or groups of pods for multinode services."""
    multinode: Multinode | None = None
    """Multinode settings. If set, each replica spans several nodes."""
    resources: Resources | None = None
    """CPU, memory and GPUs of each pod."""
    autoscaling: Autoscaling | None = None
    """Deprecated and ignored; use `scalingAdapter`."""
    scaling_adapter: ScalingAdapter | None = None
    """The scaling adapter, through which an autoscaler sets the replicas."""
    envs: base.EnvVars | None = None
    """Environment variables of the main container."""
    env_from_secret: str | None = None
    """A Secret whose keys become environment variables of the main container."""
    volume_mounts: Annotated[list[VolumeMount], base.ByKey(), Field(max_length=100)] | None = None
    """Mounts of PersistentVolumeClaims in the main container."""
    shared_memory: SharedMemory | None = None
    """Shared memory at `/dev/shm`."""
    liveness_probe: native.Probe | None = None
    """The liveness probe of the main container. It replaces the default of the component type."""
    readiness_probe: native.Probe | None = None
    """The readiness probe of the main container. It replaces the default of the component type."""
    ingress: Ingress | None = None
    """Access to the component from outside the cluster."""
    model_ref: ModelReference | None = None
    """The model that the component serves. DynamoModels find its endpoints by it."""
    epp_config: endpoint_picker.EPPConfig | None = None
    """The endpoint picker's configuration; only for components of type `epp`."""
    annotations: base.Texts | None = None
    """Annotations of the generated workload. Some switch features on or off."""
    labels: base.Texts | None = None
    """Labels of the generated workload."""
    extra_pod_metadata: PodMetadata | None = None
    """Annotations and labels of the pods."""
    extra_pod_spec: ExtraPodSpec | None = None
    """The main container with its image and command, sidecars, and every other field of a pod."""
    runtime_version_override: common.RuntimeVersion | None = None
    """The version of Dynamo in the image. Only under `v1.5` and later."""
    min_available: base.Int32 | None = Field(default=None, ge=1)
    """The number of replicas that Grove starts together. Only for Grove, and only under `v1.5` and later."""
    frontend_sidecar: FrontendSidecar | None = None
    """A container that runs a frontend beside the component. Only under `v1.5` and later."""
    topology_constraint: common.TopologyConstraint | None = None
    """The level of the topology inside which the pods stay. Only under `v1.5` and later."""
    gpu_memory_service: GPUMemoryService | None = None
    """The service that keeps weights in the memory of GPUs. Only under `v1.5` and later."""
    failover: Failover | None = None
    """A second engine that takes over when the first one fails. Only under `v1.5` and later."""
    checkpoint: common.Checkpoint | None = None
    """A saved state from which new pods start. Only under `v1.5` and later."""
    provider_override: common.ProviderOverride | None = None
    """Fields of the component's clique, or of its scaling group. Only for Grove, and only since Dynamo 1.5."""
