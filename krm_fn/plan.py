"""The facts of one graph, as types: what `resolve` derives once and everything below reads.

Not its business: how facts are found. No plan knows an API version.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from krm_fn.config import Config
from krm_fn.kube.types import Container, EnvVar, Labels, PodSpec, Probe, Role
from krm_fn.results import Path, Ref


class Mount(NamedTuple):
    """A claim mounted into the main container. `path` is empty where the user left it to the engine."""

    name: str
    path: str = ""
    cache: bool = False


class Claim(NamedTuple):
    """A PersistentVolumeClaim the graph declares. `size` is a canonical quantity."""

    name: str
    create: bool = False
    size: str = ""
    storage_class: str = ""
    access_mode: str = ""


class Ingress(NamedTuple):
    """How a component is reached from outside. `suffix` None means the default domain."""

    enabled: bool = False
    host: str = ""
    prefix: str = ""
    suffix: str | None = None
    class_name: str | None = None
    tls: bool = False
    tls_secret: str = ""
    virtual_service: bool = False
    gateway: str | None = None
    labels: Labels = {}
    annotations: Labels = {}


class EndpointPicker(NamedTuple):
    """Where an endpoint picker's configuration is: inline, or under a key of a ConfigMap."""

    config: dict[str, Any] | None = None
    by_reference: bool = False
    config_map: str = ""
    key: str = ""


class Restart(NamedTuple):
    """A requested restart. `ordered` is whether the user asked for one service after the other."""

    id: str
    ordered: bool = False


class Addressing(NamedTuple):
    """How the pods of a multinode group find each other: all an engine ever learns about the orchestrator.

    `leader` is the leader's host as shell text, `leader_word` as a word of a command that no shell reads; `rank` is a worker's rank as
    shell text.
    """

    leader: str = ""
    leader_word: str = ""
    workers: tuple[str, ...] = ()
    rank: str = ""
    waits_for_dns: bool = False


class ComponentPlan(NamedTuple):
    """One service of a graph, or a component `alone`.

    Pods are told `dynamo_namespace`, Services select by `selected_namespace`; only a component alone can tell them apart.
    """

    service: str
    name: str
    graph: str
    namespace: str
    config: Config
    ref: Ref
    path: Path
    type: str = ""
    sub_type: str = ""
    backend: str = "noop"
    workload: str = "deployment"
    by_graph: bool = False
    alone: bool = False
    dynamo_namespace: str = ""
    selected_namespace: str = ""
    graph_label: str = ""
    discovery: str = "kubernetes"
    graph_discovery: str = "kubernetes"
    replicas: int | None = None
    autoscaled: bool = False
    nodes: int = 1
    labels: Labels = {}
    annotations: Labels = {}
    service_labels: Labels = {}
    metrics: bool = True
    pod_labels: Labels = {}
    pod_annotations: Labels = {}
    envs: tuple[EnvVar, ...] = ()
    env_from_secret: str = ""
    liveness: Probe | None = None
    readiness: Probe | None = None
    resources: dict[str, Any] = {}
    gpus: int = 0
    gpu_limit: str = ""
    gpu_request: str = ""
    mounts: tuple[Mount, ...] = ()
    shared_memory: str = ""
    pod: PodSpec = {}
    container: Container = {}
    pull_secrets: tuple[str, ...] = ()
    fallback_account: str = "default"
    ingress: Ingress = Ingress()
    model: str = ""
    epp: EndpointPicker = EndpointPicker()

    def says(self, annotation: str) -> bool:
        """Whether an annotation of the service switches something on."""
        return self.annotations.get(annotation) == "true"


class RolePlan(NamedTuple):
    """One pod template to write. `target` is the name that its selector label carries."""

    component: ComponentPlan
    target: str
    role: Role = "main"
    debug: bool = False
    addressing: Addressing = Addressing()


class GraphPlan(NamedTuple):
    """One graph: what its components share, and the components in the order of the spec. `alone`: a component without a graph."""

    name: str
    namespace: str
    config: Config
    ref: Ref
    orchestrator: str = "deployment"
    discovery: str = "kubernetes"
    components: tuple[ComponentPlan, ...] = ()
    annotations: Labels = {}
    claims: tuple[Claim, ...] = ()
    restart: Restart | None = None
    alone: bool = False

    def carried(self) -> dict[str, list[ComponentPlan]]:
        """The components by what carries them, in the order of the spec."""
        found: dict[str, list[ComponentPlan]] = {}
        for component in self.components:
            found.setdefault(component.workload, []).append(component)
        return found
