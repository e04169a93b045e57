"""Every object name the function gives, its length limit and its hash.

Follows the reference's `internal/dynamo/graph.go` (GetDynamoComponentName and neighbours) and `model_service.go`.
"""

from __future__ import annotations

import re
from hashlib import sha256

from krm_fn.kube.types import Role

SERVICE_LIMIT = 63  # DNS-1035 label
LABEL_LIMIT = 63  # label value
GROUP_LIMIT = 50  # LeaderWorkerSet: "-0" makes it a StatefulSet, "-" and a hash of ten the label that its pods carry
GROVE_LIMIT = 45  # graph, scaling group and clique together
SERVICE = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")

GLOBAL_NAMESPACE = "dynamo"
_CLIQUE_SUFFIX: dict[Role, str] = {"main": "", "leader": "-ldr", "worker": "-wkr"}
PLANNER_ACCOUNT = "planner-serviceaccount"
EPP_ACCOUNT = "epp-serviceaccount"


def component(graph: str, service: str) -> str:
    """The name of everything that carries one service: workload, Service, Ingress, scaling adapter."""
    return f"{graph}-{service.lower()}"


def dynamo_namespace(namespace: str, graph: str, *, shared: bool) -> str:
    """The name space of Dynamo's own discovery, not of Kubernetes (reference: ComputeDynamoNamespace)."""
    return GLOBAL_NAMESPACE if shared else f"{namespace}-{graph}"


def production(name: str) -> str:
    """The Service that keeps production traffic away from a debug Deployment."""
    return f"{name}-p"


def debug(name: str) -> str:
    """The debug Deployment and its Service."""
    return f"{name}-d"


def instance(name: str, index: int) -> str:
    """One replica of a multinode component, and its PodGroup."""
    return f"{name}-{index}"


def clique(service: str, role: Role) -> str:
    """A Grove clique: the service's name, and for several nodes which side of it."""
    return f"{service.lower()}{_CLIQUE_SUFFIX[role]}"


def discovery(graph: str) -> str:
    """The service account of pods that discover each other through the Kubernetes API."""
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


def pool(graph: str) -> str:
    """The InferencePool of a graph."""
    return f"{graph}-pool"


def model_hash(model: str) -> str:
    """The first eight hex digits of a model name's SHA-256, fit for labels.

    >>> model_hash("Qwen/Qwen3-0.6B")
    'fb68f5a6'
    """
    return sha256(model.encode()).hexdigest()[:8]


def model_service(model: str) -> str:
    """The headless Service through which the pods of one model are found."""
    return f"dynamo-model-{model_hash(model)}"
