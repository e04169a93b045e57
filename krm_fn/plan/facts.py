"""The facts of a graph and of a component, in parts. The reader of an API version makes each part once."""

from __future__ import annotations

from typing import Any

from krm_fn.kube.types import Container, EnvVar, Labels, PodSpec, Probe, Resources
from krm_fn.records import NamedTuple


class Mount(NamedTuple):
    """A claim mounted into the main container. `path` is empty where the user left it to the engine."""

    name: str
    path: str = ""
    cache: bool = False


class Claim(NamedTuple):
    """A PersistentVolumeClaim that the graph declares. `size` is a canonical quantity, empty where the user wrote none."""

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
    labels: Labels | None = None
    annotations: Labels | None = None


class EndpointPicker(NamedTuple):
    """Where an endpoint picker's configuration is: inline, or under a key of a ConfigMap."""

    config: dict[str, Any] | None = None
    by_reference: bool = False
    config_map: str = ""
    key: str = ""


class Restart(NamedTuple):
    """A restart as the user wrote it. An empty `id` requests none. `order` names services; `parallel` is True if the user wrote that."""

    id: str
    order: tuple[str, ...] = ()
    sequential: bool = False
    parallel: bool = False


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


class Identity(NamedTuple):
    """Who a component is: a service of a graph, or a `standalone` DynamoComponentDeployment.

    `selector` holds the labels by which its Services select pods, whatever runs them. `service_labels` are the user's labels on the
    service itself, if they reach its pods.
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


class Placement(NamedTuple):
    """Which workload kind and engine run a component, on how many nodes and in how many replicas.

    `replicas` is None where the user wrote no number.
    """

    workload: str
    backend: str
    nodes: int
    replicas: int | None
    autoscaled: bool
    discovery: str
    graph_discovery: str

    @property
    def replicas_or_one(self) -> int:
        """The number of replicas; absent means 1."""
        return 1 if self.replicas is None else self.replicas


class GPUs(NamedTuple):
    """The GPUs of one pod: their number, and limit and request as the user wrote them."""

    number: int
    limit: str
    request: str


class PodFacts(NamedTuple):
    """What the user wrote about the pods of a component, and what the other items add.

    `spec` is the pod around the main container, `container` the main container, `resources` are in native names. `enforced` holds the
    fields of the pod that the component type sets above the user's.
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
    resources: Resources
    gpus: GPUs
    mounts: tuple[Mount, ...]
    shared_memory: str
    pull_secrets: tuple[str, ...]
    fallback_account: str


class Edge(NamedTuple):
    """How a component is reached from outside, the base model it serves, and the configuration of an endpoint picker."""

    ingress: Ingress
    model: str
    picker: EndpointPicker
