"""What a resource says that the other version cannot say, so that a conversion only keeps it in an annotation.

What the other version says in another form is not lost: the order of containers, or where an environment variable was written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.convert import component_leftovers, pod_templates, preserved, requests, service_leftovers
from krm_fn.kube import identity
from krm_fn.kube.values import is_zero, mapping, name_of, objects
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.results import Path


class Lost(NamedTuple):
    """A field that the other version does not have. `instead` is what to write there, empty if nothing can take its place."""

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


def fields(resource: Resource, version: str) -> list[Lost]:
    """The fields of a resource that `version`, `v1alpha1` or `v1beta1`, does not have. Empty for a resource of that version.

    The paths are those of the resource.
    """
    address, spec = results.ref(resource), mapping(resource.get("spec"))
    if address.api_version not in (identity.V1ALPHA1, identity.V1BETA1) or address.api_version.endswith(f"/{version}"):
        return []
    if address.kind == identity.REQUEST:
        return [Lost(("spec", *path), "") for path in requests.lost(spec, version)]
    if address.kind == identity.COMPONENT:
        before = preserved.spec(resource)
        return [*_of_service(spec, ("spec",))] if version == "v1beta1" else [*_of_component(spec, before, ("spec",))]
    if address.kind == identity.GRAPH:
        return [*_of_services(spec)] if version == "v1beta1" else [*_of_components(spec, mapping(preserved.spec(resource).get("services")))]
    return []


def _of_services(spec: dict[str, Any]) -> Iterator[Lost]:
    for place, claim in enumerate(objects(spec.get("pvcs"))):
        if claim.get("create") is True:
            yield Lost(("spec", "pvcs", place), "a PersistentVolumeClaim as a resource of its own")
    for name, service in mapping(spec.get("services")).items():
        yield from _of_service(mapping(service), ("spec", "services", name))


def _of_service(service: dict[str, Any], path: Path) -> Iterator[Lost]:
    for field in service_leftovers.only_v1alpha1(service):
        is_dead = field in _DEAD or (field == "ingress" and mapping(service[field]).get("enabled") is not True)
        if not is_dead and not is_zero(service[field]):
            yield Lost((*path, field), _INSTEAD.get(field, ""))
    caches = [place for place, mount in enumerate(objects(service.get("volumeMounts"))) if mount.get("useAsCompilationCache") is True]
    for place in caches[1:]:
        yield Lost((*path, "volumeMounts", place, "useAsCompilationCache"), "")


def _of_components(spec: dict[str, Any], services: dict[str, Any]) -> Iterator[Lost]:
    for place, component in enumerate(objects(spec.get("components"))):
        yield from _of_component(component, mapping(services.get(name_of(component))), ("spec", "components", place))


def _of_component(component: dict[str, Any], before: dict[str, Any], path: Path) -> Iterator[Lost]:
    for field in component_leftovers.only_v1beta1(component):
        yield Lost((*path, "experimental", field), "")
    service = service_leftovers.restored(component, before, name_of(component) or None)
    if component.get("frontendSidecar") and "frontendSidecar" not in service:
        yield Lost((*path, "frontendSidecar"), "")
    for name, place in _details(component):
        yield Lost((*path, *place), f"the volume {name} in podTemplate.spec.volumes")


def undeclared(component: dict[str, Any]) -> list[str]:
    """The names of claims that the main container mounts with details, such as `readOnly`, without a volume in the pod template."""
    return [name for name, _ in _details(component)]


def _details(component: dict[str, Any]) -> Iterator[tuple[str, Path]]:
    """The claims that only a service can mount, without details: nothing else makes a volume for them."""
    pod = mapping(mapping(component.get("podTemplate")).get("spec"))
    number, main = next(
        ((at, each) for at, each in enumerate(objects(pod.get("containers"))) if name_of(each) == pod_templates.MAIN), (0, {})
    )
    mounts = objects(main.get("volumeMounts"))
    _, native = pod_templates.split_mounts(component, mounts, pod)
    for place, mount in enumerate(mounts):
        details = [field for field, value in mount.items() if field not in _PLAIN_MOUNT and not is_zero(value)]
        if details and not any(mount is each for each in native):
            yield name_of(mount), ("podTemplate", "spec", "containers", number, "volumeMounts", place, details[0])
