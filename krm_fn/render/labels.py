"""Keys of all labels and annotations that the function reads or writes, and readers of both.

Only `krm_fn.kubernetes.identity` holds other key strings. Follows the operator's `internal/consts/consts.go`.
"""

from krm_fn.kubernetes import identity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# written by Dynamo on objects and pods
SELECTOR = "nvidia.com/selector"
GRAPH = "nvidia.com/dynamo-graph-deployment-name"
COMPONENT = "nvidia.com/dynamo-component"
NAMESPACE = "nvidia.com/dynamo-namespace"
COMPONENT_TYPE = "nvidia.com/dynamo-component-type"
SUB_COMPONENT_TYPE = "nvidia.com/dynamo-sub-component-type"
TARGET_TYPE = "nvidia.com/dynamo-deployment-target-type"
BASE_MODEL = "nvidia.com/dynamo-base-model"
BASE_MODEL_HASH = "nvidia.com/dynamo-base-model-hash"
DISCOVERY_ENABLED = "nvidia.com/dynamo-discovery-enabled"
METRICS_ENABLED = "nvidia.com/metrics-enabled"
MODEL_MANAGED_BY = "nvidia.com/managed-by"
OPERATOR = "dynamo-operator"  # its value
RESTART_AT = "nvidia.com/restartAt"
WORKER_HASH = "nvidia.com/dynamo-worker-hash"
COMPONENT_CLASS = "nvidia.com/dynamo-component-class"
WORKER_CLASS = "worker"  # its only value

FAILOVER_GROUP = "nvidia.com/dynamo-failover-engine-group-member"  # on engines that a controller deletes together

# annotations that an operator of 1.0 or later writes on graphs; users of such an operator have them in their exported graphs
ORIGIN_VERSION = "nvidia.com/dynamo-operator-origin-version"
WORKER_HASH_V1 = "nvidia.com/current-worker-hash"
WORKER_HASH_V2 = "nvidia.com/current-worker-hash-v2"
WORKLOAD_PROVIDER = "nvidia.com/workload-provider"
PRESERVED_GRAPH = "nvidia.com/dgd-spec"
PRESERVED_GRAPH_STATUS = "nvidia.com/dgd-status"
PRESERVED_COMPONENT = "nvidia.com/dcd-spec"
PRESERVED_COMPONENT_STATUS = "nvidia.com/dcd-status"
PRESERVED_REQUEST = "nvidia.com/dgdr-spec"
PRESERVED_REQUEST_STATUS = "nvidia.com/dgdr-status"
PRESERVED = frozenset(
    (
        *(PRESERVED_GRAPH, PRESERVED_GRAPH_STATUS, PRESERVED_COMPONENT, PRESERVED_COMPONENT_STATUS),
        *(PRESERVED_REQUEST, PRESERVED_REQUEST_STATUS),
    )
)
"""Annotations with fields that one version of the API does not have (`krm_fn.render.convert.preserved_fields`)."""

# written by an operator on each object for itself; a user writes none of them
LAST_APPLIED_HASH = "nvidia.com/last-applied-hash"
LAST_APPLIED_GENERATION = "nvidia.com/last-applied-generation"

# the topology of workers: annotations that name the node label to copy, and the prefix of the labels that a controller copies to pods
TOPOLOGY_KEY = "nvidia.com/topology-label-key"
TOPOLOGY_NAME = "nvidia.com/topology-cluster-topology-name"
TOPOLOGY_PREFIX = "nvidia.com/dynamo-topology."

# requests: the label of a profiling Job and its pods, and the labels of the graph that a request creates
REQUEST = "dgdr"
REQUEST_APP = "app"
REQUEST_NAME = "dgdr.nvidia.com/name"
REQUEST_NAMESPACE = "dgdr.nvidia.com/namespace"

# annotations that users set; the discovery backend is also a label on Services
DISCOVERY_BACKEND = "nvidia.com/dynamo-discovery-backend"
ENABLE_METRICS = "nvidia.com/enable-metrics"
ENABLE_GROVE = "nvidia.com/enable-grove"
DISCOVERY_MODE = "nvidia.com/dynamo-kube-discovery-mode"
EXECUTOR_BACKEND = "nvidia.com/vllm-distributed-executor-backend"
NO_PULL_SECRETS = "nvidia.com/disable-image-pull-secret-discovery"
STRATEGY = "nvidia.com/deployment-strategy"
MAX_SURGE = "nvidia.com/deployment-rolling-update-max-surge"
MAX_UNAVAILABLE = "nvidia.com/deployment-rolling-update-max-unavailable"
DEBUG = "nvidia.com/enable-debug-mode"
STEALING_DEBUG = "nvidia.com/enable-stealing-traffic-debug-mode"
COMPONENT_POD = "nvidia.com/dynamo-component-pod"
POWER_LIMIT = "dynamo.nvidia.com/gpu-power-limit"  # in watts, on pods
KAI_QUEUE_NAME = "nvidia.com/kai-scheduler-queue"
VOLCANO_QUEUE_NAME = "nvidia.com/volcano-queue"
GROVE_UPDATE_STRATEGY = "nvidia.com/grove-update-strategy"

# written by Kubernetes
POD_CLAIM = "resource.kubernetes.io/pod-claim-name"  # on a claim that was made for one pod

# read by other programs
MESH_SIDECAR = "sidecar.istio.io/inject"

# groups of pods on several nodes
ROLE = "role"
INSTANCE = "instance-id"
POD_GROUP = "scheduling.k8s.io/group-name"

# Kubernetes' labels and annotations
DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"
MANAGED_BY = "app.kubernetes.io/managed-by"
PART = "app.kubernetes.io/component"
APP_NAME = "app.kubernetes.io/name"
PART_OF = "app.kubernetes.io/part-of"

# written by Kubernetes on the pods of a Job
JOB_NAME = "batch.kubernetes.io/job-name"
OLD_JOB_NAME = "job-name"

# written by Grove on the objects that it creates
GROVE_GROUP = "grove.io/podcliquescalinggroup"
GROVE_MANAGER = "grove-operator"

# written by the controller of LeaderWorkerSets on the objects of a DisaggregatedSet
SET_NAME = "disaggregatedset.x-k8s.io/name"
SET_ROLE = "disaggregatedset.x-k8s.io/role"

# written by this function
PREFIX = "dynamo.krm-fn.io/"
OWNER = PREFIX + "owner"
WORKLOADS = PREFIX + "workloads"
SUMMARY = PREFIX + "summary"
SPEC_HASH = PREFIX + "spec-hash"
ORCHESTRATOR = PREFIX + "orchestrator"
RENDERED_BY = PREFIX + "rendered-by"
RESTART = PREFIX + "restart"  # its only value is `sync`: the syncer restarts the services
PROFILE_HASH = PREFIX + "profile-hash"  # of all that profiling depends on: on a request, its Job and its output
OUTPUT_HASH = PREFIX + "output-hash"  # of the output as the profiler wrote it
SET_REVISION = PREFIX + "revision"  # of the pod templates of a DisaggregatedSet, on the LeaderWorkerSets of its roles
ROLLOUT_GROUP = PREFIX + "rollout-group"  # written by users: the workers that roll out together with prefill and decode
IGNORE = PREFIX + "ignore"  # written by users: codes of findings to leave out
SETTINGS = "config." + PREFIX  # written by users: a key of the configuration, on a graph that is its own functionConfig
WORKER_HASH_SETTING = SETTINGS + "workerHash"  # on any graph
MANAGER = "krm-fn"

# orchestrators of KRM functions
FUNCTION = "config.kubernetes.io/function"
LOCAL_CONFIG = "config.kubernetes.io/local-config"
PATH = "internal.config.kubernetes.io/path"
LEGACY_PATH = "config.kubernetes.io/path"
INDEX = "internal.config.kubernetes.io/index"
LEGACY_INDEX = "config.kubernetes.io/index"
ORIGIN = "config.kubernetes.io/origin"
SEQINDENT = "internal.config.kubernetes.io/seqindent"
PACKAGE_PATH = "internal.config.kubernetes.io/package-path"
INTERNAL = (
    "internal.config.kubernetes.io/",
    "config.kubernetes.io/",
    "config.k8s.io/",
    "kustomize.config.k8s.io/",
    "internal.config.k8s.io/",
)

# annotations that kustomize and kpt write for themselves
_TOOL_KEYS = (FUNCTION, LEGACY_PATH, LEGACY_INDEX)
_TOOL_PREFIXES = ("internal.config.kubernetes.io/", "internal.config.k8s.io/", "config.k8s.io/", "kustomize.config.k8s.io/")

# make Argo CD, Flux and kpt keep the data of a graph that is removed from Git
RETAIN = {
    "argocd.argoproj.io/sync-options": "Prune=false,Delete=false",
    "kustomize.toolkit.fluxcd.io/prune": "disabled",
    "client.lifecycle.config.k8s.io/deletion": "detach",
}
"""The annotations of a PersistentVolumeClaim that keep its data.

Rule metadata.keep-data: A PersistentVolumeClaim has annotations with which Argo CD, Flux and kpt keep its data when the graph leaves Git.
(krm-fn)
"""

FLUX_SUBSTITUTE = "kustomize.toolkit.fluxcd.io/substitute"

# make Argo CD and Flux leave a Job alone: Flux never applies it again, Argo CD replaces it only if its template changes, and its health
# is that of its request
RUN_ONCE = {
    "kustomize.toolkit.fluxcd.io/ssa": "IfNotPresent",
    "argocd.argoproj.io/sync-options": "Force=true,ServerSideApply=false",
    "argocd.argoproj.io/ignore-healthcheck": "true",
}
"""The annotations of a Job that runs once.

Rule metadata.run-once: A Job has annotations with which Flux leaves a Job alone that already ran, and Argo CD replaces a changed one.
(krm-fn)
"""


of = identity.labels_of
annotations = identity.annotations_of


def is_local(resource: "dict[str, Any]") -> bool:
    """Returns true for a resource that is marked as configuration of a tool, and never applied to a cluster."""
    return annotations(resource).get(LOCAL_CONFIG) == "true"


def is_unsubstituted(resource: "dict[str, Any]") -> bool:
    """Returns true for an object in which Flux replaces no variable: it has the annotation or the label that disables this."""
    return "disabled" in (annotations(resource).get(FLUX_SUBSTITUTE), of(resource).get(FLUX_SUBSTITUTE))


def without_tool_annotations(resource: "dict[str, Any]") -> "dict[str, Any]":
    """Returns the resource without the annotations that kustomize and kpt write for themselves; the same object if it has none."""
    present = annotations(resource)
    applied = {key: value for key, value in present.items() if key not in _TOOL_KEYS and not key.startswith(_TOOL_PREFIXES)}
    if len(applied) == len(present):
        return resource
    metadata = {key: value for key, value in resource["metadata"].items() if key != "annotations"}
    return {**resource, "metadata": {**metadata, "annotations": applied} if applied else metadata}
