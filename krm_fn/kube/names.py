"""The names of all generated objects with their length limits, and the names that Grove derives from them.

Follows the operator's `internal/dynamo/graph.go` (GetDynamoComponentName and neighbours) and `model_service.go`.
"""

from __future__ import annotations

import re

from krm_fn.kube import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.kube.types import Role

SERVICE_LIMIT = 63  # DNS-1035 label
LABEL_LIMIT = 63  # label value
GROUP_LIMIT = 50  # LeaderWorkerSet: its StatefulSet adds "-0", and the label of its pods adds "-" and a hash of ten characters
GROVE_LIMIT = 45  # graph, scaling group and clique in total
GROVE_SET_LENGTH = 8  # the name of a PodCliqueSet is not cut to fewer characters
SERVICE = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")

TOPOLOGY_LABELS = "topology-labels"
"""The volume with the topology of a worker has the name `topology-labels`.

Follows the operator's `internal/dynamo/graph.go applyKvTransferPolicyToWorkerComponent`.
Rule: kv-transfer.volume
"""
PROFILED = "config_with_planner.yaml"
"""The profiler writes the graph for the real engine to `config_with_planner.yaml`.

Follows the operator's `internal/controller/dynamographdeploymentrequest_controller.go`.
Rule: names.profiler-file
"""
PROFILED_MOCKER = "mocker_config_with_planner.yaml"
"""The profiler writes the graph for the mocker to `mocker_config_with_planner.yaml`.

The names of the two files are also the keys of the ConfigMap with the output.

Follows the operator's `internal/controller/dynamographdeploymentrequest_controller.go`.
Rule: names.profiler-mocker-file
"""
RUNTIME = "runtime"
"""In sidecar mode, the init container `runtime` runs Dynamo beside an engine.

Follows the operator's `internal/dynamo/component_dynamo_sidecar.go`.
Rule: sidecar-mode.name
"""
PROFILER = "profiler"
"""The container that profiles has the name `profiler`.

Follows the operator's `internal/controller/dynamographdeploymentrequest_controller.go createProfilingJob`.
Rule: profiling.profiler-name
"""
PROFILER_OUTPUT = "/data"
"""The profiler writes its output to the folder `/data`.

Follows the operator's `internal/controller/dynamographdeploymentrequest_controller.go createProfilingJob`.
Rule: profiling.output-folder
"""
PROFILER_BASE = "/config/disagg.yaml"
"""The profiler reads the graph that it measures from the file `disagg.yaml` in the folder `/config`."""
WAIT_FOR_LEADER = "wait-for-leader.py"
"""The script that waits for a leader is in the file `wait-for-leader.py`.

Follows the operator's `internal/dynamo/backend_vllm.go GenerateWaitLeaderConfigMap`.
Rule: wait-for-leader.file
"""
CONFIG_MAP_LIMIT = 2**20  # bytes of all its values

GLOBAL_NAMESPACE = "dynamo"
"""Components with `globalDynamoNamespace` share the Dynamo namespace `dynamo`.

Follows the operator's `api/v1alpha1 ComputeDynamoNamespace`.
Rule: names.global-dynamo-namespace
"""
_CLIQUE_SUFFIX: dict[Role, str] = {"main": "", "leader": "-ldr", "worker": "-wkr"}
"""The name of a multinode service's clique ends with `-ldr` for the leader and `-wkr` for its workers.

Follows the operator's `internal/dynamo/graph.go buildCliqueForRole`.
Rule: names.clique-role
"""
_DISCOVERY = "-k8s-service-discovery"
"""The ServiceAccount of pods that use Kubernetes discovery has the name of the graph and `-k8s-service-discovery`.

Follows the operator's `internal/discovery/resource.go`.
Rule: names.discovery-account
"""
PLANNER_ACCOUNT = "planner-serviceaccount"
"""Planners use the ServiceAccount `planner-serviceaccount`.

Follows the operator's `internal/dynamo/component_planner.go`.
Rule: names.planner-account
"""
EPP_ACCOUNT = "epp-serviceaccount"
"""Endpoint pickers use the ServiceAccount `epp-serviceaccount`.

Follows the operator's `internal/dynamo/component_epp.go`.
Rule: names.epp-account
"""
PROFILING_ACCOUNT = "dgdr-profiling-job"
"""Profiling Jobs use the ServiceAccount `dgdr-profiling-job`.

Follows the operator's `internal/controller/dynamographdeploymentrequest_controller.go`.
Rule: names.profiling-account
"""
GROVE_KINDS = ("PodClique", "PodCliqueScalingGroup")
"""The kinds that Grove creates for the services of a PodCliqueSet."""
_GROVE_REPLICA = 0  # the only replica of a graph's PodCliqueSet


def component(graph: str, service: str) -> str:
    """The objects of a service have the name of the graph, a dash, and the name of the service in lower case.

    The name of the objects of one service: workload, Service, Ingress and scaling adapter.

    Follows the operator's `internal/dynamo/graph.go GetDynamoComponentName`.
    Rule: names.component
    """
    return f"{graph}-{service.lower()}"


def service(component: str) -> str:
    """The name of a component's Service has dashes in place of dots, and is in lower case.

    The Service of a component, for releases in which the name of a graph may have dots.

    >>> service("llm.v1-frontend")
    'llm-v1-frontend'

    Follows the operator's `internal/controller/dynamocomponentdeployment_controller.go generateService`.
    Rule: names.service
    """
    return component.replace(".", "-").lower()


def label_value(name: str) -> str:
    """Returns a name as a label value.

    A longer name is cut, and ends with eight digits of its SHA-256 (operator: `getK8sDiscoveryLabelValue`).
    """
    if len(name) <= LABEL_LIMIT:
        return name
    digits = digest.hexadecimal(name)[:8]
    return f"{name[: LABEL_LIMIT - len(digits) - 1]}-{digits}"


def dynamo_namespace(namespace: str, graph: str, *, shared: bool) -> str:
    """The Dynamo namespace, in which components find each other, is the Kubernetes namespace, a dash, and the name of the graph.

    It is not a Kubernetes namespace.

    Follows the operator's `api/v1alpha1 ComputeDynamoNamespace`.
    Rule: names.dynamo-namespace
    """
    return GLOBAL_NAMESPACE if shared else f"{namespace}-{graph}"


def production(name: str) -> str:
    """Names the Service of the production pods in stealing-traffic debug mode."""
    return f"{name}-p"


def debug(name: str) -> str:
    """Names the debug Deployment, and its Service."""
    return f"{name}-d"


def instance(name: str, index: int) -> str:
    """A LeaderWorkerSet, and its PodGroup, has the name of the component, a dash, and an index.

    Follows the operator's `internal/controller/dynamocomponentdeployment_controller.go generateLeaderWorkerSet`.
    Rule: names.leader-worker-set
    """
    return f"{name}-{index}"


def instance_of(name: str, other: str) -> int | None:
    """Reads the index of a replica of `name` from its name `other`: the inverse of `instance`. None for other names.

    >>> instance_of("chat-decode", "chat-decode-12"), instance_of("chat-decode", "chat-decode-012")
    (12, None)
    """
    match = re.fullmatch(re.escape(name) + "-(0|[1-9][0-9]{0,8})", other)
    return int(match[1]) if match else None


def clique(service: str, role: Role, rank: int | None = None) -> str:
    """A clique has the name of its service in lower case.

    In a multinode service the name ends with the role of the pods.

    If each node has a clique of its own, the name of a worker's clique ends with the rank of the node.

    Follows the operator's `internal/dynamo/graph.go buildCliqueForRole`.
    Rule: names.clique
    """
    node = f"-{rank}" if rank and role == "worker" else ""
    return f"{service.lower()}{_CLIQUE_SUFFIX[role]}{node}"


def memory_clique(service: str, rank: int) -> str:
    """The clique of the GPU memory service on a node has the name of the service, `-gms-`, and the rank of the node.

    Follows the operator's `internal/dynamo/failover.go`.
    Rule: names.memory-clique
    """
    return f"{service.lower()}-gms-{rank}"


def scaling_group(service: str) -> str:
    """Names the scaling group of a multinode service in a PodCliqueSet."""
    return service.lower()


def clique_set(graph: str, longest: int) -> str:
    """A PodCliqueSet has the name of the graph, which is cut if Grove's names of pods would be too long.

    The name is cut if it and `longest` more characters are too long for Grove.

    >>> clique_set("chat", 30), clique_set("a-graph-with-a-long-name", 30)
    ('chat', 'a-graph-wi-14b5')

    Follows the operator's `internal/dynamo/graph.go PCSNameForDGD`.
    Rule: names.clique-set
    """
    room = max(GROVE_LIMIT - longest, GROVE_SET_LENGTH)
    if len(graph) <= room:
        return graph
    return f"{graph[: room - 5]}-{digest.fnv32(graph) & 0xFFFF:04x}"


def grove_workload(set_name: str, service: str) -> str:
    """Names the PodClique that Grove creates for a service, or the PodCliqueScalingGroup for a service with a scaling group."""
    return f"{set_name}-{_GROVE_REPLICA}-{service.lower()}"


def grove_host(service: str, role: Role, index: int | str, rank: int | None = None) -> str:
    """The host of a pod in a scaling group is made of variables that Grove sets in each container.

    Kubernetes expands the variables.

    `index` is the index of the pod in its clique, or a variable for it. `rank` is used as in `clique`.

    Follows the operator's `internal/dynamo/grove.go`.
    Rule: names.grove-host
    """
    return f"$(GROVE_PCSG_NAME)-$(GROVE_PCSG_INDEX)-{clique(service, role, rank)}-{index}.$(GROVE_HEADLESS_SERVICE)"


def graph_of(kind: str, name: str, service: str) -> str:
    """Reads the graph from a workload's name: the inverse of `component`, `instance` and `grove_workload`. Empty for other names.

    For the kinds of Grove it is the PodCliqueSet, which has the name of the graph unless that is too long for Grove.

    The name of a worker may end with a worker hash.

    >>> graph_of("Deployment", "chat-worker", "Worker"), graph_of("LeaderWorkerSet", "chat-worker-0", "Worker")
    ('chat', 'chat')
    >>> graph_of("PodClique", "chat-0-worker", "Worker"), graph_of("Deployment", "other", "Worker")
    ('chat', '')
    >>> graph_of("Deployment", "chat-worker-fca6cda8", "Worker")
    'chat'
    """
    replica = f"-{_GROVE_REPLICA}" if kind in GROVE_KINDS else ""
    ending = f"{replica}-{service.lower()}"
    component_name = component_of(kind, name)
    return component_name.removesuffix(ending) if component_name.endswith(ending) else component_name.rpartition(f"{ending}-")[0]


def component_of(kind: str, name: str) -> str:
    """Reads the name of the component from a workload's name. A LeaderWorkerSet's name ends with the index of its replica."""
    return name.rpartition("-")[0] if kind == "LeaderWorkerSet" else name


def profiling_job(request: str) -> str:
    """The Job of a request has the name `profile-` and the name of the request.

    Follows the operator's `internal/controller/dynamographdeploymentrequest_controller.go createProfilingJob`.
    Rule: names.profiling-job
    """
    return f"profile-{request}"


def profiling_output(request: str) -> str:
    """The ConfigMap with the output of a profiling has the name `dgdr-output-` and the name of the request.

    Follows the operator's `internal/controller/dynamographdeploymentrequest_controller.go`.
    Rule: names.profiling-output
    """
    return f"dgdr-output-{request}"


def discovery(graph: str) -> str:
    """The ServiceAccount of pods that use Kubernetes discovery has the name of the graph and `-k8s-service-discovery`.

    Follows the operator's `internal/discovery/resource.go`.
    Rule: names.discovery-account
    """
    return f"{graph}{_DISCOVERY}"


def is_discovery(name: str) -> bool:
    """Returns true for the name of a ServiceAccount for Kubernetes discovery, and of its RoleBinding."""
    return name.endswith((_DISCOVERY, binding(_DISCOVERY)))


def role(account: str) -> str:
    """A Role has the name of its ServiceAccount and `-role`.

    Follows the operator's `internal/discovery/resource.go`.
    Rule: names.role
    """
    return f"{account}-role"


def binding(account: str) -> str:
    """A RoleBinding has the name of its ServiceAccount and `-binding`.

    Follows the operator's `internal/discovery/resource.go, internal/rbac/manager.go`.
    Rule: names.role-binding
    """
    return f"{account}-binding"


def epp_config(graph: str) -> str:
    """The ConfigMap of an endpoint picker has the name of the graph and `-epp-config`.

    Follows the operator's `internal/dynamo/epp/config.go`.
    Rule: names.epp-config
    """
    return f"{graph}-epp-config"


def wait_for_leader(graph: str) -> str:
    """The ConfigMap with the script that waits for a leader has the name of the graph and `-wait-leader-script`.

    Follows the operator's `internal/dynamo/backend_vllm.go GenerateWaitLeaderConfigMap`.
    Rule: names.wait-for-leader
    """
    return f"{graph}-wait-leader-script"


def gpu_claim(component: str) -> str:
    """The ResourceClaimTemplate of a component has the name of the component and `-gpu`.

    Follows the operator's `internal/dra`.
    Rule: names.gpu-claim
    """
    return f"{component}-gpu"


def pool(graph: str) -> str:
    """An InferencePool has the name of the graph and `-pool`.

    Follows the operator's `internal/dynamo/epp`.
    Rule: names.inference-pool
    """
    return f"{graph}-pool"


def model_hash(model: str) -> str:
    """The first eight hexadecimal digits of a model name's SHA-256, which are a valid label value.

    >>> model_hash("Qwen/Qwen3-0.6B")
    'fb68f5a6'
    """
    return digest.hexadecimal(model)[:8]


def model_service(model: str) -> str:
    """The headless Service of a model has the name `dynamo-model-` and a hash of the model's name.

    Follows the operator's `internal/dynamo/model_service.go`.
    Rule: names.model-service
    """
    return f"dynamo-model-{model_hash(model)}"
