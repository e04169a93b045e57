"""The path of each field of a plan in `nvidia.com/v1alpha1`, for messages and field paths. `*` stands for an index of a list."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.plan.address import Address, Book

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krm_fn.kube.types import Resource
    from krm_fn.plan.address import Field, GraphField, Remedy, RequestField
    from krm_fn.results import Path

COMPONENT: Mapping[Field, Path] = {
    "component": (),
    "annotations": ("annotations",),
    "cache": ("volumeMounts",),
    "cache.claim": ("volumeMounts",),
    "cache.path": ("volumeMounts",),
    "checkpoint": ("checkpoint",),
    "checkpoint.job": ("checkpoint", "job"),
    "containers": ("extraPodSpec", "mainContainer"),
    "failover": ("failover",),
    "frontend_sidecar": ("frontendSidecar",),
    "gpu_memory": ("gpuMemoryService",),
    "gpu_memory.client_pods": ("gpuMemoryService", "extraClientPods"),
    "gpu_memory.clients": ("gpuMemoryService", "extraClientContainers", "*"),
    "gpu_memory.mode": ("gpuMemoryService", "mode"),
    "grouped": (),  # only v1beta1 has it
    "variables": ("envs",),
    "gpus": ("resources", "limits", "gpu"),
    "gpus.request": ("resources", "requests", "gpu"),
    "ingress": ("ingress",),
    "ingress.annotations": ("ingress", "annotations"),
    "ingress.class": ("ingress", "ingressControllerClassName"),
    "ingress.gateway": ("ingress", "virtualServiceGateway"),
    "ingress.host": ("ingress", "host"),
    "ingress.labels": ("ingress", "labels"),
    "ingress.suffix": ("ingress", "hostSuffix"),
    "ingress.tls": ("ingress", "tls", "secretName"),
    "ingress.virtual_service": ("ingress", "useVirtualService"),
    "labels": ("labels",),
    "liveness": ("livenessProbe",),
    "main": ("extraPodSpec", "mainContainer"),
    "min_available": ("minAvailable",),
    "model": ("modelRef", "name"),
    "mount": ("volumeMounts", "*"),
    "mount.cache": ("volumeMounts", "*", "useAsCompilationCache"),
    "mount.name": ("volumeMounts", "*", "name"),
    "mount.path": ("volumeMounts", "*", "mountPoint"),
    "nodes": ("multinode",),
    "picker": ("eppConfig",),
    "picker.config": ("eppConfig", "config"),
    "picker.reference": ("eppConfig", "configMapRef"),
    "pod": ("extraPodSpec",),
    "pod.annotations": ("extraPodMetadata", "annotations"),
    "pod.labels": ("extraPodMetadata", "labels"),
    "provider_override": ("providerOverride",),
    "readiness": ("readinessProbe",),
    "replicas": ("replicas",),
    "resources": ("resources",),
    "role_override": ("multinode", "*", "providerOverride"),
    "runtime_version": ("runtimeVersionOverride",),
    "scaling_adapter": ("scalingAdapter",),
    "shared_memory": ("sharedMemory",),
    "shared_memory.size": ("sharedMemory", "size"),
    "sub_type": ("subComponentType",),
    "topology": ("topologyConstraint",),
    "type": ("componentType",),
}

_POLICY: Path = ("spec", "experimental", "kvTransferPolicy")
REMEDIES: Mapping[Remedy, str] = {
    "scaling_adapter.off": "set scalingAdapter.enabled: false",
    "scaling_adapter.on": "set scalingAdapter.enabled: true",
    "shared_memory.off": "set sharedMemory.disabled: true",
}

STANDALONE: Mapping[GraphField, Path] = {"backend": ("spec", "backendFramework")}
"""The fields of a graph that a standalone component has, too."""
GRAPH: Mapping[GraphField, Path] = {
    "adapter.component": ("spec", "dgdRef", "serviceName"),  # of an adapter, not of a graph
    "annotations": ("spec", "annotations"),
    **STANDALONE,
    "claim.access_mode": ("spec", "pvcs", "*", "volumeAccessMode"),
    "claim.create": ("spec", "pvcs", "*", "create"),
    "claim.name": ("spec", "pvcs", "*", "name"),
    "claim.size": ("spec", "pvcs", "*", "size"),
    "claim.storage_class": ("spec", "pvcs", "*", "storageClass"),
    "components": ("spec", "services"),
    "labels": ("spec", "labels"),
    "kv_transfer": _POLICY,
    "kv_transfer.label": (*_POLICY, "labelKey"),
    "kv_transfer.topology": (*_POLICY, "clusterTopologyName"),
    "kv_transfer.weight": (*_POLICY, "preferredWeight"),
    "priority_class": ("spec", "priorityClassName"),
    "provider_override": ("spec", "providerOverride"),
    "restart": ("spec", "restart"),
    "restart.order": ("spec", "restart", "strategy", "order"),
    "restart.strategy": ("spec", "restart", "strategy"),
    "topology": ("spec", "topologyConstraint"),
    "topology.domain": ("spec", "topologyConstraint", "packDomain"),
}


def book(resource: Resource) -> Book:
    """The addresses of a graph or a standalone component. A standalone component has one address, whatever its name."""
    services, address = (resource.get("spec") or {}).get("services") or {}, results.ref(resource)
    if address.kind == "DynamoComponentDeployment":
        return Book(address, lambda _: _address(("spec",), resource.get("spec") or {}), STANDALONE)
    return Book(address, lambda name: _address(("spec", "services", name), services.get(name) or {}), GRAPH)


def _address(path: Path, written: dict[str, Any]) -> Address:
    containers = (written.get("extraPodSpec") or {}).get("containers") or ()
    mounts = written.get("volumeMounts") or ()
    cache = next((index for index, mount in enumerate(mounts) if mount.get("useAsCompilationCache")), None)
    beside: tuple[Path, ...] = tuple(("extraPodSpec", "containers", index) for index in range(len(containers)))
    return Address(path, COMPONENT if cache is None else _fields(cache), REMEDIES, beside)


@lru_cache(maxsize=16)  # the mount of the cache has one of few indices
def _fields(cache: int) -> Mapping[Field, Path]:
    """The paths below a service with the mount of its compilation cache at this index."""
    mount: Path = ("volumeMounts", cache)
    return {**COMPONENT, "cache": mount, "cache.claim": (*mount, "name"), "cache.path": (*mount, "mountPoint")}


_PROFILING: Path = ("spec", "profilingConfig")
_SETTINGS: Path = (*_PROFILING, "config")
_CACHE: Path = (*_SETTINGS, "deployment", "modelCache")
_OVERRIDES: Path = ("spec", "deploymentOverrides")

REQUEST: Mapping[RequestField, Path] = {
    "base.key": (*_PROFILING, "configMapRef", "key"),
    "base.name": (*_PROFILING, "configMapRef", "name"),
    "cache": _CACHE,
    "cache.claim": (*_CACHE, "pvcName"),
    "cache.path": (*_CACHE, "mountPath"),
    "gpu_discovery": ("spec", "enableGpuDiscovery"),
    "image": (*_PROFILING, "profilerImage"),
    "output_claim": (*_PROFILING, "outputPVC"),
    "overrides.annotations": (*_OVERRIDES, "annotations"),
    "overrides.labels": (*_OVERRIDES, "labels"),
    "overrides.name": (*_OVERRIDES, "name"),
    "overrides.namespace": (*_OVERRIDES, "namespace"),
    "profiling": _PROFILING,
    "resources": (*_PROFILING, "resources"),
    "settings": _SETTINGS,
    "tolerations": (*_PROFILING, "tolerations"),
}
