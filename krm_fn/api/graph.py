"""DynamoGraphDeployment: the services that serve one model together.

Not its business: the services themselves (`krm_fn.api.component`). Follows the reference's dynamographdeployment_types.go.
"""

from typing import Annotated, Literal

from pydantic import Field

from krm_fn.api import base, component, native


class PVC(base.Model):
    """A PersistentVolumeClaim that services of the graph mount."""

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

    type: Literal["Sequential", "Parallel"] = "Sequential"
    """One service after the other, or all at once."""
    order: list[str] | None = None
    """Every service once, first to restart first; only for `Sequential`."""


class Restart(base.Model):
    """A request to restart all services."""

    id: str = Field(min_length=1)
    """Any text. A new one asks for a new restart."""
    strategy: RestartStrategy | None = None
    """In which order."""


class GraphSpec(base.Model):
    """What should run."""

    backend_framework: component.Framework | None = None
    """The engine of all workers. Where it is not given, commands tell."""
    services: Annotated[dict[str, component.Component], Field(max_length=25)] | None = None
    """The graph's components by name."""
    envs: list[native.EnvVar] | None = None
    """Environment variables of every service; a service's own win."""
    pvcs: Annotated[list[PVC], Field(max_length=100)] | None = None
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
    conditions: list[base.Condition] | None = None
    """The aspects of the state; `Ready` is the one to wait for."""
    services: dict[str, base.ServiceReplicaStatus] | None = None
    """Replicas by service."""
    restart: RestartStatus | None = None
    """How far the latest restart is."""


class DynamoGraphDeployment(base.Kind):
    """An inference graph: components that serve a model together."""

    api_version: Literal["nvidia.com/v1alpha1"]
    """Group and version."""
    kind: Literal["DynamoGraphDeployment"]
    """The kind."""
    spec: GraphSpec | None = None
    """What should run."""
    status: GraphStatus | None = None
    """What runs, as the cluster reports it."""
