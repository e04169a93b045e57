"""Lists what the pods of a graph run: the release, the orchestrator, the scheduler, and images, replicas and GPUs of each service.

A reviewer looks for these first. The values are those of the objects, so they include what later layers of a build changed.
"""

from __future__ import annotations

from typing import Any

from krm_fn.base import results
from krm_fn.render.manifests import workloads
from krm_fn.render.schema.object_changes import ObjectChange
from krm_fn.review import forecast, pods
from krm_fn.review.budgets import gpu_use
from krm_fn.review.fleets.fleet_clusters import RELEASED, ClusterGraph
from krm_fn.review.forecast import object_rules, rollouts
from krm_fn.review.forecast.rollouts import Service

_MAIN = "main"
_CONTAINERS = ("initContainers", "containers")


def read(graph: ClusterGraph, namespace: str) -> dict[str, Any]:
    """Returns the settings of a graph by their names in the matrix. `namespace` is that of its objects."""
    settings: dict[str, Any] = {}
    if graph.source is not None:
        settings["apiVersion"] = graph.source["apiVersion"]
        if results.ref(graph.source).kind in RELEASED:
            settings["release"] = graph.config.behaviour
        settings["rendered by"] = " ".join(graph.mark.split(" ")[:2])
    changes = gpu_use.as_unchanged(graph.objects, namespace)
    templates = [template for resource in graph.objects for template in pods.of(resource)]
    if templates:
        kinds = (workloads.of_object(resource) for resource in graph.objects)
        settings["orchestrator"] = next((kind.orchestrator for kind in kinds if kind and kind.orchestrator), "deployment")
        settings["scheduler"] = _join_texts({str(template.spec.get("schedulerName") or "default-scheduler") for template in templates})
    counts = _counts(changes)
    for service in dict.fromkeys((*(template.service for template in templates), *counts)):
        by_container = _images([template for template in templates if template.service == service])
        main = by_container.get("")
        for container, images in by_container.items():
            if container and images == main:
                continue
            settings[" ".join(filter(None, (service, "image", container)))] = _join_texts(images)
        if service in counts:
            settings[f"{service} replicas"], settings[f"{service} GPUs"] = counts[service]
    return settings


def _images(templates: list[pods.Template]) -> dict[str, set[str]]:
    """Returns the images of each container; the main container has no name."""
    images: dict[str, set[str]] = {}
    for template in templates:
        for field in _CONTAINERS:
            listed = template.spec.get(field)
            for container in listed if isinstance(listed, list) else ():
                if isinstance(container, dict) and isinstance(container.get("image"), str):
                    name = "" if container.get("name") == _MAIN else f"of {container.get('name')}"
                    images.setdefault(name, set()).add(container["image"])
    return images


def _counts(changes: tuple[ObjectChange, ...]) -> dict[str, tuple[int, int]]:
    """Returns the replicas and the GPUs of each service."""
    cluster_state = object_rules.read_cluster_state(changes)
    counts: dict[str, tuple[int, int]] = {}
    for change in changes:
        part = forecast.kind_forecast(change, cluster_state)
        for rollout in part.rollouts:
            service: Service | None = rollout.service or next(iter(part.services), None)
            if service:
                replicas, gpus = counts.get(service.name, (0, 0))
                more = rollouts.gpus(rollout.new_demands) * rollout.new_units
                counts[service.name] = replicas + rollout.new_units, gpus + more
    return counts


def _join_texts(texts: set[str]) -> str:
    return ", ".join(sorted(texts))
