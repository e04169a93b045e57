"""The services of a graph as the operators of Dynamo 1.2 and 1.3 hash them: a v1alpha1 graph converted to v1beta1 and back.

Each of these operators reads a graph in v1beta1, and an annotation preserves the fields that v1beta1 lacks. On the way back most fields are
as they were written. This module has the exceptions: mounts, and a main container or a pod without content. Follows the operator's
shared_spec_conversion.go of these releases; `component_conversion` follows the newer ones.
"""

from __future__ import annotations

from functools import cache

from krm_fn.kubernetes import go_json, merge, quantity
from krm_fn.kubernetes.values import mapping, name_of, objects, text
from krm_fn.render.convert import pod_template_conversion, preserved_component_fields
from krm_fn.render.convert.pod_template_conversion import MAIN, PROBES, SIDES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Fields = dict[str, Any]

_CACHE = "useAsCompilationCache"
_BLANK = {"Container": '{"name":"","resources":{}}', "ExtraPodSpec": "{}"}
"""The JSON of a container and of a pod in which nobody wrote a field."""


def of_service(service: Fields) -> Fields:
    """Returns a service of a v1alpha1 graph after both conversions."""
    extra, written = service.get("extraPodSpec"), objects(service.get("volumeMounts"))
    main = mapping(extra).get("mainContainer")
    mounts, is_separate = _mounts(written, objects(mapping(main).get("volumeMounts")), has_main=main is not None)
    rest = {**merge.without(service, "volumeMounts", "extraPodSpec"), **({"volumeMounts": mounts} if mounts else {})}
    if extra is None:
        return rest
    lost = [*(() if is_separate else ("volumeMounts",)), *(("envFrom",) if _says_secret(service, mapping(main)) else ())]
    pod = _pod(extra, merge.without(mapping(main), *lost), names_main=_has_main_fields(service) or (is_separate and bool(written)))
    return {**rest, **merge.present(extraPodSpec=pod)}


def of_component(component: Fields, preserved: Fields) -> Fields:
    """Returns a component of a v1beta1 graph as a service. `preserved` are fields of the service that it was before, or empty.

    Rule worker-hash.v1-component: For the worker hash of Dynamo 1.2 and 1.3, a mount is its name and its path. (operator:
    api/v1alpha1/shared_spec_conversion.go restoreFlatVolumeMountsFromMain)
    """
    service = _restore_service(component, preserved)
    if mapping(preserved.get("extraPodSpec")).get("mainContainer") is not None:
        return of_service({**merge.present(extraPodSpec=preserved["extraPodSpec"]), **service})
    claim = mapping(component.get("compilationCache"))
    first = [{"name": text(claim.get("pvcName")), "mountPoint": text(claim.get("mountPath")), _CACHE: True}] if claim else []
    main = pod_template_conversion.main_of(component.get("podTemplate")) or {}
    caches = _caches(preserved.get("volumeMounts"))
    first = caches if [*map(_pair, caches[:1])] == [*map(_pair, first)] else first  # v1beta1 has only the first of several
    mounts = _distinct([*first, *_flat(main.get("volumeMounts"))])
    pod = _pod(mapping(service.get("extraPodSpec")), merge.without(mapping(service, "extraPodSpec", "mainContainer"), "volumeMounts"))
    extra = preserved.get("extraPodSpec") if _is_blank("ExtraPodSpec", pod or {}) else pod
    return {**merge.without(service, "volumeMounts", "extraPodSpec"), **merge.present(volumeMounts=mounts or None, extraPodSpec=extra)}


def _restore_service(component: Fields, preserved: Fields) -> Fields:
    """Returns a component as a service, with its preserved fields. Amounts are as their author wrote them, or as operators print them."""
    fields = {**preserved, "resources": _print_resources(preserved["resources"])} if "resources" in preserved else preserved
    service = preserved_component_fields.restored_service(component, fields, text(component.get("name")))
    before = pod_template_conversion.from_service(fields) if "resources" in preserved else None
    if before and _amounts(before) == _amounts(component.get("podTemplate")):
        return {**service, "resources": preserved["resources"]}
    return {**service, **merge.present(resources=_print_resources(service.get("resources")))}


def _amounts(template: Any) -> Fields:
    """Returns the resources of the main container in a pod template."""
    return pod_template_conversion.merged_resources({}, mapping((pod_template_conversion.main_of(template) or {}).get("resources")))


def _print_resources(resources: Any) -> Any:
    """Returns resources of a service with amounts as the operator prints them."""

    def print_amounts(amounts: Fields) -> Fields:
        return {name: print_amounts(amount) if isinstance(amount, dict) else quantity.canonical(amount) for name, amount in amounts.items()}

    return (
        {key: print_amounts(value) if key in SIDES else value for key, value in resources.items()}
        if isinstance(resources, dict)
        else resources
    )


def _mounts(written: list[Fields], native: list[Fields], *, has_main: bool) -> tuple[list[Fields], bool]:
    """Returns the mounts of a service, and true if those of its main container stay there. `native` are those of the main container.

    Rule worker-hash.v1-mounts: For the worker hash of Dynamo 1.2 and 1.3, the mount of the compilation cache is the first or the last one.
    (operator: api/v1alpha1/shared_spec_conversion.go restoreMainContainerFieldOrigins)
    """
    first = _caches(written)[:1]
    converted = _flat(native) or [{**mount, _CACHE: False} for mount in written]  # the operator loses the others, and so do its pods
    joined = _distinct([*first, *converted])
    if not has_main or [_pair(mount) for mount in converted] != [_pair(mount) for mount in joined[len(first) :]]:
        return _distinct([*_caches(written), *joined]), False
    own = [mount for mount in written if mount.get(_CACHE) is not True]
    same = next((index for index, mount in enumerate(own) if _pair(mount) in map(_pair, first)), None)
    if same is None:
        return [*own, *first], True
    return [*own[:same], {**own[same], _CACHE: True}, *own[same + 1 :]], True


def _caches(mounts: Any) -> list[Fields]:
    return [mount for mount in objects(mounts) if mount.get(_CACHE) is True]


def _flat(mounts: Any) -> list[Fields]:
    """Returns mounts of a container as those of a service."""
    return [{"name": name_of(mount), "mountPoint": text(mount.get("mountPath"))} for mount in objects(mounts)]


def _pair(mount: Fields) -> tuple[str, str]:
    return name_of(mount), text(mount.get("mountPoint"))


def _distinct(mounts: list[Fields]) -> list[Fields]:
    """Returns the first mount of each name and path."""
    by_pair: dict[tuple[str, str], Fields] = {}
    for mount in mounts:
        by_pair.setdefault(_pair(mount), mount)
    return [*by_pair.values()]


def _says_secret(service: Fields, main: Fields) -> bool:
    """True if the main container's `envFrom` says the same as the service's `envFromSecret`: the way back drops the former."""
    secret = service.get("envFromSecret")
    return bool(secret) and main.get("envFrom") == [{"secretRef": {"name": secret}}]


def _has_main_fields(service: Fields) -> bool:
    """True if a service has other fields about its main container."""
    return bool(service.get("envs") or service.get("envFromSecret")) or any(
        service.get(field) is not None for field in ("resources", *PROBES)
    )


def _pod(extra: Fields, main: Fields, *, names_main: bool = False) -> Fields | None:
    """Returns `extraPodSpec` with this main container, None if nothing of it is left.

    A main container that has only a name stays if the pod has no other fields, or if `names_main` is true.

    Rule worker-hash.v1-pod: The worker hash of Dynamo 1.2 and 1.3 does not read a main container or an `extraPodSpec` without fields.
    (operator: api/v1alpha1/shared_spec_conversion.go pruneEmptyExtraPodSpec)
    """
    written, written_main = merge.without(extra, "mainContainer"), mapping(extra.get("mainContainer"))
    sidecars = [container for container in objects(extra.get("containers")) if container.get("name") != MAIN]
    pod = {**merge.without(written, "containers"), **({"containers": sidecars} if sidecars else {})}
    is_blank_main, is_blank_pod = _is_blank("Container", written_main), _is_blank("ExtraPodSpec", pod)
    is_named = bool(written_main.get("name"))
    has_trace = extra.get("mainContainer") is not None and (names_main or is_named)
    is_kept = is_blank_main and is_blank_pod and (has_trace or _is_blank("ExtraPodSpec", written))
    if not _is_blank("Container", main) or (is_blank_main and is_named and (names_main or is_kept)):
        return {**pod, "mainContainer": main}
    return pod if is_kept or not is_blank_pod else None


def _is_blank(struct: str, fields: Fields) -> bool:
    """True if a container has no more than a name, or a pod has no field."""
    return _encoder().text(merge.without(fields, "name"), struct) == _BLANK[struct]


@cache
def _encoder() -> go_json.Encoder:
    return go_json.Encoder(structs())


def structs() -> go_json.Structs:
    """Returns the structs of a pod template and of `extraPodSpec`, which has the fields of a pod, and then its containers."""
    native = go_json.pod_template()
    pod = {name: kind for name, kind in native["PodSpec"].items() if name != "containers"}
    return {**native, "ExtraPodSpec": {**pod, "containers": "?[]Container", "mainContainer": "?*Container"}}
