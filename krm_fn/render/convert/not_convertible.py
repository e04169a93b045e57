"""Fields that the other API version does not have: their list, and conversions that write them in another form where there is one.

A field that the other version has in another form is convertible: the order of containers, or where an environment variable was written.
"""

from __future__ import annotations

from collections.abc import Iterator

from krm_fn.base import results
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes.values import is_zero, mapping, name_of, objects
from krm_fn.render import dynamo_api
from krm_fn.render.convert import pod_template_conversion, preserved_component_fields, preserved_fields, request_conversion, versions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.base.results import Path
    from krm_fn.kubernetes.types import Resource


class NotConvertible(NamedTuple):
    """A field that the other version does not have. `instead` is what to write there, empty if the other version has nothing like it."""

    path: Path
    instead: str


_INSTEAD = {
    "annotations": "podTemplate.metadata.annotations",
    "labels": "podTemplate.metadata.labels",
    "ingress": "an Ingress as a resource of its own",
}
_DEAD = ("serviceName", "autoscaling")
"""Fields that no release acts on. An Ingress acts if it is enabled."""
_PLAIN_MOUNT = ("name", "mountPath")
_METADATA_FIELDS = ("labels", "annotations")
_OVERRIDES = ("name", "namespace", "labels", "annotations")
"""The fields of `deploymentOverrides` but `workersImage`, which becomes the image of the request."""


def fields(resource: Resource, version: str) -> list[NotConvertible]:
    """Returns the fields of a resource that `version`, `v1alpha1` or `v1beta1`, does not have. Empty for a resource of that version.

    The paths are those of the resource.
    """
    address, spec = results.ref(resource), mapping(resource.get("spec"))
    if address.api_version not in (dynamo_api.V1ALPHA1, dynamo_api.V1BETA1) or address.api_version.endswith(f"/{version}"):
        return []
    if address.kind == dynamo_api.REQUEST:
        return [NotConvertible(("spec", *path), "") for path in request_conversion.not_convertible(spec, version)]
    if address.kind == dynamo_api.COMPONENT:
        before = preserved_fields.spec(resource)
        return [*_of_service(spec, ("spec",))] if version == "v1beta1" else [*_of_component(spec, before, ("spec",))]
    if address.kind == dynamo_api.GRAPH:
        return (
            [*_of_services(spec)]
            if version == "v1beta1"
            else [*_of_components(spec, mapping(preserved_fields.spec(resource).get("services")))]
        )
    return []


def _of_services(spec: dict[str, Any]) -> Iterator[NotConvertible]:
    for index, claim in enumerate(objects(spec.get("pvcs"))):
        if claim.get("create") is True:
            yield NotConvertible(("spec", "pvcs", index), "a PersistentVolumeClaim as a resource of its own")
    for name, service in mapping(spec.get("services")).items():
        yield from _of_service(mapping(service), ("spec", "services", name))


def _of_service(service: dict[str, Any], path: Path) -> Iterator[NotConvertible]:
    for field in preserved_component_fields.only_v1alpha1(service):
        is_dead = field in _DEAD or (field == "ingress" and mapping(service[field]).get("enabled") is not True)
        if not is_dead and not is_zero(service[field]):
            yield NotConvertible((*path, field), _INSTEAD.get(field, ""))
    caches = [index for index, mount in enumerate(objects(service.get("volumeMounts"))) if mount.get("useAsCompilationCache") is True]
    for index in caches[1:]:
        yield NotConvertible((*path, "volumeMounts", index, "useAsCompilationCache"), "")


def _of_components(spec: dict[str, Any], services: dict[str, Any]) -> Iterator[NotConvertible]:
    for index, component in enumerate(objects(spec.get("components"))):
        yield from _of_component(component, mapping(services.get(name_of(component))), ("spec", "components", index))


def _of_component(component: dict[str, Any], before: dict[str, Any], path: Path) -> Iterator[NotConvertible]:
    for field in preserved_component_fields.only_v1beta1(component):
        yield NotConvertible((*path, "experimental", field), "")
    service = preserved_component_fields.restored_service(component, before, name_of(component) or None)
    if component.get("frontendSidecar") and "frontendSidecar" not in service:
        yield NotConvertible((*path, "frontendSidecar"), "")
    for name, steps in _details(component):
        yield NotConvertible((*path, *steps), f"the volume {name} in podTemplate.spec.volumes")


def undeclared_claims(component: dict[str, Any]) -> list[str]:
    """Returns the names of claims that the main container mounts with details, such as `readOnly`, without a volume in the pod template."""
    return [name for name, _ in _details(component)]


def _details(component: dict[str, Any]) -> Iterator[tuple[str, Path]]:
    """Yields the claims that only a service can mount, without details: nothing else makes a volume for them."""
    pod = mapping(mapping(component.get("podTemplate")).get("spec"))
    number, main = next(
        ((at, one) for at, one in enumerate(objects(pod.get("containers"))) if name_of(one) == pod_template_conversion.MAIN), (0, {})
    )
    mounts = objects(main.get("volumeMounts"))
    _, native = pod_template_conversion.split_mounts(component, mounts, pod)
    for index, mount in enumerate(mounts):
        details = [field for field, value in mount.items() if field not in _PLAIN_MOUNT and not is_zero(value)]
        if details and not any(mount is other for other in native):
            yield name_of(mount), ("podTemplate", "spec", "containers", number, "volumeMounts", index, details[0])


def native(version: str, resource: Resource) -> tuple[Resource, list[NotConvertible]]:
    """Converts a resource to a version without preserved fields. Returns it and the fields that it lacks.

    The claims of graphs, and the Ingresses of services, become separate resources, which the caller makes: they are not in the list.
    """
    if versions.to(version, resource) is resource:
        return resource, []
    missing = fields(resource, version)
    source = _with_declared_volumes(resource) if version == dynamo_api.ALPHA1 else resource
    converted = preserved_fields.without(versions.to(version, source))
    if version == dynamo_api.BETA1:
        converted = _with_metadata(resource, _with_overrides(resource, converted))
    return converted, [field for field in missing if not _has_other_form(resource, field)]


def _has_other_form(resource: Resource, field: NotConvertible) -> bool:
    """True for a field that has another form in the new version."""
    if results.ref(resource).kind == dynamo_api.REQUEST:
        return field.path[1] == "deploymentOverrides"
    return bool(field.instead)


def _with_metadata(resource: Resource, converted: Resource) -> Resource:
    """Returns the graph or component with the labels and annotations of services in the pod templates. Those of the pod templates win."""
    spec = mapping(converted.get("spec"))
    services = mapping(mapping(resource.get("spec")).get("services"))
    if results.ref(resource).kind == dynamo_api.GRAPH and "components" in spec:
        listed = [
            _with_template_metadata(component, mapping(services.get(name_of(component)))) for component in objects(spec["components"])
        ]
        return {**converted, "spec": {**spec, "components": listed}}
    if results.ref(resource).kind == dynamo_api.COMPONENT and spec:
        return {**converted, "spec": _with_template_metadata(spec, mapping(resource.get("spec")))}
    return converted


def _with_template_metadata(component: dict[str, Any], service: dict[str, Any]) -> dict[str, Any]:
    service_metadata = {field: service[field] for field in _METADATA_FIELDS if isinstance(service.get(field), dict) and service[field]}
    if not service_metadata:
        return component
    template = mapping(component.get("podTemplate")) or {"spec": {"containers": [{"name": pod_template_conversion.MAIN}]}}
    metadata = mapping(template.get("metadata"))
    merged = {**metadata, **{field: {**values, **mapping(metadata.get(field))} for field, values in service_metadata.items()}}
    return {**component, "podTemplate": {"metadata": merged, **{key: value for key, value in template.items() if key != "metadata"}}}


def _with_overrides(resource: Resource, converted: Resource) -> Resource:
    """Returns the request with the metadata of its graph under `overrides.dgd`."""
    overrides = mapping(mapping(resource.get("spec")).get("deploymentOverrides"))
    metadata = {field: overrides[field] for field in _OVERRIDES if overrides.get(field)}
    if results.ref(resource).kind != dynamo_api.REQUEST or not metadata:
        return converted
    spec = mapping(converted.get("spec"))
    graph = {"apiVersion": dynamo_api.V1BETA1, "kind": dynamo_api.GRAPH, "metadata": metadata}
    return {**converted, "spec": {**spec, "overrides": {**mapping(spec.get("overrides")), "dgd": graph}}}


def _with_declared_volumes(resource: Resource) -> Resource:
    """Returns the graph or component with a volume for each mount with details: v1alpha1 has them for declared volumes only."""
    spec = mapping(resource.get("spec"))
    if results.ref(resource).kind == dynamo_api.GRAPH and "components" in spec:
        return {**resource, "spec": {**spec, "components": [_with_volumes(component) for component in objects(spec["components"])]}}
    return {**resource, "spec": _with_volumes(spec)} if results.ref(resource).kind == dynamo_api.COMPONENT and spec else resource


def _with_volumes(component: dict[str, Any]) -> dict[str, Any]:
    names = dict.fromkeys(undeclared_claims(component))
    if not names:
        return component
    template = mapping(component.get("podTemplate"))
    pod = mapping(template.get("spec"))
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]
    return {**component, "podTemplate": {**template, "spec": {**pod, "volumes": [*objects(pod.get("volumes")), *volumes]}}}
