"""Fields of a v1alpha1 service that its v1beta1 component cannot say: which ones to keep, and how to put them back.

The live fields always win: kept fields come back only if they still say what the component says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from krm_fn.convert import component_conversion, pod_template_conversion
from krm_fn.kube.values import mapping, objects
from krm_fn.records import NamedTuple

Fields = dict[str, Any]
Path = tuple[str, ...]
_POD: Path = ("extraPodSpec",)
_MAIN: Path = (*_POD, "mainContainer")


class _Group(NamedTuple):
    """Fields of a service that belong together, and what a component says of them."""

    paths: tuple[Path, ...]
    says: Callable[[Fields], Any]


def _of_main(field: str) -> Callable[[Fields], Any]:
    return lambda component: (pod_template_conversion.main_of(component.get("podTemplate")) or {}).get(field)


def _of(*path: str) -> Callable[[Fields], Any]:
    return lambda component: _get(component, path)


def _mounts(component: Fields) -> Any:
    return component.get("compilationCache"), _of_main("volumeMounts")(component)


def _sidecars(component: Fields) -> Any:
    listed = objects(_get(component, ("podTemplate", "spec", "containers")))
    return component.get("frontendSidecar"), [container for container in listed if container.get("name") != pod_template_conversion.MAIN]


_GROUPS = (
    *(_Group(((field,),), _of("type") if field == "subComponentType" else lambda _: None) for field in component_conversion.ONLY_V1ALPHA1),
    _Group((("envs",), (*_MAIN, "env")), _of_main("env")),
    _Group((("envFromSecret",), (*_MAIN, "envFrom")), _of_main("envFrom")),
    _Group((("resources",), (*_MAIN, "resources")), _of_main("resources")),
    _Group((("volumeMounts",), (*_MAIN, "volumeMounts")), _mounts),
    *(_Group(((probe,), (*_MAIN, probe)), _of_main(probe)) for probe in pod_template_conversion.PROBES),
    _Group((("sharedMemory",),), _of("sharedMemorySize")),
    _Group((("scalingAdapter",),), _of("scalingAdapter")),
    *(_Group(((feature,),), _of("experimental", feature)) for feature in component_conversion.FEATURES),
    _Group((("extraPodMetadata",),), _of("podTemplate", "metadata")),
    _Group((("frontendSidecar",), (*_POD, "containers")), _sidecars),
    _Group(((*_MAIN, "name"),), lambda _: None),
)
_WRITTEN_BY_GO = {(*_MAIN, "name"): "", (*_MAIN, "resources"): {}}
"""Fields that Go's JSON writes into every container, although no author wrote them."""


def kept_of(service: Fields, component: Fields, name: str | None) -> Fields:
    """The fields of a service to keep beside the component that it became; the whole service if no part of it is enough."""
    plain = component_conversion.to_service(component)
    preserved: Fields = {}
    for group in _GROUPS:
        if any(_get(service, path) != _get(plain, path) for path in group.paths):
            preserved = _with(preserved, service, group)
    return preserved if restored(component, preserved, name) == service else service


def restored(component: Fields, preserved: Fields, name: str | None) -> Fields:
    """Converts a component to a service, with the fields that were kept of the service that it was before."""
    plain = component_conversion.to_service(component)
    if not preserved:
        return plain
    if component_conversion.to_component(preserved, name) == component:
        return preserved
    service, groups = plain, [group for group in _GROUPS if _is_kept(preserved, group)]
    for group in groups:
        service = _with(service, preserved, group)
    if component_conversion.to_component(service, name) == component:
        return service
    service, shown = plain, component_conversion.to_component(plain, name)
    for group in groups:
        wanted = _with(service, preserved, group)
        new = component_conversion.to_component(wanted, name)
        if group.says(new) in (group.says(component), group.says(shown)) and new.keys() == shown.keys():
            service = wanted
    return service


def only_v1alpha1(service: Fields) -> list[str]:
    """The fields of a service that no component has. The sub-types `prefill` and `decode` of workers are types of components."""
    is_type = component_conversion.is_promoted(service) or service.get("subComponentType") == service.get("componentType")
    return [field for field in component_conversion.ONLY_V1ALPHA1 if field in service and not (is_type and field == "subComponentType")]


def _is_kept(preserved: Fields, group: _Group) -> bool:
    values = {path: _get(preserved, path) for path in group.paths if _has(preserved, path)}
    return any(value != _WRITTEN_BY_GO.get(path, ...) for path, value in values.items())


def _has(fields: Fields, path: Path) -> bool:
    return path[-1] in mapping(_get(fields, path[:-1]))


def _get(fields: Any, path: Path) -> Any:
    for step in path:
        fields = mapping(fields).get(step)
    return fields


def _with(service: Fields, source: Fields, group: _Group) -> Fields:
    """A copy of the service that has the group's fields of `source`, and no others of the group."""
    for path in group.paths:
        service = _put(service, path, _get(source, path)) if _has(source, path) else _drop(service, path)
    return service


def _put(fields: Fields, path: Path, value: Any) -> Fields:
    """A field of a service that v1beta1 lacks is kept for the way back.

    Follows the operator's `api/v1alpha1/preservation.go`.
    Rule: conversion.preserved-fields
    """
    inner = value if len(path) == 1 else _put(mapping(fields.get(path[0])), path[1:], value)
    return {**fields, path[0]: inner}


def _drop(fields: Fields, path: Path) -> Fields:
    """A copy without a field, and without objects that it leaves empty; the fields themselves if there is nothing to drop."""
    if path[0] not in fields:
        return fields
    inner = {} if len(path) == 1 else _drop(mapping(fields[path[0]]), path[1:])
    if inner:
        return fields if inner is fields[path[0]] else {**fields, path[0]: inner}
    return {key: value for key, value in fields.items() if key != path[0]}
