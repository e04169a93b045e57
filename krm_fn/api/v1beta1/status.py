"""The observed state of a component, which graphs and standalone components share.

Follows the operator's api/v1beta1/common.go, ComponentReplicaStatus.
"""

from pydantic import Field

from krm_fn.api import base


class ComponentReplicaStatusV1beta1(base.Model):
    """The number of pods of one component, and how many of them are ready."""

    component_kind: base.ComponentKind
    """The kind of the component's workload."""
    component_names: list[str] | None = None
    """The names of its workloads."""
    replicas: base.Int32 = Field(ge=0)
    """Pods that exist and are not terminating. For components on several nodes: groups of pods."""
    updated_replicas: base.Int32 = Field(ge=0)
    """Pods of the latest template."""
    ready_replicas: base.Int32 | None = Field(default=None, ge=0)
    """Pods whose readiness probe succeeds. Absent if the workload does not report them."""
    available_replicas: base.Int32 | None = Field(default=None, ge=0)
    """Pods that have been ready for at least `minReadySeconds`. Absent if the workload does not report them."""
    scheduled_replicas: base.Int32 | None = Field(default=None, ge=0)
    """Pods that have a node. Only Grove reports them."""
    runtime_namespace: str | None = None
    """The Dynamo namespace in which the pods register themselves."""
