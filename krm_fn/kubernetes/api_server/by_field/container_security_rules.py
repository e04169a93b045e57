"""Rules of an API server about the security context of a container."""

from __future__ import annotations

from krm_fn.kubernetes.api_server import Rejection
from krm_fn.kubernetes.api_server.by_field import security_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.api_server.by_field import Context

    Fields = Mapping[str, Any]


def validate(container: Fields, pod: Context) -> Iterator[Rejection]:
    """Yields the rejections of the security context of a container.

    The cluster decides if privileged containers are allowed, so this is not checked. Follows ValidateSecurityContext.
    """
    for rejection in _context(container["securityContext"] or {}, pod.spec):
        yield rejection.below("securityContext")


def _context(context: Fields, spec: Fields) -> Iterator[Rejection]:
    yield from _proc_mount(context.get("procMount"), spec)
    if context.get("allowPrivilegeEscalation") is False:
        if context.get("privileged"):
            message = "a privileged container can always gain privileges; remove allowPrivilegeEscalation: false, or privileged"
            yield Rejection("DYN232", ("allowPrivilegeEscalation",), message)
        if "CAP_SYS_ADMIN" in ((context.get("capabilities") or {}).get("add") or ()):
            message = "a container with CAP_SYS_ADMIN can always gain privileges; remove allowPrivilegeEscalation: false, or the capability"
            yield Rejection("DYN232", ("allowPrivilegeEscalation",), message)
    yield from security_rules.validate(context)
    if (context.get("windowsOptions") or {}).get("hostProcess") is not None:
        yield from _host_process(context["windowsOptions"]["hostProcess"], spec)


def _proc_mount(kind: str | None, spec: Fields) -> Iterator[Rejection]:
    """Checks the mount of /proc (ValidateProcMountType)."""
    if kind == "":
        yield Rejection("DYN233", ("procMount",), "procMount is empty; write Default or Unmasked, or remove it")
    if kind == "Unmasked" and spec.get("hostUsers") is not False:
        message = "procMount: Unmasked needs a user namespace; write hostUsers: false in the pod, or procMount: Default"
        yield Rejection("DYN232", ("procMount",), message)


def _host_process(is_host_process: bool, spec: Fields) -> Iterator[Rejection]:
    """Checks a container that runs as a process of a node with Windows (validateWindowsHostProcessPod)."""
    path = ("windowsOptions", "hostProcess")
    of_pod = _written(spec)
    if of_pod is not None and of_pod != is_host_process:
        yield Rejection("DYN232", path, f"hostProcess of the pod is {str(of_pod).lower()}; write the same value, or remove one of the two")
    if not is_host_process:
        return
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    if not all(_written(container, of_pod) for container in containers):
        message = "the pod has other containers that are not processes of the node; write hostProcess: true in the pod, or remove it here"
        yield Rejection("DYN232", path, message)
    if not spec.get("hostNetwork"):
        yield Rejection("DYN232", path, "a pod of processes of the node needs hostNetwork: true; write it, or remove hostProcess")


def _written(holder: Fields, inherited: bool | None = None) -> bool | None:
    """Returns hostProcess of a pod or a container."""
    options = (holder.get("securityContext") or {}).get("windowsOptions") or {}
    value: bool | None = options.get("hostProcess")
    return inherited if value is None else value
