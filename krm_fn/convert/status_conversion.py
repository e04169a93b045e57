"""The status of graphs, components and requests. Fields that one version does not have go into an annotation of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from krm_fn.convert import preserved_annotations, preserved_fields
from krm_fn.kube.values import renamed

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource

_Change = Callable[[dict[str, Any]], dict[str, Any]]


def graph_to_v1beta1(graph: Resource) -> Resource:
    """Converts the status of a v1alpha1 graph."""
    return converted(graph, _newer_graph, _older_graph)


def graph_to_v1alpha1(graph: Resource) -> Resource:
    """Converts the status of a v1beta1 graph."""
    return converted(graph, _older_graph, _newer_graph)


def component_to_v1beta1(component: Resource) -> Resource:
    """Converts the status of a v1alpha1 component."""
    return converted(component, _newer_component, _older_component)


def component_to_v1alpha1(component: Resource) -> Resource:
    """Converts the status of a v1beta1 component."""
    return converted(component, _older_component, _newer_component)


def converted(resource: Resource, change: _Change, back: _Change) -> Resource:
    """Converts the status with `change`; `back` is the opposite conversion. What is lost goes into the annotation of the status."""
    status = resource.get("status")
    if not isinstance(status, dict):
        return preserved_annotations.with_status(resource, {})
    preserved, plain = preserved_annotations.status(resource), change(status)
    new = preserved_fields.filled(plain, preserved, lambda wanted: back(wanted) == status) if preserved else plain
    return preserved_annotations.with_status({**resource, "status": new}, preserved_fields.difference(status, back(new)))


def _newer_graph(status: dict[str, Any]) -> dict[str, Any]:
    new = renamed(status, {"services": "components"})
    return _with_parts(new, "components", _newer_replicas, {"updatedServices": "updatedComponents"})


def _older_graph(status: dict[str, Any]) -> dict[str, Any]:
    new = renamed(status, {"components": "services"})
    return _with_parts(new, "services", _older_replicas, {"updatedComponents": "updatedServices"})


def _with_parts(status: dict[str, Any], parts: str, replicas: _Change, names: dict[str, str]) -> dict[str, Any]:
    if isinstance(status.get(parts), dict):
        status[parts] = {name: replicas(part) if isinstance(part, dict) else part for name, part in status[parts].items()}
    if isinstance(status.get("rollingUpdate"), dict):
        status["rollingUpdate"] = renamed(status["rollingUpdate"], names)
    return status


def _newer_component(status: dict[str, Any]) -> dict[str, Any]:
    new = renamed({key: value for key, value in status.items() if key != "podSelector"}, {"service": "component"})
    return {**new, "component": _newer_replicas(new["component"])} if isinstance(new.get("component"), dict) else new


def _older_component(status: dict[str, Any]) -> dict[str, Any]:
    new = renamed(status, {"component": "service"})
    return {**new, "service": _older_replicas(new["service"])} if isinstance(new.get("service"), dict) else new


def _newer_replicas(part: dict[str, Any]) -> dict[str, Any]:
    """A component can have two workloads while it is rolled, so that their names are a list."""
    name, listed = part.get("componentName"), part.get("componentNames")
    names = listed or ([name] if name else None)
    rest = {key: value for key, value in part.items() if key not in ("componentName", "componentNames")}
    return rest if names is None else {"componentNames": names, **rest}


def _older_replicas(part: dict[str, Any]) -> dict[str, Any]:
    listed = part.get("componentNames")
    return {"componentName": listed[-1], **part} if isinstance(listed, list) and listed else part
