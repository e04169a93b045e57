"""The `podTemplate` of a v1beta1 component, and the equivalent fields of a v1alpha1 service and its `extraPodSpec`.

Follows the operator's shared_spec_conversion.go. Values of `mainContainer` win over those of the service; environment variables and
mounts of both remain.
"""

from __future__ import annotations

from krm_fn.kubernetes import merge, quantity
from krm_fn.kubernetes.values import is_zero, mapping, name_of, objects, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAIN = "main"
"""The name of the main container.

Rule container.name: see `krm_fn.render.manifests.pod_builder`.
"""
SIDECAR = "sidecar-frontend"
"""The name of the container of a frontend sidecar.

Rule conversion.sidecar-name: The frontend sidecar of a converted service has the name `sidecar-frontend`. (operator:
api/v1alpha1/shared_spec_conversion.go)
"""
PROBES = ("livenessProbe", "readinessProbe")
"""The probes of a v1alpha1 service.

Rule conversion.probes: A v1alpha1 service has fields for a liveness and a readiness probe of its main container. (operator:
api/v1alpha1/shared_spec_conversion.go)
"""
GPU = "nvidia.com/gpu"
"""The resource that `gpu` means if `gpuType` names none."""
SIDES = ("requests", "limits")
"""The parts of a container's resources that have amounts.

Rule conversion.resource-sides: The resources of a container are requests and limits. (operator: api/v1alpha1/shared_spec_conversion.go)
"""
_NAMED = {"cpu": "cpu", "memory": "memory", GPU: "gpu"}
"""The field of a v1alpha1 service for a native resource.

Rule conversion.resource-names: A v1alpha1 service has fields for CPUs, memory and GPUs. (operator: api/v1alpha1/shared_spec_conversion.go)
"""


def main_of(template: Any) -> dict[str, Any] | None:
    """Returns the first container `main` of a pod template, or None."""
    listed = objects(mapping(mapping(template).get("spec")).get("containers"))
    return next((container for container in listed if container.get("name") == MAIN), None)


def from_service(service: dict[str, Any]) -> dict[str, Any] | None:
    """Makes the pod template of a component from the fields of a service.

    Returns None if the service has no field for its pods.

    Rule conversion.pod-template: The fields of a v1alpha1 service become the pod template of its component. (operator:
    api/v1alpha1/shared_spec_conversion.go buildSharedPodTemplateFromAlpha)
    """
    if not _has_content(service):
        return None
    extra = mapping(service.get("extraPodSpec"))
    sidecars = [container for container in objects(extra.get("containers")) if container.get("name") != MAIN]
    sidecar = service.get("frontendSidecar")
    if isinstance(sidecar, dict) and all(container.get("name") != SIDECAR for container in sidecars):
        sidecars.append(_frontend_sidecar(sidecar))
    metadata = {key: value for key, value in mapping(service.get("extraPodMetadata")).items() if not is_zero(value)}
    pod = {key: value for key, value in extra.items() if key not in ("mainContainer", "containers") and value is not None}
    template = {"spec": {"containers": [_main(service), *sidecars], **pod}}
    return {"metadata": metadata, **template} if metadata else template


def _has_content(service: dict[str, Any]) -> bool:
    """True if the operator makes a pod template of the service (hasPodTemplateContent)."""
    fields = ("resources", "envFromSecret", *PROBES, "extraPodMetadata", "frontendSidecar")
    return (
        any(service.get(field) is not None for field in fields)
        or bool(service.get("envs"))
        or any(not mount.get("useAsCompilationCache") for mount in objects(service.get("volumeMounts")))
        or not _is_empty_pod(mapping(service.get("extraPodSpec")))
    )


def _is_empty_pod(extra: dict[str, Any]) -> bool:
    main = mapping(extra.get("mainContainer"))
    return all(is_zero(value) for key, value in extra.items() if key != "mainContainer") and all(
        is_zero(value) for key, value in main.items() if key != "name"
    )


def _main(service: dict[str, Any]) -> dict[str, Any]:
    """Makes the main container from the fields of a service.

    Rule conversion.main-container: The fields of a service for its main container become the container `main`, and those of `mainContainer`
    win over them. (operator: api/v1alpha1/shared_spec_conversion.go buildSharedPodTemplateFromAlpha)
    """
    user = mapping(mapping(service.get("extraPodSpec")).get("mainContainer"))
    merged = {
        "env": _envs(objects(service.get("envs")), objects(user.get("env"))),
        "envFrom": user.get("envFrom") or _env_from(service.get("envFromSecret")),
        "resources": merged_resources(native_resources(service.get("resources")), mapping(user.get("resources"))),
        "volumeMounts": [*objects(user.get("volumeMounts")), *_native_mounts(service.get("volumeMounts"))],
        **{name: _probe(service.get(name), user.get(name)) for name in PROBES},
    }
    fields = {key: value for key, value in user.items() if key != "name" and value is not None}
    replaced = {key: value for key, value in merged.items() if value or (value is not None and key in PROBES)}
    return {"name": MAIN, **fields, **replaced}


def _native_mounts(listed: Any) -> list[dict[str, Any]]:
    """Returns the `volumeMounts` of a service as those of a container. The path of a compilation cache can be empty; rendering fills it.

    Rule conversion.mounts: The mounts of a service become mounts of its main container. (operator: api/v1alpha1/shared_spec_conversion.go)
    """
    return [{"name": mount.get("name", ""), "mountPath": mount.get("mountPoint") or ""} for mount in objects(listed)]


def _env_from(secret: Any) -> list[dict[str, Any]]:
    """Returns the `envFrom` of a container with a secret.

    Rule conversion.env-from: The `envFromSecret` of a service becomes an entry of `envFrom`. (operator:
    api/v1alpha1/shared_spec_conversion.go)
    """
    return [{"secretRef": {"name": secret}}] if secret else []


def _frontend_sidecar(sidecar: dict[str, Any]) -> dict[str, Any]:
    """Makes the container of a frontend sidecar.

    Rule conversion.sidecar: The `frontendSidecar` of a service becomes a container of its pods. (operator:
    api/v1alpha1/shared_spec_conversion.go)
    """
    source = _env_from(sidecar.get("envFromSecret")) or None
    image, args = sidecar.get("image"), sidecar.get("args")
    env = merge.last_of_each(objects(sidecar.get("envs")))
    return {"name": SIDECAR, **merge.present(image=image or None, args=args or None, env=env or None, envFrom=source)}


def _envs(service: list[dict[str, Any]], main: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the variables of the service in their order. One of the main container replaces its namesake in place, others follow."""
    listed = merge.last_of_each(service)
    indexes = {name_of(variable): index for index, variable in enumerate(listed)}
    for variable in main:
        name = name_of(variable)
        if name in indexes:
            listed[indexes[name]] = variable
        else:
            indexes[name] = len(listed)
            listed.append(variable)
    return listed


def _probe(service: Any, main: Any) -> Any:
    """Returns the main container's probe merged over that of the service. Two handlers can end up in one probe."""
    if not isinstance(service, dict) or not isinstance(main, dict):
        return service if main is None else main
    merged = merge.overlay(service, main)
    for handler in ("httpGet", "tcpSocket"):
        base, over = mapping(service.get(handler)).get("port"), mapping(main.get(handler)).get("port")
        if isinstance(base, str) and isinstance(over, int):  # the operator's int-or-string keeps the name
            merged = {**merged, handler: {**merged[handler], "port": base}}
    return merged


def to_service(component: dict[str, Any]) -> dict[str, Any]:
    """Splits a pod template into the fields of a service.

    What a service has a field for goes there; the rest of the main container goes into `mainContainer`, and the rest of the pod into
    `extraPodSpec`.
    """
    template = mapping(component.get("podTemplate"))
    spec, main = mapping(template.get("spec")), main_of(template) or {}
    metadata = {key: value for key, value in mapping(template.get("metadata")).items() if key in ("annotations", "labels") and value}
    amounts = service_resources(main.get("resources"))
    flat, native = split_mounts(component, objects(main.get("volumeMounts")), spec)
    moved = ("name", "volumeMounts", *PROBES, *(("resources",) if amounts else ()), *(("env",) if main.get("env") else ()))
    rest = {key: value for key, value in main.items() if key not in moved}
    container = {**rest, "volumeMounts": native} if native else rest
    others = [container for container in objects(spec.get("containers")) if container is not main]
    pod = {key: value for key, value in spec.items() if key != "containers"}
    extra = {**({"mainContainer": container} if container else {}), **({"containers": others} if others else {}), **pod}
    return merge.present(
        resources=amounts or None,
        envs=main.get("env") or None,
        volumeMounts=flat or None,
        **{name: main.get(name) for name in PROBES},
        extraPodMetadata=metadata or None,
        extraPodSpec=extra or None,
    )


def split_mounts(
    component: dict[str, Any], mounts: list[dict[str, Any]], spec: dict[str, Any]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Returns the mounts for the service, the compilation cache first, and those for its main container.

    A service mounts claims, each one once. A mount of a volume that the template declares therefore stays in the main container, and so
    does a second mount of a claim: there they work with Dynamo 0.9 too, which makes a claim's volume for each mount of a service.
    """
    cache = mapping(component.get("compilationCache"))
    claim, mount_path = text(cache.get("pvcName")), text(cache.get("mountPath"))
    flat: list[dict[str, Any]] = [{**_flat(claim, mount_path), "useAsCompilationCache": True}] if claim else []
    known = {(claim, mount_path)} if claim else set()
    declared = {name_of(volume) for volume in objects(spec.get("volumes"))} | ({claim} if claim else set())
    native = []
    for mount in mounts:
        name, mount_path = name_of(mount), text(mount.get("mountPath"))
        if (name, mount_path) in known:
            continue
        if name in declared:
            native.append(mount)
        else:
            known.add((name, mount_path))
            declared.add(name)
            flat.append(_flat(name, mount_path))
    return flat, native


def _flat(name: str, mount_path: str) -> dict[str, Any]:
    return {"name": name, "mountPoint": mount_path} if mount_path else {"name": name}


def native_resources(written: Any) -> dict[str, Any]:
    """Converts resources of a service to native ones. Amounts that are no quantities are left out, as the operator does."""
    resources = mapping(written)
    native: dict[str, Any] = {side: amounts for side in SIDES if (amounts := _amounts(mapping(resources.get(side))))}
    return {**native, "claims": resources["claims"]} if resources.get("claims") else native


def service_resources(written: Any) -> dict[str, Any]:
    """Converts native resources to those of a service; empty without amounts. Amounts become texts, their only type in v1alpha1."""
    native = mapping(written)
    resources: dict[str, Any] = {
        side: _service_amounts(native[side]) for side in SIDES if isinstance(native.get(side), dict) and native[side]
    }
    return {**resources, "claims": native["claims"]} if native.get("claims") else resources


def merged_resources(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Returns `over` merged over `base`: amounts by name, and claims as a whole list.

    Rule conversion.resources-merged: Amounts of resources are merged by name, and the list of claims is replaced. (operator:
    api/v1alpha1/shared_spec_conversion.go)
    """
    sides = {side: {**mapping(base.get(side)), **mapping(over.get(side))} for side in SIDES if base.get(side) or over.get(side)}
    claims = over.get("claims") or base.get("claims")
    return {**sides, "claims": claims} if claims else sides


def _amounts(item: dict[str, Any]) -> dict[str, Any]:
    """Returns the amounts of a service's requests or limits by native name.

    Rule conversion.resources: The amounts of a service become requests and limits of native resources. (operator:
    api/v1alpha1/shared_spec_conversion.go)
    """
    gpu = item.get("gpuType") or GPU
    named = {"cpu": item.get("cpu"), "memory": item.get("memory"), gpu if isinstance(gpu, str) else GPU: item.get("gpu")}
    return {name: amount for name, amount in (*named.items(), *mapping(item.get("custom")).items()) if _is_quantity(amount)}


def _is_quantity(amount: Any) -> bool:
    if isinstance(amount, bool) or not isinstance(amount, (str, int, float)) or amount == "":
        return False
    try:
        quantity.parse(amount)
    except ValueError:
        return False
    return True


def _service_amounts(amounts: dict[str, Any]) -> dict[str, Any]:
    texts = {name: f"{amount}" for name, amount in amounts.items()}
    custom = {name: texts[name] for name in texts if name not in _NAMED}
    named = {_NAMED[name]: text for name, text in texts.items() if name in _NAMED}
    return {**named, "custom": custom} if custom else named
