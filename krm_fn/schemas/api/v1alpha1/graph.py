"""DynamoGraphDeployment and DynamoGraphDeploymentScalingAdapter: the services that serve one model together, and their replicas.

An autoscaler sets the replicas of one service through an adapter. Follows the operator's dynamographdeployment_types.go and
dynamographdeploymentscalingadapter_types.go.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from krm_fn.base import codes
from krm_fn.schemas.api import base, common, native, rules
from krm_fn.schemas.api.v1alpha1 import component

_ZEROS = [f"{sign}{digits}" for sign in ("", "+", "-") for digits in ("0", "00", "0.", ".0", "0.0", "0.00")]
_UNITS = [*"numkKMGTPEe"]
# A call of quantity() would be exact and, over 100 claims, cost more than an API server allows.
_NO_SIZE = (
    "type(self.size) == int ? self.size == 0 : "
    f"{_ZEROS}.exists(zero, self.size == zero || {_UNITS}.exists(unit, self.size.startsWith(zero + unit)))"
)
_NO_SIZE_FOR_EDITORS: base.Schema = {"anyOf": [{"const": 0}, {"type": "string", "pattern": "^[+-]?[0.]+([A-Za-z].*)?$"}]}
_EMPTY: base.Schema = {"const": ""}


class PVC(base.Model):
    """A PersistentVolumeClaim that services of the graph mount."""

    model_config = base.rules(
        base.Rule(codes.PVC_WITHOUT_NAME, 'self.name != ""', "name", "Required"),
        *(
            base.Rule(
                codes.UNCREATABLE_PVC,
                f"!self.?create.orValue(false) || (has(self.{field}) && {given})",
                field,
                "Required",
                words={"field": field, "example": example},
                editor={
                    "if": {"properties": {"create": {"const": True}}, "required": ["create"]},
                    "then": {"properties": {field: {"not": empty}}, "required": [field]},
                },
            )
            for field, given, empty, example in (
                ("storageClass", 'self.storageClass != ""', _EMPTY, "standard"),
                ("size", f"!({_NO_SIZE})", _NO_SIZE_FOR_EDITORS, "100Gi"),
                ("volumeAccessMode", 'self.volumeAccessMode != ""', _EMPTY, "ReadWriteMany"),
            )
        ),
    )

    name: str
    """The claim's name, which `volumeMounts` refer to."""
    create: bool | None = None
    """If true, the claim is generated. Otherwise it must exist in the cluster."""
    storage_class: str | None = None
    """The StorageClass. Required if `create` is true."""
    size: native.Quantity | None = None
    """The size of the volume. Required if `create` is true."""
    volume_access_mode: str | None = None
    """The access mode, for example `ReadWriteMany`. Required if `create` is true."""


class RestartStrategy(base.Model):
    """The order in which services restart."""

    model_config = base.rules(*rules.strategy("service"))

    type: Literal["Sequential", "Parallel"] = "Sequential"
    """`Sequential` restarts one service after the other, `Parallel` all services at once."""
    order: Annotated[list[Annotated[str, Field(max_length=63)]], Field(max_length=25)] | None = None
    """The names of all services, in the order of their restart. Only for `Sequential`."""


class Restart(base.Model):
    """A request to restart all services."""

    id: str = Field(min_length=1)
    """Any text. A new value requests a new restart."""
    strategy: RestartStrategy | None = None
    """The order of the restart."""


class GraphTopologyConstraint(base.Model):
    """The level of the topology inside which the pods of a graph stay."""

    topology_profile: str = Field(min_length=1)
    """The ClusterTopology that defines the levels."""
    pack_domain: common.Topology | None = None
    """The level, for example `rack`. Required if no service has one."""


class GraphSpec(base.Model):
    """The desired state of a graph."""

    model_config = base.rules(*rules.parts("service", "one", 'self.services[one].?componentType.orValue("")', "name in self.services"))

    backend_framework: common.Framework | None = None
    """The engine of all workers. If absent, each worker's command decides."""
    services: Annotated[dict[str, component.Component], Field(max_length=25)] | None = None
    """The components of the graph by name."""
    envs: base.EnvVars | None = None
    """Environment variables of every service. A service's own variables take precedence."""
    pvcs: Annotated[list[PVC], base.ByKey(), Field(max_length=100)] | None = None
    """PersistentVolumeClaims that services may mount."""
    restart: Restart | None = None
    """A request to restart all services."""
    annotations: base.Texts | None = None
    """Annotations of generated objects and pods. Only under `v1.5` and later."""
    labels: base.Texts | None = None
    """Labels of generated objects and pods. Only under `v1.5` and later."""
    priority_class_name: str | None = None
    """The PriorityClass of the graph. Only for Grove, and only under `v1.5` and later."""
    topology_constraint: GraphTopologyConstraint | None = None
    """The level of the topology inside which the pods stay. Only for Grove, and only under `v1.5` and later."""
    experimental: common.GraphExperimental | None = None
    """Features that may change in any release. Only under `v1.5` and later."""
    provider_override: common.ProviderOverride | None = None
    """Fields of the PodCliqueSet of the graph. Only for Grove, and only since Dynamo 1.5."""


class RestartStatus(base.Model):
    """The progress of a restart."""

    observed_id: str | None = Field(default=None, alias="observedID")
    """The `spec.restart.id` that this status describes."""
    phase: str | None = None
    """`Pending`, `Restarting`, `Completed` or `Failed`."""
    in_progress: list[str] | None = None
    """The services that are restarting."""


class RollingUpdateStatus(base.Model):
    """The progress of an update that an operator makes worker by worker."""

    phase: common.RollingUpdatePhase | None = None
    """The phase of the update."""
    start_time: native.Time | None = None
    """The time when it began."""
    end_time: native.Time | None = None
    """The time when it ended."""
    updated_services: list[str] | None = None
    """The services that are up to date."""


class GraphStatus(base.Model):
    """The observed state of a graph."""

    state: str | None = None
    """`pending`, `successful` or `failed`."""
    observed_generation: base.Generation | None = None
    """The `metadata.generation` that this status describes."""
    conditions: base.Conditions | None = None
    """Conditions of the graph. `Ready` is true when all services are ready."""
    services: dict[str, base.ServiceReplicaStatus] | None = None
    """Replicas by service."""
    restart: RestartStatus | None = None
    """The progress of the latest restart."""
    checkpoints: dict[str, common.CheckpointStatus] | None = None
    """Checkpoints by service. Only an operator writes them."""
    rolling_update: RollingUpdateStatus | None = None
    """The progress of the latest update of workers. Only an operator writes it."""
    placement: common.PlacementStatus | None = None
    """Score of the placement of the pods. Only an operator writes it."""


class DynamoGraphDeployment(base.Kind):
    """An inference graph: components that serve a model together."""

    model_config = base.rules(rules.some("services", "{}"))
    served: ClassVar = base.Served(
        short_names=("dgd",),
        columns=(
            base.Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
            base.Column("Backend", ".spec.backendFramework"),
            base.Column("State", ".status.state", wide=True),
            base.Column("Summary", r".metadata.annotations.dynamo\.krm-fn\.io/summary", wide=True),
        ),
    )

    api_version: Literal["nvidia.com/v1alpha1"]
    """Group and version."""
    kind: Literal["DynamoGraphDeployment"]
    """The kind."""
    spec: GraphSpec | None = None
    """The desired state."""
    status: GraphStatus | None = None
    """The observed state. The cluster writes it."""


class GraphServiceReference(base.Model):
    """A service of a graph in the same namespace."""

    name: str = Field(min_length=1)
    """The name of the graph."""
    service_name: str = Field(min_length=1)
    """The key of the service in the graph."""


class ScalingAdapterSpec(base.Model):
    """The desired state of a scaling adapter."""

    replicas: base.Int32 | None = Field(default=None, ge=0)
    """The desired number of replicas. Autoscalers, the planner and `kubectl scale` set it through the subresource `scale`. A file does not
    contain it, so an apply of the file does not revert it. The syncer writes it first: the number of the graph."""
    desired_replicas: base.Int32 | None = Field(default=None, ge=0)
    """The desired number of replicas, as earlier versions of `platform/crds` defined it. The syncer moves it to `replicas`."""
    dgd_ref: GraphServiceReference
    """The service to scale."""


class ScalingAdapterStatus(base.Model):
    """The observed state of a scaling adapter."""

    observed_generation: base.Generation | None = None
    """The `metadata.generation` that this status describes."""
    replicas: base.Int32 | None = Field(default=None, ge=0)
    """The observed number of replicas."""
    selector: str | None = None
    """The label selector of the service's pods, as a string for autoscalers."""
    last_scale_time: native.Time | None = None
    """The time of the last change of the replicas."""
    conditions: base.Conditions | None = None
    """Conditions of the adapter. `Ready` is true when the workload of the service has the desired number of replicas."""


class DynamoGraphDeploymentScalingAdapter(base.Kind):
    """The replicas of one service, for an autoscaler to set.

    A graph has one number of replicas per service, but `kubectl scale` and autoscalers need a resource with exactly one. The adapter is
    that resource: `kubectl scale dgdsa`.
    """

    served: ClassVar = base.Served(
        short_names=("dgdsa",),
        columns=(
            base.Column("DGD", ".spec.dgdRef.name"),
            base.Column("SERVICE", ".spec.dgdRef.serviceName"),
            base.Column("REPLICAS", ".status.replicas", "integer"),
            base.Column("WANTED", ".spec.replicas", "integer", wide=True),
            base.Column("Ready", '.status.conditions[?(@.type=="Ready")].status', wide=True),
        ),
        scale=True,
    )

    api_version: Literal["nvidia.com/v1alpha1"]
    """Group and version."""
    kind: Literal["DynamoGraphDeploymentScalingAdapter"]
    """The kind."""
    spec: ScalingAdapterSpec | None = None
    """The desired state."""
    status: ScalingAdapterStatus | None = None
    """The observed state. The cluster writes it."""
