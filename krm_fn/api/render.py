"""DynamoRender: the functionConfig. It holds the settings that the operator takes from its installation. `krm_fn.config` reads it."""

from typing import Literal

from pydantic import Field

from krm_fn.api import base


class LeaderWorkerSetSettings(base.Model):
    """Settings of multinode services in deployment mode."""

    enabled: bool = True
    """True if the cluster serves LeaderWorkerSets. If false, a multinode service is an error in deployment mode."""


class KaiSchedulerSettings(base.Model):
    """The KAI scheduler, which schedules either all pods of a graph or none."""

    enabled: bool = False
    """True if the KAI scheduler schedules the pods."""
    queue: str = "dynamo"
    """The default queue of graphs. An annotation on a graph overrides it."""


class VolcanoSchedulerSettings(base.Model):
    """The Volcano scheduler, which schedules either all pods of a graph or none."""

    enabled: bool = False
    """True if the Volcano scheduler schedules the pods. The KAI scheduler must be off then."""


class GroveSettings(base.Model):
    """Settings of PodCliqueSets."""

    termination_delay: str = Field(
        default="15m", json_schema_extra={"format": "duration"}, pattern=r"^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$"
    )
    """How long a graph may have too few pods before Grove restarts it, for example `15m`."""
    kai_scheduler: KaiSchedulerSettings = KaiSchedulerSettings()
    """Settings of the KAI scheduler."""
    volcano_scheduler: VolcanoSchedulerSettings = VolcanoSchedulerSettings()
    """Settings of the Volcano scheduler. Only Dynamo 1.0 and later uses it for Grove."""
    schedulers: list[str] = ["default-scheduler", "kai-scheduler"]
    """The schedulers in Grove's configuration. Grove refuses pods of other schedulers. If empty, any scheduler is accepted."""


class IngressSettings(base.Model):
    """The default ingress of a frontend that has no `ingress`."""

    class_name: str = ""
    """The ingress class. If empty, no Ingress is generated."""
    tls_secret_name: str = ""
    """The Secret with certificate and key. If empty, the Ingress has no TLS."""
    host_suffix: str = ""
    """The domain of the host. The host is the graph's name, a dot and this suffix."""
    istio_gateway: str = ""
    """The Istio gateway. If set, a VirtualService is generated. If empty, no graph gets a VirtualService."""


class RbacSettings(base.Model):
    """The ClusterRoles of the platform's installation."""

    planner_role: str = "dynamo-planner"
    """The ClusterRole of planners."""
    epp_role: str = "dynamo-epp"
    """The ClusterRole of endpoint pickers."""
    profiling_role: str = "dynamo-profiling"
    """The ClusterRole of profiling jobs. If empty, no role is bound, and GPU discovery is refused."""


class ProfilingSettings(base.Model):
    """The profiling Jobs of requests."""

    copier_image: str = Field(default="docker.io/alpine/k8s:1.34.1", min_length=1)
    """The image that publishes the profiler's output. It needs a shell, kubectl and sha256sum."""


class IstioSettings(base.Model):
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


class ServiceMeshSettings(base.Model):
    """The service mesh between a gateway and an endpoint picker."""

    enabled: bool = False
    """If true, each endpoint picker gets a DestinationRule."""
    provider: Literal["istio"] = "istio"
    """The service mesh."""
    istio: IstioSettings = IstioSettings()
    """The TLS settings of Istio."""


class PullSecret(base.Model):
    """An image pull secret in the cluster."""

    registry: str
    """The registry's host, for example `nvcr.io`."""
    name: str
    """The Secret's name."""


class RenderSpec(base.Model):
    """The settings of one run."""

    behaviour: Literal["", "v0.9", "v1.5"] = ""
    """The release of Dynamo whose operator a render follows. If empty, the resource decides: `v1.5` for v1beta1, and for v1alpha1 with
    the annotations of an operator of 1.0 or later; otherwise `v0.9`."""
    operator_version: str = Field(default="1.5.0", pattern=r"^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$")
    """The version of the operator that created the graphs, for graphs without the annotation `nvidia.com/dynamo-operator-origin-version`.
    It decides how vLLM spans nodes, and is a part of the worker hash. Only `behaviour: v1.5` uses it."""
    worker_hash: Literal["pods", "names", "none"] = "pods"
    """Where the hash of all workers of a graph is written. `pods`: in a label and a variable of the workers' pods. `names`: also in the
    names of the workers' objects, as the operator does. `none`: nowhere. Only `behaviour: v1.5` uses it."""
    source_version: Literal["keep", "v1alpha1", "v1beta1"] = "keep"
    """The API version in which Dynamo resources leave the function. `keep`: the version in which they came."""
    orchestrator: Literal["deployment", "grove"] = "deployment"
    """`deployment` generates Deployments, and LeaderWorkerSets for multinode services. `grove` generates one PodCliqueSet per graph."""
    leader_worker_set: LeaderWorkerSetSettings = LeaderWorkerSetSettings()
    """Settings of multinode services in deployment mode."""
    grove: GroveSettings = GroveSettings()
    """Settings of PodCliqueSets."""
    discovery_backend: Literal["kubernetes", "etcd"] = "kubernetes"
    """How components discover each other."""
    nats_address: str = ""
    """The address of NATS. If empty, pods get no `NATS_SERVER`."""
    etcd_address: str = ""
    """The addresses of etcd. If empty, pods get no `ETCD_ENDPOINTS`."""
    model_express_url: str = Field(default="", alias="modelExpressURL")
    """The URL of Model Express. If empty, pods get no `MODEL_EXPRESS_URL`."""
    prometheus_endpoint: str = ""
    """The URL of Prometheus, from which planners read metrics. If empty, pods get no `PROMETHEUS_ENDPOINT`."""
    mpi_secret_name: str = "mpi-run-ssh-secret"  # noqa: S105 - the name of a Secret
    """The Secret with the SSH key that the pods of a TensorRT-LLM group use between each other."""
    namespace: str = ""
    """The namespace of resources that carry none."""
    ingress: IngressSettings = IngressSettings()
    """The default ingress of a frontend that has no `ingress`."""
    rbac: RbacSettings = RbacSettings()
    """The ClusterRoles of the platform's installation."""
    profiling: ProfilingSettings = ProfilingSettings()
    """The profiling Jobs of requests."""
    service_mesh: ServiceMeshSettings = ServiceMeshSettings()
    """The service mesh between a gateway and an endpoint picker. Only `behaviour: v1.5` uses it."""
    dra: bool = True
    """True if the cluster serves Dynamic Resource Allocation, which GPU memory services need. Only `behaviour: v1.5` uses it."""
    image_pull_secrets: list[PullSecret] = Field(default_factory=list)
    """Image pull secrets in the cluster. Secrets among the input items need no entry."""
    debugger_image: str = "python:3.12-slim"
    """The image of the container in debug mode."""
    retain_volumes: bool = True
    """If true, annotations tell GitOps tools to keep generated PersistentVolumeClaims when their graph is removed from Git."""
    source: Literal["keep", "local", "drop"] = "keep"
    """What happens to the Dynamo resource. `keep`: it reaches the cluster. `local`: it stays in the build. `drop`: it leaves the output."""
    components: bool = False
    """If true, DynamoComponentDeployments are generated too, as an inventory for `kubectl get dcd`."""
    unknown_fields: Literal["error", "warn"] = "error"
    """Severity of native fields that the known Kubernetes version does not have."""
    restart: Literal["render", "sync"] = "render"
    """What a new `spec.restart.id` does. `render`: all services restart at once. `sync`: the syncer restarts them in order."""


class DynamoRender(base.Kind):
    """The settings of the function."""

    api_version: Literal["dynamo.krm-fn.io/v1alpha1"]
    """Group and version."""
    kind: Literal["DynamoRender"]
    """The kind."""
    spec: RenderSpec = RenderSpec()
    """The settings of one run."""
