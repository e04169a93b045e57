"""The parts of a plan. The reader of an API version makes each part once.

Source paths are the paths of fields in a resource as its author wrote it, whatever API version a release reads.
"""

from __future__ import annotations

from krm_fn.base import results
from krm_fn.base.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Literal

    from krm_fn.base.results import Path, Ref
    from krm_fn.kubernetes.native_types import Container, EnvVar, PodSpec, Probe, ResourceRequirements
    from krm_fn.kubernetes.types import Labels

    Fix = Literal["no scaling adapter", "scaling adapter", "no shared memory"]


class SourcePaths(NamedTuple):
    """The source paths of a resource, or of one component of it.

    `ref` names the resource in its author's API version. `path` is the path of the component, or of the spec. `mapping` maps the steps of a
    field below it (`krm_fn.render.convert.path_mapping`). `fixes` holds the ends of messages that say how to turn a feature on or off.
    `written` is the component as its author wrote it; `converted` is the component in the version that the release reads, or None if that
    is the author's version. `inherited` holds the paths of the annotations that a component inherits from its graph. `components` holds the
    source paths of the components of a graph, by name. `preserved` is the path of the annotation with the fields that the author's version
    lacks; empty if the resource has none. `variables` holds the variables that a graph adds to its components, as its author wrote them.
    """

    ref: Ref
    path: Path
    mapping: Callable[[SourcePaths, Path], Path]
    fixes: Mapping[Fix, str] = {}
    written: dict[str, Any] = {}
    converted: dict[str, Any] | None = None
    inherited: Mapping[str, Path] = {}
    components: Mapping[str, SourcePaths] = {}
    preserved: Path = ()
    variables: Sequence[Any] = ()

    def at(self, *steps: str | int) -> Path:
        """Returns the path of a field in the resource. The steps name the field as either API version does."""
        return self.mapping(self, steps)

    def word(self, *steps: str | int) -> str:
        """Returns the name of a field for messages: its path below the component, or below the spec.

        A field that the author's version lacks has its name in the other version, with the annotation that holds it.
        """
        path, start = self.mapping(self, steps), self.path
        if path[: len(start)] == start and len(path) > len(start):
            return results.field(path[len(start) :])
        name = results.field(tuple(step for step in steps if isinstance(step, str)))
        return f"{name} in the annotation {path[-1]}" if path[: len(self.preserved)] == self.preserved != () else name

    def component(self, name: str) -> SourcePaths:
        """Returns the source paths of a component. Those of a standalone component are those of its resource."""
        return self.components.get(name, self)


class Mount(NamedTuple):
    """A claim mounted into the main container. `path` is empty if the engine's default folder is used."""

    name: str
    path: str = ""
    cache: bool = False


class Claim(NamedTuple):
    """A PersistentVolumeClaim that the graph declares. `size` is a canonical quantity, or empty if the user wrote none."""

    name: str
    create: bool = False
    size: str = ""
    storage_class: str = ""
    access_mode: str = ""


class IngressPlan(NamedTuple):
    """The external access of a component. `suffix` is the domain; None means the default domain."""

    enabled: bool = False
    host: str = ""
    prefix: str = ""
    """The text before the host of an ingress.

    Rule ingress.own: see `krm_fn.render.resolve.component_facts`.
    """
    suffix: str | None = None
    class_name: str | None = None
    tls: bool = False
    tls_secret: str = ""
    virtual_service: bool = False
    gateway: str | None = None
    labels: Labels | None = None
    annotations: Labels | None = None


class EndpointPicker(NamedTuple):
    """The configuration of an endpoint picker: inline, or under a key of a ConfigMap.

    `is_configured` is false for a picker without any, which is a native picker.
    """

    is_configured: bool = False
    config: dict[str, Any] | None = None
    by_reference: bool = False
    config_map: str = ""
    key: str = ""


class RestartPlan(NamedTuple):
    """A restart as the user wrote it. An empty `id` requests no restart. `order` names services; `parallel` is true for type Parallel."""

    id: str
    order: tuple[str, ...] = ()
    sequential: bool = False
    parallel: bool = False


TOPOLOGY_VARIABLES = ("DYNAMO_LEADER_ADDRESS", "DYNAMO_RANK")
"""The variables with the host of the leader and with the rank of a pod.

Rule env.topology-names: The variables `DYNAMO_LEADER_ADDRESS` and `DYNAMO_RANK` hold the host of the leader and the rank of a pod.
(operator: internal/dynamo/graph.go)
"""


class Addressing(NamedTuple):
    """The hosts and ranks by which the pods of a multinode group find each other. An engine learns nothing else about the workload.

    `leader` is the leader's host as shell text; `leader_word` is the host in a command without a shell. `workers` are the hosts of the
    workers and `rank` is a worker's rank, both as shell text. `operand` is the rank inside the arithmetic of a shell.
    `rank_needs_shell` is false if a command without a shell gets the rank, too. `leader_rank` is the leader's rank in a command, and
    `any_rank` the rank of any pod as the value of a variable.
    """

    leader: str = ""
    leader_word: str = ""
    workers: tuple[str, ...] = ()
    rank: str = ""
    leader_rank: str = "0"
    """The rank of the leader in a command line.

    Rule commands.leader-rank: The leader of an engine on several nodes is rank 0. (operator: internal/dynamo/backend_vllm.go,
    internal/dynamo/backend_sglang.go)
    """
    any_rank: str = ""
    operand: str = ""
    rank_needs_shell: bool = True
    waits_for_dns: bool = False


class Identity(NamedTuple):
    """The names, labels and annotations of a component: a service of a graph, or a `standalone` DynamoComponentDeployment.

    `selector` holds the labels by which its Services select pods, for all workload kinds. `service_labels` are the user's labels on the
    service itself, if they reach its pods. Services under Grove have these labels, and `service_annotations`. `generation` is the hash that
    the pods of a worker carry; empty if they carry none. `suffix` is the hash at the end of the names of its workload and Service; empty
    if they have none.
    """

    service: str
    name: str
    graph: str
    namespace: str
    type: str
    sub_type: str
    dynamo_namespace: str
    selector: Labels
    graph_label: str
    labels: Labels
    annotations: Labels
    service_labels: Labels
    metrics: bool
    standalone: bool
    service_annotations: Labels = {}
    generation: str = ""
    suffix: str = ""

    @property
    def has_graph(self) -> bool:
        """True if a graph makes the objects that its components share. The name of a standalone component can stand for a graph."""
        return bool(self.graph) and not (self.standalone and self.graph == self.name)

    @property
    def workload_name(self) -> str:
        """The name of the objects of a component, with the suffix of their worker generation. The scaling adapter has no suffix.

        Rule names.worker-generation: The name of a worker's objects ends with the worker hash if the configuration asks for new names.
        (operator: internal/controller/dgd_worker_rollout_reconciler.go)
        """
        return f"{self.name}-{self.suffix}" if self.suffix else self.name


class Placement(NamedTuple):
    """The workload kind, nodes and replicas of a component.

    `replicas` is None if the user wrote no number. `finds_containers` is true if Kubernetes discovery finds each container of a pod.
    `names_topology` is true if the pods of a multinode group have variables with their leader's host and their rank
    (`TOPOLOGY_VARIABLES`). `executor` is the program with which vLLM runs one model on several nodes.
    """

    workload: str
    nodes: int
    replicas: int | None
    autoscaled: bool
    discovery: str
    graph_discovery: str
    finds_containers: bool = False
    names_topology: bool = False
    executor: Literal["ray", "mp"] = "ray"

    @property
    def replicas_or_one(self) -> int:
        """The number of replicas, for fields that must have one.

        Rule replicas.default: A component without `replicas` has one. (operator: internal/dynamo/graph.go)
        """
        return 1 if self.replicas is None else self.replicas


class GPUs(NamedTuple):
    """The GPUs of one pod: their number, and limit and request as the user wrote them."""

    number: int
    limit: str
    request: str


class PodFacts(NamedTuple):
    """The user's fields for the pods of a component, and the pull secrets and the account from the other items.

    `spec` is the pod without the main container, `container` the main container. `resources` have native names. `enforced` holds the pod
    fields of the component type that override the user's. `cache` is the claim of the engine's compilation cache, if it is not among the
    `mounts`.
    """

    spec: PodSpec
    container: Container
    enforced: PodSpec
    labels: Labels
    annotations: Labels
    envs: tuple[EnvVar, ...]
    env_from_secret: str
    liveness: Probe | None
    readiness: Probe | None
    resources: ResourceRequirements
    gpus: GPUs
    mounts: tuple[Mount, ...]
    shared_memory: str
    pull_secrets: tuple[str, ...]
    fallback_account: str
    cache: Mount | None = None


class Exposure(NamedTuple):
    """The ingress of a component, the base model that it serves, and the configuration of an endpoint picker."""

    ingress: IngressPlan
    model: str
    picker: EndpointPicker
