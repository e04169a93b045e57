"""Plans: the facts that `resolve` derives from a resource once. All lower layers read plans. A plan does not depend on an API version."""

from __future__ import annotations

from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path, Ref
from krm_fn.render import dynamo_api, names
from krm_fn.render.config import Config
from krm_fn.render.plan.facts import (
    Addressing,
    Claim,
    EndpointPicker,
    Exposure,
    GPUs,
    Identity,
    IngressPlan,
    Mount,
    Placement,
    PodFacts,
    RestartPlan,
    SourcePaths,
)
from krm_fn.render.plan.features import CheckpointPlan, FailoverPlan, Features, GPUMemory, GraphFeatures, KVTransfer, Topology

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from krm_fn.kubernetes.device_claims import Devices
    from krm_fn.kubernetes.native_types import ResourceRequirements, Toleration
    from krm_fn.kubernetes.types import Labels, Role
    from krm_fn.render.kinds.gates import Gate
    from krm_fn.render.kinds.releases import Release, TypeDefaults
    from krm_fn.render.kinds.types import ComponentType
    from krm_fn.render.plan.facts import Fix

__all__ = [
    "Addressing",
    "BaseGraph",
    "CheckpointPlan",
    "Claim",
    "ComponentPlan",
    "EndpointPicker",
    "Exposure",
    "FailoverPlan",
    "Features",
    "GPUMemory",
    "GPUs",
    "GraphFeatures",
    "GraphPlan",
    "Identity",
    "IngressPlan",
    "KVTransfer",
    "ModelCache",
    "Mount",
    "Overrides",
    "Placement",
    "PodFacts",
    "RequestPlan",
    "RestartPlan",
    "RolePlan",
    "SourcePaths",
    "Topology",
]


class ComponentPlan(NamedTuple):
    """One component.

    `paths` are the paths of its fields in the resource `ref`. `inventory` is the spec of its DynamoComponentDeployment in the API
    version that its release reads; None if the configuration does not enable it. `gates` are the gates that are open.
    `roles` holds a plan for each role that has a pod template of its own; the plan of the component then has the pod of its leader.
    """

    ref: Ref
    paths: SourcePaths
    config: Config
    release: Release
    type: ComponentType
    defaults: TypeDefaults
    engine: str
    identity: Identity
    placement: Placement
    pod: PodFacts
    exposure: Exposure
    inventory: dict[str, Any] | None
    features: Features = Features()
    gates: tuple[Gate, ...] = ()
    roles: Mapping[str, ComponentPlan] = {}

    def of_role(self, role: Role) -> ComponentPlan:
        """Returns the plan with the pod of one role."""
        return self.roles.get(role, self)

    @property
    def templates(self) -> tuple[ComponentPlan, ...]:
        """The plans of all pod templates that the author wrote: one for the component, or one for each of its roles."""
        return tuple(self.roles.values()) or (self,)

    @property
    def gpus(self) -> int:
        """The GPUs of the main containers of one replica, on all its nodes.

        Rule replicas.gpus: A replica has the GPUs of the main containers on all its nodes. (krm-fn)
        """
        followers = self.placement.nodes - 1
        return self.of_role("leader").pod.gpus.number + followers * self.of_role("worker").pod.gpus.number

    def at(self, *steps: str | int) -> Path:
        """Returns the path at which the user writes a field of the component. The steps are those of `SourcePaths.at`."""
        return self.paths.at(*steps)

    def word(self, *steps: str | int) -> str:
        """Returns the name of a field for messages, in the user's API version; see `SourcePaths.word`."""
        return self.paths.word(*steps)

    def annotation(self, key: str) -> Path:
        """Returns the path of an annotation of the component's objects or pods: on its pods, on its graph, or on the component itself."""
        if key in self.pod.annotations:
            return self.at("podTemplate", "metadata", "annotations", key)
        return self.paths.inherited.get(key) or self.at("annotations", key)

    def fix(self, name: Fix) -> str:
        """Returns the end of a message that says how to turn a feature on or off: `set scalingAdapter.enabled: true`."""
        return self.paths.fixes[name]

    def debugs(self, annotation: str) -> bool:
        """True if an annotation of the service turns on a debug mode that its release has."""
        return self.release.debug_modes and self.identity.annotations.get(annotation) == "true"

    @property
    def service_name(self) -> str:
        """The name of the component's Service."""
        return names.service(self.identity.workload_name) if self.release.services.dashes else self.identity.workload_name


class RolePlan(NamedTuple):
    """One pod template of a component. `target` is the value of its selector label.

    `rank` is the rank of the pods' node if it is the same for all of them. `serves_memory` is true for the pods of the GPU memory service.
    """

    component: ComponentPlan
    target: str
    role: Role = "main"
    debug: bool = False
    addressing: Addressing = Addressing()
    rank: int | None = None
    serves_memory: bool = False

    @property
    def pods_in_replica(self) -> int:
        """The number of pods of this role in one replica of the component.

        Rule grove.group-pods: In a scaling group, a clique has as many pods as its role has in one replica: one for each node, and with
        failover one more. (operator: internal/dynamo/graph.go buildCliqueForRole)
        """
        if self.component.features.memory_apart and not self.serves_memory:
            return self.component.features.engine_pods
        return self.component.placement.nodes - 1 if self.role == "worker" else 1


class GraphPlan(NamedTuple):
    """One graph: shared facts, and its components in the order of the spec. A standalone component is a graph of one component.

    `devices` are the claims and device classes among the items; None without any. `is_release_assumed` is true if nothing says which
    release the graph needs.
    """

    name: str
    namespace: str
    config: Config
    ref: Ref
    orchestrator: str
    discovery: str
    components: tuple[ComponentPlan, ...]
    annotations: Labels
    claims: tuple[Claim, ...]
    restart: RestartPlan | None
    standalone: bool
    paths: SourcePaths
    release: Release
    features: GraphFeatures = GraphFeatures()
    devices: Devices | None = None
    is_release_assumed: bool = False

    def at(self, *steps: str | int) -> Path:
        """Returns the path at which the user writes a field of the graph. The steps follow `spec`."""
        return self.paths.at(*steps)

    def word(self, *steps: str | int) -> str:
        """Returns the name of a field for messages: the last step of its path in the user's API version; see `SourcePaths.word`."""
        path, start = self.paths.at(*steps), self.paths.path
        return str(path[-1]) if path[: len(start)] == start else self.paths.word(*steps)

    def part_words(self) -> tuple[str, str]:
        """Returns the words for components in the API version of the graph: `services` and `service`, or `components` and `component`."""
        parts = self.word("components")
        return parts, parts.removesuffix("s")


class BaseGraph(NamedTuple):
    """The key of a ConfigMap with the graph from which profiling starts."""

    config_map: str
    key: str


class ModelCache(NamedTuple):
    """A PersistentVolumeClaim with models, and the folder in which the profiler finds them."""

    claim: str
    path: str


class Overrides(NamedTuple):
    """The metadata of the generated graph that overrides the profiler's. Empty texts override nothing."""

    name: str = ""
    namespace: str = ""
    labels: Labels = {}
    annotations: Labels = {}


class RequestPlan(NamedTuple):
    """One request: the facts from which its profiling Job is made.

    `settings` is the configuration that the profiler gets. `simulated` is true if the profiler simulates GPUs (AI Configurator).
    `output_claim` is the PersistentVolumeClaim for the profiler's files, or empty. `paths` are the paths of its fields. `gates` are the
    gates that the version of its image opens, and `version_path` is the path of the field that says the version.
    """

    name: str
    namespace: str
    ref: Ref
    config: Config
    image: str
    settings: dict[str, Any]
    simulated: bool
    discovers_gpus: bool
    resources: ResourceRequirements
    tolerations: tuple[Toleration, ...]
    output_claim: str
    base: BaseGraph | None
    cache: ModelCache | None
    pull_secrets: tuple[str, ...]
    overrides: Overrides
    paths: SourcePaths
    gates: tuple[Gate, ...]
    version_path: Path

    @property
    def kept_as(self) -> str:
        """The apiVersion in which the request is kept."""
        return self.ref.api_version if self.config.source_version == "keep" else f"{dynamo_api.GROUP}/{self.config.source_version}"

    def at(self, *steps: str | int) -> Path:
        """Returns the path at which the user writes a field of the request. The steps follow `spec`, as v1alpha1 names them."""
        return self.paths.at(*steps)
