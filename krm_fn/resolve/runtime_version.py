"""The runtime version of components: the version of Dynamo in their images.

Follows the operator's `internal/features/runtime`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.convert.path_mapping import MAIN
from krm_fn.kube import version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.types import Resource
    from krm_fn.kube.version import Version


def of_component(component: dict[str, Any]) -> Version | None:
    """The runtime version of a v1beta1 component is its `runtimeVersionOverride`, or the version in the tag of its image.

    Returns None if the version is unknown.

    Follows the operator's `internal/features/runtime`.
    Rule: gates.runtime-version
    """
    return _version(component.get("runtimeVersionOverride"), _image(component, MAIN))


def of_resource(resource: Resource) -> Version | None:
    """Returns the highest runtime version of the components of a graph, or of a standalone component. It may be in either API version.

    A frontend sidecar counts, too. Returns None if no version is known.
    """
    return max(filter(None, _versions(resource.get("spec") or {})), default=None)


def _versions(spec: dict[str, Any]) -> Iterator[Version | None]:
    """The runtime versions of the components in a spec, whose fields may have wrong types."""
    services, components = spec.get("services"), spec.get("components")
    standalone = () if services or components else (spec,)
    for service in (*_entries(services.values() if isinstance(services, dict) else ()), *standalone):
        main = _field(_field(service, "extraPodSpec"), "mainContainer")
        yield _version(service.get("runtimeVersionOverride"), main.get("image"))
        yield _version(None, _field(service, "frontendSidecar").get("image"))
    for component in (*_entries(components if isinstance(components, list) else ()), *standalone):
        yield of_component(component)
        yield _version(None, _image(component, component.get("frontendSidecar")))


def _version(override: Any, image: Any) -> Version | None:
    if override:
        return version.core(override) if isinstance(override, str) else None
    return version.of_image(image) if isinstance(image, str) else None


def _image(component: dict[str, Any], name: Any) -> Any:
    """The image of a container of a v1beta1 component; None if there is no such container."""
    containers = _field(_field(component, "podTemplate"), "spec").get("containers")
    named = (container for container in _entries(containers if isinstance(containers, list) else ()) if container.get("name") == name)
    return next(named, {}).get("image")


def _field(written: dict[str, Any], name: str) -> dict[str, Any]:
    value = written.get(name)
    return value if isinstance(value, dict) else {}


def _entries(values: Any) -> Iterator[dict[str, Any]]:
    return (value for value in values if isinstance(value, dict))
