# ruff: noqa: INP001 - see __main__.py
"""The fields of a graph that the way back writes, in both API versions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cluster import Resource, annotated, key

Fields = dict[str, dict[str, Any]]


def services(graph: Resource) -> dict[str, Resource]:
    """The services of a graph by name; v1beta1 has a list of components."""
    spec = graph["spec"]
    if graph["apiVersion"].endswith("/v1alpha1"):
        return dict(spec.get("services") or {})
    return {component["name"]: component for component in spec.get("components", ())}


def pull_secrets(graph: Resource, service: str) -> list[Resource]:
    """The pull secrets that a service of a graph names."""
    component = services(graph).get(service, {})
    if graph["apiVersion"].endswith("/v1alpha1"):
        return list(component.get("extraPodSpec", {}).get("imagePullSecrets", ()))
    return list(component.get("podTemplate", {}).get("spec", {}).get("imagePullSecrets", ()))


def patch(graph: Resource, fields: Fields, annotations: dict[str, str | None]) -> Resource:
    """The merge patch that writes the fields and annotations into this graph, and into no later state of it."""
    metadata: Resource = {"resourceVersion": graph["metadata"]["resourceVersion"]}
    if annotations:
        metadata["annotations"] = annotations
    edited = {service: with_fields(graph, service, wanted) for service, wanted in fields.items() if wanted}
    if not edited:
        return {"metadata": metadata}
    if graph["apiVersion"].endswith("/v1alpha1"):
        return {"metadata": metadata, "spec": {"services": edited}}
    components = [edited.get(component["name"], component) for component in graph["spec"]["components"]]  # a merge patch replaces a list
    return {"metadata": metadata, "spec": {"components": components}}


def with_fields(graph: Resource, service: str, wanted: dict[str, Any]) -> Resource:
    """A service of a graph with other fields."""
    component = services(graph)[service]
    edited = component | ({"replicas": wanted["replicas"]} if "replicas" in wanted else {})
    if "imagePullSecrets" not in wanted:
        return edited
    secrets = {"imagePullSecrets": wanted["imagePullSecrets"]}
    if graph["apiVersion"].endswith("/v1alpha1"):
        return edited | {"extraPodSpec": component.get("extraPodSpec", {}) | secrets}
    template = component.get("podTemplate", {})
    return edited | {"podTemplate": template | {"spec": template.get("spec", {}) | secrets}}


def missing(graph: Resource, fields: Fields, annotations: dict[str, str | None]) -> Iterator[str]:
    """The fields and annotations that a graph lacks."""
    components = services(graph)
    for service, wanted in fields.items():
        if "replicas" in wanted and components.get(service, {}).get("replicas") != wanted["replicas"]:
            yield f"{key(graph)} {service}: replicas is not {wanted['replicas']}"
        if "imagePullSecrets" in wanted and pull_secrets(graph, service) != wanted["imagePullSecrets"]:
            names = ", ".join(secret["name"] for secret in wanted["imagePullSecrets"])
            yield f"{key(graph)} {service}: imagePullSecrets is not {names}"
    for annotation, value in annotations.items():
        if annotated(graph).get(annotation) != value:
            yield f"{key(graph)}: the annotation {annotation} is not {value or 'removed'}"
