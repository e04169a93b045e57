"""The worker hash of a graph: eight hexadecimal digits that change whenever the pods of its workers change.

All workers of a graph share one hash. The operator names them by it, so the hash must be the operator's, digit by digit (reference:
`internal/dynamo/hash.go`, version 2 of the hash).
"""

from __future__ import annotations

from functools import cache

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import digest, go_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from krm_fn.kubernetes.types import Labels

PLACEHOLDER = "worker-hash-placeholder"
"""The worker hash in the labels of an entry. The hash cannot depend on itself."""

_LENGTH = 8

STRUCTS: go_json.Structs = {
    "Generation": {"workers": "{}Worker"},
    "Worker": {
        "labels": "?{}string",
        "annotations": "?{}string",
        "runtimeVersion": "?string",
        "roleRuntimeVersions": "?{}string",
        "spec": "Component",
    },
    "Component": {
        "backendFramework": "?string",
        "providerOverride": "?*ProviderOverride",
        "name": "string",
        "type": "?string",
        "globalDynamoNamespace": "?bool",
        "podTemplate": "?*PodTemplateSpec",
        "multinode": "?*Multinode",
        "roles": "?[]Role",
        "sharedMemorySize": "?*Quantity",
        "modelRef": "?*ModelReference",
        "frontendSidecar": "?*string",
        "compilationCache": "?*CompilationCache",
        "topologyConstraint": "?*TopologyConstraint",
        "experimental": "?*Experimental",
    },
    "ProviderOverride": {"apiVersion": "string", "target": "?string", "value": "JSON"},
    "Multinode": {"nodeCount": "int32"},
    "Role": {"name": "string", "providerOverride": "?*ProviderOverride", "podTemplate": "?*PodTemplateSpec"},
    "ModelReference": {"name": "string", "revision": "?string"},
    "CompilationCache": {"pvcName": "string", "mountPath": "?string"},
    "TopologyConstraint": {"packDomain": "string"},
    "Experimental": {
        "gpuMemoryService": "?*GPUMemoryService",
        "failover": "?*Failover",
        "grove": "?*GroveComponent",
        "checkpoint": "?*Checkpoint",
    },
    "GPUMemoryService": {"mode": "?string", "deviceClassName": "?string", "extraClientContainers": "?[]string"},
    "Failover": {"mode": "?string", "numShadows": "?int32"},
    "GroveComponent": {"forceScalingGroup": "?*bool"},
    "Checkpoint": {
        "enabled": "bool",
        "mode": "?string",
        "startupPolicy": "?string",
        "deletionPolicy": "?string",
        "checkpointRef": "?*string",
        "identity": "?*CheckpointIdentity",
        "targetContainerName": "?string",
        "job": "?*CheckpointJob",
    },
    "CheckpointIdentity": {
        "model": "string",
        "backendFramework": "string",
        "dynamoVersion": "?string",
        "tensorParallelSize": "?int32",
        "pipelineParallelSize": "?int32",
        "dtype": "?string",
        "maxModelLen": "?int32",
        "extraParameters": "?{}string",
    },
    "CheckpointJob": {"gmsClientContainers": "?[]string", "podTemplate": "?*PodTemplateSpec"},
}
"""The fields of a v1beta1 component in the order of their Go declaration. Fields that may change without new pods are not in the list."""

FIELDS = frozenset(STRUCTS["Component"])
"""The fields of a component that the hash reads. It ignores all others, such as `replicas`."""


class Worker(NamedTuple):
    """The fields of one worker component that the hash reads.

    `spec` has the `FIELDS` of a v1beta1 component with the defaults of its schema, with all that the graph adds to it, and with the graph's
    `backendFramework`. `labels` and `annotations` are those of its DynamoComponentDeployment. Both `labels` and the labels in
    `spec.podTemplate` hold `PLACEHOLDER`. `runtime_version` is empty for a runtime before 1.5.0, and `role_versions` are those of
    roles with pod templates of their own.
    """

    labels: Labels
    annotations: Labels
    runtime_version: str
    role_versions: Mapping[str, str]
    spec: Mapping[str, Any]


def worker_hash(workers: Mapping[str, Worker]) -> str:
    """Returns the worker hash of a graph.

    `workers` are by component name. Every spec must be valid by its schema.

    Rule worker-hash.value: The worker hash is a hash of the pods of all workers of a graph, so that it changes when they do. (operator:
    internal/dynamo/hash.go)
    """
    return digest.hexadecimal(text(workers))[:_LENGTH]


def text(workers: Mapping[str, Worker]) -> str:
    """Returns the JSON text that the hash is computed of."""
    entries = {
        name: {
            "labels": worker.labels,
            "annotations": worker.annotations,
            "runtimeVersion": worker.runtime_version,
            "roleRuntimeVersions": worker.role_versions,
            "spec": worker.spec,
        }
        for name, worker in workers.items()
    }
    return _encoder().text({"workers": entries}, "Generation").removeprefix('{"workers":').removesuffix("}")


@cache
def _encoder() -> go_json.Encoder:
    return go_json.Encoder({**go_json.pod_template(), **STRUCTS})
