"""The pods and containers in Dynamo's resources as their authors wrote them, in both API versions. Fields may have wrong types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from krm_fn.base.results import Path
from krm_fn.kubernetes import paths
from krm_fn.kubernetes.paths import EVERY
from krm_fn.kubernetes.types import Resource

COMPONENTS: tuple[Path, ...] = (("spec", "services", EVERY), ("spec", "components", EVERY), ("spec",))
PODS: tuple[Path, ...] = tuple((*path, *pod) for path in COMPONENTS for pod in (("extraPodSpec",), ("podTemplate", "spec")))
CONTAINERS: tuple[Path, ...] = (("mainContainer",), ("containers", EVERY), ("initContainers", EVERY))


def of(resource: Resource) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yields the path and the fields of each pod of a graph or a component."""
    yield from ((path, pod) for path, pod in paths.find(resource, PODS) if isinstance(pod, dict))


def containers(pod: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yields the path below a pod, and the fields, of each of its containers."""
    yield from ((path, container) for path, container in paths.find(pod, CONTAINERS) if isinstance(container, dict))
