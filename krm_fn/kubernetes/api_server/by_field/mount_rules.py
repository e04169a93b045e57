"""Rules of an API server about what a container mounts: options of volume mounts, and block devices."""

from __future__ import annotations

from krm_fn.base import codes
from krm_fn.kubernetes.api_server.rejections import Rejection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.api_server.by_field import Context

    Fields = Mapping[str, Any]


def validate_mount(mount: Fields, context: Context) -> Iterator[Rejection]:
    """Yields the rejections of the options of a mount."""
    yield from _sub_path(mount)
    yield from _propagation(mount.get("mountPropagation"), context.container)
    yield from _read_only(mount)


def _sub_path(mount: Fields) -> Iterator[Rejection]:
    """Checks the path inside the volume (ValidateVolumeMounts)."""
    path = mount.get("subPathExpr") or ""
    if path and mount.get("subPath"):
        yield Rejection(codes.FIELDS_NOT_ALLOWED_TOGETHER, ("subPathExpr",), "subPath and subPathExpr exclude each other; keep one")
    if path.startswith("/") or ".." in path.split("/"):
        yield Rejection(codes.PATH_OUT_OF_VOLUME, ("subPathExpr",), "the path leaves the volume; write a relative path without ..")


def _propagation(propagation: str | None, container: Fields) -> Iterator[Rejection]:
    """Checks the propagation of mounts (validateMountPropagation)."""
    if propagation == "":
        message = "mountPropagation is empty; write None, HostToContainer or Bidirectional, or remove it"
        yield Rejection(codes.VALUE_NOT_ALLOWED, ("mountPropagation",), message)
    if propagation == "Bidirectional" and not (container.get("securityContext") or {}).get("privileged"):
        message = "mountPropagation: Bidirectional needs a privileged container; write HostToContainer, or privileged: true"
        yield Rejection(codes.FIELDS_NOT_ALLOWED_TOGETHER, ("mountPropagation",), message)


def _read_only(mount: Fields) -> Iterator[Rejection]:
    """Checks if mounts inside the volume can be read-only too (validateMountRecursiveReadOnly)."""
    recursive, path = mount.get("recursiveReadOnly"), ("recursiveReadOnly",)
    if recursive in (None, "Disabled"):
        return
    if recursive not in ("Enabled", "IfPossible"):
        yield Rejection(
            codes.VALUE_NOT_ALLOWED, path, f"{recursive!r} is not a value of recursiveReadOnly; write Enabled, IfPossible or Disabled"
        )
        return
    if not mount.get("readOnly"):
        yield Rejection(
            codes.FIELDS_NOT_ALLOWED_TOGETHER,
            path,
            f"recursiveReadOnly: {recursive} needs readOnly: true; write it, or remove recursiveReadOnly",
        )
    if mount.get("mountPropagation") not in (None, "None"):
        message = f"recursiveReadOnly: {recursive} is not allowed with mountPropagation: {mount['mountPropagation']}; remove one of the two"
        yield Rejection(codes.FIELDS_NOT_ALLOWED_TOGETHER, path, message)


def validate_devices(container: Fields, context: Context) -> Iterator[Rejection]:
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
        yield Rejection(codes.EMPTY_REQUIRED_FIELD, ("name",), "the name of a volume is required; write it")
    elif name not in volumes:
        yield Rejection(codes.VOLUME_NOT_FOUND, ("name",), f"the pod has no volume {name}; add it to the volumes of the pod")
    elif not volumes[name].keys() & {"persistentVolumeClaim", "ephemeral"}:
        message = f"the volume {name} is not a block device; use a persistentVolumeClaim or an ephemeral volume, or mount it"
        yield Rejection(codes.FIELDS_NOT_ALLOWED_TOGETHER, ("name",), message)
    if name in used:
        yield Rejection(codes.DUPLICATE_ENTRY_IN_POD, ("name",), f"the volume {name} is listed twice; keep one entry")
    if name in mounted:
        yield Rejection(
            codes.FIELDS_NOT_ALLOWED_TOGETHER,
            ("name",),
            f"the volume {name} is mounted too; remove it from volumeMounts or from volumeDevices",
        )


def _path(path: str, mounted: set[Any], used: set[Any]) -> Iterator[Rejection]:
    if not path:
        yield Rejection(codes.EMPTY_REQUIRED_FIELD, ("devicePath",), "the path of the device is required; write it, for example /dev/xvda")
    elif ".." in path.split("/"):
        yield Rejection(codes.PATH_OUT_OF_VOLUME, ("devicePath",), f"the path {path!r} contains ..; write it without")
    if path in used:
        yield Rejection(codes.DUPLICATE_MOUNT_PATH, ("devicePath",), f"two devices have the path {path}; change one of the paths")
    if path in mounted:
        yield Rejection(codes.DUPLICATE_MOUNT_PATH, ("devicePath",), f"a volume is mounted at {path}; change one of the paths")
