"""The GPU memory service beside the engine in one pod: a server that starts before the other containers and runs as long as the pod."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import names
from krm_fn.manifests import gpu_memory
from krm_fn.manifests.gpu_memory import claims

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_fn.kube.types import Container, EnvVar, PodResourceClaim, PodSpec, ResourceClaim, VolumeMount
    from krm_fn.plan import ComponentPlan, GPUMemory

FOLDER = "/gms-intrapod-control"
_NAME, _VOLUME, _CLAIM = "gms-server", "gms-intrapod-control", "intrapod-shared-gpu"
_SOCKETS: EnvVar = {"name": gpu_memory.SOCKETS, "value": FOLDER}
_MOUNT: VolumeMount = {"name": _VOLUME, "mountPath": FOLDER}
_SHARED: ResourceClaim = {"name": _CLAIM}


def applied(pod: PodSpec, plan: ComponentPlan, memory: GPUMemory) -> PodSpec:
    """The pod with the server, and with its clients: the main container and those that the user names."""
    main, *beside = pod["containers"]
    claim: PodResourceClaim = {"name": _CLAIM, "resourceClaimTemplateName": names.gpu_claim(plan.who.name)}
    others = [_client(each) if each.get("name") in memory.clients else each for each in beside]
    before = pod.get("initContainers") or []
    return {
        **claims.tolerant(pod),
        "containers": [_client(claims.without_gpus(main)), *others],
        "initContainers": before if any(each.get("name") == _NAME for each in before) else [*before, _server(main)],
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


def _server(main: Container) -> Container:
    image: Container = {"image": main["image"]} if main.get("image") else {}
    return {
        "name": _NAME,
        **image,
        "command": ["python3", "-m", gpu_memory.SERVER],
        "env": [_SOCKETS],
        "resources": {"claims": [_SHARED]},
        "restartPolicy": "Always",
        "volumeMounts": [_MOUNT],
    }


def _with(listed: Iterable[Any] | None, own: Any) -> list[Any]:
    """The list with an entry, in place of the entry with its name or at the end."""
    found = list(listed or ())
    place = next((index for index, each in enumerate(found) if each.get("name") == own["name"]), len(found))
    return [*found[:place], own, *found[place + 1 :]]
