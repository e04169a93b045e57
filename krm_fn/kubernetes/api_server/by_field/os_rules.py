"""Rules of an API server about the operating system of a pod: fields that it does not have."""

from __future__ import annotations

from krm_fn.kubernetes.api_server import Rejection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.api_server.by_field import Context

    Fields = Mapping[str, Any]

_LINUX, _WINDOWS = "linux", "windows"
_OF_BOTH = ("appArmorProfile", "seLinuxOptions", "seccompProfile", "runAsUser", "runAsGroup")
_OF_PODS = (
    *_OF_BOTH,
    *("fsGroup", "fsGroupChangePolicy", "sysctls", "supplementalGroups", "supplementalGroupsPolicy", "seLinuxChangePolicy"),
)
_OF_CONTAINERS = (*_OF_BOTH, "capabilities", "readOnlyRootFilesystem", "privileged", "allowPrivilegeEscalation", "procMount")
_SET_BY_TRUE = ("hostPID", "hostIPC")


def validate(spec: Fields, _context: Context) -> Iterator[Rejection]:
    """Yields the rejections of `os`, and of fields that this operating system does not have (validateOS)."""
    if spec["os"] is None:
        return
    name = spec["os"].get("name") or ""
    if name == _LINUX:
        yield from _fields(spec, _LINUX, ("windowsOptions",), ("windowsOptions",))
    elif name == _WINDOWS:
        yield from _windows(spec)
    else:
        yield Rejection("DYN233", ("os", "name"), f"{name!r} is not an operating system that Kubernetes knows; write linux or windows")


def _windows(spec: Fields) -> Iterator[Rejection]:
    """Checks a pod for Windows (validateWindows, validatePodResources)."""
    yield from _fields(spec, _WINDOWS, _OF_PODS, _OF_CONTAINERS)
    for field in ("hostUsers", "shareProcessNamespace", "resources", *_SET_BY_TRUE):
        if spec.get(field) is not None and (field not in _SET_BY_TRUE or spec[field]):
            yield _rejection((field,), _WINDOWS)


def _fields(spec: Fields, system: str, of_pods: tuple[str, ...], of_containers: tuple[str, ...]) -> Iterator[Rejection]:
    """Checks the security contexts (validateLinux, validateWindows). Empty lists count as missing."""
    context = spec.get("securityContext") or {}
    for field in of_pods:
        if context.get(field) is not None and context[field] != []:
            yield _rejection(("securityContext", field), system)
    for kind in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(kind) or ()):
            of_container = container.get("securityContext") or {}
            for field in of_containers:
                if of_container.get(field) is not None:
                    yield _rejection((kind, index, "securityContext", field), system)


def _rejection(path: tuple[str | int, ...], system: str) -> Rejection:
    return Rejection("DYN232", path, f"{path[-1]} is not allowed in a pod with os.name: {system}; remove it")
