"""The runtime version of components: the version of Dynamo in their images.

Follows the operator's `internal/features/runtime`.
"""

from __future__ import annotations

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import paths, version
from krm_fn.render import names
from krm_fn.render.convert.path_mapping import MAIN
from krm_fn.render.kinds import dynamo_images, types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from krm_fn.base.results import Path
    from krm_fn.kubernetes.types import Resource
    from krm_fn.kubernetes.version import Version

_FRONTEND = "frontend"
"""The component type whose defaults a frontend sidecar has."""
_MODULE = "-m dynamo."
"""A module of Dynamo that Python starts, in a command line."""


def of_component(component: dict[str, Any], *, sidecar_mode: bool) -> Version | None:
    """Returns the runtime version of a v1beta1 component.

    Returns None if the version is unknown. `sidecar_mode` is true if the release has it: the image is then that of the container that runs
    Dynamo beside the engine, if there is one.

    Rule gates.runtime-version: The runtime version of a v1beta1 component is its `runtimeVersionOverride`, or the version in the tag of its
    image. (operator: internal/features/runtime)
    """
    image = _runtime_container(component, sidecar_mode=sidecar_mode).get("image")
    return RuntimeImage(image, (), *_override(component, ())).version


def is_foreign(component: dict[str, Any], *, sidecar_mode: bool) -> bool:
    """Returns true if the runtime version of a v1beta1 component is the tag of an image without Dynamo.

    The operator reads it as a version of Dynamo. The arguments are those of `of_component`.
    """
    if component.get("runtimeVersionOverride"):
        return False
    return not _is_dynamo(_runtime_container(component, sidecar_mode=sidecar_mode), component.get("type"))


def _runtime_container(component: dict[str, Any], *, sidecar_mode: bool) -> dict[str, Any]:
    """Returns the container whose image has the runtime version of a v1beta1 component; empty without one."""
    runtime = beside_engine(component) if sidecar_mode else None
    return next((container for container in _containers(component) if container.get("name") == MAIN), {}) if runtime is None else runtime


def beside_engine(component: dict[str, Any]) -> dict[str, Any] | None:
    """Returns the init container of a v1beta1 component that runs Dynamo beside an engine; None if there is none."""
    inits = _list_containers(_field(_field(component, "podTemplate"), "spec").get("initContainers"))
    return next((container for container in inits if container.get("name") == names.RUNTIME), None)


class RuntimeVersion(NamedTuple):
    """A runtime version, and the path of the field that says it."""

    version: Version
    path: Path


def of_resource(resource: Resource) -> RuntimeVersion | None:
    """Returns the highest runtime version of the components of a graph, or of a standalone component. It may be in either API version.

    A frontend sidecar counts, too. Returns None if no version is known. Fields may have wrong types.
    """
    return max(each(resource), key=lambda entry: entry.version, default=None)


def each(resource: Resource) -> Iterator[RuntimeVersion]:
    """Yields the known runtime versions of the components of a graph, or of a standalone component. Fields may have wrong types."""
    for image in images(resource):
        if version := image.version:
            yield RuntimeVersion(version, image.version_path)


class RuntimeImage(NamedTuple):
    """The image of the container that should run Dynamo in a component, its value and its path.

    `override` is the `runtimeVersionOverride` of the component, which replaces the version of the tag, and `override_path` its path. They
    are empty without one, and for a frontend sidecar. `is_dynamo` is false if the tag says nothing of Dynamo.
    """

    image: Any
    path: Path
    override: Any = None
    override_path: Path = ()
    is_dynamo: bool = True

    @property
    def version(self) -> Version | None:
        """The version of Dynamo; None if it is unknown."""
        if self.override:
            return version.core(self.override) if isinstance(self.override, str) else None
        return version.of_image(self.image) if isinstance(self.image, str) and self.is_dynamo else None

    @property
    def without_tag(self) -> bool:
        """True if neither the tag nor an override is a version of any program."""
        return not self.override and (not isinstance(self.image, str) or version.of_image(self.image) is None)

    @property
    def version_path(self) -> Path:
        """The path of the field that says the version."""
        return self.override_path if self.override else self.path


def images(resource: Resource) -> Iterator[RuntimeImage]:
    """Yields the images of a graph or of a standalone component that should run Dynamo. Fields may have wrong types.

    Those without a version are among them, and those of other programs, whose tags do not choose the release.
    """
    spec = _field(resource, "spec")
    services, components = spec.get("services"), spec.get("components")
    if isinstance(services, dict):
        for name, service in services.items():
            yield from _of_service(service, ("spec", "services", name))
    elif isinstance(components, list):
        for index, component in enumerate(components):
            yield from _of_component(component, ("spec", "components", index))
    else:
        yield from _of_service(spec, ("spec",))
        yield from _of_component(spec, ("spec",))


def component_type(resource: Resource, runtime: RuntimeVersion) -> str:
    """Returns the type of the component whose image has a runtime version; empty if it has none. Fields may have wrong types."""
    is_graph = runtime.path[1] in ("services", "components")
    component = paths.at(resource, runtime.path[:3] if is_graph else runtime.path[:1])
    written = (component.get("type"), component.get("componentType")) if isinstance(component, dict) else ()
    return next((kind for kind in written if isinstance(kind, str)), "")


def names_images(resource: Resource) -> bool:
    """Returns true if a component of a resource has an image, or a version in place of that of its image."""
    return any(image.image or image.override for image in images(resource))


def _of_service(service: Any, path: Path) -> Iterator[RuntimeImage]:
    """Yields the images of a v1alpha1 service and of its frontend sidecar."""
    if isinstance(service, dict):
        pod, sidecar = _field(service, "extraPodSpec"), _field(service, "frontendSidecar")
        container, at = _runtime_of_pod(pod) or (_field(pod, "mainContainer"), ("mainContainer", "image"))
        yield _image(container, service.get("componentType"), (*path, "extraPodSpec", *at), _override(service, path))
        yield _image(sidecar, _FRONTEND, (*path, "frontendSidecar", "image"))


def _of_component(component: Any, path: Path) -> Iterator[RuntimeImage]:
    """Yields the images of a v1beta1 component, of its roles and of its frontend sidecar."""
    if isinstance(component, dict):
        override = _override(component, path)
        for position, role in enumerate(_list_containers(component.get("roles"))):
            yield from _of_template(component, role.get("podTemplate"), (*path, "roles", position), override)
        yield from _of_template(component, component.get("podTemplate"), path, override)


def _of_template(component: dict[str, Any], template: Any, path: Path, override: tuple[Any, Path]) -> Iterator[RuntimeImage]:
    """Yields the images of a pod template of a component or of a role. `path` is the path of the component or of the role."""
    spec = _field(template, "spec") if isinstance(template, dict) else {}
    beside, below = _runtime_of_pod(spec), (*path, "podTemplate", "spec")
    for index, container in enumerate(_list_containers(spec.get("containers"))):
        at: Path = ("containers", index, "image")
        if container.get("name") == MAIN:
            runtime, at = beside or (container, at)
            yield _image(runtime, component.get("type"), (*below, *at), override)
        elif container.get("name") == component.get("frontendSidecar"):
            yield _image(container, _FRONTEND, (*below, *at))


def _image(container: dict[str, Any], component_type: Any, path: Path, override: tuple[Any, Path] = (None, ())) -> RuntimeImage:
    return RuntimeImage(container.get("image"), path, *override, _is_dynamo(container, component_type))


def _runtime_of_pod(pod: dict[str, Any]) -> tuple[dict[str, Any], Path] | None:
    """Returns the container that runs Dynamo beside an engine, whose tag says nothing of Dynamo, and the path of its image in the pod."""
    for index, container in enumerate(_list_containers(pod.get("initContainers"))):
        if container.get("name") == names.RUNTIME:
            return container, ("initContainers", index, "image")
    return None


def _is_dynamo(container: dict[str, Any], component_type: Any) -> bool:
    """True if the tag of a container's image is a version of Dynamo: by its name, or because the container starts Dynamo."""
    image = container.get("image")
    tag = dynamo_images.tag_of(image) if isinstance(image, str) else "unknown"
    return tag == "dynamo" or (tag == "unknown" and _starts_dynamo(container, component_type))


def _starts_dynamo(container: dict[str, Any], component_type: Any) -> bool:
    """True if a container starts Dynamo: by its own command line, or by the default of its component type.

    The container `runtime` beside an engine always does.
    """
    written = [container.get("command"), container.get("args")]
    line = " ".join(f"{word}" for words in written if isinstance(words, list) for word in words)
    if container.get("name") == names.RUNTIME or _MODULE in " ".join(line.split()):
        return True
    kind = types.get(component_type) if isinstance(component_type, str) else types.UNKNOWN
    return not container.get("command") and (kind.is_frontend or kind.picks_workers)


def _override(component: dict[str, Any], path: Path) -> tuple[Any, Path]:
    override = component.get("runtimeVersionOverride")
    return (override, (*path, "runtimeVersionOverride")) if override else (None, ())


def _containers(component: dict[str, Any]) -> list[dict[str, Any]]:
    return _list_containers(_field(_field(component, "podTemplate"), "spec").get("containers"))


def _list_containers(containers: Any) -> list[dict[str, Any]]:
    return [entry if isinstance(entry, dict) else {} for entry in containers] if isinstance(containers, list) else []


def _field(written: dict[str, Any], name: str) -> dict[str, Any]:
    value = written.get(name)
    return value if isinstance(value, dict) else {}
