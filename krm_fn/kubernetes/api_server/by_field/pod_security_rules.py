"""Rules of an API server about the security context of a pod."""

from __future__ import annotations

import re

from krm_fn.kubernetes.api_server import Rejection
from krm_fn.kubernetes.api_server.by_field import security_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from krm_fn.kubernetes.api_server.by_field import Context

    Fields = Mapping[str, Any]

_SEGMENT = r"[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL = re.compile(rf"(?=.{{1,253}}\Z)({_SEGMENT}[./])*{_SEGMENT}")
_OF_IPC = re.compile(r"kernel\.(sem|shm(all|max|mni|_rmid_forced)?|msg(max|mnb|mni)?)|fs\.mqueue\..*", re.DOTALL)
_LARGEST_ID = 2**31 - 1
_EMPTY = {
    "fsGroupChangePolicy": "OnRootMismatch or Always",
    "supplementalGroupsPolicy": "Merge or Strict",
}
"""Fields whose empty text is not their default, with their values."""


def validate(context: Fields, pod: Context) -> Iterator[Rejection]:
    """Yields the rejections of the security context of a pod (validatePodSpecSecurityContext).

    A feature gate decides about the policy MountOption for labels of SELinux, so it is not checked.
    """
    for index, group in enumerate(context.get("supplementalGroups") or ()):
        if not 0 <= group <= _LARGEST_ID:
            message = f"the id {group} is not between 0 and {_LARGEST_ID}; write a number in that range"
            yield Rejection("DYN226", ("supplementalGroups", index), message)
    yield from _sysctls(context.get("sysctls") or (), pod.spec)
    for field, values in _EMPTY.items():
        if context.get(field) == "":
            yield Rejection("DYN233", (field,), f"{field} is empty; write {values}, or remove it")
    policy = context.get("seLinuxChangePolicy")
    if policy not in (None, "Recursive", "MountOption"):
        yield Rejection("DYN233", ("seLinuxChangePolicy",), f"{policy!r} is not a policy; write Recursive, or remove it")
    yield from security_rules.validate(context)
    if (context.get("windowsOptions") or {}).get("hostProcess") and not pod.spec.get("hostNetwork"):
        message = "a pod of processes of the node needs hostNetwork: true; write it, or remove hostProcess"
        yield Rejection("DYN232", ("windowsOptions", "hostProcess"), message)


def _sysctls(sysctls: Sequence[Fields], spec: Fields) -> Iterator[Rejection]:
    """Checks kernel parameters (validateSysctls, ValidateHostSysctl). Those of a namespace of the node cannot be set."""
    names = set()
    for index, sysctl in enumerate(sysctls):
        name, path = sysctl.get("name") or "", ("sysctls", index, "name")
        if not _SYSCTL.fullmatch(name):
            yield Rejection(
                "DYN202", path, f"{name!r} is not a valid kernel parameter; write it as sysctl prints it, for example net.core.somaxconn"
            )
        elif name in names:
            yield Rejection("DYN237", path, f"the kernel parameter {name} is listed twice; keep one entry")
        names.add(name)
        dotted = _dotted(name)
        for field, is_shared in (("hostNetwork", dotted.startswith("net.")), ("hostIPC", bool(_OF_IPC.fullmatch(dotted)))):
            if is_shared and spec.get(field):
                yield Rejection("DYN232", path, f"the kernel parameter {name} cannot be set with {field}: true; remove one of the two")


def _dotted(name: str) -> str:
    """Returns a kernel parameter with dots as its separators, as NormalizeName of component-helpers `node/util/sysctl` does."""
    separator = next((letter for letter in name if letter in "./"), ".")
    return name if separator == "." else name.translate({ord("."): "/", ord("/"): "."})
