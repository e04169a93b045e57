"""DynamoGraphDeploymentRequest: a model to serve, for which profiling finds the graph.

Not its business: the profiling. Follows the reference's dynamographdeploymentrequest_types.go and its rules in
internal/webhook/validation/dynamographdeploymentrequest.go.
"""

from typing import ClassVar, Literal

from pydantic import Field

from krm_fn.api import base, native
from krm_fn.api.v1alpha1 import component


class ConfigMapKey(base.Model):
    """A key of a ConfigMap in the same namespace."""

    name: str
    """The ConfigMap."""
    key: str = "disagg.yaml"
    """The key."""


class ProfilingConfig(base.Model):
    """How the model is profiled."""

    profiler_image: str = Field(min_length=1)
    """The profiler's image."""
    config: base.Anything
    """The profiler's own configuration, for example `sla` and `hardware`. `{}` takes its defaults."""
    config_map_ref: ConfigMapKey | None = None
    """A ConfigMap with the graph that profiling starts from."""
    output_pvc: str | None = Field(default=None, alias="outputPVC")
    """The PersistentVolumeClaim that keeps what the profiler writes."""
    resources: native.ResourceRequirements | None = None
    """What the profiling job asks of its node."""
    tolerations: list[native.Toleration] | None = None
    """The taints that the profiling job puts up with."""


class DeploymentOverrides(base.Model):
    """What the graph that is found should look like, whatever the profiler proposes."""

    name: str | None = None
    """The graph's name; otherwise the profiler names it."""
    namespace: str | None = None
    """The graph's namespace; otherwise that of the request."""
    labels: base.Texts | None = None
    """Labels of the graph."""
    annotations: base.Texts | None = None
    """Annotations of the graph."""
    workers_image: str | None = None
    """The image that the profiler gives to all workers."""


class RequestSpec(base.Model):
    """What should be served."""

    model: str
    """The model, for example `Qwen/Qwen3-0.6B`."""
    backend: component.Framework
    """The engine."""
    profiling_config: ProfilingConfig
    """How the model is profiled."""
    use_mocker: bool = False
    """Deploy simulated workers, which need no GPUs."""
    enable_gpu_discovery: bool = False
    """Look at the cluster's nodes for their GPUs, where the installation may."""
    auto_apply: bool = False
    """Deploy the graph as soon as it is found."""
    deployment_overrides: DeploymentOverrides | None = None
    """What the graph should look like, whatever the profiler proposes."""


class DeploymentStatus(base.Model):
    """The graph that was deployed."""

    name: str | None = None
    """Its name."""
    namespace: str | None = None
    """Its namespace."""
    state: str | None = None
    """Its `status.state`."""
    created: bool | None = None
    """Whether it was created."""


class RequestStatus(base.Model):
    """How far the request is."""

    state: str | None = None
    """`Pending`, `Profiling`, `Deploying`, `Ready`, `DeploymentDeleted` or `Failed`."""
    backend: str | None = None
    """The engine that is profiled."""
    observed_generation: base.Generation | None = None
    """The `metadata.generation` that this was said about."""
    conditions: base.Conditions | None = None
    """The aspects of the state: `Validation`, `Profiling`, `SpecGenerated` and `DeploymentReady`."""
    profiling_results: str | None = None
    """Where the profiler's results are, for example `configmap/dgdr-output-llm`."""
    generated_deployment: base.Anything | None = Field(default=None, json_schema_extra={"x-kubernetes-embedded-resource": True})
    """The graph that was found."""
    deployment: DeploymentStatus | None = None
    """The graph that was deployed."""


class DynamoGraphDeploymentRequest(base.Kind):
    """A model to serve, for which profiling finds the graph."""

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
    """What should be served."""
    status: RequestStatus | None = None
    """How far the request is, as the cluster reports it."""
