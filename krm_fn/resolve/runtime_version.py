"""The runtime version of components: the version of Dynamo in their images.

Follows the operator's `internal/features/runtime`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.convert.path_mapping import MAIN
from krm_fn.kube import paths, version
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.types import Resource
    from krm_fn.kube.version import Version
    from krm_fn.results import Path


def of_component(component: dict[str, Any]) -> Version | None:
    """The runtime version of a v1beta1 component is its `runtimeVersionOverride`, or the version in the tag of its image.

    Returns None if the version is unknown.

    Follows the operator's `internal/features/runtime`.
    Rule: gates.runtime-version
    """
    main = next((container for container in _containers(component) if container.get("name") == MAIN), {})
    return _version(component, main.get("image"))


class RuntimeVersion(NamedTuple):
    """A runtime version, and the path of the field that says it."""

    version: Version
    path: Path


def of_resource(resource: Resource) -> RuntimeVersion | None:
    """Returns the highest runtime version of the components of a graph, or of a standalone component. It may be in either API version.

    A frontend sidecar counts, too. Returns None if no version is known. Fields may have wrong types.
    """
    spec = _field(resource, "spec")
    known = (RuntimeVersion(found, ("spec", *path)) for found, path in _versions(spec) if found)
    return max(known, key=lambda entry: entry.version, default=None)


def names_images(resource: Resource) -> bool:
    """Returns true if a component of a resource has an image, or a version in place of that of its image."""
    spec = _field(resource, "spec")
    return any(paths.at(spec, path) for _, path in _versions(spec))


def _versions(spec: dict[str, Any]) -> Iterator[tuple[Version | None, Path]]:
    """The runtime versions of the components in a spec, with the paths of their fields."""
    services, components = spec.get("services"), spec.get("components")
    if isinstance(services, dict):
        for name, service in services.items():
            yield from _of_service(service, ("services", name))
    elif isinstance(components, list):
        for index, component in enumerate(components):
            yield from _of_component(component, ("components", index))
    else:
        yield from _of_service(spec, ())
        yield from _of_component(spec, ())


def _of_service(service: Any, path: Path) -> Iterator[tuple[Version | None, Path]]:
    """The versions of a v1alpha1 service and of its frontend sidecar."""
    if isinstance(service, dict):
        main = _field(_field(service, "extraPodSpec"), "mainContainer")
        yield _version(service, main.get("image")), (*path, *_named(service, ("extraPodSpec", "mainContainer", "image")))
        yield _of_image(_field(service, "frontendSidecar").get("image")), (*path, "frontendSidecar", "image")


def _of_component(component: Any, path: Path) -> Iterator[tuple[Version | None, Path]]:
    """The versions of a v1beta1 component and of its frontend sidecar."""
    if isinstance(component, dict):
        for index, container in enumerate(_containers(component)):
            at: Path = ("podTemplate", "spec", "containers", index, "image")
            if container.get("name") == MAIN:
                yield _version(component, container.get("image")), (*path, *_named(component, at))
            elif container.get("name") == component.get("frontendSidecar"):
                yield _of_image(container.get("image")), (*path, *at)


def _named(component: dict[str, Any], image: Path) -> Path:
    """The path of the field that says the version: `image`, or the override."""
    return ("runtimeVersionOverride",) if component.get("runtimeVersionOverride") else image


def _version(component: dict[str, Any], image: Any) -> Version | None:
    override = component.get("runtimeVersionOverride")
    if override:
        return version.core(override) if isinstance(override, str) else None
    return _of_image(image)


def _of_image(image: Any) -> Version | None:
    return version.of_image(image) if isinstance(image, str) else None


def _containers(component: dict[str, Any]) -> list[dict[str, Any]]:
    containers = _field(_field(component, "podTemplate"), "spec").get("containers")
    return [entry if isinstance(entry, dict) else {} for entry in containers] if isinstance(containers, list) else []


def _field(written: dict[str, Any], name: str) -> dict[str, Any]:
    value = written.get(name)
    return value if isinstance(value, dict) else {}
