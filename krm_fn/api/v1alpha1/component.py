"""The component specification that graphs, stand-alone components and everything made from them share.

Not its business: what a graph adds (`krm_fn.api.v1alpha1.graph`). Follows the reference's DynamoComponentDeploymentSharedSpec.
"""

from typing import Annotated

from pydantic import Field

from krm_fn import registry
from krm_fn.api import base, native
from krm_fn.api.v1alpha1 import capacity, picker

Framework = Annotated[str, base.Registered("manifests.backends")]
"""An inference engine."""

_TYPES = ", ".join(f"`{name}`" for name in registry.entries_of("manifests.components"))
_NO_PICKER = 'self.?componentType.orValue("") != "epp"'
_CONFIG, _REFERENCE = "self.?eppConfig.?config", "self.?eppConfig.?configMapRef"
_EITHER = {"config": "config", "reference": "configMapRef"}
_IS_ZERO = 'type(self.size) == string ? quantity(self.size).compareTo(quantity("0")) == 0 : self.size == 0'


class SharedMemory(base.Model):
    """The memory that processes of one pod share at `/dev/shm`."""

    model_config = base.rules(
        base.Rule(
            "DYN116",
            f"self.?disabled.orValue(false) || (has(self.size) && !({_IS_ZERO}))",
            "size",
            "Required",
        )
    )

    disabled: bool | None = None
    """Leave it out, where it would otherwise be there by default."""
    size: native.Quantity | None = None
    """How large it may grow, for example `16Gi`."""


class VolumeMount(base.Model):
    """A volume of the graph, or an existing claim, at a place in the main container."""

    model_config = base.rules(
        base.Rule("DYN145", 'self.name != ""', "name", "Required"),
        base.Rule(
            "DYN146",
            'self.?useAsCompilationCache.orValue(false) || self.?mountPoint.orValue("") != ""',
            "mountPoint",
            "Required",
            words={"field": "mountPoint", "cache": "useAsCompilationCache"},
        ),
    )

    name: str
    """The name of the PersistentVolumeClaim."""
    mount_point: str | None = None
    """The folder it appears at. Needed, unless the engine knows where its compilation cache lies."""
    use_as_compilation_cache: bool = False
    """Keep the engine's compiled kernels here, so that the next start is faster."""


class IngressTLS(base.Model):
    """How an Ingress speaks HTTPS."""

    secret_name: str | None = None
    """The Secret with certificate and key."""


class Ingress(base.Model):
    """How a service is reached from outside the cluster. The host is `<hostPrefix><host>.<hostSuffix>`."""

    model_config = base.rules(
        base.Rule(
            "DYN149",
            '!self.?enabled.orValue(false) || self.?host.orValue("") != ""',
            "host",
            "Required",
        )
    )

    enabled: bool | None = None
    """Whether it is reached at all."""
    host: str | None = None
    """The host's own name, without domain."""
    host_prefix: str | None = None
    """Put before the host, without a separator."""
    host_suffix: str | None = None
    """The domain put after the host and a dot; `local` where none is given."""
    use_virtual_service: bool | None = None
    """Write an Istio VirtualService instead of an Ingress."""
    virtual_service_gateway: str | None = None
    """The Istio gateway that the VirtualService binds to."""
    ingress_controller_class_name: str | None = None
    """Which ingress controller serves the Ingress."""
    annotations: base.Texts | None = None
    """Annotations of the Ingress."""
    labels: base.Texts | None = None
    """Labels of the Ingress."""
    tls: IngressTLS | None = None
    """HTTPS settings of the Ingress."""


class PodMetadata(base.Model):
    """Annotations and labels for pods."""

    annotations: base.Texts | None = None
    """Annotations of each pod."""
    labels: base.Texts | None = None
    """Labels of each pod, beside those that selectors need."""


class MainContainer(base.Extended):
    """The container that runs the component: a Kubernetes Container that needs no name."""

    model_config = native.extends(native.CORE + "Container", "name")


class ExtraPodSpec(base.Extended):
    """The pod around the component: a Kubernetes PodSpec whose `containers` are sidecars."""

    model_config = native.extends(native.CORE + "PodSpec", "containers")

    main_container: MainContainer | None = None
    """The component's own container. What is set here is merged over the defaults of its type."""


class ModelReference(base.Model):
    """The model that a service serves, so that LoRA adapters find its endpoints."""

    name: str
    """The base model's name, for example `Qwen/Qwen3-0.6B`."""
    revision: str | None = None
    """The base model's revision."""


class Component(base.Model):
    """One component of a graph: what runs, how often, with which resources, and how it is reached."""

    model_config = base.rules(
        base.Rule("DYN130", f"{_NO_PICKER} || !has(self.multinode)", "multinode", "Forbidden", words={"nodes": "multinode"}),
        base.Rule(
            "DYN131",
            f"{_NO_PICKER} || self.?replicas.orValue(1) == 1",
            "replicas",
        ),
        base.Rule(
            "DYN132",
            f"{_NO_PICKER} || {_CONFIG}.hasValue() || {_REFERENCE}.hasValue()",
            "eppConfig",
            "Required",
            words=_EITHER,
        ),
        base.Rule(
            "DYN133",
            f"{_NO_PICKER} || !{_CONFIG}.hasValue() || !{_REFERENCE}.hasValue()",
            "eppConfig",
            words=_EITHER,
        ),
        base.Rule(
            "DYN134",
            f'{_NO_PICKER} || {_CONFIG}.hasValue() || !{_REFERENCE}.hasValue() || {_REFERENCE}.?name.orValue("") != ""',
            "eppConfig.configMapRef.name",
            "Required",
        ),
    )

    component_type: str | None = Field(
        default=None, description=f"What the component does: {_TYPES}. The type decides the default probes, ports and environment."
    )
    sub_component_type: str | None = None
    """A finer distinction within the type, for example `decode` among workers. Ends up as a pod label."""
    service_name: str | None = None
    """Deprecated: services go by their key in the graph."""
    dynamo_namespace: str | None = None
    """Deprecated and replaced by the namespace and name of the graph."""
    global_dynamo_namespace: bool | None = None
    """Join the Dynamo namespace `dynamo`, which all graphs of the cluster share, instead of the graph's own."""
    replicas: base.Int32 | None = Field(default=None, ge=0)
    """How many instances run: pods, or groups of pods for multinode services."""
    multinode: capacity.Multinode | None = None
    """Spread each instance over several nodes."""
    resources: capacity.Resources | None = None
    """Processors, memory and GPUs of each pod."""
    autoscaling: capacity.Autoscaling | None = None
    """Deprecated and without effect; use `scalingAdapter`."""
    scaling_adapter: capacity.ScalingAdapter | None = None
    """Let an autoscaler set the replicas."""
    envs: base.EnvVars | None = None
    """Environment variables of the main container."""
    env_from_secret: str | None = None
    """A Secret whose keys become environment variables of the main container."""
    volume_mounts: Annotated[list[VolumeMount], base.ByKey(), Field(max_length=100)] | None = None
    """Volumes in the main container."""
    shared_memory: SharedMemory | None = None
    """The memory that processes of one pod share."""
    liveness_probe: native.Probe | None = None
    """When to restart the main container, instead of the type's default."""
    readiness_probe: native.Probe | None = None
    """When to send requests to the main container, instead of the type's default."""
    ingress: Ingress | None = None
    """How the component is reached from outside the cluster."""
    model_ref: ModelReference | None = None
    """The model it serves, so that LoRA adapters find it."""
    epp_config: picker.EPPConfig | None = None
    """The endpoint picker's configuration; only for components of type `epp`."""
    annotations: base.Texts | None = None
    """Annotations of the generated workload; some of them switch features."""
    labels: base.Texts | None = None
    """Labels of the generated workload."""
    extra_pod_metadata: PodMetadata | None = None
    """Annotations and labels of the pods."""
    extra_pod_spec: ExtraPodSpec | None = None
    """The main container's image and command, sidecars, and everything else that a pod can have."""
