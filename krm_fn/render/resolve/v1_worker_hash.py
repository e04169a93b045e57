"""The worker hash of Dynamo 1.2 and 1.3, which is version 1 of the hash: eight hexadecimal digits of the workers as v1alpha1 services.

Newer releases have version 2 (`worker_hash`). Unlike that, version 1 does not read what a graph adds to its workers (reference:
`api/v1alpha1/legacy_worker_hash.go`).
"""

from __future__ import annotations

from functools import cache

from krm_fn.kubernetes import digest, go_json
from krm_fn.kubernetes.values import mapping, name_of, objects
from krm_fn.render.convert import preserved_fields, reconverted_services, versions
from krm_fn.render.dynamo_api import BETA1, V1ALPHA1
from krm_fn.render.resolve.worker_hash import STRUCTS
from krm_fn.render.schema import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.kinds.releases import Feature, Release

_LENGTH = 8
_WORKERS = ("worker", "prefill", "decode")
_OF_FEATURES: Mapping[Feature, tuple[str, ...]] = {
    "checkpoint jobs": ("startupPolicy", "deletionPolicy", "targetContainerName", "job"),
    "clients of GPU memory": ("extraClientContainers",),
    "least available pods": ("minAvailable",),
}
"""The fields of services that have defaults, or that belong to a feature that a release can lack."""
_CHECKPOINT_MODE = "Auto"
"""The default mode of a checkpoint in releases without checkpoint jobs. There, a checkpoint of v1beta1 is on because it is present.

Rule worker-hash.v1.2: In Dynamo 1.2, the worker hash reads no minimum of replicas, and the default mode of a checkpoint is `Auto`.
(operator: api/v1alpha1/common.go)
"""

# The fields of a v1alpha1 service in the order of their Go declaration. Version 1 of the hash leaves out annotations, labels, the names and
# types of a service, and what changes without new pods.
_STRUCTS: go_json.Structs = {
    **{name: STRUCTS[name] for name in ("CheckpointIdentity", "CheckpointJob", "Multinode", "TopologyConstraint")},
    "Generation": {"workers": "{}Service"},
    "Service": {
        "globalDynamoNamespace": "?bool",
        "resources": "?*ServiceResources",
        "envs": "?[]EnvVar",
        "envFromSecret": "?*string",
        "volumeMounts": "?[]ServiceMount",
        "sharedMemory": "?*SharedMemory",
        "extraPodMetadata": "?*ExtraPodMetadata",
        "extraPodSpec": "?*ExtraPodSpec",
        "livenessProbe": "?*Probe",
        "readinessProbe": "?*Probe",
        "minAvailable": "?*int32",
        "multinode": "?*Multinode",
        "frontendSidecar": "?*FrontendSidecar",
        "checkpoint": "?*Checkpoint",
        "topologyConstraint": "?*TopologyConstraint",
        "gpuMemoryService": "?*GPUMemoryService",
        "failover": "?*Failover",
    },
    "ServiceResources": {"requests": "?*ServiceAmounts", "limits": "?*ServiceAmounts", "claims": "?[]ResourceClaim"},
    "ServiceAmounts": {"cpu": "?string", "memory": "?string", "gpu": "?string", "gpuType": "?string", "custom": "?{}string"},
    "ServiceMount": {"name": "?string", "mountPoint": "?string", "useAsCompilationCache": "?bool"},
    "SharedMemory": {"disabled": "?bool", "size": "Quantity"},
    "ExtraPodMetadata": {"annotations": "?{}string", "labels": "?{}string"},
    "FrontendSidecar": {"image": "string", "args": "?[]string", "envFromSecret": "?*string", "envs": "?[]EnvVar"},
    "Checkpoint": {
        "enabled": "?bool",
        "mode": "?string",
        "startupPolicy": "?string",
        "deletionPolicy": "?string",
        "checkpointRef": "?*string",
        "identity": "?*CheckpointIdentity",
        "targetContainerName": "?string",
        "job": "?*CheckpointJob",
    },
    "GPUMemoryService": {"enabled": "bool", "mode": "?string", "deviceClassName": "?string", "extraClientContainers": "?[]string"},
    "Failover": {"enabled": "bool", "mode": "?string", "numShadows": "?int32"},
}


def worker_hash(graph: Resource, release: Release) -> str:
    """Returns version 1 of the worker hash of a graph.

    `graph` is in the API version in which it was written, and valid by its schema.

    Rule worker-hash.v1: In Dynamo 1.2 and 1.3, the worker hash is a hash of the workers as v1alpha1 services, without fields of the graph.
    (operator: api/v1alpha1/legacy_worker_hash.go)
    """
    return digest.hexadecimal(text(graph, release))[:_LENGTH]


def text(graph: Resource, release: Release) -> str:
    """Returns the JSON text that version 1 of the hash is computed of."""
    workers = {"workers": _services(graph, release)}
    return _encoder(release.lacks).text(workers, "Generation").removeprefix('{"workers":').removesuffix("}")


def _services(graph: Resource, release: Release) -> dict[str, dict[str, Any]]:
    """Returns the workers of a graph as services, by name."""
    if graph.get("apiVersion") == V1ALPHA1:
        if not preserved_fields.spec(graph):
            written = mapping(table.with_defaults(graph), "spec", "services")
            workers = {name: service for name, service in written.items() if mapping(service).get("componentType") in _WORKERS}
            return {name: _with_checkpoint(reconverted_services.of_service(service), release) for name, service in workers.items()}
        graph = versions.to(BETA1, graph)
    before = mapping(preserved_fields.spec(graph).get("services"))
    components = objects(mapping(table.with_defaults(graph).get("spec")).get("components"))
    services = {
        name_of(component): reconverted_services.of_component(component, mapping(before.get(name_of(component))))
        for component in components
        if component.get("type") in _WORKERS
    }
    return {name: _with_checkpoint(service, release, enabled=True) for name, service in services.items()}


def _with_checkpoint(service: dict[str, Any], release: Release, **fields: Any) -> dict[str, Any]:
    """Returns the service with the fields that a release without checkpoint jobs writes into a checkpoint."""
    if "checkpoint jobs" not in release.lacks or service.get("checkpoint") is None:
        return service
    return {**service, "checkpoint": {"mode": _CHECKPOINT_MODE, **service["checkpoint"], **fields}}


@cache
def _encoder(lacks: tuple[Feature, ...]) -> go_json.Encoder:
    unknown = {field for feature in lacks for field in _OF_FEATURES.get(feature, ())}
    known = {name: {field: kind for field, kind in struct.items() if field not in unknown} for name, struct in _STRUCTS.items()}
    return go_json.Encoder({**reconverted_services.structs(), **known})
