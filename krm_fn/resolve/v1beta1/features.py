"""Reads the features that only newer releases have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from krm_fn.plan.features import Checkpoint, Failover, Features, GPUMemory, GraphFeatures, KVTransfer, Topology
from krm_fn.resolve.v1beta1.fields import MAIN

_BETWEEN_PODS = "InterPod"


def component(written: dict[str, Any]) -> Features:
    """The features of a component. `written` is as its author wrote it, without what its graph adds."""
    experimental, names = written.get("experimental") or {}, tuple(_containers(written))
    return Features(
        runtime_version=written.get("runtimeVersionOverride") or "",
        min_available=written.get("minAvailable"),
        frontend_sidecar=written.get("frontendSidecar") or "",
        topology=_topology(written.get("topologyConstraint")),
        gpu_memory=_gpu_memory(experimental.get("gpuMemoryService")),
        failover=_failover(experimental.get("failover")),
        checkpoint=_checkpoint(experimental.get("checkpoint")),
        grouped=bool((experimental.get("grove") or {}).get("forceScalingGroup")),
        overrides_provider=written.get("providerOverride") is not None,
        overridden_roles=tuple(_overridden_roles(written.get("multinode") or {})),
        containers=names,
        written_main=MAIN in names,
    )


def graph(spec: dict[str, Any]) -> GraphFeatures:
    """The features of a graph."""
    return GraphFeatures(
        framework=spec.get("backendFramework") or "",
        labels=spec.get("labels") or {},
        annotations=spec.get("annotations") or {},
        priority_class=spec.get("priorityClassName") or "",
        topology=_topology(spec.get("topologyConstraint")),
        kv_transfer=_kv_transfer((spec.get("experimental") or {}).get("kvTransferPolicy")),
        overrides_provider=spec.get("providerOverride") is not None,
    )


def _containers(written: dict[str, Any]) -> Iterator[str]:
    """The names of the containers of the pod."""
    for container in ((written.get("podTemplate") or {}).get("spec") or {}).get("containers") or ():
        yield container.get("name") or ""


def _overridden_roles(several: dict[str, Any]) -> Iterator[str]:
    for role in ("leader", "worker"):
        if (several.get(role) or {}).get("providerOverride") is not None:
            yield role


def _topology(written: dict[str, Any] | None) -> Topology | None:
    return None if written is None else Topology(written.get("packDomain") or "", written.get("clusterTopologyName") or "")


def _gpu_memory(written: dict[str, Any] | None) -> GPUMemory | None:
    if written is None:
        return None
    return GPUMemory(
        between_pods=written.get("mode") == _BETWEEN_PODS,
        device_class=written.get("deviceClassName") or "gpu.nvidia.com",
        clients=tuple(written.get("extraClientContainers") or ()),
        client_pods=bool(written.get("extraClientPods")),
    )


def _failover(written: dict[str, Any] | None) -> Failover | None:
    return None if written is None else Failover(written.get("mode") == _BETWEEN_PODS, written.get("numShadows") or 1)


def _checkpoint(written: dict[str, Any] | None) -> Checkpoint | None:
    if written is None:
        return None
    return Checkpoint(bool(written.get("enabled")), written.get("checkpointRef") or "", written.get("job") is not None)


def _kv_transfer(written: dict[str, Any] | None) -> KVTransfer | None:
    if written is None:
        return None
    return KVTransfer(
        domain=written.get("domain") or "",
        label_key=written.get("labelKey") or "",
        topology=written.get("clusterTopologyName") or "",
        enforcement=written.get("enforcement") or "required",
        weight=written.get("preferredWeight"),
    )
