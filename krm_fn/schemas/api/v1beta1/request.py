"""DynamoGraphDeploymentRequest: a model to serve. A profiling job finds the graph for it.

Follows the operator's api/v1beta1/dynamographdeploymentrequest_types.go.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field

from krm_fn.schemas.api import base, common, native

GPU = Literal[
    "gb200_sxm",
    "b300_sxm",
    "b200_sxm",
    "h200_sxm",
    "h100_sxm",
    "h100_pcie",
    "a100_sxm",
    "a100_pcie",
    "a30",
    "l40s",
    "l40",
    "l4",
    "v100_sxm",
    "v100_pcie",
    "t4",
    "mi200",
    "mi300",
]


class ModelCacheV1beta1(base.Model):
    """The PersistentVolumeClaim that holds the weights of the model."""

    pvc_name: str | None = None
    """The name of the claim."""
    pvc_model_path: str | None = None
    """The folder of the model in the claim."""
    pvc_mount_path: str = "/opt/model-cache"
    """The mount path."""


class HardwareV1beta1(base.Model):
    """The GPUs of the cluster. Without discovery by an operator, `gpuSku`, `vramMb` and `numGpusPerNode` are required."""

    gpu_sku: GPU | None = None
    """The type of the GPUs."""
    vram_mb: float | None = None
    """The memory of each GPU in MiB."""
    total_gpus: base.Int32 | None = None
    """The number of GPUs that may be used."""
    num_gpus_per_node: base.Int32 | None = None
    """The number of GPUs of each node."""
    interconnect: str | None = None
    """The connection between the GPUs of a node, for example `nvlink` or `pcie`."""
    rdma: bool | None = None
    """True if the nodes are connected by RDMA."""


class WorkloadV1beta1(base.Model):
    """The expected requests."""

    isl: base.Int32 = 4000
    """The number of tokens of a request."""
    osl: base.Int32 = 1000
    """The number of tokens of an answer."""
    concurrency: float | None = None
    """The number of requests at the same time. Set either this or `requestRate`."""
    request_rate: float | None = None
    """The number of requests per second."""


class SLAV1beta1(base.Model):
    """The required speed."""

    ttft: float | None = None
    """The time to the first token in milliseconds. The profiler uses 2000 if absent."""
    itl: float | None = None
    """The time between two tokens in milliseconds. The profiler uses 30 if absent."""
    e2e_latency: float | None = Field(default=None, alias="e2eLatency")
    """The time of a whole answer in milliseconds, instead of `ttft` and `itl`."""
    optimization_type: Literal["latency", "throughput"] | None = None
    """Target of the optimization."""


class GraphOverrideV1beta1(base.Model):
    """Fields of a DynamoGraphDeployment of either version."""

    model_config = ConfigDict(extra="allow", json_schema_extra={"x-kubernetes-embedded-resource": True})

    api_version: Literal["nvidia.com/v1alpha1", "nvidia.com/v1beta1"]
    """The version in which the fields are written."""
    kind: Literal["DynamoGraphDeployment"]
    """The kind."""


class OverridesV1beta1(base.Model):
    """Fields that override those of the profiling Job and of its result."""

    profiling_job: native.JobSpec | None = None
    """Fields of the profiling Job."""
    dgd: GraphOverrideV1beta1 | None = None
    """Fields of the graph."""


class MockerV1beta1(base.Model):
    """Simulated workers, which need no GPUs."""

    enabled: bool | None = None
    """If true, simulated workers are deployed."""


class FeaturesV1beta1(base.Model):
    """Optional parts of the graph."""

    planner: base.Anything | None = None
    """The configuration of a planner. If set, the graph has a planner."""
    mocker: MockerV1beta1 | None = None
    """Simulated workers."""


class RequestSpecV1beta1(base.Model):
    """The desired state of a request."""

    model: str = Field(min_length=1)
    """The model, for example `Qwen/Qwen3-0.6B`."""
    backend: Annotated[str, base.Registered("render.engines", "auto")] = "auto"
    """The engine; `auto` leaves the choice to the profiler."""
    image: str | None = None
    """The image of the profiler."""
    runtime_version_override: common.RuntimeVersion | None = None
    """The version of Dynamo in the image. Components of the graph without their own get it."""
    model_cache: ModelCacheV1beta1 | None = None
    """PersistentVolumeClaim with the weights of the model."""
    hardware: HardwareV1beta1 | None = None
    """The GPUs of the cluster."""
    workload: WorkloadV1beta1 | None = None
    """The expected requests."""
    sla: SLAV1beta1 | None = None
    """The required speed."""
    overrides: OverridesV1beta1 | None = None
    """Fields that override those of the profiling Job and of its result."""
    features: FeaturesV1beta1 | None = None
    """Optional parts of the graph."""
    search_strategy: Literal["rapid", "thorough"] = "rapid"
    """`thorough` tries more configurations than `rapid`. Not with `backend: auto`."""
    auto_apply: bool = True
    """If true, the graph is deployed when profiling is done."""


class ParetoConfigV1beta1(base.Model):
    """Deprecated: one of several results."""

    config: base.Anything
    """The graph."""


class ProfilingResultsV1beta1(base.Model):
    """The results of profiling."""

    pareto: list[ParetoConfigV1beta1] | None = None
    """Deprecated: no release writes it."""
    selected_config: base.Anything | None = None
    """The graph that profiling has found."""


class DeploymentInfoV1beta1(base.Model):
    """The replicas of the deployed graph."""

    replicas: base.Int32 | None = None
    """The desired number of replicas."""
    available_replicas: base.Int32 | None = None
    """The number of replicas that are available."""


class RequestStatusV1beta1(base.Model):
    """The observed state of a request."""

    phase: Literal["Pending", "Profiling", "Ready", "Deploying", "Deployed", "Failed"] | None = None
    """The phase of the request."""
    profiling_phase: (
        Literal["Initializing", "SweepingPrefill", "SweepingDecode", "SelectingConfig", "BuildingCurves", "GeneratingDGD", "Done"] | None
    ) = None
    """The phase of profiling."""
    dgd_name: str | None = None
    """The name of the graph."""
    profiling_job_name: str | None = None
    """The name of the profiling Job."""
    conditions: base.Conditions | None = None
    """Conditions of the request: `Succeeded`, `Validation`, `Profiling`, `SpecGenerated` and `DeploymentReady`."""
    profiling_results: ProfilingResultsV1beta1 | None = None
    """The results of profiling."""
    deployment_info: DeploymentInfoV1beta1 | None = None
    """The replicas of the deployed graph."""
    observed_generation: base.Generation | None = None
    """The `metadata.generation` that this status describes."""


class DynamoGraphDeploymentRequestV1beta1(base.Kind):
    """A model to serve. A profiling job finds the graph for it."""

    served: ClassVar = base.Served(
        short_names=("dgdr",),
        columns=(
            base.Column("Model", ".spec.model"),
            base.Column("Backend", ".spec.backend"),
            base.Column("Phase", ".status.phase"),
            base.Column("Profiling", ".status.profilingPhase"),
            base.Column("Reason", '.status.conditions[?(@.type=="Succeeded")].reason'),
            base.Column("Message", '.status.conditions[?(@.type=="Succeeded")].message'),
            base.Column("DGD", ".status.dgdName"),
        ),
    )

    api_version: Literal["nvidia.com/v1beta1"]
    """Group and version."""
    kind: Literal["DynamoGraphDeploymentRequest"]
    """The kind."""
    spec: RequestSpecV1beta1
    """The desired state."""
    status: RequestStatusV1beta1 | None = None
    """The observed state. The cluster writes it."""
