"""The path of each field of a plan in `nvidia.com/v1beta1`, for messages and field paths. `*` stands for an index of a list."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.kube import labels
from krm_fn.plan.address import Address, Book

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krm_fn.kube.types import Resource
    from krm_fn.plan.address import Field, GraphField, Remedy
    from krm_fn.results import Path

MAIN = "main"
INHERITED = (labels.ENABLE_METRICS, labels.DISCOVERY_BACKEND, labels.DISCOVERY_MODE, labels.ORIGIN_VERSION, labels.EXECUTOR_BACKEND)
"""The annotations that a graph hands down to its components."""

_POLICY: Path = ("spec", "experimental", "kvTransferPolicy")
REMEDIES: Mapping[Remedy, str] = {
    "scaling_adapter.off": "remove scalingAdapter",
    "scaling_adapter.on": "write scalingAdapter: {}",
    "shared_memory.off": 'write sharedMemorySize: "0"',
}

STANDALONE: Mapping[GraphField, Path] = {"backend": ("spec", "backendFramework")}
"""The fields of a graph that a standalone component has, too."""
GRAPH: Mapping[GraphField, Path] = {
    "adapter.component": ("spec", "dgdRef", "componentName"),  # of an adapter, not of a graph
    "annotations": ("spec", "annotations"),
    **STANDALONE,
    # Only graphs that were written as v1alpha1 have claims. Their conversion keeps them in an annotation.
    "claim.access_mode": ("metadata", "annotations", labels.PRESERVED_GRAPH),
    "claim.create": ("metadata", "annotations", labels.PRESERVED_GRAPH),
    "claim.name": ("metadata", "annotations", labels.PRESERVED_GRAPH),
    "claim.size": ("metadata", "annotations", labels.PRESERVED_GRAPH),
    "claim.storage_class": ("metadata", "annotations", labels.PRESERVED_GRAPH),
    "components": ("spec", "components"),
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
    spec, address = resource.get("spec") or {}, results.ref(resource)
    if address.kind == "DynamoComponentDeployment":
        return Book(address, lambda _: _address(("spec",), spec), STANDALONE)
    places = {component.get("name") or "": index for index, component in enumerate(spec.get("components") or ())}

    def component(name: str) -> Address:
        index = places.get(name)
        path: Path = ("spec", "components") if index is None else ("spec", "components", index)
        return _address(path, _nth(spec, index))._replace(inherited=inherited(resource))

    return Book(address, component, GRAPH)


def inherited(resource: Resource) -> Mapping[str, Path]:
    """The paths of the annotations that the components of a graph have from it."""
    spec, own = resource.get("spec") or {}, labels.notes(resource)
    handed_down: dict[str, Path] = {key: ("metadata", "annotations", key) for key in INHERITED if key in own}
    return {**{key: ("spec", "annotations", key) for key in spec.get("annotations") or ()}, **handed_down}


def _nth(spec: dict[str, Any], index: int | None) -> dict[str, Any]:
    found: dict[str, Any] = {} if index is None else spec["components"][index]
    return found


def _address(path: Path, written: dict[str, Any]) -> Address:
    containers = ((written.get("podTemplate") or {}).get("spec") or {}).get("containers") or ()
    names = [container.get("name") for container in containers]
    main = names.index(MAIN) if MAIN in names else 0
    beside: tuple[Path, ...] = tuple(("podTemplate", "spec", "containers", index) for index, name in enumerate(names) if name != MAIN)
    return Address(path, _fields(main), REMEDIES, beside)


@lru_cache(maxsize=16)  # the main container has one of few indices
def _fields(index: int) -> Mapping[Field, Path]:
    """The paths below a component whose main container has this index."""
    pod: Path = ("podTemplate", "spec")
    metadata: Path = ("podTemplate", "metadata")
    main: Path = (*pod, "containers", index)
    return {
        "component": ("name",),
        "annotations": (*metadata, "annotations"),
        "cache": ("compilationCache",),
        "cache.claim": ("compilationCache", "pvcName"),
        "cache.path": ("compilationCache", "mountPath"),
        "checkpoint": ("experimental", "checkpoint"),
        "checkpoint.job": ("experimental", "checkpoint", "job"),
        "containers": (*pod, "containers"),
        "failover": ("experimental", "failover"),
        "frontend_sidecar": ("frontendSidecar",),
        "gpu_memory": ("experimental", "gpuMemoryService"),
        "gpu_memory.client_pods": ("experimental", "gpuMemoryService", "extraClientPods"),
        "gpu_memory.clients": ("experimental", "gpuMemoryService", "extraClientContainers", "*"),
        "gpu_memory.mode": ("experimental", "gpuMemoryService", "mode"),
        "grouped": ("experimental", "grove", "forceScalingGroup"),
        "variables": (*main, "env"),
        "gpus": (*main, "resources", "limits", "nvidia.com/gpu"),
        "gpus.request": (*main, "resources", "requests", "nvidia.com/gpu"),
        **dict.fromkeys(_WITHOUT_HOME, ()),
        "labels": (*metadata, "labels"),
        "liveness": (*main, "livenessProbe"),
        "main": main,
        "min_available": ("minAvailable",),
        "model": ("modelRef", "name"),
        "mount": (*main, "volumeMounts", "*"),
        "mount.cache": ("compilationCache",),
        "mount.name": (*main, "volumeMounts", "*", "name"),
        "mount.path": (*main, "volumeMounts", "*", "mountPath"),
        "nodes": ("multinode",),
        "picker": ("eppConfig",),
        "picker.config": ("eppConfig", "config"),
        "picker.reference": ("eppConfig", "configMapRef"),
        "pod": pod,
        "pod.annotations": (*metadata, "annotations"),
        "pod.labels": (*metadata, "labels"),
        "provider_override": ("providerOverride",),
        "readiness": (*main, "readinessProbe"),
        "replicas": ("replicas",),
        "resources": (*main, "resources"),
        "role_override": ("multinode", "*", "providerOverride"),
        "runtime_version": ("runtimeVersionOverride",),
        "scaling_adapter": ("scalingAdapter",),
        "shared_memory": ("sharedMemorySize",),
        "shared_memory.size": ("sharedMemorySize",),
        "sub_type": ("type",),
        "topology": ("topologyConstraint",),
        "type": ("type",),
    }


_WITHOUT_HOME: tuple[Field, ...] = (
    "ingress",
    "ingress.annotations",
    "ingress.class",
    "ingress.gateway",
    "ingress.host",
    "ingress.labels",
    "ingress.suffix",
    "ingress.tls",
    "ingress.virtual_service",
)
"""Only v1alpha1 has an ingress. A component that was converted keeps it in an annotation of the graph."""
