"""The fields of a graph in the cluster that the way back writes, in both API versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.results import Result
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, objects
from krm_fn.render import dynamo_api, labels

Fields = dict[str, dict[str, Any]]
"""The fields of each service: `replicas`, and `imagePullSecrets` of its pods."""


def services(graph: Resource) -> dict[str, Resource]:
    """Returns the services of a graph by name; v1beta1 has a list of components."""
    if graph["apiVersion"] == dynamo_api.V1ALPHA1:
        return mapping(graph["spec"].get("services"))
    return {component["name"]: component for component in objects(graph["spec"].get("components"))}


def pull_secrets(graph: Resource, service: str) -> list[Resource]:
    """Returns the pull secrets that a service of a graph names."""
    path = ("extraPodSpec",) if graph["apiVersion"] == dynamo_api.V1ALPHA1 else ("podTemplate", "spec")
    return objects(mapping(services(graph).get(service), *path).get("imagePullSecrets"))


def patch(graph: Resource, fields: Fields, annotations: Mapping[str, str | None]) -> Resource:
    """Returns the merge patch that writes the fields and annotations into this graph, and into no later state of it."""
    metadata: Resource = {"resourceVersion": graph["metadata"]["resourceVersion"]}
    if annotations:
        metadata["annotations"] = dict(annotations)
    edited = {service: _with_fields(graph, service, desired) for service, desired in fields.items() if desired}
    if not edited:
        return {"metadata": metadata}
    if graph["apiVersion"] == dynamo_api.V1ALPHA1:
        return {"metadata": metadata, "spec": {"services": edited}}
    components = [edited.get(component["name"], component) for component in graph["spec"]["components"]]  # a merge patch replaces a list
    return {"metadata": metadata, "spec": {"components": components}}


def _with_fields(graph: Resource, service: str, desired: Mapping[str, Any]) -> Resource:
    """A service of a graph with other fields."""
    component = services(graph)[service]
    edited = component | ({"replicas": desired["replicas"]} if "replicas" in desired else {})
    if "imagePullSecrets" not in desired:
        return edited
    secrets = {"imagePullSecrets": desired["imagePullSecrets"]}
    if graph["apiVersion"] == dynamo_api.V1ALPHA1:
        return edited | {"extraPodSpec": component.get("extraPodSpec", {}) | secrets}
    template = component.get("podTemplate", {})
    return edited | {"podTemplate": template | {"spec": template.get("spec", {}) | secrets}}


def missing(graph: Resource, fields: Fields, annotations: Mapping[str, str | None]) -> Iterator[Result]:
    """Reports the fields and annotations that a graph lacks."""
    components, ref = services(graph), results.ref(graph)
    fix = "run `krm-fn adopt give-back`"
    for service, desired in fields.items():
        if "replicas" in desired and components.get(service, {}).get("replicas") != desired["replicas"]:
            yield results.error(codes.NOT_READY_FOR_OPERATOR, f"{service}: replicas is not {desired['replicas']}; {fix}", ref)
        if "imagePullSecrets" in desired and pull_secrets(graph, service) != desired["imagePullSecrets"]:
            names = ", ".join(secret["name"] for secret in desired["imagePullSecrets"])
            yield results.error(codes.NOT_READY_FOR_OPERATOR, f"{service}: imagePullSecrets is not {names}; {fix}", ref)
    for annotation, value in annotations.items():
        if labels.annotations(graph).get(annotation) != value:
            yield results.error(codes.NOT_READY_FOR_OPERATOR, f"the annotation {annotation} is not {value or 'removed'}; {fix}", ref)
