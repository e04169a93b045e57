"""Fields of services and components that the other API version lacks: the fields to preserve, and their return into the original.

Live fields always win: a preserved field returns only where it agrees with the converted fields.

A service has fields of its own such as `ingress`, and writes some fields in two places. A component has the order of containers, details
of mounts, `frontendSidecar`, `experimental.grove` and the name of a pod template.
"""

from __future__ import annotations

from collections.abc import Callable

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes.values import is_zero, mapping, name_of, objects, text
from krm_fn.render.convert import component_conversion, pod_template_conversion
from krm_fn.render.convert.pod_template_conversion import MAIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Fields = dict[str, Any]

Path = tuple[str, ...]
_POD: Path = ("extraPodSpec",)
_MAIN_PATH: Path = (*_POD, "mainContainer")
_OF_BOTH = ("gpuMemoryService", "failover", "checkpoint")
_METADATA_OF_BOTH = ("annotations", "labels")


class _Group(NamedTuple):
    """Fields of a service that belong together, and their value in a component."""

    paths: tuple[Path, ...]
    value: Callable[[Fields], Any]


def _of_main(field: str) -> Callable[[Fields], Any]:
    return lambda component: (pod_template_conversion.main_of(component.get("podTemplate")) or {}).get(field)


def _of(*path: str) -> Callable[[Fields], Any]:
    return lambda component: _get(component, path)


def _mounts_value(component: Fields) -> Any:
    return component.get("compilationCache"), _of_main("volumeMounts")(component)


def _sidecars(component: Fields) -> Any:
    listed = objects(_get(component, ("podTemplate", "spec", "containers")))
    return component.get("frontendSidecar"), [container for container in listed if container.get("name") != pod_template_conversion.MAIN]


_GROUPS = (
    *(_Group(((field,),), _of("type") if field == "subComponentType" else lambda _: None) for field in component_conversion.ONLY_V1ALPHA1),
    _Group((("envs",), (*_MAIN_PATH, "env")), _of_main("env")),
    _Group((("envFromSecret",), (*_MAIN_PATH, "envFrom")), _of_main("envFrom")),
    _Group((("resources",), (*_MAIN_PATH, "resources")), _of_main("resources")),
    _Group((("volumeMounts",), (*_MAIN_PATH, "volumeMounts")), _mounts_value),
    *(_Group(((probe,), (*_MAIN_PATH, probe)), _of_main(probe)) for probe in pod_template_conversion.PROBES),
    _Group((("sharedMemory",),), _of("sharedMemorySize")),
    _Group((("scalingAdapter",),), _of("scalingAdapter")),
    *(_Group(((feature,),), _of("experimental", feature)) for feature in component_conversion.FEATURES),
    _Group((("extraPodMetadata",),), _of("podTemplate", "metadata")),
    _Group((("frontendSidecar",), (*_POD, "containers")), _sidecars),
    _Group(((*_MAIN_PATH, "name"),), lambda _: None),
)
_WRITTEN_BY_GO = {(*_MAIN_PATH, "name"): "", (*_MAIN_PATH, "resources"): {}}
"""Fields that Go's JSON writes into every container, although no author wrote them."""


def of_service(service: Fields, component: Fields, name: str | None) -> Fields:
    """Returns the fields of a service to preserve beside its component; the whole service if no part of it is enough."""
    plain = component_conversion.to_service(component)
    preserved: Fields = {}
    differing = {field for field in (*service, *plain) if service.get(field) != plain.get(field)}
    for group in _GROUPS if differing else ():
        if any(path[0] in differing and _get(service, path) != _get(plain, path) for path in group.paths):
            preserved = _with(preserved, service, group)
    restored = _restored_service(component, preserved, name, plain) if preserved else plain
    return preserved if restored == service else service


def restored_service(component: Fields, preserved: Fields, name: str | None) -> Fields:
    """Converts a component to a service, and restores preserved fields of the service."""
    plain = component_conversion.to_service(component)
    return _restored_service(component, preserved, name, plain) if preserved else plain


def _restored_service(component: Fields, preserved: Fields, name: str | None, plain: Fields) -> Fields:
    """Restores preserved fields of a service. `plain` is the service that the component alone becomes."""
    if component_conversion.to_component(preserved, name) == component:
        return preserved
    service, groups = plain, [group for group in _GROUPS if _is_preserved(preserved, group)]
    for group in groups:
        service = _with(service, preserved, group)
    if component_conversion.to_component(service, name) == component:
        return service
    service, expected = plain, component_conversion.to_component(plain, name)
    for group in groups:
        wanted = _with(service, preserved, group)
        new = component_conversion.to_component(wanted, name)
        if group.value(new) in (group.value(component), group.value(expected)) and new.keys() == expected.keys():
            service = wanted
    return service


def only_v1alpha1(service: Fields) -> list[str]:
    """Returns the fields of a service that no component has. The sub-types `prefill` and `decode` of workers are types of components."""
    is_type = component_conversion.is_promoted(service) or service.get("subComponentType") == service.get("componentType")
    return [field for field in component_conversion.ONLY_V1ALPHA1 if field in service and not (is_type and field == "subComponentType")]


def _is_preserved(preserved: Fields, group: _Group) -> bool:
    values = {path: _get(preserved, path) for path in group.paths if _has(preserved, path)}
    return any(value != _WRITTEN_BY_GO.get(path, ...) for path, value in values.items())


def _has(fields: Fields, path: Path) -> bool:
    return path[-1] in mapping(_get(fields, path[:-1]))


def _get(fields: Any, path: Path) -> Any:
    for step in path:
        fields = mapping(fields).get(step)
    return fields


def _with(service: Fields, source: Fields, group: _Group) -> Fields:
    """Returns a copy of the service that has the group's fields of `source`, and no others of the group."""
    for path in group.paths:
        service = _put(service, path, _get(source, path)) if _has(source, path) else _drop(service, path)
    return service


def _put(fields: Fields, path: Path, value: Any) -> Fields:
    """Returns fields with the value at a path.

    Rule conversion.preserved-fields: A field of a service that v1beta1 lacks is preserved for the conversion back. (operator:
    api/v1alpha1/preservation.go)
    """
    inner = value if len(path) == 1 else _put(mapping(fields.get(path[0])), path[1:], value)
    return {**fields, path[0]: inner}


def _drop(fields: Fields, path: Path) -> Fields:
    """Returns a copy without a field, and without objects that it leaves empty; the fields themselves if there is nothing to drop."""
    if path[0] not in fields:
        return fields
    inner = {} if len(path) == 1 else _drop(mapping(fields[path[0]]), path[1:])
    if inner:
        return fields if inner is fields[path[0]] else {**fields, path[0]: inner}
    return {key: value for key, value in fields.items() if key != path[0]}


def of_component(component: Fields, service: Fields, name: str | None) -> Fields:
    """Returns the fields of a component to preserve beside its service; the whole component if no part of it is enough."""
    plain = component_conversion.to_component(service, name)
    if plain == component:
        return {}
    preserved: Fields = {} if name is None else {"name": name}
    experimental = only_v1beta1(component)
    if experimental:
        preserved["experimental"] = experimental
    if component.get("frontendSidecar") != plain.get("frontendSidecar"):
        preserved["frontendSidecar"] = component.get("frontendSidecar")
    if preserved.get("frontendSidecar") or component.get("podTemplate") != plain.get("podTemplate"):
        preserved["podTemplate"] = _preserved_template(mapping(component.get("podTemplate")), mapping(plain.get("podTemplate")))
    return preserved if restored_component(service, preserved, name) == component else component


def _preserved_template(template: Fields, plain: Fields) -> Fields:
    metadata = {key: value for key, value in mapping(template.get("metadata")).items() if key not in _METADATA_OF_BOTH}
    main, other = pod_template_conversion.main_of(template), pod_template_conversion.main_of(plain) or {}
    details = {field: main[field] for field in ("resources", "volumeMounts") if main and field in main and main[field] != other.get(field)}
    listed = [
        {"name": name_of(container), **(details if container is main else {})}
        for container in objects(mapping(template.get("spec")).get("containers"))
    ]
    return {**({"metadata": metadata} if metadata else {}), "spec": {"containers": listed}}


def restored_component(service: Fields, preserved: Fields, name: str | None) -> Fields:
    """Converts a service to a component, and restores preserved fields of the component."""
    plain = component_conversion.to_component(service, name)
    if not preserved:
        return plain
    if component_conversion.to_component(component_conversion.to_service(preserved), name) == plain:
        return preserved
    component = {**plain}
    if experimental := only_v1beta1(preserved):
        component["experimental"] = {**mapping(plain.get("experimental")), **experimental}
    template, preserved_template = plain.get("podTemplate"), preserved.get("podTemplate")
    if isinstance(template, dict) and isinstance(preserved_template, dict):
        template = component["podTemplate"] = _restored_template(template, preserved_template, component, service)
    sidecar = preserved.get("frontendSidecar")
    if "frontendSidecar" not in plain and sidecar in _names(template):
        component["frontendSidecar"] = sidecar
    return component


def only_v1beta1(component: Fields) -> Fields:
    """Returns the experimental features of a component that no service has."""
    return {key: value for key, value in mapping(component.get("experimental")).items() if key not in _OF_BOTH}


def _names(template: Any) -> list[str]:
    return [name_of(container) for container in objects(mapping(mapping(template).get("spec")).get("containers"))]


def _restored_template(template: Fields, preserved: Fields, component: Fields, service: Fields) -> Fields:
    """Restores the metadata, mounts and order of containers of a preserved pod template."""
    listed, main = objects(template["spec"]["containers"]), pod_template_conversion.main_of(preserved)
    if main is None:
        listed = [container for container in listed if not _is_added(container, component)]
    else:
        listed = [_restored_main(container, main, component, service) if name_of(container) == MAIN else container for container in listed]
    indexes = {name: index for index, name in enumerate(_names(preserved))}
    if len(indexes) == len(_names(preserved)) and sorted(indexes) == sorted(map(name_of, listed)):
        listed = sorted(listed, key=lambda container: indexes[name_of(container)])
    extra = {key: value for key, value in mapping(preserved.get("metadata")).items() if key not in _METADATA_OF_BOTH and not is_zero(value)}
    metadata = {**extra, **mapping(template.get("metadata"))}
    return {**({"metadata": metadata} if metadata else {}), "spec": {**template["spec"], "containers": listed}}


def _is_added(container: Fields, component: Fields) -> bool:
    """True for a main container that has nothing but the mount of the compilation cache."""
    rest = {key: value for key, value in container.items() if key not in ("name", "volumeMounts")}
    return name_of(container) == MAIN and not rest and all(_is_cache(mount, component) for mount in objects(container.get("volumeMounts")))


def _is_cache(mount: Fields, component: Fields) -> bool:
    cache = mapping(component.get("compilationCache"))
    return bool(cache) and mount == {"name": cache.get("pvcName"), "mountPath": cache.get("mountPath") or ""}


def _restored_main(container: Fields, preserved: Fields, component: Fields, service: Fields) -> Fields:
    """Restores the amounts and mounts of a preserved main container where they agree with the service."""
    new, amounts = container, preserved.get("resources")
    if amounts and pod_template_conversion.service_resources(amounts) == pod_template_conversion.service_resources(
        container.get("resources")
    ):
        new = {**new, "resources": amounts}
    mounts = _restored_mounts(container, preserved, component, service)
    if mounts == container.get("volumeMounts", []):
        return new
    return {**new, "volumeMounts": mounts} if mounts else {key: value for key, value in new.items() if key != "volumeMounts"}


def _restored_mounts(container: Fields, preserved: Fields, component: Fields, service: Fields) -> list[Fields]:
    """Returns the preserved mounts if the service has no others; otherwise those of the service with the preserved details."""
    mounts, preserved_mounts = objects(container.get("volumeMounts")), objects(preserved.get("volumeMounts"))
    spec = mapping(mapping(component.get("podTemplate")).get("spec"))
    main = mapping(mapping(service.get("extraPodSpec")).get("mainContainer"))
    live = objects(service.get("volumeMounts")), objects(main.get("volumeMounts"))
    if pod_template_conversion.split_mounts(component, preserved_mounts, spec) == live:
        return preserved_mounts
    details = {_mount_key(mount): mount for mount in preserved_mounts}
    return [details.get(_mount_key(mount), mount) if set(mount) == {"name", "mountPath"} else mount for mount in mounts]


def _mount_key(mount: Fields) -> tuple[str, str]:
    return name_of(mount), text(mount.get("mountPath"))
