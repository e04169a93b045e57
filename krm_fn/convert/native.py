"""Converts without an annotation: what the new version has no field for is written in another form where there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.convert import lost, pod_templates, preserved, versions
from krm_fn.kube import identity
from krm_fn.kube.values import mapping, name_of, objects

if TYPE_CHECKING:
    from krm_fn.convert.lost import Lost
    from krm_fn.kube.types import Resource

_METADATA = ("labels", "annotations")
_OVERRIDES = ("name", "namespace", "labels", "annotations")
"""The fields of `deploymentOverrides` but `workersImage`, which becomes the image of the request."""


def to(version: str, resource: Resource) -> tuple[Resource, list[Lost]]:
    """Converts a resource to a version. Returns it without kept fields, and the fields that it lacks.

    The claims of graphs, and the Ingresses of services, are resources of their own, which the caller makes: they are not in the list.
    """
    if versions.to(version, resource) is resource:
        return resource, []
    missing = lost.fields(resource, version)
    source = _with_declared_volumes(resource) if version == versions.V1ALPHA1 else resource
    converted = preserved.without(versions.to(version, source))
    if version == versions.V1BETA1:
        converted = _with_metadata(resource, _with_overrides(resource, converted))
    return converted, [field for field in missing if not _has_other_form(resource, field)]


def _has_other_form(resource: Resource, field: Lost) -> bool:
    """True for a field that has another form in the new version."""
    if results.ref(resource).kind == identity.REQUEST:
        return field.path[1] == "deploymentOverrides"
    return bool(field.instead)


def _with_metadata(resource: Resource, converted: Resource) -> Resource:
    """The graph or component with the labels and annotations of services in the pod templates. Those of the pod templates win."""
    spec = mapping(converted.get("spec"))
    services = mapping(mapping(resource.get("spec")).get("services"))
    if results.ref(resource).kind == identity.GRAPH and "components" in spec:
        listed = [_component(component, mapping(services.get(name_of(component)))) for component in objects(spec["components"])]
        return {**converted, "spec": {**spec, "components": listed}}
    if results.ref(resource).kind == identity.COMPONENT and spec:
        return {**converted, "spec": _component(spec, mapping(resource.get("spec")))}
    return converted


def _component(component: dict[str, Any], service: dict[str, Any]) -> dict[str, Any]:
    given = {field: service[field] for field in _METADATA if isinstance(service.get(field), dict) and service[field]}
    if not given:
        return component
    template = mapping(component.get("podTemplate")) or {"spec": {"containers": [{"name": pod_templates.MAIN}]}}
    metadata = mapping(template.get("metadata"))
    merged = {**metadata, **{field: {**values, **mapping(metadata.get(field))} for field, values in given.items()}}
    return {**component, "podTemplate": {"metadata": merged, **{key: value for key, value in template.items() if key != "metadata"}}}


def _with_overrides(resource: Resource, converted: Resource) -> Resource:
    """The request with the metadata of its graph under `overrides.dgd`."""
    given = mapping(mapping(resource.get("spec")).get("deploymentOverrides"))
    metadata = {field: given[field] for field in _OVERRIDES if given.get(field)}
    if results.ref(resource).kind != identity.REQUEST or not metadata:
        return converted
    spec = mapping(converted.get("spec"))
    graph = {"apiVersion": identity.V1BETA1, "kind": identity.GRAPH, "metadata": metadata}
    return {**converted, "spec": {**spec, "overrides": {**mapping(spec.get("overrides")), "dgd": graph}}}


def _with_declared_volumes(resource: Resource) -> Resource:
    """The graph or component with a volume for each mount that has details: v1alpha1 has fields for a mount of a declared volume only."""
    spec = mapping(resource.get("spec"))
    if results.ref(resource).kind == identity.GRAPH and "components" in spec:
        return {**resource, "spec": {**spec, "components": [_with_volumes(component) for component in objects(spec["components"])]}}
    return {**resource, "spec": _with_volumes(spec)} if results.ref(resource).kind == identity.COMPONENT and spec else resource


def _with_volumes(component: dict[str, Any]) -> dict[str, Any]:
    names = dict.fromkeys(lost.undeclared(component))
    if not names:
        return component
    template = mapping(component.get("podTemplate"))
    pod = mapping(template.get("spec"))
    made = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]
    return {**component, "podTemplate": {**template, "spec": {**pod, "volumes": [*objects(pod.get("volumes")), *made]}}}
