"""The pods and containers in Dynamo's resources as their authors wrote them, in both API versions. Fields may have wrong types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from krm_fn.base.results import Path
from krm_fn.kubernetes import paths
from krm_fn.kubernetes.paths import EVERY
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import text
from krm_fn.render.kinds import types

COMPONENTS: tuple[Path, ...] = (("spec", "services", EVERY), ("spec", "components", EVERY), ("spec",))
PODS: tuple[Path, ...] = tuple((*path, *pod) for path in COMPONENTS for pod in (("extraPodSpec",), ("podTemplate", "spec")))
CONTAINERS: tuple[Path, ...] = (("mainContainer",), ("containers", EVERY), ("initContainers", EVERY))


def of(resource: Resource) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yields the path and the fields of each pod of a graph or a component."""
    yield from ((path, pod) for path, pod in paths.find(resource, PODS) if isinstance(pod, dict))


def containers(pod: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yields the path below a pod, and the fields, of each of its containers."""
    yield from ((path, container) for path, container in paths.find(pod, CONTAINERS) if isinstance(container, dict))


def is_worker(component: Any) -> bool:
    """Returns true for the fields of a component whose type runs an engine, in both API versions."""
    return isinstance(component, dict) and types.get(text(component.get("type")) or text(component.get("componentType"))).runs_engine


def is_in_folder(path: str, folder: str) -> bool:
    """Returns true for a folder of a container, and for everything below it. Both are absolute paths."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")
