"""The parts of a plan that only newer releases have. A graph that only an older release can read has none of them."""

from __future__ import annotations

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes.values import mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.kubernetes.types import Labels
    from krm_fn.kubernetes.version import Version


class GPUMemory(NamedTuple):
    """The GPU memory service of a component. `between_pods` is true if it runs in pods of its own. `clients` are containers that use it."""

    between_pods: bool
    device_class: str
    clients: tuple[str, ...] = ()
    client_pods: bool = False


class FailoverPlan(NamedTuple):
    """A second engine that takes over. `between_pods` is true if it runs in a pod of its own."""

    between_pods: bool
    shadows: int


class CheckpointPlan(NamedTuple):
    """A saved state from which pods start. `reference` names an existing DynamoCheckpoint; `job` is true if a Job is to make one."""

    enabled: bool
    reference: str
    job: bool


class Topology(NamedTuple):
    """The level of a cluster's topology inside which pods stay. `name` is the ClusterTopology; only a graph has one."""

    domain: str
    name: str = ""


class KVTransfer(NamedTuple):
    """The decode workers that may receive the key-value cache of a prefill worker. `weight` is None if the user wrote none."""

    domain: str
    label_key: str
    topology: str
    enforcement: str
    weight: float | None


class Features(NamedTuple):
    """The features of one component. `min_available` is None if the user wrote no number in the field.

    `runtime` is the version of Dynamo in the image; None if it is unknown. `sidecar_mode` is true if an init container runs Dynamo beside
    the engine. `frontend_sidecar` names the container that runs a frontend.
    `grouped` is true if a scaling group of Grove always contains the component. `override` holds fields of its clique or scaling group, and
    `roles` are its roles as their author wrote them. `containers` are those of the pod as its author wrote it. `written_main` is false if a
    component that is read as v1beta1 has no container `main`. `foreign_tag` is true if `runtime` is the tag of an image without Dynamo.
    """

    runtime: Version | None = None
    sidecar_mode: bool = False
    min_available: int | None = None
    frontend_sidecar: str = ""
    topology: Topology | None = None
    gpu_memory: GPUMemory | None = None
    failover: FailoverPlan | None = None
    checkpoint: CheckpointPlan | None = None
    grouped: bool = False
    override: OverridePlan | None = None
    roles: tuple[RoleSettings, ...] = ()
    containers: tuple[str, ...] = ()
    written_main: bool = True
    foreign_tag: bool = False

    @property
    def least_replicas(self) -> int:
        """The number of replicas that Grove starts together.

        Rule grove.least-replicas: Grove starts one replica before it counts a component as running, unless a field or an override says
        another minimum. (operator: internal/dynamo/graph.go buildCliqueForRole, buildGroveScalingGroupConfig)
        """
        return self.min_available or (self.override.min_available if self.override else None) or 1

    @property
    def has_role_templates(self) -> bool:
        """True if each role has a pod template of its own. Its launch line then stays as its author wrote it."""
        return any(role.template is not None for role in self.roles)

    def role(self, name: str) -> RoleSettings | None:
        """What the author wrote for a role; None without it."""
        return next((role for role in self.roles if role.name == name), None)

    @property
    def memory_apart(self) -> bool:
        """True if the GPU memory service runs in pods of its own, so that each node has pods of its own for it and for its engines."""
        return self.gpu_memory is not None and self.gpu_memory.between_pods

    @property
    def engine_pods(self) -> int:
        """The number of pods with an engine on each node.

        Rule failover.pods: With failover between pods, a node has one more pod with an engine. (operator: internal/dynamo/failover.go)
        """
        return 1 + self.failover.shadows if self.failover and self.failover.between_pods else 1

    @property
    def pods_per_node(self) -> int:
        """The number of pods of one replica on each of its nodes. They share the GPUs.

        Rule replicas.pods-per-node: A node of a replica has one pod, or with a GPU memory service in a pod of its own that pod and those of
        the engines. (krm-fn)
        """
        return 1 + self.engine_pods if self.memory_apart else 1


class GraphFeatures(NamedTuple):
    """The features of a graph. `framework` is its engine as its author wrote it.

    `labels` and `annotations` are those that its author wrote for all its objects.
    """

    framework: str = ""
    labels: Labels = {}
    annotations: Labels = {}
    priority_class: str = ""
    topology: Topology | None = None
    kv_transfer: KVTransfer | None = None
    override: OverridePlan | None = None


class OverridePlan(NamedTuple):
    """Fields of the object that Grove reads, as their author wrote them. `target` is empty if the author wrote none."""

    api_version: str
    target: str
    value: Any

    @property
    def topology_constraint(self) -> dict[str, Any] | None:
        """The constraint of a component or of a role; None if the override has none."""
        fields = mapping(self.value)
        return mapping(fields["topologyConstraint"]) if "topologyConstraint" in fields else None

    @property
    def of_clique_set(self) -> dict[str, Any] | None:
        """The constraint of a graph; None if the override has none."""
        template = mapping(self.value, "spec", "template")
        return mapping(template["topologyConstraint"]) if "topologyConstraint" in template else None

    @property
    def min_available(self) -> int | None:
        """The minimum of replicas of a component: a field of its scaling group, or of the spec of its clique. None without one."""
        fields = mapping(self.value)
        number = fields.get("minAvailable", mapping(fields.get("spec")).get("minAvailable"))
        return number if isinstance(number, int) and not isinstance(number, bool) else None


class RoleSettings(NamedTuple):
    """What the author of a component wrote for one of its roles. `position` is that in `roles`.

    `template` is the pod template, or None.
    """

    name: str
    position: int
    replicas: int | None
    override: OverridePlan | None
    template: dict[str, Any] | None
