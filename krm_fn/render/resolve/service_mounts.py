"""The `volumeMounts` of v1alpha1 services in releases whose conversion to v1beta1 loses some of them.

These releases take the mounts of `mainContainer` if it has any, and no others. The mount of the compilation cache stays.
Follows the operator's `api/v1alpha1/shared_spec_conversion.go` buildSharedPodTemplateFromAlpha.
"""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.kubernetes.values import mapping, objects
from krm_fn.render import dynamo_api

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from krm_fn.base.results import Path, Result
    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.kinds.releases import Release

_FIELD = "volumeMounts"


def without_lost(resource: Resource) -> Resource:
    """Returns a v1alpha1 graph or component without the mounts that a release loses. Fields may have wrong types."""
    spec = mapping(resource.get("spec"))
    if resource.get("kind") == dynamo_api.COMPONENT:
        return {**resource, "spec": _without(spec)}
    services = {
        name: _without(service) if isinstance(service, dict) else service for name, service in mapping(spec.get("services")).items()
    }
    return {**resource, "spec": {**spec, "services": services}} if services else resource


def check(resource: Resource, release: Release) -> Iterator[Result]:
    """Warns of each mount of a v1alpha1 graph or component that a release loses. Fields may have wrong types."""
    message = (
        f"Dynamo {release.name[1:]} mounts only what mainContainer.{_FIELD} lists, if it lists anything, so this mount has no effect; "
        "write it there"
    )
    for service, path in _services(resource):
        for index in _lost(service):
            yield results.warning(codes.FIELD_WITHOUT_EFFECT, message, results.ref(resource), (*path, _FIELD, index))


def _services(resource: Resource) -> Iterator[tuple[dict[str, Any], Path]]:
    spec = mapping(resource.get("spec"))
    if resource.get("kind") == dynamo_api.COMPONENT:
        yield spec, ("spec",)
    for name, service in mapping(spec.get("services")).items():
        yield mapping(service), ("spec", "services", name)


def _lost(service: dict[str, Any]) -> list[int]:
    """Returns the indexes of the mounts of a service that are lost."""
    if not objects(mapping(mapping(service.get("extraPodSpec")).get("mainContainer")).get(_FIELD)):
        return []
    return [index for index, mount in enumerate(service.get(_FIELD) or ()) if not mapping(mount).get("useAsCompilationCache")]


def _without(service: dict[str, Any]) -> dict[str, Any]:
    lost = _lost(service)
    return {**service, _FIELD: [mount for index, mount in enumerate(service[_FIELD]) if index not in lost]} if lost else service
