"""DynamoGraphDeployment and DynamoGraphDeploymentScalingAdapter: the components that serve one model together, and their replicas.

An autoscaler sets the replicas of one component through an adapter. Follows the operator's api/v1beta1/dynamographdeployment_types.go and
api/v1beta1/dynamographdeploymentscalingadapter_types.go.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from krm_fn.schemas.api import base, common, native, rules
from krm_fn.schemas.api.v1alpha1.graph import ScalingAdapterStatus
from krm_fn.schemas.api.v1beta1 import component


class RestartStrategyV1beta1(base.Model):
    """The order in which components restart."""

    model_config = base.rules(*rules.strategy("component"))

    type: Literal["Sequential", "Parallel"] = "Sequential"
    """`Sequential` restarts one component after the other, `Parallel` all components at once."""
    order: Annotated[list[Annotated[str, Field(max_length=63)]], Field(max_length=25)] | None = None
    """The names of all components, in the order of their restart. Only for `Sequential`."""


class RestartV1beta1(base.Model):
    """A request to restart all components."""

    id: str = Field(min_length=1)
    """Any text. A new value requests a new restart."""
    strategy: RestartStrategyV1beta1 | None = None
    """The order of the restart."""


class GraphTopologyConstraintV1beta1(base.Model):
    """The level of the topology inside which the pods of a graph stay."""

    cluster_topology_name: str = Field(min_length=1)
    """The ClusterTopology that defines the levels."""
    pack_domain: common.Topology | None = None
    """The level, for example `rack`. Required if no component has one."""


class GraphSpecV1beta1(base.Model):
    """The desired state of a graph."""

    model_config = base.rules(
        *rules.parts("component", "one.name", 'one.?type.orValue("")', "self.components.exists(one, one.name == name)")
    )

    provider_override: common.ProviderOverride | None = None
    """Fields of the PodCliqueSet of the graph. Only for Grove."""
    annotations: base.Texts | None = None
    """Annotations of generated objects and pods. Those of a component's `podTemplate` take precedence."""
    labels: base.Texts | None = None
    """Labels of generated objects and pods. Those of a component's `podTemplate` take precedence."""
    priority_class_name: str | None = None
    """The PriorityClass of the graph. Only for Grove."""
    components: Annotated[list[component.ComponentV1beta1], base.ByKey(), Field(max_length=25)] | None = None
    """The components of the graph."""
    env: base.EnvVars | None = None
    """Environment variables of every component. A component's own variables take precedence."""
    backend_framework: common.Framework | None = None
    """The engine of all workers. If absent, each worker's command decides."""
    restart: RestartV1beta1 | None = None
    """A request to restart all components."""
    topology_constraint: GraphTopologyConstraintV1beta1 | None = None
    """The level of the topology inside which the pods stay. Only for Grove."""
    experimental: common.GraphExperimental | None = None
    """Features that may change in any release."""


class RestartStatusV1beta1(base.Model):
    """The progress of a restart."""

    observed_id: str | None = Field(default=None, alias="observedID")
    """The `spec.restart.id` that this status describes."""
    phase: str | None = None
    """`Pending`, `Restarting`, `Completed`, `Failed` or `Superseded`."""
    in_progress: list[str] | None = None
    """The components that are restarting."""


class RollingUpdateStatusV1beta1(base.Model):
    """The progress of an update that an operator makes worker by worker."""

    phase: common.RollingUpdatePhase | None = None
    """The phase of the update."""
    start_time: native.Time | None = None
    """The time when it began."""
    end_time: native.Time | None = None
    """The time when it ended."""
    updated_components: list[str] | None = None
    """The components that are up to date."""


class GraphStatusV1beta1(base.Model):
    """The observed state of a graph."""

    observed_generation: base.Generation | None = None
    """The `metadata.generation` that this status describes."""
    state: Literal["initializing", "pending", "successful", "failed"] = "initializing"
    """The state of the graph in one word."""
    conditions: base.Conditions | None = None
    """Conditions of the graph. `Ready` is true when all components are ready."""
    components: dict[str, component.ComponentReplicaStatusV1beta1] | None = None
    """Replicas by component."""
    restart: RestartStatusV1beta1 | None = None
    """The progress of the latest restart."""
    checkpoints: dict[str, common.CheckpointStatus] | None = None
    """Checkpoints by component. Only an operator writes them."""
    rolling_update: RollingUpdateStatusV1beta1 | None = None
    """The progress of the latest update of workers. Only an operator writes it."""
    placement: common.PlacementStatus | None = None
    """Score of the placement of the pods. Only an operator writes it."""


class DynamoGraphDeploymentV1beta1(base.Kind):
    """An inference graph: components that serve a model together."""

    model_config = base.rules(rules.some("components", "[]"))

    served: ClassVar = base.Served(
        short_names=("dgd",),
        columns=(
            base.Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
            base.Column("Backend", ".spec.backendFramework"),
            base.Column("State", ".status.state", wide=True),
            base.Column("Summary", r".metadata.annotations.dynamo\.krm-fn\.io/summary", wide=True),
        ),
    )

    api_version: Literal["nvidia.com/v1beta1"]
    """Group and version."""
    kind: Literal["DynamoGraphDeployment"]
    """The kind."""
    spec: GraphSpecV1beta1 | None = None
    """The desired state."""
    status: GraphStatusV1beta1 | None = None
    """The observed state. The cluster writes it."""


class GraphComponentReferenceV1beta1(base.Model):
    """A component of a graph in the same namespace."""

    name: str = Field(min_length=1)
    """The name of the graph."""
    component_name: str = Field(min_length=1)
    """The name of the component in the graph."""


class ScalingAdapterSpecV1beta1(base.Model):
    """The desired state of a scaling adapter."""

    replicas: base.Int32 | None = Field(default=None, ge=0)
    """The desired number of replicas. Autoscalers, the planner and `kubectl scale` set it through the subresource `scale`. A file does not
    contain it, so an apply of the file does not revert it. The syncer writes it first: the number of the graph."""
    desired_replicas: base.Int32 | None = Field(default=None, ge=0)
    """The desired number of replicas, as earlier versions of `platform/crds` defined it. The syncer moves it to `replicas`."""
    dgd_ref: GraphComponentReferenceV1beta1
    """The component to scale."""


class DynamoGraphDeploymentScalingAdapterV1beta1(base.Kind):
    """The replicas of one component, for an autoscaler to set.

    A graph has one number of replicas per component, but `kubectl scale` and autoscalers need a resource with exactly one. The adapter is
    that resource: `kubectl scale dgdsa`.
    """

    served: ClassVar = base.Served(
        short_names=("dgdsa",),
        columns=(
            base.Column("DGD", ".spec.dgdRef.name"),
            base.Column("COMPONENT", ".spec.dgdRef.componentName"),
            base.Column("REPLICAS", ".status.replicas", "integer"),
            base.Column("WANTED", ".spec.replicas", "integer", wide=True),
            base.Column("Ready", '.status.conditions[?(@.type=="Ready")].status', wide=True),
        ),
        scale=True,
    )

    api_version: Literal["nvidia.com/v1beta1"]
    """Group and version."""
    kind: Literal["DynamoGraphDeploymentScalingAdapter"]
    """The kind."""
    spec: ScalingAdapterSpecV1beta1 | None = None
    """The desired state."""
    status: ScalingAdapterStatus | None = None
    """The observed state. The cluster writes it."""
