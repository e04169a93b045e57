"""What a pod may have on this node. A pod with anything else fails its test at once, with the name of that thing."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]

_VOLUMES = {"name", "emptyDir", "persistentVolumeClaim", "configMap", "secret", "projected", "downwardAPI"}
_PROJECTED = {"serviceAccountToken", "configMap", "secret", "downwardAPI"}
_HANDLERS = {"httpGet", "exec", "tcpSocket", "grpc", "sleep"}
_FIELDS = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace")
"""`resourceClaims` is not one of them: the node has no devices, and a mock engine that claims one needs none."""
_PROBES = ("startupProbe", "readinessProbe", "livenessProbe")


class UnsupportedError(Exception):
    """A pod has something that this node does not have. The message names it."""


def containers(pod: Object) -> list[Object]:
    """All containers of a pod, init containers first."""
    return [*(pod["spec"].get("initContainers") or ()), *pod["spec"]["containers"]]


def check(pod: Object) -> None:
    """Raises UnsupportedError for a pod that this node cannot run."""
    found = [name for name in _FIELDS if pod["spec"].get(name)]
    for volume in pod["spec"].get("volumes") or ():
        found += [f"volume {volume['name']!r}: {kind}" for kind in volume.keys() - _VOLUMES]
        for source in (volume.get("projected") or {}).get("sources") or ():
            found += [f"volume {volume['name']!r}: projected {kind}" for kind in source.keys() - _PROJECTED]
    for container in containers(pod):
        hooks = container.get("lifecycle") or {}
        asked = {name: container[name] for name in _PROBES if name in container} | hooks
        found += [f"container {container['name']!r}: {name}" for name, handler in asked.items() if not _HANDLERS & handler.keys()]
        found += [f"container {container['name']!r}: {name}" for name in hooks if name != "preStop"]
    if found:
        raise UnsupportedError(f"the node has no {', '.join(found)}")
