"""DynamoGraphDeployment: the services that serve one model together.

Not its business: the services themselves (`krm_fn.api.v1alpha1.component`). Follows the reference's dynamographdeployment_types.go.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from krm_fn.api import base, native
from krm_fn.api.v1alpha1 import component

_NO_ORDER = (
    "!has(self.restart) || !has(self.restart.strategy) || !has(self.restart.strategy.order)"
    ' || size(self.restart.strategy.order) == 0 || self.restart.strategy.?type.orValue("") == "Parallel"'
)
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
        base.Rule("DYN103", 'self.name != ""', "name", "Required"),
        *(
            base.Rule(
                "DYN105",
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
    """The claim's name, which `volumeMounts` use."""
    create: bool | None = None
    """Write the claim. Otherwise it must be in the cluster already."""
    storage_class: str | None = None
    """The StorageClass; needed with `create`."""
    size: native.Quantity | None = None
    """How much storage; needed with `create`."""
    volume_access_mode: str | None = None
    """Who may mount it, for example `ReadWriteMany`; needed with `create`."""


class RestartStrategy(base.Model):
    """In which order services restart."""

    model_config = base.rules(
        base.Rule(
            "DYN107",
            'self.?type.orValue("") != "Parallel" || !has(self.order) || size(self.order) == 0',
            "order",
            "Forbidden",
        ),
        base.Rule(
            "DYN109",
            "!has(self.order) || self.order.all(name, self.order.exists_one(other, other == name))",
            "order",
            words={"name": "a service"},
        ),
    )

    type: Literal["Sequential", "Parallel"] = "Sequential"
    """One service after the other, or all at once."""
    order: Annotated[list[Annotated[str, Field(max_length=63)]], Field(max_length=25)] | None = None
    """Every service once, first to restart first; only for `Sequential`."""


class Restart(base.Model):
    """A request to restart all services."""

    id: str = Field(min_length=1)
    """Any text. A new one asks for a new restart."""
    strategy: RestartStrategy | None = None
    """In which order."""


class GraphSpec(base.Model):
    """What should run."""

    model_config = base.rules(
        base.Rule(
            "DYN101",
            "!has(self.services) || self.services.all(name, self.services.exists_one(other, other.lowerAscii() == name.lowerAscii()))",
            "services",
            words={"services": "two services"},
        ),
        base.Rule(
            "DYN102",
            '!has(self.services) || size(self.services.filter(name, self.services[name].?componentType.orValue("") == "epp")) < 2',
            "services",
        ),
        base.Rule(
            "DYN108",
            f"{_NO_ORDER} || !has(self.services) || self.restart.strategy.order.all(name, name in self.services)",
            "restart.strategy.order",
            words={"name": "of one of these names", "services": "its services"},
        ),
        base.Rule(
            "DYN110",
            f"{_NO_ORDER} || !has(self.services) || self.services.all(name, name in self.restart.strategy.order)",
            "restart.strategy.order",
            words={"services": "some services"},
        ),
    )

    backend_framework: component.Framework | None = None
    """The engine of all workers. Where it is not given, commands tell."""
    services: Annotated[dict[str, component.Component], Field(max_length=25)] | None = None
    """The graph's components by name."""
    envs: base.EnvVars | None = None
    """Environment variables of every service; a service's own win."""
    pvcs: Annotated[list[PVC], base.ByKey(), Field(max_length=100)] | None = None
    """Claims that services may mount."""
    restart: Restart | None = None
    """Ask for a restart of all services."""


class RestartStatus(base.Model):
    """How far a restart is."""

    observed_id: str | None = Field(default=None, alias="observedID")
    """The `spec.restart.id` that this is about."""
    phase: str | None = None
    """`Pending`, `Restarting`, `Completed` or `Failed`."""
    in_progress: list[str] | None = None
    """The services that restart now."""


class GraphStatus(base.Model):
    """What runs."""

    state: str | None = None
    """`pending`, `successful` or `failed`."""
    observed_generation: base.Generation | None = None
    """The `metadata.generation` that this was said about."""
    conditions: base.Conditions | None = None
    """The aspects of the state; `Ready` is the one to wait for."""
    services: dict[str, base.ServiceReplicaStatus] | None = None
    """Replicas by service."""
    restart: RestartStatus | None = None
    """How far the latest restart is."""


class DynamoGraphDeployment(base.Kind):
    """An inference graph: components that serve a model together."""

    model_config = base.rules(
        base.Rule(
            "DYN100",
            "size(self.?spec.?services.orValue({})) > 0",
            "spec.services",
            "Required",
            lets_stored=True,
        )
    )
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
    """What should run."""
    status: GraphStatus | None = None
    """What runs, as the cluster reports it."""
