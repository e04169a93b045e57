"""Finds values in the pods of Dynamo's resources that an API server stores and no node can run.

They are the media of empty folders, capabilities, and amounts of CPUs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from krm_fn.base import codes, results, spelling
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import paths
from krm_fn.kubernetes.paths import EVERY
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import text
from krm_fn.render import dynamo_api
from krm_fn.render.manifests import ownership
from krm_fn.review import written_pods

_MEDIA = ("Memory", "HugePages")
"""The media of the kubelet (`pkg/volume/emptydir/empty_dir.go`); that of huge pages can have a size behind it."""
_MEDIUM: Path = ("volumes", EVERY, "emptyDir", "medium")
_ADDED: tuple[Path, ...] = tuple(
    (*path, "securityContext", "capabilities", side, EVERY) for path in written_pods.CONTAINERS for side in ("add", "drop")
)
_CAPABILITIES = re.findall(
    r"\w+",
    "ALL AUDIT_CONTROL AUDIT_READ AUDIT_WRITE BLOCK_SUSPEND BPF CHECKPOINT_RESTORE CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID "
    "IPC_LOCK IPC_OWNER KILL LEASE LINUX_IMMUTABLE MAC_ADMIN MAC_OVERRIDE MKNOD NET_ADMIN NET_BIND_SERVICE NET_BROADCAST NET_RAW PERFMON "
    "SETFCAP SETGID SETPCAP SETUID SYSLOG SYS_ADMIN SYS_BOOT SYS_CHROOT SYS_MODULE SYS_NICE SYS_PACCT SYS_PTRACE SYS_RAWIO SYS_RESOURCE "
    "SYS_TIME SYS_TTY_CONFIG WAKE_ALARM",
)
"""The capabilities of Linux (capabilities(7)), as containers name them, and all of them."""
_PREFIX = "CAP_"
_CPUS: tuple[Path, ...] = tuple(
    (*path, "resources", holder, "cpu")
    for path in (*written_pods.COMPONENTS, *((*pod, *container) for pod in written_pods.PODS for container in written_pods.CONTAINERS))
    for holder in ("requests", "limits")
)
_MOST_CPUS, _THOUSAND, _MOST_DIGITS = 960, 1000, 10
"""The CPUs of the largest machine that a cloud rents out, and the parts of a CPU that `m` counts."""


def check(resources: Iterable[Resource]) -> Iterator[Result]:
    """Yields the findings about each graph and component that no render has made. Fields may have wrong types."""
    for resource in resources:
        if dynamo_api.is_dynamo(resource) and not ownership.is_generated(resource):
            for path, pod in written_pods.of(resource):
                for inner, medium in paths.find(pod, (_MEDIUM,)):
                    yield from _medium(resource, (*path, *inner), medium)
                for inner, name in paths.find(pod, _ADDED):
                    yield from _capability(resource, (*path, *inner), text(name))
            for path, amount in paths.find(resource, _CPUS):
                yield from _cpus(resource, path, amount)


def _medium(resource: Resource, path: Path, medium: Any) -> Iterator[Result]:
    """Finds a medium that the kubelet refuses, so that the pod does not start."""
    written = text(medium)
    if written and written.partition("-")[0] not in _MEDIA:
        right = next(
            (known for known in _MEDIA if known.lower() in (written.lower(), spelling.nearest(written.lower(), [known.lower()]))), ""
        )
        fix = f"write {right}" if right else f"write {_MEDIA[0]}, or remove it"
        message = f"an empty folder has no medium {written[:60]}, so the pod does not start; {fix}"
        yield results.error(codes.UNKNOWN_MEDIUM, message, results.ref(resource), path, current=medium, proposed=right or None)


def _capability(resource: Resource, path: Path, name: str) -> Iterator[Result]:
    """Finds a capability that Linux does not have: containerd puts `CAP_` before each name and refuses the container."""
    plain = name.upper().removeprefix(_PREFIX)
    right = plain if plain in _CAPABILITIES else spelling.nearest(plain, _CAPABILITIES)
    if name and right and name.upper() != right:
        because = "Kubernetes writes capabilities without CAP_" if plain == right else f"Linux has no capability {name[:60]}"
        message = f"{because}, so the container does not start; write {right}"
        yield results.warning(codes.UNKNOWN_CAPABILITY, message, results.ref(resource), path, current=name, proposed=right)


def _cpus(resource: Resource, path: Path, amount: Any) -> Iterator[Result]:
    """Finds an amount of CPUs that is one of thousandths without its unit."""
    written = f"{amount}" if isinstance(amount, int | str) and not isinstance(amount, bool) else ""
    if written.isdecimal() and len(written) < _MOST_DIGITS and int(written) > _MOST_CPUS and int(written) % 10 == 0:
        message = f"no node has {written} CPUs, so the pod is not scheduled; write {written}m, which is {int(written) / _THOUSAND:g}"
        yield results.warning(codes.TOO_MANY_CPUS, message, results.ref(resource), path, current=amount, proposed=f"{written}m")
