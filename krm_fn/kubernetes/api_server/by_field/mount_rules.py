"""Rules of an API server about the options of a mount."""

from __future__ import annotations

from krm_fn.kubernetes.api_server import Rejection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.api_server.by_field import Context

    Fields = Mapping[str, Any]


def validate(mount: Fields, context: Context) -> Iterator[Rejection]:
    """Yields the rejections of the options of a mount."""
    yield from _sub_path(mount)
    yield from _propagation(mount.get("mountPropagation"), context.container)
    yield from _read_only(mount)


def _sub_path(mount: Fields) -> Iterator[Rejection]:
    """Checks the path inside the volume (ValidateVolumeMounts)."""
    path = mount.get("subPathExpr") or ""
    if path and mount.get("subPath"):
        yield Rejection("DYN232", ("subPathExpr",), "subPath and subPathExpr exclude each other; keep one")
    if path.startswith("/") or ".." in path.split("/"):
        yield Rejection("DYN228", ("subPathExpr",), "the path leaves the volume; write a relative path without ..")


def _propagation(propagation: str | None, container: Fields) -> Iterator[Rejection]:
    """Checks the propagation of mounts (validateMountPropagation)."""
    if propagation == "":
        message = "mountPropagation is empty; write None, HostToContainer or Bidirectional, or remove it"
        yield Rejection("DYN233", ("mountPropagation",), message)
    if propagation == "Bidirectional" and not (container.get("securityContext") or {}).get("privileged"):
        message = "mountPropagation: Bidirectional needs a privileged container; write HostToContainer, or privileged: true"
        yield Rejection("DYN232", ("mountPropagation",), message)


def _read_only(mount: Fields) -> Iterator[Rejection]:
    """Checks if mounts inside the volume can be read-only too (validateMountRecursiveReadOnly)."""
    recursive, path = mount.get("recursiveReadOnly"), ("recursiveReadOnly",)
    if recursive in (None, "Disabled"):
        return
    if recursive not in ("Enabled", "IfPossible"):
        yield Rejection("DYN233", path, f"{recursive!r} is not a value of recursiveReadOnly; write Enabled, IfPossible or Disabled")
        return
    if not mount.get("readOnly"):
        yield Rejection("DYN232", path, f"recursiveReadOnly: {recursive} needs readOnly: true; write it, or remove recursiveReadOnly")
    if mount.get("mountPropagation") not in (None, "None"):
        message = f"recursiveReadOnly: {recursive} is not allowed with mountPropagation: {mount['mountPropagation']}; remove one of the two"
        yield Rejection("DYN232", path, message)
