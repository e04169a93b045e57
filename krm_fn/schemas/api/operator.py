"""OperatorConfiguration: the file of a Dynamo operator, accepted as functionConfig. `krm_fn.render.operator_config` reads it."""

from typing import Literal

from pydantic import Field

from krm_fn.schemas.api import base


class OperatorDiscovery(base.Model):
    """The discovery of components."""

    backend: Literal["", "kubernetes", "etcd"] = "kubernetes"
    """Discovery of components: `discoveryBackend` of a DynamoRender."""


class OperatorInfrastructure(base.Model):
    """The addresses of the platform."""

    nats_address: str = ""
    """The address of NATS: `natsAddress` of a DynamoRender."""
    etcd_address: str = ""
    """The addresses of etcd: `etcdAddress` of a DynamoRender."""
    model_express_url: str = Field(default="", alias="modelExpressURL")
    """The URL of Model Express: `modelExpressURL` of a DynamoRender."""
    prometheus_endpoint: str = ""
    """The URL of Prometheus: `prometheusEndpoint` of a DynamoRender."""


class OperatorGrove(base.Model):
    """Grove."""

    enabled: bool | None = None
    """True for `orchestrator: grove` of a DynamoRender, false for `deployment`. If absent, the operator looks for Grove in the cluster; a
    build cannot, and generates Deployments."""
    termination_delay: str | None = Field(
        default=None, json_schema_extra={"format": "duration"}, pattern=r"^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$"
    )
    """`grove.terminationDelay` of a DynamoRender."""


class OperatorSwitch(base.Model):
    """A part of the cluster that the operator looks for if `enabled` is absent. A build cannot look for it."""

    enabled: bool | None = None
    """True if the operator uses it."""


class OperatorOrchestrators(base.Model):
    """The orchestrators and schedulers of the cluster."""

    grove: OperatorGrove = OperatorGrove()
    """Grove."""
    lws: OperatorSwitch = OperatorSwitch()
    """LeaderWorkerSets: `leaderWorkerSet` of a DynamoRender."""
    kai_scheduler: OperatorSwitch = OperatorSwitch()
    """The KAI scheduler: `grove.kaiScheduler` of a DynamoRender."""
    volcano_scheduler: OperatorSwitch = OperatorSwitch()
    """The Volcano scheduler: `grove.volcanoScheduler` of a DynamoRender."""


class OperatorIngress(base.Model):
    """The default ingress of frontends."""

    virtual_service_gateway: str = ""
    """`ingress.istioGateway` of a DynamoRender."""
    controller_class_name: str = ""
    """`ingress.className` of a DynamoRender."""
    controller_tls_secret_name: str = Field(default="", alias="controllerTLSSecretName")
    """`ingress.tlsSecretName` of a DynamoRender."""
    host_suffix: str = ""
    """`ingress.hostSuffix` of a DynamoRender."""


class OperatorIstio(base.Model):
    """The TLS settings of Istio's DestinationRules."""

    tls_mode: Literal["", "SIMPLE", "MUTUAL", "ISTIO_MUTUAL", "DISABLE"] = "SIMPLE"
    """`serviceMesh.istio.tlsMode` of a DynamoRender."""
    insecure_skip_verify: bool | None = None
    """`serviceMesh.istio.insecureSkipVerify` of a DynamoRender."""
    client_certificate: str = ""
    """`serviceMesh.istio.clientCertificate` of a DynamoRender."""
    private_key: str = ""
    """`serviceMesh.istio.privateKey` of a DynamoRender."""
    ca_certificates: str = ""
    """`serviceMesh.istio.caCertificates` of a DynamoRender."""


class OperatorServiceMesh(base.Model):
    """The service mesh between a gateway and an endpoint picker."""

    enabled: bool | None = None
    """`serviceMesh.enabled` of a DynamoRender. If absent, a provider enables it."""
    provider: Literal["", "istio"] = ""
    """`serviceMesh.provider` of a DynamoRender."""
    istio: OperatorIstio = OperatorIstio()
    """The TLS settings of Istio."""


class OperatorRbac(base.Model):
    """The ClusterRoles of the platform's installation."""

    planner_cluster_role_name: str = ""
    """`rbac.plannerRole` of a DynamoRender."""
    epp_cluster_role_name: str = ""
    """`rbac.eppRole` of a DynamoRender."""
    dgdr_profiling_cluster_role_name: str = ""
    """`rbac.profilingRole` of a DynamoRender."""


class OperatorMpi(base.Model):
    """The SSH keys of TensorRT-LLM groups."""

    ssh_secret_name: str = ""
    """`mpiSecretName` of a DynamoRender."""
    ssh_secret_namespace: str = ""
    """The namespace from which the operator copies the Secret. A build refers to the Secret in the graph's namespace."""


class OperatorConfiguration(base.Kind):
    """The configuration file of a Dynamo operator, as functionConfig.

    Settings of the operator's own process have no meaning for a build. Settings that the file does not have are annotations on it, such
    as `config.dynamo.krm-fn.io/workerHash: names`.
    """

    api_version: Literal["operator.config.dynamo.nvidia.com/v1alpha1"]
    """Group and version."""
    kind: Literal["OperatorConfiguration"]
    """The kind."""
    discovery: OperatorDiscovery = OperatorDiscovery()
    """The discovery of components."""
    infrastructure: OperatorInfrastructure = OperatorInfrastructure()
    """The addresses of the platform."""
    orchestrators: OperatorOrchestrators = OperatorOrchestrators()
    """The orchestrators and schedulers of the cluster."""
    dra: OperatorSwitch = OperatorSwitch()
    """Dynamic Resource Allocation: `dra` of a DynamoRender."""
    ingress: OperatorIngress = OperatorIngress()
    """The default ingress of frontends."""
    service_mesh: OperatorServiceMesh = OperatorServiceMesh()
    """The service mesh between a gateway and an endpoint picker."""
    rbac: OperatorRbac = OperatorRbac()
    """The ClusterRoles of the platform's installation."""
    mpi: OperatorMpi = OperatorMpi()
    """The SSH keys of TensorRT-LLM groups."""
    checkpoint: base.Anything = Field(default_factory=dict)
    """Checkpoints, which need the operator: graphs that enable them are refused."""
    gpu: base.Anything = Field(default_factory=dict)
    """The discovery of GPUs for requests. Ignored."""
    server: base.Anything = Field(default_factory=dict)
    """Ports and addresses of the operator. Ignored."""
    leader_election: base.Anything = Field(default_factory=dict)
    """The leader election of the operator. Ignored."""
    namespace: base.Anything = Field(default_factory=dict)
    """The namespaces that the operator watches. Ignored."""
    logging: base.Anything = Field(default_factory=dict)
    """The log of the operator. Ignored."""
    security: base.Anything = Field(default_factory=dict)
    """The HTTP settings of the operator. Ignored."""
    lpx: base.Anything = Field(default_factory=dict)
    """LPX components of Dynamo 1.6, which krm-fn does not know. Ignored."""
