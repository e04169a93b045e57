"""DynamoRender: the functionConfig, the settings that the reference operator takes from its installation.

Not its business: reading it into settings (`krm_fn.config`).
"""

from typing import Literal

from pydantic import Field

from krm_fn.api import base


class LeaderWorkerSetSettings(base.Model):
    """Multinode services in deployment mode."""

    enabled: bool = True
    """Whether the cluster has LeaderWorkerSets. Without them, a multinode service is an error in deployment mode."""


class KaiSchedulerSettings(base.Model):
    """The KAI scheduler, which places all pods of a graph or none."""

    enabled: bool = False
    """Whether it places the pods."""
    queue: str = "dynamo"
    """The queue that graphs go to, unless they name their own."""


class GroveSettings(base.Model):
    """What PodCliqueSets carry beside the graph."""

    termination_delay: str = Field(
        default="15m", json_schema_extra={"format": "duration"}, pattern=r"^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$"
    )
    """How long a graph may stay incomplete before it is started anew, for example `15m`."""
    kai_scheduler: KaiSchedulerSettings = KaiSchedulerSettings()
    """Whether the KAI scheduler places the pods."""
    schedulers: list[str] = ["default-scheduler", "kai-scheduler"]
    """The schedulers in Grove's own configuration, which refuses pods of others. Empty: any scheduler is accepted."""


class IngressSettings(base.Model):
    """How a frontend without `ingress` of its own is reached."""

    class_name: str = ""
    """The ingress controller's class. Empty: no Ingress."""
    tls_secret_name: str = ""
    """The Secret with certificate and key. Empty: no HTTPS."""
    host_suffix: str = ""
    """The domain that graph names are put in front of."""
    istio_gateway: str = ""
    """The Istio gateway. Given: a VirtualService instead of an Ingress."""


class RbacSettings(base.Model):
    """The cluster roles that come with the platform's installation."""

    planner_role: str = "dynamo-planner"
    """What planners may do."""
    epp_role: str = "dynamo-epp"
    """What endpoint pickers may do."""
    profiling_role: str = "dynamo-profiling"
    """What profiling jobs may do across namespaces. Empty: none is bound, and GPU discovery is refused."""


class PullSecret(base.Model):
    """A Secret in the cluster that opens a registry."""

    registry: str
    """The registry's host, for example `nvcr.io`."""
    name: str
    """The Secret's name."""


class RenderSpec(base.Model):
    """The settings of one run."""

    orchestrator: Literal["deployment", "grove"] = "deployment"
    """What carries the pods: Deployments (LeaderWorkerSets for multinode services), or one PodCliqueSet per graph."""
    leader_worker_set: LeaderWorkerSetSettings = LeaderWorkerSetSettings()
    """Multinode services in deployment mode."""
    grove: GroveSettings = GroveSettings()
    """What PodCliqueSets carry beside the graph."""
    discovery_backend: Literal["kubernetes", "etcd"] = "kubernetes"
    """How components find each other."""
    nats_address: str = ""
    """The NATS server. Empty: none is named to the pods."""
    etcd_address: str = ""
    """The etcd servers. Empty: none is named to the pods."""
    model_express_url: str = Field(default="", alias="modelExpressURL")
    """The Model Express server. Empty: none is named to the pods."""
    prometheus_endpoint: str = ""
    """Where planners read figures. Empty: it is not named to the pods."""
    mpi_secret_name: str = "mpi-run-ssh-secret"  # noqa: S105 - the name of a Secret
    """The Secret with the SSH key by which the pods of a TensorRT-LLM group reach each other."""
    namespace: str = ""
    """The namespace of resources that carry none."""
    ingress: IngressSettings = IngressSettings()
    """How a frontend without `ingress` of its own is reached."""
    rbac: RbacSettings = RbacSettings()
    """The cluster roles that come with the platform's installation."""
    image_pull_secrets: list[PullSecret] = Field(default_factory=list)
    """Secrets in the cluster that open registries; Secrets among the items are found by themselves."""
    debugger_image: str = "python:3.12-slim"
    """The image of the container that debug mode adds."""
    retain_volumes: bool = True
    """Ask GitOps tools to keep PersistentVolumeClaims when their graph is taken out of Git."""
    source: Literal["keep", "local", "drop"] = "keep"
    """What becomes of the Dynamo resource: it reaches the cluster, stays in the build only, or leaves the output."""
    components: bool = False
    """Also write DynamoComponentDeployments, as an inventory for `kubectl get dcd`."""
    unknown_fields: Literal["error", "warn"] = "error"
    """What a native field is that is newer than the Kubernetes version known here."""
    restart: Literal["render", "sync"] = "render"
    """Who restarts a graph with a new `spec.restart.id`: the render, all services at once, or the syncer, in order."""


class DynamoRender(base.Kind):
    """The settings of the function."""

    api_version: Literal["dynamo.krm-fn.io/v1alpha1"]
    """Group and version."""
    kind: Literal["DynamoRender"]
    """The kind."""
    spec: RenderSpec = RenderSpec()
    """The settings of one run."""
