"""Maps a field of a finished pod to the field of the user's resource that set it, with the origins of the pod's parts."""

from __future__ import annotations

from krm_fn.base import codes
from krm_fn.kubernetes import merge, paths
from krm_fn.render import engines, names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.base.results import Path
    from krm_fn.kubernetes.api_server.rejections import Rejection
    from krm_fn.kubernetes.native_types import PodSpec
    from krm_fn.render.manifests.pod_builder import Pods
    from krm_fn.render.plan import ComponentPlan


def path(pods: Pods, spec: PodSpec, rejection: Rejection) -> Path | None:
    """Returns the field that the user can fix; None if another rule reports the same problem at that field."""
    plan = pods.plan
    match rejection.path:
        case ("volumes", int(index), *_):
            return _of_volume(pods, spec, index, rejection)
        case ("containers", int(index), *rest) if _is_main(pods, spec, index):
            return _of_main(pods, spec, index, tuple(rest), rejection) if plan.features.written_main else None
        case ("containers", int(index), *rest):
            return _of_sidecar(pods, spec, index, tuple(rest))
        case ("securityContext", "fsGroup") if rejection.code == codes.FIELDS_NOT_ALLOWED_TOGETHER and not _has_group(plan):
            return plan.at("pod", "os", "name")  # Dynamo sets the group of files
        case ("initContainers", int(index), str(probe), *_) if probe in merge.PROBES and not _is_written(plan, spec, index, probe):
            return None
        case ("initContainers", int(index), *rest) if len(spec["initContainers"]) > len(plan.pod.spec.get("initContainers") or ()):
            return _of_init_container(plan, spec["initContainers"][index].get("name"), tuple(rest))
    return plan.at("pod", *rejection.path)


def _has_group(plan: ComponentPlan) -> bool:
    """Returns false for a pod whose group of files is the default of Dynamo."""
    return (plan.pod.spec.get("securityContext") or {}).get("fsGroup") is not None


def _is_written(plan: ComponentPlan, spec: PodSpec, index: int, field: str) -> bool:
    """Returns false for a field of an init container that only the defaults of Dynamo set."""
    name = spec["initContainers"][index].get("name")
    return any(container.get(field) is not None for container in plan.pod.spec.get("initContainers") or () if container.get("name") == name)


def _of_init_container(plan: ComponentPlan, name: str | None, rest: Path) -> Path:
    """Returns the field for an init container of a pod to which the engine adds some. Of two with one name, it is the user's."""
    written = [container.get("name") for container in plan.pod.spec.get("initContainers") or ()]
    return plan.at("pod", "initContainers", *((written.index(name), *rest) if name in written else ()))


def _of_sidecar(pods: Pods, spec: PodSpec, index: int, rest: Path) -> Path:
    """Returns the field for a sidecar. The lists of a frontend also hold defaults, so their entries have no field of their own."""
    plan, position = pods.plan, pods.origins.of(spec["containers"][index]).position
    merged = spec["containers"][index].get("name") == plan.features.frontend_sidecar and rest[:1] in (("env",), ("volumeMounts",))
    return plan.at("sidecars", position, *(() if merged else rest))


def is_shared_memory(pods: Pods, spec: PodSpec, rejection: Rejection) -> bool:
    """Returns true if a rejection is about the mount of the default shared memory."""
    match rejection.path:
        case ("containers", int(index), "volumeMounts", int(mount), *_) if _is_main(pods, spec, index):
            return pods.origins.of(spec["containers"][index]["volumeMounts"][mount]).layer == "shared memory"
    return False


def _is_main(pods: Pods, spec: PodSpec, index: int) -> bool:
    """Returns true if a container is the main container."""
    return pods.origins.of(spec["containers"][index]).layer == "engine"


def _of_volume(pods: Pods, spec: PodSpec, index: int, rejection: Rejection) -> Path | None:
    """Returns the field for a volume.

    If a generated volume and a user's volume have the same name, the field is the name of the user's volume.
    """
    plan, twice, name = pods.plan, rejection.code == codes.DUPLICATE_NAME_IN_POD, spec["volumes"][index].get("name")
    if name == names.TOPOLOGY_LABELS and rejection.code == codes.INVALID_FIELD_REF:
        return None  # DYN474 reports the label
    layer, position = pods.origins.of(spec["volumes"][index])
    written = [volume.get("name") for volume in plan.pod.spec.get("volumes") or ()]
    claims = [mount.name for mount in plan.pod.mounts]
    if layer == "user":
        return plan.at("pod", "volumes", position, *rejection.path[2:])
    if twice and layer != "claims" and name in written and name not in claims:
        return plan.at("pod", "volumes", written.index(name), "name")
    if twice and layer == "engine" and name in claims:
        return plan.at("volumeMounts", claims.index(name), "name")
    if layer == "claims":
        return plan.at("volumeMounts", position, "name") if name and not twice else None
    if layer == "cache":
        return plan.at("compilationCache", "pvcName")
    if layer == "shared memory":
        return None if twice else plan.at("sharedMemory", "size")
    return plan.at("pod", "volumes") if layer == "engine" else None


def _of_main(pods: Pods, spec: PodSpec, at: int, rest: Path, rejection: Rejection) -> Path | None:
    """Returns the user's field for a field of the main container, whose index is `at`, in the topmost layer that sets the field."""
    plan = pods.plan
    match rest:
        case ("livenessProbe", *below) if plan.pod.liveness is not None:
            return plan.at("livenessProbe", *below)
        case ("readinessProbe", *below) if plan.pod.readiness is not None:
            return plan.at("readinessProbe", *below)
        case ("resources", *below) if not plan.pod.container.get("resources"):
            return plan.at("resources", *below)
        case ("env", int(index), *below):
            return of_variable(plan, spec["containers"][at]["env"][index].get("name"), *below)
        case ("volumeMounts", int(index), *_):
            return _of_mount(pods, spec, (at, index), rest, rejection.code)
    return plan.at("main", *rest)


def of_variable(plan: ComponentPlan, name: str | None, *rest: str | int) -> Path:
    """Returns the field for a variable of the main container: in the container, in the service, or in the graph."""
    is_added = any(variable.get("name") == name for variable in plan.pod.envs)
    for path in (plan.at("envs"),) if is_added else (plan.at("main", "env"), plan.at("envs")):
        index = _last(name, paths.at(plan.paths.written, path[len(plan.paths.path) :]))
        if index is not None:
            return (*path, index, *rest)
    index = _last(name, plan.paths.variables)
    if index is not None:
        return ("spec", plan.at("envs")[-1], index, *rest)
    index = None if is_added else _last(name, plan.pod.container.get("env"))
    return plan.at("envs") if index is None else plan.at("main", "env", index, *rest)


def _last(name: str | None, variables: Any) -> int | None:
    """Returns the index of the last variable of a name, which wins; None without one."""
    return next((index for index, variable in reversed([*enumerate(variables or ())]) if variable.get("name") == name), None)


def _of_mount(pods: Pods, spec: PodSpec, indexes: tuple[int, int], rest: Path, code: str) -> Path | None:
    """Returns the field for a mount, given as the indexes of container and mount.

    If a generated mount and a user's mount have the same folder, the field is the folder of the user's mount.
    """
    plan, (at, index) = pods.plan, indexes
    mount = spec["containers"][at]["volumeMounts"][index]
    folder = mount.get("mountPath")
    if not folder and plan.pod.cache and plan.pod.cache.name == mount.get("name"):
        return None
    layer, position = pods.origins.of(mount)
    written = [mount.get("mountPath") for mount in plan.pod.container.get("volumeMounts") or ()]
    claims = [claim.path or engines.get(plan.engine).cache_dir for claim in plan.pod.mounts]
    if layer == "user":
        return plan.at("main", "volumeMounts", position, *rest[2:])
    if code == codes.DUPLICATE_MOUNT_PATH and folder in claims:
        return plan.at("volumeMounts", len(claims) - 1 - claims[::-1].index(folder), "mountPoint")
    if code == codes.DUPLICATE_MOUNT_PATH and folder in written:
        return plan.at("main", "volumeMounts", written.index(folder), "mountPath")
    if layer == "claims":
        return plan.at("volumeMounts", position, "mountPoint") if claims[position] else None
    if layer == "cache":
        return plan.at("compilationCache")
    return plan.at("pod", "volumes") if layer == "defaults" else plan.at("main", "volumeMounts")
