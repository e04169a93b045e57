"""The GPU memory service beside engines in one pod: a server that starts before the other containers and runs as long as the pod.

With failover, several engines share the pod. One works, and the others wait to take over.
Follows the operator's `internal/gms` and `internal/dynamo/failover.go` buildFailoverPod.
"""

from __future__ import annotations

from krm_fn.kubernetes import merge
from krm_fn.render import engines, names
from krm_fn.render.manifests import gpu_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from krm_fn.kubernetes.native_types import Container, EnvVar, PodResourceClaim, PodSpec, Probe, ResourceClaim, VolumeMount
    from krm_fn.render.plan import ComponentPlan, GPUMemory

FOLDER = "/gms-intrapod-control"
"""The folder of the sockets in a pod.

Rule gpu-memory.in-pod-folder: The sockets of the GPU memory service in a pod are in the folder `/gms-intrapod-control`. (operator:
internal/gms)
"""
_NAME, _VOLUME, _CLAIM = "gms-server", "gms-intrapod-control", "intrapod-shared-gpu"
"""The names of the server's container, of the volume with the sockets, and of the claim.

Rule gpu-memory.in-pod-names: The GPU memory service in a pod has the container `gms-server`, volume `gms-intrapod-control`, claim
`intrapod-shared-gpu`. (operator: internal/gms)
"""
_SOCKETS: EnvVar = {"name": gpu_memory.SOCKETS, "value": FOLDER}
"""The variable with the folder of the sockets.

Rule gpu-memory.in-pod-sockets: The server and its clients know the folder of the sockets. (operator: internal/gms)
"""
_MOUNT: VolumeMount = {"name": _VOLUME, "mountPath": FOLDER}
"""The mount of the volume with the sockets.

Rule gpu-memory.in-pod-mount: The server and its clients mount the volume with the sockets. (operator: internal/gms)
"""
_SHARED: ResourceClaim = {"name": _CLAIM}
"""The claim in the resources of a container.

Rule gpu-memory.in-pod-shared: The server and its clients share the claim for the GPUs. (operator: internal/gms)
"""
_STARTS: Probe = {"exec": {"command": ["test", "-f", f"{FOLDER}/gms-ready"]}, "periodSeconds": 1, "failureThreshold": 300}
"""The startup probe of the server, in releases that have one.

Rule gpu-memory.in-pod-probe: In Dynamo 1.2, the engine starts when the GPU memory service in its pod has written the file `gms-ready`.
(operator: internal/gms)
"""
_REPLACED = (
    "DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS",
    "DYN_HEALTH_CHECK_ENABLED",
    "ENGINE_ID",
    "CONTAINER_NAME",
    "FAILOVER_LOCK_PATH",
    "DYN_SYSTEM_STARTING_HEALTH_STATUS",
    "DYN_SYSTEM_PORT",
    "DYN_SYSTEM_ENABLED",
    "DYN_FORWARDPASS_METRIC_PORT",
)
"""Variables of the main container that each engine has with a value of its own, or not at all."""


def share_in_pod(pod: PodSpec, plan: ComponentPlan, memory: GPUMemory) -> PodSpec:
    """Returns a pod spec with the GPU memory service and its clients.

    The clients are the main container and the containers that the user names.

    Rule gpu-memory.in-pod: A GPU memory service in a pod has a claim, a volume for its sockets, and the server as an init container.
    (operator: internal/gms)
    """
    main, *sidecars = pod["containers"]
    claim: PodResourceClaim = {"name": _CLAIM, "resourceClaimTemplateName": names.gpu_claim(plan.identity.name)}
    others = [_client(container) if container.get("name") in memory.clients else container for container in sidecars]
    init_containers = pod.get("initContainers") or []
    return {
        **gpu_memory.tolerant(pod),
        "containers": [_client(gpu_memory.without_gpus(main)), *others],
        "initContainers": init_containers
        if any(container.get("name") == _NAME for container in init_containers)
        else [*init_containers, _server(main, plan)],
        "volumes": _with(pod.get("volumes"), {"name": _VOLUME, "emptyDir": {}}),
        "resourceClaims": _with(pod.get("resourceClaims"), claim),
    }


def _client(container: Container) -> Container:
    resources = container.get("resources") or {}
    return {
        **container,
        "env": _with(container.get("env"), _SOCKETS),
        "volumeMounts": _with(container.get("volumeMounts"), _MOUNT),
        "resources": {**resources, "claims": _with(resources.get("claims"), _SHARED)},
    }


def _server(main: Container, plan: ComponentPlan) -> Container:
    """Makes the container of the GPU memory service.

    Rule gpu-memory.in-pod-server: The GPU memory service in a pod starts before the engine and runs as long as the pod. (operator:
    internal/gms)
    """
    image: Container = {"image": main["image"]} if main.get("image") else {}
    return {
        "name": _NAME,
        **image,
        "command": ["python3", "-m", gpu_memory.SERVER],
        "env": [_SOCKETS],
        **({"startupProbe": _STARTS} if plan.release.probes_gpu_memory else {}),
        "resources": {"claims": [_SHARED]},
        "restartPolicy": "Always",
        "volumeMounts": [_MOUNT],
    }


def _with(listed: Iterable[Any] | None, added: Any) -> list[Any]:
    """Returns the list with an entry, in place of the entry with its name or at the end."""
    entries = list(listed or ())
    index = next((index for index, entry in enumerate(entries) if entry.get("name") == added["name"]), len(entries))
    return [*entries[:index], added, *entries[index + 1 :]]


def with_engines(pod: PodSpec, plan: ComponentPlan, count: int) -> PodSpec:
    """Returns the pod with so many engines in place of the main container."""
    main, *sidecars = pod["containers"]
    engine = engines.get(plan.engine)
    containers = [engine.one_of_several(_engine(main, plan, index), index, plan) for index in range(count)]
    return {**pod, "containers": [*containers, *sidecars]}


def _engine(main: Container, plan: ComponentPlan, index: int) -> Container:
    """Makes one of several engines of a pod from its main container.

    All engines of a pod have one address.

    Rule failover.engines: With failover in a pod, several engines stand in place of the main container, each with ports of its own.
    (operator: internal/dynamo/failover.go buildFailoverPod)
    """
    name, port = f"engine-{index}", f"system-{index}"
    number = plan.release.ports.system + index
    others = [variable for variable in main.get("env") or () if variable.get("name") not in _REPLACED]
    texts = {
        "ENGINE_ID": f"{index}",
        "CONTAINER_NAME": name,
        "FAILOVER_LOCK_PATH": f"{FOLDER}/failover.lock",
        "DYN_SYSTEM_STARTING_HEALTH_STATUS": "notready",
        "DYN_SYSTEM_PORT": f"{number}",
        "DYN_SYSTEM_ENABLED": "true",
        "DYN_FORWARDPASS_METRIC_PORT": f"{plan.release.ports.forward_pass + index}",
    }
    variables: list[EnvVar] = [{"name": key, "value": value} for key, value in texts.items()]
    engine: Container = {
        **main,
        "name": name,
        "ports": [{"name": port, "containerPort": number, "protocol": "TCP"}],
        "env": [*others, *variables],
    }
    for probe in merge.PROBES:
        if probe in engine:
            engine[probe] = _asking(engine[probe], port)
    return engine


def _asking(probe: Probe, port: str) -> Probe:
    """Returns a probe that asks a port of the engine.

    Rule failover.probes: An HTTP probe of an engine asks the port of that engine. (operator: internal/dynamo/failover.go buildFailoverPod)
    """
    return {**probe, "httpGet": {**probe["httpGet"], "port": port}} if probe.get("httpGet") else probe
