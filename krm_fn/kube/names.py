"""The names of all generated objects with their length limits, and the names that Grove derives from them.

Follows the reference's `internal/dynamo/graph.go` (GetDynamoComponentName and neighbours) and `model_service.go`.
"""

from __future__ import annotations

import re

from krm_fn.kube import digest
from krm_fn.kube.types import Role

SERVICE_LIMIT = 63  # DNS-1035 label
LABEL_LIMIT = 63  # label value
GROUP_LIMIT = 50  # LeaderWorkerSet: its StatefulSet adds "-0", and the label of its pods adds "-" and a hash of ten characters
GROVE_LIMIT = 45  # graph, scaling group and clique in total
GROVE_SET_LENGTH = 8  # the name of a PodCliqueSet is not cut to fewer characters
SERVICE = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")

PROFILED = "config_with_planner.yaml"
PROFILED_MOCKER = "mocker_config_with_planner.yaml"
"""The files of the profiler, and the keys of the ConfigMap with its output: the graph for the real engine, and that for the mocker."""
CONFIG_MAP_LIMIT = 2**20  # bytes of all its values

GLOBAL_NAMESPACE = "dynamo"
_CLIQUE_SUFFIX: dict[Role, str] = {"main": "", "leader": "-ldr", "worker": "-wkr"}
PLANNER_ACCOUNT = "planner-serviceaccount"
EPP_ACCOUNT = "epp-serviceaccount"
PROFILING_ACCOUNT = "dgdr-profiling-job"
GROVE_KINDS = ("PodClique", "PodCliqueScalingGroup")
"""The kinds that Grove creates for the services of a PodCliqueSet."""
_GROVE_REPLICA = 0  # the only replica of a graph's PodCliqueSet


def component(graph: str, service: str) -> str:
    """The name of the objects of one service: workload, Service, Ingress and scaling adapter."""
    return f"{graph}-{service.lower()}"


def service(component: str) -> str:
    """The Service of a component, for releases in which the name of a graph may have dots.

    >>> service("llm.v1-frontend")
    'llm-v1-frontend'
    """
    return component.replace(".", "-").lower()


def label_value(name: str) -> str:
    """A name as a label value. A longer name is cut, and ends with eight digits of its SHA-256 (reference: getK8sDiscoveryLabelValue)."""
    if len(name) <= LABEL_LIMIT:
        return name
    digits = digest.hexadecimal(name)[:8]
    return f"{name[: LABEL_LIMIT - len(digits) - 1]}-{digits}"


def dynamo_namespace(namespace: str, graph: str, *, shared: bool) -> str:
    """The Dynamo namespace, which discovery uses. It is not a Kubernetes namespace (reference: ComputeDynamoNamespace)."""
    return GLOBAL_NAMESPACE if shared else f"{namespace}-{graph}"


def production(name: str) -> str:
    """The Service of the production pods in stealing-traffic debug mode."""
    return f"{name}-p"


def debug(name: str) -> str:
    """The debug Deployment, and its Service."""
    return f"{name}-d"


def instance(name: str, index: int) -> str:
    """The LeaderWorkerSet of one replica of a multinode component, and its PodGroup."""
    return f"{name}-{index}"


def instance_of(name: str, other: str) -> int | None:
    """The index of the replica of `name` whose name is `other`: the inverse of `instance`. None if `other` is no such name.

    >>> instance_of("chat-decode", "chat-decode-12"), instance_of("chat-decode", "chat-decode-012")
    (12, None)
    """
    found = re.fullmatch(re.escape(name) + "-(0|[1-9][0-9]{0,8})", other)
    return int(found[1]) if found else None


def clique(service: str, role: Role, rank: int | None = None) -> str:
    """The clique of a service in a PodCliqueSet. In a multinode service the name ends with the role of the pods.

    If each node has a clique of its own, the name of a worker's clique ends with the rank of the node.
    """
    node = f"-{rank}" if rank and role == "worker" else ""
    return f"{service.lower()}{_CLIQUE_SUFFIX[role]}{node}"


def memory_clique(service: str, rank: int) -> str:
    """The clique of the GPU memory service for the node with this rank."""
    return f"{service.lower()}-gms-{rank}"


def scaling_group(service: str) -> str:
    """The scaling group of a multinode service in a PodCliqueSet."""
    return service.lower()


def clique_set(graph: str, longest: int) -> str:
    """The PodCliqueSet of a graph. Its name is cut if it and `longest` more characters are too long for Grove (reference: PCSNameForDGD).

    >>> clique_set("chat", 30), clique_set("a-graph-with-a-long-name", 30)
    ('chat', 'a-graph-wi-14b5')
    """
    room = max(GROVE_LIMIT - longest, GROVE_SET_LENGTH)
    if len(graph) <= room:
        return graph
    return f"{graph[: room - 5]}-{digest.fnv32(graph) & 0xFFFF:04x}"


def grove_workload(set_name: str, service: str) -> str:
    """The PodClique that Grove creates for a service, or the PodCliqueScalingGroup for a service with a scaling group."""
    return f"{set_name}-{_GROVE_REPLICA}-{service.lower()}"


def grove_host(service: str, role: Role, index: int | str, rank: int | None = None) -> str:
    """The host of a pod in a scaling group. Grove sets the variables in every container, and Kubernetes expands them.

    `index` is the index of the pod in its clique, or a variable for it. `rank` is used as in `clique`.
    """
    return f"$(GROVE_PCSG_NAME)-$(GROVE_PCSG_INDEX)-{clique(service, role, rank)}-{index}.$(GROVE_HEADLESS_SERVICE)"


def graph_of(kind: str, name: str, service: str) -> str:
    """The graph in a workload's name: the inverse of `component`, `instance` and `grove_workload`. Empty for other names.

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
    found = component_of(kind, name)
    return found.removesuffix(ending) if found.endswith(ending) else found.rpartition(f"{ending}-")[0]


def component_of(kind: str, name: str) -> str:
    """The name of the component in a workload's name. A LeaderWorkerSet's name ends with the index of its replica."""
    return name.rpartition("-")[0] if kind == "LeaderWorkerSet" else name


def profiling_job(request: str) -> str:
    """The Job of a request, as in the reference."""
    return f"profile-{request}"


def profiling_output(request: str) -> str:
    """The ConfigMap with the output of a request's Job, as in the reference."""
    return f"dgdr-output-{request}"


def discovery(graph: str) -> str:
    """The ServiceAccount of pods that use Kubernetes discovery."""
    return f"{graph}-k8s-service-discovery"


def role(account: str) -> str:
    """The Role of a service account."""
    return f"{account}-role"


def binding(account: str) -> str:
    """The RoleBinding of a service account."""
    return f"{account}-binding"


def epp_config(graph: str) -> str:
    """The ConfigMap of an endpoint picker with inline configuration."""
    return f"{graph}-epp-config"


def wait_for_leader(graph: str) -> str:
    """The ConfigMap with the script by which followers wait for their leader."""
    return f"{graph}-wait-leader-script"


def gpu_claim(component: str) -> str:
    """The ResourceClaimTemplate of a component whose engines share GPUs."""
    return f"{component}-gpu"


def pool(graph: str) -> str:
    """The InferencePool of a graph."""
    return f"{graph}-pool"


def model_hash(model: str) -> str:
    """The first eight hexadecimal digits of a model name's SHA-256, which are a valid label value.

    >>> model_hash("Qwen/Qwen3-0.6B")
    'fb68f5a6'
    """
    return digest.hexadecimal(model)[:8]


def model_service(model: str) -> str:
    """The headless Service that selects the pods of one model."""
    return f"dynamo-model-{model_hash(model)}"
