"""The settings of a run. `krm_fn.render.function_config` reads them.

This module is the only source of the settings. A render reads their defaults from it. `krm_fn.schemas.api.dynamo_render` generates the
schema of DynamoRender from it, and `krm_fn.schemas.generate` the list of all settings in docs/configuration.md. The docstrings of the
fields are the descriptions. A Dynamo operator gets most of these settings from Helm values and flags.
"""

from __future__ import annotations

from krm_fn.base.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    # `krm_fn.schemas.api.dynamo_render` has the limits of these texts.
    Duration = str
    NonEmpty = str
    Version = str


class LeaderWorkerSetSettings(NamedTuple):
    """Settings of multinode services in deployment mode."""

    enabled: bool = True
    """True if the cluster serves LeaderWorkerSets. If false, a multinode service is an error in deployment mode."""


class KaiSchedulerSettings(NamedTuple):
    """The KAI scheduler, which schedules either all pods of a graph or none."""

    enabled: bool = False
    """True if the KAI scheduler schedules the pods."""
    queue: str = "dynamo"
    """The default queue of graphs. An annotation on a graph overrides it."""


class VolcanoSchedulerSettings(NamedTuple):
    """The Volcano scheduler, which schedules either all pods of a graph or none."""

    enabled: bool = False
    """True if the Volcano scheduler schedules the pods. The KAI scheduler must be off then."""


class GroveSettings(NamedTuple):
    """Settings of PodCliqueSets."""

    termination_delay: Duration = "15m"
    """The time for which a graph may have too few pods before Grove restarts it, for example `15m`."""
    kai_scheduler: KaiSchedulerSettings = KaiSchedulerSettings()
    """Settings of the KAI scheduler."""
    volcano_scheduler: VolcanoSchedulerSettings = VolcanoSchedulerSettings()
    """Settings of the Volcano scheduler. Only Dynamo 1.0 and later uses it for Grove."""
    schedulers: tuple[str, ...] = ("default-scheduler", "kai-scheduler")
    """The schedulers in Grove's configuration. Grove rejects pods of other schedulers. If empty, any scheduler is accepted."""
    topology_aware_scheduling: Literal["", "enabled", "disabled"] = ""
    """The setting `topologyAwareScheduling.enabled` in Grove's configuration. Grove's chart has it off, and Grove then rejects graphs with
    a topology constraint. `disabled`: such a graph is an error. If empty, it is a warning."""


class IngressSettings(NamedTuple):
    """The default ingress of a frontend that has no `ingress`."""

    class_name: str = ""
    """The ingress class. If empty, no Ingress is generated."""
    tls_secret_name: str = ""
    """The Secret with certificate and key. If empty, the Ingress has no TLS."""
    host_suffix: str = ""
    """The domain of the host. The host is the graph's name, a dot and this suffix. If empty, the suffix is `local`."""
    istio_gateway: str = ""
    """The Istio gateway. If set, a VirtualService is generated. If empty, no graph gets a VirtualService."""


class RbacSettings(NamedTuple):
    """The ClusterRoles of the platform's installation. The function binds them in the namespace of the graph."""

    planner_role: str = "dynamo-planner"
    """The ClusterRole of planners."""
    epp_role: str = "dynamo-epp"
    """The ClusterRole of endpoint pickers."""
    profiling_role: str = "dynamo-profiling"
    """The ClusterRole of profiling jobs. If empty, no role is bound, their service account must exist, and GPU discovery is refused."""


class ProfilingSettings(NamedTuple):
    """The profiling Jobs of requests."""

    copier_image: NonEmpty = "docker.io/alpine/k8s:1.34.1"
    """The image that publishes the profiler's output. It needs a shell, kubectl and sha256sum."""


class IstioSettings(NamedTuple):
    """The TLS settings of Istio's DestinationRules."""

    tls_mode: Literal["SIMPLE", "MUTUAL", "ISTIO_MUTUAL", "DISABLE"] = "SIMPLE"
    """The TLS mode of connections to an endpoint picker."""
    insecure_skip_verify: bool = True
    """If true, the gateway does not verify the certificate of the endpoint picker."""
    client_certificate: str = ""
    """The file of the client's certificate in the proxy, for `MUTUAL`."""
    private_key: str = ""
    """The file of the client's key in the proxy, for `MUTUAL`."""
    ca_certificates: str = ""
    """The file of the certificates that verify the endpoint picker, for `MUTUAL`."""


class ServiceMeshSettings(NamedTuple):
    """The service mesh between a gateway and an endpoint picker."""

    enabled: bool = False
    """If true, each endpoint picker gets a DestinationRule."""
    provider: Literal["istio"] = "istio"
    """The service mesh."""
    istio: IstioSettings = IstioSettings()
    """The TLS settings of Istio."""


class PullSecret(NamedTuple):
    """An image pull secret in the cluster."""

    registry: str
    """The registry's host, for example `nvcr.io`."""
    name: str
    """The Secret's name."""


class PlatformSettings(NamedTuple):
    """The versions of what the cluster runs, for example `1.33` or `v0.1.0-alpha.14`. krm-fn warns if a graph needs a newer one.

    They change no object. An empty version is not checked.
    """

    kubernetes: str = ""
    """The version of Kubernetes."""
    grove: str = ""
    """The version of Grove."""
    kai_scheduler: str = ""
    """The version of the KAI scheduler."""
    leader_worker_set: str = ""
    """The version of LeaderWorkerSet."""


class Config(NamedTuple):
    """The settings of one run."""

    behaviour: Literal["", "v0.9", "v1.2", "v1.2+", "v1.3", "v1.4", "v1.5", "v1.5+", "v1.6", "v1.7"] = ""
    """The release of the Dynamo operator that a render follows. If empty, the images of the resource decide: the highest version in their
    tags, or in `runtimeVersionOverride`. Below 1.0 it is `v0.9`, from 1.0 to 1.2 `v1.2`, from 1.3 to 1.6 the release of the same
    number, and from 1.7 on `v1.7`. Without a version it is `v1.6`. If the images are older than 1.0, resources of v1beta1, and those with
    an annotation of an operator of 1.0 or later, follow `v1.5`. With `v1.2+` or `v1.5+`, all resources follow this release or the newer
    one that the images choose."""
    operator_version: Version = ""
    """The version of the operator that created the graphs, for graphs without the annotation `nvidia.com/dynamo-operator-origin-version`.
    If empty, it is the lowest version of the release, for example 1.5.0. It decides how engines start on several nodes. Only `v1.2` and
    later use it."""
    worker_hash: Literal["pods", "names", "none"] = "pods"
    """The objects that get the hash of all workers of a graph. `pods`: a label and a variable of the workers' pods. `names`: also the
    names of the workers' objects, as the operator does. `none`: no object. A graph with the operator's annotation keeps the names that
    the operator gave. Only `v1.2` and later use it."""
    source_version: Literal["keep", "v1alpha1", "v1beta1"] = "keep"
    """The API version of Dynamo resources in the output. `keep`: the version that they have in the input."""
    orchestrator: Literal["deployment", "grove", "disaggregatedSet"] = "deployment"
    """`deployment` generates Deployments, and LeaderWorkerSets for multinode services. `grove` generates one PodCliqueSet per graph.
    `disaggregatedSet` generates one DisaggregatedSet for the prefill and decode workers of a graph, and the others as `deployment`."""
    gang_scheduling: Literal["", "kubernetes", "volcano", "kai", "none"] = ""
    """The scheduler that starts either all pods of a group on several nodes or none. `kubernetes`: Kubernetes 1.37 or newer itself, for
    LeaderWorkerSets. `volcano`: Volcano, for LeaderWorkerSets and Grove. `kai`: the KAI scheduler, for Grove. `none`: no such scheduler. If
    empty, `v0.9` uses Volcano for LeaderWorkerSets, and the settings of Grove decide for Grove, as in the operator."""
    leader_worker_set: LeaderWorkerSetSettings = LeaderWorkerSetSettings()
    """Settings of multinode services in deployment mode."""
    grove: GroveSettings = GroveSettings()
    """Settings of PodCliqueSets."""
    discovery_backend: Literal["kubernetes", "etcd"] = "kubernetes"
    """The discovery of components. `kubernetes`: through the API server, with a service account for each graph. `etcd`: through etcd."""
    nats_address: str = ""
    """The address of NATS, for example `nats://nats.dynamo-system.svc:4222`. If empty, pods get no `NATS_SERVER`."""
    etcd_address: str = ""
    """The addresses of etcd. If empty, pods get no `ETCD_ENDPOINTS`."""
    model_express_url: str = ""
    """The URL of Model Express. If empty, pods get no `MODEL_EXPRESS_URL`."""
    prometheus_endpoint: str = ""
    """The URL of Prometheus, from which planners read metrics. If empty, pods get no `PROMETHEUS_ENDPOINT`."""
    mpi_secret_name: str = "mpi-run-ssh-secret"  # noqa: S105 - the name of a Secret
    """The Secret with the SSH key for connections between the pods of a TensorRT-LLM group."""
    namespace: str = ""
    """The namespace of resources without one. If empty, they get the namespace `default`, with a warning."""
    ingress: IngressSettings = IngressSettings()
    """The default ingress of a frontend that has no `ingress`."""
    rbac: RbacSettings = RbacSettings()
    """The ClusterRoles of the platform's installation."""
    profiling: ProfilingSettings = ProfilingSettings()
    """The profiling Jobs of requests."""
    service_mesh: ServiceMeshSettings = ServiceMeshSettings()
    """The service mesh between a gateway and an endpoint picker. Only `v1.2` and later use it."""
    dra: bool = True
    """True if the cluster serves Dynamic Resource Allocation, which GPU memory services need. Only `v1.2` and later use it."""
    image_pull_secrets: tuple[PullSecret, ...] = ()
    """Image pull secrets in the cluster, for example `{registry: nvcr.io, name: ngc}`. Pods with images of the registry use them.
    Secrets of type `kubernetes.io/dockerconfigjson` among the input items need no entry."""
    debugger_image: str = "python:3.12-slim"
    """The image of the container that debug mode adds."""
    retain_volumes: bool = True
    """If true, generated PersistentVolumeClaims get annotations with which GitOps tools keep them after their graph is removed from Git."""
    source: Literal["keep", "local", "drop"] = "keep"
    """The Dynamo resource in the output. `keep`: it reaches the cluster, with annotations. `local`: it stays in the build. `drop`: it is
    removed. Under kpt, `drop` acts as `local`, because kpt would delete your file."""
    components: bool = False
    """If true, DynamoComponentDeployments are generated, too, so that `kubectl get dcd` lists the components."""
    unknown_fields: Literal["error", "warn"] = "error"
    """The severity of native fields that the known Kubernetes version does not have."""
    platform: PlatformSettings = PlatformSettings()
    """The versions of what the cluster runs."""
    restart: Literal["render", "sync"] = "render"
    """The effect of a new `spec.restart.id`. `render`: all services restart at once. `sync`: the syncer restarts them in order."""


def key(attribute: str) -> str:
    """Returns the key of a field in the functionConfig.

    >>> key("nats_address"), key("model_express_url")
    ('natsAddress', 'modelExpressURL')
    """
    first, *rest = attribute.split("_")
    return first + "".join("URL" if word == "url" else word.title() for word in rest)


def attribute(key: str) -> str:
    """Returns the field of a key in the functionConfig.

    >>> attribute("natsAddress"), attribute("modelExpressURL")
    ('nats_address', 'model_express_url')
    """
    letters = [f"_{letter.lower()}" if letter.isupper() else letter for letter in key.replace("URL", "Url")]
    return "".join(letters)
