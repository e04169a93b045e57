"""DynamoGraphDeploymentRequest: a model to serve. A profiling job finds the graph for it.

Follows the operator's dynamographdeploymentrequest_types.go and its rules in
internal/webhook/validation/dynamographdeploymentrequest.go.
"""

from typing import ClassVar, Literal

from pydantic import Field

from krm_fn.schemas.api import base, common, native


class ConfigMapKey(base.Model):
    """A key of a ConfigMap in the same namespace."""

    name: str
    """The name of the ConfigMap."""
    key: str = "disagg.yaml"
    """The key in the ConfigMap."""


class ProfilingConfig(base.Model):
    """Settings of profiling."""

    profiler_image: str = Field(min_length=1)
    """The image of the profiler."""
    config: base.Anything
    """The configuration of the profiler, for example `sla` and `hardware`. `{}` uses the profiler's defaults."""
    config_map_ref: ConfigMapKey | None = None
    """A ConfigMap with the graph from which profiling starts."""
    output_pvc: str | None = Field(default=None, alias="outputPVC")
    """The PersistentVolumeClaim for the profiler's output."""
    resources: native.ResourceRequirements | None = None
    """Resources of the profiling job."""
    tolerations: list[native.Toleration] | None = None
    """Tolerations of the profiling job."""
    node_selector: base.Texts | None = None
    """Labels of the nodes for the profiling job. Only under `v1.5` and later."""


class DeploymentOverrides(base.Model):
    """Fields of the graph that override the profiler's result."""

    name: str | None = None
    """The name of the graph; default the profiler's choice."""
    namespace: str | None = None
    """The namespace of the graph; default the request's namespace."""
    labels: base.Texts | None = None
    """Labels of the graph."""
    annotations: base.Texts | None = None
    """Annotations of the graph."""
    workers_image: str | None = None
    """The image of all workers."""


class RequestSpec(base.Model):
    """The desired state of a request."""

    model: str
    """The model, for example `Qwen/Qwen3-0.6B`."""
    backend: common.Framework
    """The engine."""
    profiling_config: ProfilingConfig
    """Settings of profiling."""
    use_mocker: bool = False
    """If true, simulated workers are deployed, which need no GPUs."""
    enable_gpu_discovery: bool = False
    """If true, the GPUs of the cluster's nodes are discovered, if the installation permits it."""
    auto_apply: bool = False
    """If true, the graph is deployed when profiling is done."""
    deployment_overrides: DeploymentOverrides | None = None
    """Fields of the graph that override the profiler's result."""
    runtime_version_override: common.RuntimeVersion | None = None
    """The version of Dynamo in the images. Only under `v1.5` and later."""


class DeploymentStatus(base.Model):
    """The deployed graph."""

    name: str | None = None
    """The name of the graph."""
    namespace: str | None = None
    """The namespace of the graph."""
    state: str | None = None
    """The `status.state` of the graph."""
    created: bool | None = None
    """True if the graph was created."""


class RequestStatus(base.Model):
    """The observed state of a request."""

    state: str | None = None
    """`Pending`, `Profiling`, `Deploying`, `Ready`, `DeploymentDeleted` or `Failed`."""
    backend: str | None = None
    """The profiled engine."""
    observed_generation: base.Generation | None = None
    """The `metadata.generation` that this status describes."""
    conditions: base.Conditions | None = None
    """Conditions of the request: `Validation`, `Profiling`, `SpecGenerated` and `DeploymentReady`."""
    profiling_results: str | None = None
    """The location of the profiler's results, for example `configmap/dgdr-output-llm`."""
    generated_deployment: base.Anything | None = Field(default=None, json_schema_extra={"x-kubernetes-embedded-resource": True})
    """The graph that profiling has found."""
    deployment: DeploymentStatus | None = None
    """The deployed graph."""


class DynamoGraphDeploymentRequest(base.Kind):
    """A model to serve. A profiling job finds the graph for it."""

    served: ClassVar = base.Served(
        short_names=("dgdr",),
        columns=(
            base.Column("Model", ".spec.model"),
            base.Column("Backend", ".status.backend"),
            base.Column("State", ".status.state"),
            base.Column("DGD-State", ".status.deployment.state"),
        ),
    )

    api_version: Literal["nvidia.com/v1alpha1"]
    """Group and version."""
    kind: Literal["DynamoGraphDeploymentRequest"]
    """The kind."""
    spec: RequestSpec
    """The desired state."""
    status: RequestStatus | None = None
    """The observed state. The cluster writes it."""
