"""Fields of a v1beta1 component that its v1alpha1 service cannot say: which ones to keep, and how to put them back.

They are the order of containers, details of mounts, `frontendSidecar`, `experimental.grove` and the name of a pod template. The live
fields always win: kept fields come back only where the service still says the same.
"""

from __future__ import annotations

from typing import Any

from krm_fn.convert import component_conversion, pod_template_conversion
from krm_fn.convert.pod_template_conversion import MAIN
from krm_fn.kube.values import is_zero, mapping, name_of, objects, text

Fields = dict[str, Any]
_OF_BOTH = ("gpuMemoryService", "failover", "checkpoint")
_METADATA_OF_BOTH = ("annotations", "labels")


def kept_of(component: Fields, service: Fields, name: str | None) -> Fields:
    """The fields of a component to keep beside the service that it became; the whole component if no part of it is enough."""
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
        preserved["podTemplate"] = _kept_template(mapping(component.get("podTemplate")), mapping(plain.get("podTemplate")))
    return preserved if restored(service, preserved, name) == component else component


def _kept_template(template: Fields, plain: Fields) -> Fields:
    metadata = {key: value for key, value in mapping(template.get("metadata")).items() if key not in _METADATA_OF_BOTH}
    main, other = pod_template_conversion.main_of(template), pod_template_conversion.main_of(plain) or {}
    details = {field: main[field] for field in ("resources", "volumeMounts") if main and field in main and main[field] != other.get(field)}
    listed = [
        {"name": name_of(container), **(details if container is main else {})}
        for container in objects(mapping(template.get("spec")).get("containers"))
    ]
    return {**({"metadata": metadata} if metadata else {}), "spec": {"containers": listed}}


def restored(service: Fields, preserved: Fields, name: str | None) -> Fields:
    """Converts a service to a component, with the fields that were kept of the component that it was before."""
    plain = component_conversion.to_component(service, name)
    if not preserved:
        return plain
    if component_conversion.to_component(component_conversion.to_service(preserved), name) == plain:
        return preserved
    component = {**plain}
    if experimental := only_v1beta1(preserved):
        component["experimental"] = {**mapping(plain.get("experimental")), **experimental}
    template, held = plain.get("podTemplate"), preserved.get("podTemplate")
    if isinstance(template, dict) and isinstance(held, dict):
        template = component["podTemplate"] = _template(template, held, component, service)
    sidecar = preserved.get("frontendSidecar")
    if "frontendSidecar" not in plain and sidecar in _names(template):
        component["frontendSidecar"] = sidecar
    return component


def only_v1beta1(component: Fields) -> Fields:
    """The experimental features of a component that no service has."""
    return {key: value for key, value in mapping(component.get("experimental")).items() if key not in _OF_BOTH}


def _names(template: Any) -> list[str]:
    return [name_of(container) for container in objects(mapping(mapping(template).get("spec")).get("containers"))]


def _template(template: Fields, held: Fields, component: Fields, service: Fields) -> Fields:
    """The template of the service with the metadata, mounts and order of containers of the one that was kept."""
    listed, main = objects(template["spec"]["containers"]), pod_template_conversion.main_of(held)
    if main is None:
        listed = [container for container in listed if not _is_made(container, component)]
    else:
        listed = [_main(container, main, component, service) if name_of(container) == MAIN else container for container in listed]
    indexes = {name: index for index, name in enumerate(_names(held))}
    if len(indexes) == len(_names(held)) and sorted(indexes) == sorted(map(name_of, listed)):
        listed = sorted(listed, key=lambda container: indexes[name_of(container)])
    extra = {key: value for key, value in mapping(held.get("metadata")).items() if key not in _METADATA_OF_BOTH and not is_zero(value)}
    metadata = {**extra, **mapping(template.get("metadata"))}
    return {**({"metadata": metadata} if metadata else {}), "spec": {**template["spec"], "containers": listed}}


def _is_made(container: Fields, component: Fields) -> bool:
    """True for a main container of which nobody said anything but the mount of the compilation cache."""
    rest = {key: value for key, value in container.items() if key not in ("name", "volumeMounts")}
    return name_of(container) == MAIN and not rest and all(_is_cache(mount, component) for mount in objects(container.get("volumeMounts")))


def _is_cache(mount: Fields, component: Fields) -> bool:
    cache = mapping(component.get("compilationCache"))
    return bool(cache) and mount == {"name": cache.get("pvcName"), "mountPath": cache.get("mountPath") or ""}


def _main(container: Fields, held: Fields, component: Fields, service: Fields) -> Fields:
    """The main container with the amounts and mounts that were kept, where they still say the same."""
    new, amounts = container, held.get("resources")
    if amounts and pod_template_conversion.service_resources(amounts) == pod_template_conversion.service_resources(
        container.get("resources")
    ):
        new = {**new, "resources": amounts}
    mounts = _mounts(container, held, component, service)
    if mounts == container.get("volumeMounts", []):
        return new
    return {**new, "volumeMounts": mounts} if mounts else {key: value for key, value in new.items() if key != "volumeMounts"}


def _mounts(container: Fields, held: Fields, component: Fields, service: Fields) -> list[Fields]:
    """The mounts of the main container: those that were kept if the service has no others, else its own with the details of those."""
    mounts, before = objects(container.get("volumeMounts")), objects(held.get("volumeMounts"))
    spec = mapping(mapping(component.get("podTemplate")).get("spec"))
    main = mapping(mapping(service.get("extraPodSpec")).get("mainContainer"))
    live = objects(service.get("volumeMounts")), objects(main.get("volumeMounts"))
    if pod_template_conversion.split_mounts(component, before, spec) == live:
        return before
    details = {_place(mount): mount for mount in before}
    return [details.get(_place(mount), mount) if set(mount) == {"name", "mountPath"} else mount for mount in mounts]


def _place(mount: Fields) -> tuple[str, str]:
    return name_of(mount), text(mount.get("mountPath"))
