"""Warns of values that Kubernetes or the operator use in another form than an author expects.

They are hosts of an Ingress, paths of mounts, and amounts of memory without a unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import paths, quantity
from krm_fn.kubernetes.paths import EVERY
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import text
from krm_fn.render import dynamo_api
from krm_fn.render.manifests import ingress, ownership
from krm_fn.review import written_pods

_INGRESS: tuple[Path, ...] = (("spec", "services", EVERY, "ingress"), ("spec", "ingress"))
_HOST = re.compile(r"(?P<host>[a-z0-9*-]+)\.(?P<suffix>[a-z0-9.-]*[a-z0-9])")
_PATHS: tuple[Path, ...] = tuple(
    (*holder, "volumeMounts", EVERY, "mountPath")
    for holder in (("mainContainer",), *((kind, EVERY) for kind in ("containers", "initContainers")))
)
_HOLDERS = ("requests", "limits")
_MEMORY: tuple[Path, ...] = (
    *((*path, "resources", holder, "memory") for path in (("spec", "services", EVERY), ("spec",)) for holder in _HOLDERS),
    *(
        (*path[:-3], "resources", holder, "memory")
        for pod in written_pods.PODS
        for path in ((*pod, *end) for end in _PATHS)
        for holder in _HOLDERS
    ),
)
_SHARED_MEMORY: tuple[Path, ...] = (
    ("spec", "components", EVERY, "sharedMemorySize"),
    ("spec", "sharedMemorySize"),
    ("spec", "services", EVERY, "sharedMemory", "size"),
    ("spec", "sharedMemory", "size"),
)
_MODES = {"ro": ", with readOnly: true", "rw": ""}
"""The modes that Docker reads after a colon, with the field of a mount."""


def check(resources: Iterable[Resource]) -> Iterator[Result]:
    """Yields the warnings about each graph and component that no render has made. Fields may have wrong types."""
    for resource in resources:
        if dynamo_api.is_dynamo(resource) and not ownership.is_generated(resource):
            for path, fields in paths.find(resource, _INGRESS):
                if isinstance(fields, dict):
                    yield from _host(resource, path, fields)
            for path, pod in paths.find(resource, written_pods.PODS):
                for inner, folder in paths.find(pod, _PATHS):
                    yield from _folder(resource, (*path, *inner), folder)
            yield from _sizes(resource)


def _host(resource: Resource, path: Path, fields: dict[str, Any]) -> Iterator[Result]:
    """Finds a whole host without `hostSuffix`: the operator adds the suffix of all hosts (internal/dynamo/graph.go getIngressHost)."""
    host, end = text(fields.get("host")), text(fields.get("hostSuffix"))
    if end and host.endswith(f".{end}") and host != f"*.{end}":
        problem = f"the host becomes {host}.{end}, because hostSuffix is added to host"
        message = f"{problem}; write host: {host.removesuffix(f'.{end}')}"
        yield results.warning(codes.ALTERED_VALUE, message, results.ref(resource), (*path, "host"), current=host)
    parts = _HOST.fullmatch(host)
    exposes = fields.get("enabled") is True and (fields.get("ingressControllerClassName") or fields.get("useVirtualService"))
    if parts and exposes and fields.get("hostSuffix") is None:
        host, suffix = f"{text(fields.get('hostPrefix'))}{parts[0]}", ingress.DEFAULT_SUFFIX
        problem = f"the host becomes {host}.{suffix}, because hosts without hostSuffix end with .{suffix}"
        fix = f"write host: {parts['host']} and hostSuffix: {parts['suffix']}, or hostSuffix: {suffix} if it is meant"
        yield results.warning(codes.ALTERED_VALUE, f"{problem}; {fix}", results.ref(resource), (*path, "host"), current=parts[0])


def _folder(resource: Resource, path: Path, folder: Any) -> Iterator[Result]:
    """Finds a mode of Docker after a path. Kubernetes reads none there (VolumeMount.mountPath in the API reference)."""
    name, colon, mode = text(folder).rpartition(":")
    if colon and name and mode in _MODES:
        proposed = f"/{name.lstrip('/')}"
        problem = f"a mountPath has no mode, so the folder in the container is /{text(folder).lstrip('/')}"
        yield results.warning(
            codes.ALTERED_VALUE,
            f"{problem}; write {proposed}{_MODES[mode]}",
            results.ref(resource),
            path,
            current=folder,
            proposed=proposed,
        )


def _sizes(resource: Resource) -> Iterator[Result]:
    """Finds amounts of memory below 1 MiB: a container does not start with such a limit, and /dev/shm holds nothing."""
    for kind, fields in (("memory", _MEMORY), ("shared memory", _SHARED_MEMORY)):
        for path, written in paths.find(resource, fields):
            if isinstance(written, int | str) and not isinstance(written, bool) and (meant := quantity.intended_memory(written)):
                unit = "m is a thousandth of a byte" if f"{written}".endswith("m") else "a number without a unit counts bytes"
                message = f"{written} is less than 1Mi of {kind}, because {unit}; write {meant}"
                yield results.warning(codes.ALTERED_VALUE, message, results.ref(resource), path, current=written, proposed=meant)
