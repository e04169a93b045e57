"""Facts that differ between releases of the Dynamo operator: each file is a release, and its `RELEASE` holds the facts as data.

`resolve` chooses the release of each resource. The layers below it read facts and never compare releases.
"""

from __future__ import annotations

import sys

from krm_fn.base import registry
from krm_fn.base.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from krm_fn.kubernetes.types import ProbeName

    PodLayer = Literal[
        "account",
        "cache_mount",
        "cache_volume",
        "claims",
        "defaults",
        "engine",
        "engine_pod",
        "gpu_memory",
        "main_first",
        "main_last",
        "pull_secrets",
        "service_fields",
        "shared_memory",
        "sidecars",
        "topology_aliases",
        "user",
        "volume_order",
    ]
    """The layers of a pod."""
    Feature = Literal[
        "checkpoint jobs",
        "clients of GPU memory",
        "least available pods",
        "priority classes",
        "provider overrides",
        "roles",
        "scaling groups of one node",
        "transfer policies",
    ]
    """A feature that came with a newer release."""


ReleaseNumber = tuple[int, int]
"""The major and minor version of a release."""


SIDECAR_KEY = "runtime"
"""The key of the defaults of the container that runs Dynamo beside an engine, in releases with sidecar mode."""


class Ports(NamedTuple):
    """The ports on which components listen. `forward_pass` is for metrics of an engine; 0 in releases without such a port."""

    http: int
    """The port of a frontend.

    Rule ports.http: Frontends serve HTTP on port 8000. (operator: internal/consts/consts.go)
    """
    system: int
    """The port for the health and the metrics of a worker.

    Rule ports.system: Workers report their health and metrics on port 9090. (operator: internal/consts/consts.go)
    """
    planner_metrics: int
    """The port for the metrics of a planner.

    Rule ports.planner-metrics: Planners serve metrics on port 9085. (operator: internal/consts/consts.go)
    """
    picker: int
    """The gRPC port of an endpoint picker.

    Rule ports.epp: Endpoint pickers serve gRPC on port 9002. (operator: internal/dynamo/component_epp.go)
    """
    picker_health: int
    """The port for the health of an endpoint picker.

    Rule ports.epp-health: Endpoint pickers report their health on port 9003. (operator: internal/dynamo/component_epp.go)
    """
    picker_metrics: int
    """The port for the metrics of an endpoint picker.

    Rule ports.epp-metrics: Endpoint pickers serve metrics on port 9090. (operator: internal/dynamo/component_epp.go)
    """
    forward_pass: int = 0
    """The port for the metrics of forward passes; 0 if the release has none.

    Rule ports.forward-pass: In Dynamo 1.5, workers serve metrics of forward passes on port 20380. (operator:
    internal/dynamo/component_worker.go)
    """


class ProbeDefaults(NamedTuple):
    """A default probe; times in seconds. `target` is the path of an HTTP probe, or the service of a gRPC probe."""

    handler: str
    target: str
    port: str | int
    period: int
    delay: int | None = None
    timeout: int | None = None
    failures: int | None = None


_PICKER_DELAY = 5
"""The delay of an endpoint picker's probes, in seconds.

Rule probes.epp-delay: The liveness and readiness probes of an endpoint picker begin after 5 seconds. (operator:
internal/dynamo/component_epp.go)
"""
_PICKER_PERIOD = 10
"""The period of an endpoint picker's probes, in seconds.

Rule probes.epp-period: The liveness and readiness probes of an endpoint picker run every 10 seconds. (operator:
internal/dynamo/component_epp.go)
"""


def picker_probe(ports: Ports) -> ProbeDefaults:
    """Returns the liveness and readiness probe of an endpoint picker.

    Rule probes.epp: The probes of an endpoint picker ask the gRPC service `inference-extension`. (operator:
    internal/dynamo/component_epp.go)
    """
    return ProbeDefaults("grpc", "inference-extension", ports.picker_health, delay=_PICKER_DELAY, period=_PICKER_PERIOD)


class TypeDefaults(NamedTuple):
    """The defaults of a component type: ports, variables and probes of its main container, and the grace period of its pod in seconds.

    `finds_generations` is true if the component looks for the workers of all generations, whose Dynamo namespaces begin with the graph's.
    """

    ports: tuple[tuple[str, int], ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    finds_generations: bool = False
    probes: tuple[tuple[ProbeName, ProbeDefaults], ...] = ()
    grace_period: int = 60
    """The time that a pod has to stop, in seconds.

    Rule pod.grace-period: A pod has 60 seconds to stop; an endpoint picker has 130 seconds. (operator: internal/dynamo/component_common.go,
    internal/dynamo/component_epp.go)
    """


class PodMetadataFacts(NamedTuple):
    """The labels and annotations of pods.

    `protected`: the labels of Dynamo override the user's. `discovery`: pods carry the labels for discovery. `inherited`: pods have all
    annotations of the objects of their component. `owns_origin`: the origin version of a graph replaces that of its components.
    `follows_selector`: pods of LeaderWorkerSets have the labels by which their Service selects pods, also those of a deprecated field.
    """

    protected: bool
    discovery: bool
    inherited: bool
    owns_origin: bool = False
    follows_selector: bool = True


class ServiceFacts(NamedTuple):
    """The Services of components.

    `only_discovered`: without Kubernetes discovery, only frontends have a Service. `find_frontends`: discovery finds frontends too.
    `dashes`: dots in the name of a component become dashes in the name of its Service. `app_protocol`: the port has its `appProtocol` for
    all workload kinds. For Grove, all but `dashes` are true in all releases. `annotated`: Services under Grove, and those of models, have
    the annotations of the user.
    """

    only_discovered: bool
    find_frontends: bool
    dashes: bool
    app_protocol: bool
    annotated: bool = True


class Discovery(NamedTuple):
    """Rights of the account of pods with Kubernetes discovery: it `reads` core resources. `short_label`: labels cut its name."""

    reads: tuple[str, ...]
    short_label: bool


class GroveFacts(NamedTuple):
    """Facts about the PodCliqueSets of a release. The defaults are those of the first release with Grove.

    `cuts_names`: the name of a set is cut to fit Grove's limit. `describes_sets`: a set has the label of its graph, and the update strategy
    that an annotation names. `whole_groups`: a replica of a multinode component needs all its pods, so that Grove starts and ends them
    together. `volcano`: the Volcano scheduler can place the pods. `refusals`: the severity of findings about pods that Grove's admission
    refuses. They are warnings where the operator accepts such pods and leaves the decision to the version of Grove in the cluster.
    `update_strategies` are the update strategies that an annotation can name. `overridden_minimum`: a provider override can set the minimum
    of replicas. `marks_generations`: pods of workers have the worker hash as a label and a variable. `topology_kind` is Grove's kind of a
    topology, and `names_topology`: a topology constraint can name one; otherwise it has only the domain.
    """

    cuts_names: bool = False
    describes_sets: bool = False
    whole_groups: bool = False
    volcano: bool = False
    refusals: Literal["error", "warning"] = "error"
    update_strategies: tuple[str, ...] = ("RollingRecreate", "OnDelete")
    overridden_minimum: bool = False
    marks_generations: bool = False
    topology_kind: str = "ClusterTopologyBinding"
    names_topology: bool = True

    @property
    def writes_strategy(self) -> bool:
        """True if a set gets the update strategy that an annotation names."""
        return self.describes_sets and bool(self.update_strategies)


class MPI(NamedTuple):
    """The MPI job of TensorRT-LLM. `home` is the home folder as shell text, and `quoted_home` within single quotes.

    `readable` are the files in its folder `.ssh` that get mode 644. `root` is the option with which root may start the job, as shell text.
    `sshd` are further options of sshd. `exports` are further variables that the job passes to all nodes.
    """

    home: str
    quoted_home: str
    readable: tuple[str, ...]
    root: str
    sshd: tuple[str, ...]
    exports: tuple[str, ...]


class Engines(NamedTuple):
    """Facts about the start of engines on several nodes.

    `quotes_words`: each word of a plain command is quoted for the shell that reads it; otherwise only JSON is. `waits_for_leader`: a
    follower of vLLM waits for its leader in an init container, with a script from a ConfigMap of the graph. `elastic`: vLLM with elastic
    expert parallelism starts a Ray cluster on several nodes, and `elastic_alone`: on one node. `only_engines_span_nodes`: a component
    without an engine cannot run on several nodes. `counts_devices`: the GPUs of a node are also those that its device claims request, and
    those of resources with newer names. `always_shadows`: vLLM with the GPU memory service in another pod runs in shadow mode; otherwise
    only with failover.
    """

    quotes_words: bool
    waits_for_leader: bool
    elastic: bool
    mpi: MPI
    elastic_alone: bool = False
    only_engines_span_nodes: bool = False
    counts_devices: bool = False
    always_shadows: bool = False


class Picker(NamedTuple):
    """Endpoint pickers.

    `args` are the arguments of a picker with a configuration; `{pool}` and `{namespace}` in them stand for the graph's pool and namespace.
    `cache` is the folder of its cache, or empty. `native_cache` is the folder of the cache of a native picker, which has no configuration;
    it is empty in releases without native pickers. `chooses` says from which pods a picker chooses. `in_mesh` is true if a service mesh
    gets rules for the connections to a picker.
    """

    args: tuple[str, ...]
    chooses: Literal["frontends", "workers"]
    in_mesh: bool
    cache: str = ""
    native_cache: str = ""


class Release(NamedTuple):
    """The facts of one release. A component type without an entry in `types` has the default `TypeDefaults`.

    `reads` is the API version whose fields decide; a resource of the other version is converted first. `pod_layers` are the layers of a pod
    that all roles of a component share, in their order, and `role_layers` those of each role (`krm_fn.render.manifests.pod_builder`).
    `merges_probes`: a probe of the user is merged with the default probe; otherwise it replaces that. `replaces_shared_memory`: shared
    memory replaces volumes and mounts of the user. `multinode_workload` names the workload kind of multinode components without Grove
    (`krm_fn.render.manifests.workloads`). `debug_modes` is true if annotations of a service can add a debugger. `rules` names the groups of
    rules that only some releases have (`krm_fn.render.rules.by_release`). `number` decides which gates a release has
    (`krm_fn.render.kinds.gates`). `sidecar_mode`: an init container can run Dynamo beside an engine (`SIDECAR_KEY`). `role_templates`: each
    role of a component on several nodes can have a pod template of its own. `names_sidecar`: with discovery of containers, a
    frontend sidecar gets its own name; otherwise it gets the name of the main container.
    `hashes_runtimes`: the worker hash reads the runtime versions of workers. `memory_needs_size`: shared memory of a v1alpha1 service needs
    a size. `keeps_service_mounts`: the `volumeMounts` of a v1alpha1 service stay if its main container has others. `needs_runtime`: each
    component needs a runtime version. `probes_gpu_memory`: the GPU memory service in a pod has a startup probe. `refuses_unknown_clients`:
    each client of this service must be a container of the pod; otherwise an unknown name has no effect. `repeats_volumes`: the operator
    writes the volume of a claim once for each of its mounts, which an API server refuses. `lacks` are the features whose fields the
    definitions of the release do not have (`krm_fn.render.resolve.missing_fields`).
    `reports_gpus` and `reports_names`: the status of a component repeats facts of its pods (`krm_fn.render.manifests.status_facts`).
    """

    number: ReleaseNumber
    reads: str
    """The API version that the operator reads, without its group.

    Rule components.inventory-version: DynamoComponentDeployments have the API version that the release reads. (operator:
    internal/dynamo/graph.go GenerateDynamoComponentsDeployments)
    """
    pod_layers: tuple[PodLayer, ...]
    role_layers: tuple[PodLayer, ...]
    merges_probes: bool
    replaces_shared_memory: bool
    multinode_workload: str
    ports: Ports
    types: Mapping[str, TypeDefaults]
    shared_memory: str
    """The default size of shared memory.

    Rule volumes.shared-memory-size: Shared memory has 8Gi unless the user sets its size. (operator: internal/consts/consts.go)
    """
    pod_metadata: PodMetadataFacts
    services: ServiceFacts
    discovery: Discovery
    engines: Engines
    debug_modes: bool
    picker: Picker
    rules: tuple[str, ...] = ()
    names_sidecar: bool = False
    sidecar_mode: bool = False
    role_templates: bool = False
    hashes_runtimes: bool = False
    memory_needs_size: bool = True
    keeps_service_mounts: bool = True
    needs_runtime: bool = True
    probes_gpu_memory: bool = False
    refuses_unknown_clients: bool = True
    repeats_volumes: bool = False
    lacks: tuple[Feature, ...] = ()
    reports_gpus: bool = False
    """True if the status of a component has its GPUs.

    Rule status.gpus: Since Dynamo 1.5, the status of a component has the GPUs of its engine and of a replica, which a planner needs.
    (operator: internal/dynamo/gpu_shape.go)
    """
    reports_names: bool = False
    """True if the status of a component has its model and its name in the runtime.

    Rule status.names: Since Dynamo 1.6, the status of a component has its model, its name in the runtime, and the power limit of its GPUs.
    (operator: internal/controller/component_runtime_status.go)
    """
    grove: GroveFacts = GroveFacts()
    hashes_v1alpha1: bool = False
    """True if new workers get version 1 of the worker hash, which reads them as services of v1alpha1.

    Rule worker-hash.version: The worker hash has version 1 in Dynamo 1.2 and 1.3, and version 2 since Dynamo 1.4. (operator:
    internal/controller/dynamographdeployment_rollingupdate.go)
    """

    @property
    def name(self) -> str:
        """The name of the release in the configuration, for example `v1.5`.

        Rule releases.name: A release has the name `v`, and its major and minor number. (krm-fn)
        """
        major, minor = self.number
        return f"v{major}.{minor}"


def get(name: str) -> Release:
    """Returns the facts of a release. `name` is the name of its file. Raises KeyError for an unknown release."""
    release: Release = registry.get(sys.modules[__name__], name).RELEASE
    return release
