"""The names of all generated objects with their length limits, and the names that Grove derives from them.

The worker hash at the end of a name is added in `krm_fn.render.plan.facts` (`Identity.workload_name`).

Follows the operator's `internal/dynamo/graph.go` (GetDynamoComponentName and neighbours) and `model_service.go`.
"""

from __future__ import annotations

import re

from krm_fn.kubernetes import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.kubernetes.types import Role

SERVICE_LIMIT = 63  # DNS-1035 label
LABEL_LIMIT = 63  # label value
GROUP_LIMIT = 50  # LeaderWorkerSet: its StatefulSet adds "-0", and the label of its pods adds "-" and a hash of ten characters
GROVE_LIMIT = 45  # graph, scaling group and clique in total
GROVE_SET_LENGTH = 8  # the name of a PodCliqueSet is not cut to fewer characters
_REVISION = "0" * 8  # the length of a DisaggregatedSet's revision
SERVICE = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")

TOPOLOGY_LABELS = "topology-labels"
"""The name of the volume with the topology of a worker.

Rule kv-transfer.volume: The volume with the topology of a worker has the name `topology-labels`. (operator: internal/dynamo/graph.go
applyKvTransferPolicyToWorkerComponent)
"""
PROFILED = "config_with_planner.yaml"
"""The name of the file with the graph for the real engine.

Rule names.profiler-file: The profiler writes the graph for the real engine to `config_with_planner.yaml`. (operator:
internal/controller/dynamographdeploymentrequest_controller.go)
"""
PROFILED_MOCKER = "mocker_config_with_planner.yaml"
"""The name of the file with the graph for the mocker.

The names of the two files are also the keys of the ConfigMap with the output.

Rule names.profiler-mocker-file: The profiler writes the graph for the mocker to `mocker_config_with_planner.yaml`. (operator:
internal/controller/dynamographdeploymentrequest_controller.go)
"""
RUNTIME = "runtime"
"""The name of the container that runs Dynamo in sidecar mode.

Rule sidecar-mode.name: In sidecar mode, the init container `runtime` runs Dynamo beside an engine. (operator:
internal/dynamo/component_dynamo_sidecar.go)
"""
PROFILER = "profiler"
"""The name of the container of the profiler.

Rule profiling.profiler-name: The container that profiles has the name `profiler`. (operator:
internal/controller/dynamographdeploymentrequest_controller.go createProfilingJob)
"""
PROFILER_OUTPUT = "/data"
"""The folder of the profiler's output.

Rule profiling.output-folder: The profiler writes its output to the folder `/data`. (operator:
internal/controller/dynamographdeploymentrequest_controller.go createProfilingJob)
"""
PROFILER_BASE = "/config/disagg.yaml"
"""The profiler reads the graph that it measures from the file `disagg.yaml` in the folder `/config`."""
WAIT_FOR_LEADER = "wait-for-leader.py"
"""The name of the file with the script that waits for a leader.

Rule wait-for-leader.file: The script that waits for a leader is in the file `wait-for-leader.py`. (operator:
internal/dynamo/backend_vllm.go GenerateWaitLeaderConfigMap)
"""
CONFIG_MAP_LIMIT = 2**20  # bytes of all its values

GLOBAL_NAMESPACE = "dynamo"
"""The Dynamo namespace of components that share one.

Rule names.global-dynamo-namespace: Components with `globalDynamoNamespace` share the Dynamo namespace `dynamo`. (operator: api/v1alpha1
ComputeDynamoNamespace)
"""
_CLIQUE_SUFFIX: dict[Role, str] = {"main": "", "leader": "-ldr", "worker": "-wkr"}
"""The end of a clique's name by the role of its pods.

Rule names.clique-role: The name of a multinode service's clique ends with `-ldr` for the leader and `-wkr` for its workers. (operator:
internal/dynamo/graph.go buildCliqueForRole)
"""
_DISCOVERY = "-k8s-service-discovery"
"""The end of the name of a ServiceAccount for discovery.

Rule names.discovery-account: see `krm_fn.render.names`.
"""
PLANNER_ACCOUNT = "planner-serviceaccount"
"""The ServiceAccount of planners.

Rule names.planner-account: Planners use the ServiceAccount `planner-serviceaccount`. (operator: internal/dynamo/component_planner.go)
"""
EPP_ACCOUNT = "epp-serviceaccount"
"""The ServiceAccount of endpoint pickers.

Rule names.epp-account: Endpoint pickers use the ServiceAccount `epp-serviceaccount`. (operator: internal/dynamo/component_epp.go)
"""
PROFILING_ACCOUNT = "dgdr-profiling-job"
"""The ServiceAccount of profiling Jobs.

Rule names.profiling-account: Profiling Jobs use the ServiceAccount `dgdr-profiling-job`. (operator:
internal/controller/dynamographdeploymentrequest_controller.go)
"""
GROVE_KINDS = ("PodClique", "PodCliqueScalingGroup")
"""The kinds that Grove creates for the services of a PodCliqueSet."""
_GROVE_REPLICA = 0  # the only replica of a graph's PodCliqueSet
"""The index of the only replica of a PodCliqueSet.

Rule names.grove-workload: see `krm_fn.render.names`.
"""


def component(graph: str, service: str) -> str:
    """Names the objects of one service: workload, Service, Ingress and scaling adapter.

    Rule names.component: The objects of a service have the name of the graph, a dash, and the name of the service in lower case. (operator:
    internal/dynamo/graph.go GetDynamoComponentName)
    """
    return f"{graph}-{service.lower()}"


def service(component: str) -> str:
    """Names the Service of a component, for releases in which the name of a graph may have dots.

    >>> service("llm.v1-frontend")
    'llm-v1-frontend'

    Rule names.service: The name of a component's Service has dashes in place of dots, and is in lower case. (operator:
    internal/controller/dynamocomponentdeployment_controller.go generateService)
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
    """Names the Dynamo namespace of a component: with `shared`, the global one.

    A Dynamo namespace is not a Kubernetes namespace.

    Rule names.dynamo-namespace: The Dynamo namespace, in which components find each other, is the Kubernetes namespace, a dash, and the
    name of the graph. (operator: api/v1alpha1 ComputeDynamoNamespace)
    """
    return GLOBAL_NAMESPACE if shared else f"{namespace}-{graph}"


def production(name: str) -> str:
    """Names the Service of the production pods in stealing-traffic debug mode."""
    return f"{name}-p"


def debug(name: str) -> str:
    """Names the debug Deployment, and its Service."""
    return f"{name}-d"


def instance(name: str, index: int) -> str:
    """Names a LeaderWorkerSet and its PodGroup.

    Rule names.leader-worker-set: A LeaderWorkerSet, and its PodGroup, has the name of the component, a dash, and an index. (operator:
    internal/controller/dynamocomponentdeployment_controller.go generateLeaderWorkerSet)
    """
    return f"{name}-{index}"


def instance_of(name: str, other: str) -> int | None:
    """Reads the index of a replica of `name` from its name `other`: the inverse of `instance`. None for other names.

    >>> instance_of("chat-decode", "chat-decode-12"), instance_of("chat-decode", "chat-decode-012")
    (12, None)
    """
    match = re.fullmatch(re.escape(name) + "-(0|[1-9][0-9]{0,8})", other)
    return int(match[1]) if match else None


def over_group_limit(name: str, groups: int) -> int:
    """Returns the number of characters by which the name of a LeaderWorkerSet with some groups is too long; 0 or less if it is not.

    >>> over_group_limit(50 * "x", 10), over_group_limit(50 * "x", 11)
    (0, 1)
    """
    return len(instance(name, max(groups, 1) - 1)) - GROUP_LIMIT - 2


def set_role(service: str) -> str:
    """Names the role of a component in a DisaggregatedSet.

    Rule names.set-role: The role of a component in a DisaggregatedSet has the name of the component in lower case. (krm-fn)
    """
    return service.lower()


def revised_role(set_name: str, service: str) -> str:
    """Returns a name as long as those of the LeaderWorkerSets that the controller makes for a role: one for each revision of the set.

    >>> revised_role("chat", "Decode")
    'chat-0-00000000-decode'
    """
    return f"{set_name}-0-{_REVISION}-{set_role(service)}"


def clique(service: str, role: Role, rank: int | None = None) -> str:
    """Names the clique of a role.

    In a multinode service the name ends with the role of the pods.

    If each node has a clique of its own, the name of a worker's clique ends with the rank of the node.

    Rule names.clique: A clique has the name of its service in lower case. (operator: internal/dynamo/graph.go buildCliqueForRole)
    """
    node = f"-{rank}" if rank and role == "worker" else ""
    return f"{service.lower()}{_CLIQUE_SUFFIX[role]}{node}"


def memory_clique(service: str, rank: int) -> str:
    """Names the clique of the GPU memory service on a node.

    Rule names.memory-clique: The clique of the GPU memory service on a node has the name of the service, `-gms-`, and the rank of the node.
    (operator: internal/dynamo/failover.go)
    """
    return f"{service.lower()}-gms-{rank}"


def scaling_group(service: str) -> str:
    """Names the scaling group of a multinode service in a PodCliqueSet."""
    return service.lower()


def clique_set(graph: str, longest: int) -> str:
    """Names the PodCliqueSet of a graph. The name is cut if it and `longest` more characters are too long for Grove.

    >>> clique_set("chat", 30), clique_set("a-graph-with-a-long-name", 30)
    ('chat', 'a-graph-wi-14b5')

    Rule names.clique-set: A PodCliqueSet has the name of the graph, which is cut if Grove's names of pods would be too long. (operator:
    internal/dynamo/graph.go PCSNameForDGD)
    """
    room = max(GROVE_LIMIT - longest, GROVE_SET_LENGTH)
    if len(graph) <= room:
        return graph
    return f"{graph[: room - 5]}-{digest.fnv32(graph) & 0xFFFF:04x}"


def grove_workload(set_name: str, service: str) -> str:
    """Names the PodClique that Grove creates for a service, or the PodCliqueScalingGroup for a service with a scaling group.

    Rule names.grove-workload: A workload that Grove makes has the name of its PodCliqueSet, the index 0, and the name of its service in
    lower case. (krm-fn)
    """
    return f"{set_name}-{_GROVE_REPLICA}-{service.lower()}"


def grove_host(service: str, role: Role, index: int | str, rank: int | None = None) -> str:
    """Names the host of a pod in a scaling group.

    Kubernetes expands the variables.

    `index` is the index of the pod in its clique, or a variable for it. `rank` is used as in `clique`.

    Rule names.grove-host: The host of a pod in a scaling group is made of variables that Grove sets in each container. (operator:
    internal/dynamo/grove.go)
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
    """Names the Job of a request.

    Rule names.profiling-job: The Job of a request has the name `profile-` and the name of the request. (operator:
    internal/controller/dynamographdeploymentrequest_controller.go createProfilingJob)
    """
    return f"profile-{request}"


def profiling_output(request: str) -> str:
    """Names the ConfigMap with the output of a profiling.

    Rule names.profiling-output: The ConfigMap with the output of a profiling has the name `dgdr-output-` and the name of the request.
    (operator: internal/controller/dynamographdeploymentrequest_controller.go)
    """
    return f"dgdr-output-{request}"


def discovery(graph: str) -> str:
    """Names the ServiceAccount of pods that use Kubernetes discovery.

    Rule names.discovery-account: The ServiceAccount of pods that use Kubernetes discovery has the name of the graph and
    `-k8s-service-discovery`. (operator: internal/discovery/resource.go)
    """
    return f"{graph}{_DISCOVERY}"


def is_discovery(name: str) -> bool:
    """Returns true for the name of a ServiceAccount for Kubernetes discovery, and of its RoleBinding."""
    return name.endswith((_DISCOVERY, binding(_DISCOVERY)))


def role(account: str) -> str:
    """Names the Role of a ServiceAccount.

    Rule names.role: A Role has the name of its ServiceAccount and `-role`. (operator: internal/discovery/resource.go)
    """
    return f"{account}-role"


def binding(account: str) -> str:
    """Names the RoleBinding of a ServiceAccount.

    Rule names.role-binding: A RoleBinding has the name of its ServiceAccount and `-binding`. (operator: internal/discovery/resource.go,
    internal/rbac/manager.go)
    """
    return f"{account}-binding"


def epp_config(graph: str) -> str:
    """Names the ConfigMap with the configuration of an endpoint picker.

    Rule names.epp-config: The ConfigMap of an endpoint picker has the name of the graph and `-epp-config`. (operator:
    internal/dynamo/epp/config.go)
    """
    return f"{graph}-epp-config"


def wait_for_leader(graph: str) -> str:
    """Names the ConfigMap with the script that waits for a leader.

    Rule names.wait-for-leader: The ConfigMap with the script that waits for a leader has the name of the graph and `-wait-leader-script`.
    (operator: internal/dynamo/backend_vllm.go GenerateWaitLeaderConfigMap)
    """
    return f"{graph}-wait-leader-script"


def gpu_claim(component: str) -> str:
    """Names the ResourceClaimTemplate of a component.

    Rule names.gpu-claim: The ResourceClaimTemplate of a component has the name of the component and `-gpu`. (operator: internal/dra)
    """
    return f"{component}-gpu"


def pool(graph: str) -> str:
    """Names the InferencePool of a graph.

    Rule names.inference-pool: An InferencePool has the name of the graph and `-pool`. (operator: internal/dynamo/epp)
    """
    return f"{graph}-pool"


def model_hash(model: str) -> str:
    """Returns the first eight hexadecimal digits of a model name's SHA-256, which are a valid label value.

    >>> model_hash("Qwen/Qwen3-0.6B")
    'fb68f5a6'
    """
    return digest.hexadecimal(model)[:8]


def model_service(model: str) -> str:
    """Names the headless Service of a model.

    Rule names.model-service: The headless Service of a model has the name `dynamo-model-` and a hash of the model's name. (operator:
    internal/dynamo/model_service.go)
    """
    return f"dynamo-model-{model_hash(model)}"
