"""Rules of an API server about the block devices of a container."""

from __future__ import annotations

from krm_fn.kubernetes.api_server import Rejection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.api_server.by_field import Context

    Fields = Mapping[str, Any]


def validate(container: Fields, context: Context) -> Iterator[Rejection]:
    """Yields the rejections of `volumeDevices` (ValidateVolumeDevices)."""
    volumes = {volume.get("name"): volume for volume in context.spec.get("volumes") or ()}
    mounts = container.get("volumeMounts") or ()
    names, paths = {mount.get("name") for mount in mounts}, {mount.get("mountPath") for mount in mounts}
    used_names: set[Any] = set()
    used_paths: set[Any] = set()
    for index, device in enumerate(container["volumeDevices"] or ()):
        name, path = device.get("name") or "", device.get("devicePath") or ""
        for rejection in _name(name, volumes, names, used_names):
            yield rejection.below("volumeDevices", index)
        for rejection in _path(path, paths, used_paths):
            yield rejection.below("volumeDevices", index)
        used_names.add(name)
        used_paths.add(path)


def _name(name: str, volumes: Mapping[Any, Fields], mounted: set[Any], used: set[Any]) -> Iterator[Rejection]:
    if not name:
        yield Rejection("DYN225", ("name",), "the name of a volume is required; write it")
    elif name not in volumes:
        yield Rejection("DYN208", ("name",), f"the pod has no volume {name}; add it to the volumes of the pod")
    elif not volumes[name].keys() & {"persistentVolumeClaim", "ephemeral"}:
        message = f"the volume {name} is not a block device; use a persistentVolumeClaim or an ephemeral volume, or mount it"
        yield Rejection("DYN232", ("name",), message)
    if name in used:
        yield Rejection("DYN237", ("name",), f"the volume {name} is listed twice; keep one entry")
    if name in mounted:
        yield Rejection("DYN232", ("name",), f"the volume {name} is mounted too; remove it from volumeMounts or from volumeDevices")


def _path(path: str, mounted: set[Any], used: set[Any]) -> Iterator[Rejection]:
    if not path:
        yield Rejection("DYN225", ("devicePath",), "the path of the device is required; write it, for example /dev/xvda")
    elif ".." in path.split("/"):
        yield Rejection("DYN228", ("devicePath",), f"the path {path!r} contains ..; write it without")
    if path in used:
        yield Rejection("DYN209", ("devicePath",), f"two devices have the path {path}; change one of the paths")
    if path in mounted:
        yield Rejection("DYN209", ("devicePath",), f"a volume is mounted at {path}; change one of the paths")
