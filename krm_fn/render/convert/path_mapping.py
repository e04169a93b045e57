"""Maps field paths between the API versions, so that a finding names the field that the author wrote.

The steps of a field are those of either version. No field name has two meanings, so the author's version decides how a path is mapped.
Three names are short for parts of a component's pod: `pod` is its spec, `main` its main container, and `sidecars` are its other containers.
"""

from __future__ import annotations

from functools import partial
from itertools import islice

from krm_fn.base import results
from krm_fn.kubernetes.values import mapping, name_of
from krm_fn.render import dynamo_api, labels, names
from krm_fn.render.plan.facts import SourcePaths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from krm_fn.base.results import Path, Ref
    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.plan.facts import Fix

MAIN = "main"
"""The name of the main container in v1beta1."""
INHERITED = (labels.ENABLE_METRICS, labels.DISCOVERY_BACKEND, labels.DISCOVERY_MODE, labels.ORIGIN_VERSION, labels.EXECUTOR_BACKEND)
"""The annotations in the metadata of a graph that its components inherit."""

_FIXES: dict[bool, Mapping[Fix, str]] = {
    True: {
        "no scaling adapter": "set scalingAdapter.enabled: false",
        "scaling adapter": "set scalingAdapter.enabled: true",
        "no shared memory": "set sharedMemory.disabled: true",
    },
    False: {
        "no scaling adapter": "remove scalingAdapter",
        "scaling adapter": "write scalingAdapter: {}",
        "no shared memory": 'write sharedMemorySize: "0"',
    },
}
"""The fixes in v1alpha1 (True) and in v1beta1."""
_EXTRA_MAIN: Path = ("extraPodSpec", "mainContainer")
_TO_SERVICE: Mapping[Path, Path] = {
    ("experimental", "checkpoint"): ("checkpoint",),
    ("experimental", "failover"): ("failover",),
    ("experimental", "gpuMemoryService"): ("gpuMemoryService",),
    (MAIN,): _EXTRA_MAIN,
    ("name",): (),
    ("pod",): ("extraPodSpec",),
    ("podTemplate", "metadata"): ("extraPodMetadata",),
    ("podTemplate", "spec", "containers"): _EXTRA_MAIN,
}
"""Fields of a v1beta1 component in a v1alpha1 service. The name is that of the service."""
_TO_COMPONENT: Mapping[Path, Path] = {
    ("annotations",): ("podTemplate", "metadata", "annotations"),
    ("checkpoint",): ("experimental", "checkpoint"),
    ("componentType",): ("type",),
    ("envs",): (MAIN, "env"),
    ("failover",): ("experimental", "failover"),
    ("gpuMemoryService",): ("experimental", "gpuMemoryService"),
    ("labels",): ("podTemplate", "metadata", "labels"),
    ("livenessProbe",): (MAIN, "livenessProbe"),
    ("pod",): ("podTemplate", "spec"),
    ("readinessProbe",): (MAIN, "readinessProbe"),
    ("resources",): (MAIN, "resources"),
    ("resources", "limits", "gpu"): (MAIN, "resources", "limits", "nvidia.com/gpu"),
    ("resources", "requests", "gpu"): (MAIN, "resources", "requests", "nvidia.com/gpu"),
    ("sharedMemory", "size"): ("sharedMemorySize",),
    ("subComponentType",): ("type",),
}
"""Fields of a v1alpha1 service in a v1beta1 component."""
_TO_V1ALPHA1_GRAPH: Mapping[Path, Path] = {("components",): ("services",), ("dgdRef", "componentName"): ("dgdRef", "serviceName")}
"""Fields below the spec of a v1beta1 graph, and of a scaling adapter, in v1alpha1."""
_OF_CACHE: Mapping[str | int, str] = {"pvcName": "name", "mountPath": "mountPoint"}
"""Fields of a compilation cache in the mount of a v1alpha1 service."""
_TO_CACHE: Mapping[str | int, str] = {"name": "pvcName", "mountPoint": "mountPath"}
_ANNOTATIONS: Path = ("metadata", "annotations")
"""Fields that only v1alpha1 has, after their conversion to v1beta1."""
_ONLY_V1ALPHA1, _ONLY_V1BETA1 = (("ingress",),), (("experimental", "grove"),)
"""The fields of components that findings name and that the other version lacks. An annotation holds them there."""
_JOB: Path = ("spec", "overrides", "profilingJob")
_JOB_POD: Path = (*_JOB, "template", "spec")
_TO_REQUEST: Mapping[Path, Path] = {
    ("deploymentOverrides",): ("spec", "overrides", "dgd", "metadata"),
    ("enableGpuDiscovery",): _ANNOTATIONS,
    ("profilingConfig",): _JOB,
    ("profilingConfig", "config"): ("spec",),
    ("profilingConfig", "config", "deployment", "modelCache"): ("spec", "modelCache"),
    ("profilingConfig", "config", "deployment", "modelCache", "mountPath"): ("spec", "modelCache", "pvcMountPath"),
    ("profilingConfig", "configMapRef", "key"): _ANNOTATIONS,
    ("profilingConfig", "configMapRef", "name"): _ANNOTATIONS,
    ("profilingConfig", "nodeSelector"): (*_JOB_POD, "nodeSelector"),
    ("profilingConfig", "outputPVC"): _ANNOTATIONS,
    ("profilingConfig", "profilerImage"): ("spec", "image"),
    ("profilingConfig", "tolerations"): (*_JOB_POD, "tolerations"),
    ("runtimeVersionOverride",): ("spec", "runtimeVersionOverride"),
}
"""Fields below the spec of a v1alpha1 request in a v1beta1 request."""


def of_resource(resource: Resource, read: Resource | None = None) -> SourcePaths:
    """Returns the source paths of a graph or of a standalone component. `read` is the resource in the version that a release reads."""
    ref, spec = results.ref(resource), mapping(resource.get("spec"))
    converted = None if read is None or results.ref(read).api_version == ref.api_version else mapping(read.get("spec"))
    is_v1alpha1 = ref.api_version == dynamo_api.V1ALPHA1
    annotations = {} if is_v1alpha1 and converted is None else _inherited_paths(resource)
    preserved = _preserved_path(resource)
    if ref.kind == dynamo_api.COMPONENT:
        paths = _of_component(ref, ("spec",), spec, converted)._replace(preserved=preserved)
        return paths._replace(inherited=annotations) if is_v1alpha1 else paths
    services = mapping((converted or {}).get("services"))
    variables = spec.get("envs" if is_v1alpha1 else "env") or ()
    components = {
        name: _of_component(ref, path, component, None if converted is None else mapping(services.get(name)))._replace(
            inherited=annotations, preserved=preserved, variables=variables
        )
        for name, path, component in _components(spec, is_v1alpha1=is_v1alpha1)
    }
    graph_mapping = _in_v1alpha1_graph if is_v1alpha1 else _in_v1beta1_graph
    return SourcePaths(ref, ("spec",), graph_mapping, components=components, preserved=preserved)


def _preserved_path(resource: Resource) -> Path:
    """Returns the path of the annotation with the fields that the version of a resource lacks; empty without one."""
    key = labels.PRESERVED_COMPONENT if results.ref(resource).kind == dynamo_api.COMPONENT else labels.PRESERVED_GRAPH
    return (*_ANNOTATIONS, key) if key in labels.annotations(resource) else ()


def of_role(paths: SourcePaths, index: int, component: dict[str, Any]) -> SourcePaths:
    """Returns the source paths of a component with the pod of a role. `index` is the position of the role, `component` has its pod."""
    return paths._replace(mapping=partial(_in_role, index), written=component)


def of_request(resource: Resource) -> SourcePaths:
    """Returns the source paths below the spec of a request. Their steps are those of v1alpha1."""
    ref, written = results.ref(resource), mapping(resource.get("spec"))
    is_v1alpha1 = ref.api_version == dynamo_api.V1ALPHA1
    return SourcePaths(ref, ("spec",), _in_v1alpha1_request if is_v1alpha1 else _in_v1beta1_request, written=written)


def _of_component(ref: Ref, path: Path, written: Any, converted: dict[str, Any] | None) -> SourcePaths:
    is_v1alpha1 = ref.api_version == dynamo_api.V1ALPHA1
    return SourcePaths(ref, path, _in_service if is_v1alpha1 else _in_component, _FIXES[is_v1alpha1], mapping(written), converted)


def _components(spec: dict[str, Any], *, is_v1alpha1: bool) -> Iterator[tuple[str, Path, Any]]:
    """Yields the name, the path and the fields of each component of a graph."""
    if is_v1alpha1:
        for name, service in mapping(spec.get("services")).items():
            yield name, ("spec", "services", name), service
        return
    listed = spec.get("components")
    for index, component in enumerate(listed if isinstance(listed, list) else ()):
        yield name_of(mapping(component)), ("spec", "components", index), component


def _inherited_paths(resource: Resource) -> dict[str, Path]:
    """Returns the paths of the annotations that the components of a graph inherit from it."""
    spec, annotations = mapping(resource.get("spec")), labels.annotations(resource)
    of_metadata: dict[str, Path] = {key: (*_ANNOTATIONS, key) for key in INHERITED if key in annotations}
    return {**{key: ("spec", "annotations", key) for key in mapping(spec.get("annotations"))}, **of_metadata}


def _map_steps(steps: Path, table: Mapping[Path, Path]) -> Path:
    """Returns the steps with their longest beginning that the table has replaced."""
    for length in range(len(steps), 0, -1):
        if steps[:length] in table:
            return (*table[steps[:length]], *steps[length:])
    return steps


def _in_v1alpha1_graph(_paths: SourcePaths, steps: Path) -> Path:
    return ("spec", *_map_steps(steps, _TO_V1ALPHA1_GRAPH))


def _in_v1beta1_graph(_paths: SourcePaths, steps: Path) -> Path:
    if steps[0] == "pvcs":
        return (*_ANNOTATIONS, labels.PRESERVED_GRAPH, *(step for step in steps if isinstance(step, int)))
    return ("spec", *steps)


def _in_v1alpha1_request(_paths: SourcePaths, steps: Path) -> Path:
    return ("spec", *steps)


def _in_v1beta1_request(paths: SourcePaths, steps: Path) -> Path:
    if steps[:2] == ("profilingConfig", "resources"):
        return (*_JOB_POD, *_profiler(paths.written), *steps[1:])
    return _map_steps(steps, _TO_REQUEST)


def _profiler(spec: dict[str, Any]) -> Path:
    """Returns the path of the profiler's container in the pod of a v1beta1 request."""
    job = mapping(mapping(spec.get("overrides")).get("profilingJob"))
    containers = mapping(mapping(job.get("template")).get("spec")).get("containers") or ()
    profiler = (index for index, container in enumerate(containers) if name_of(mapping(container)) == names.PROFILER)
    return ("containers", *islice(profiler, 1))


def _in_service(paths: SourcePaths, steps: Path) -> Path:
    if steps[:2] in _ONLY_V1BETA1:
        return paths.preserved or paths.path
    return (*paths.path, *_below_service(paths, steps))


def _below_service(paths: SourcePaths, steps: Path) -> Path:
    service = paths.written
    match steps:
        case ("compilationCache", *rest):
            mounts = service.get("volumeMounts") or ()
            cache = next((index for index, mount in enumerate(mounts) if mount.get("useAsCompilationCache")), None)
            return ("volumeMounts",) if cache is None else ("volumeMounts", cache, *_rename_steps(rest, _OF_CACHE))
        case ("main", *rest) if paths.converted is not None:
            return _of_main(service, tuple(rest))
        case ("sidecars", int(index), *rest):
            return (*_sidecars(service, is_converted=paths.converted is not None)[index], *rest)
    return _map_steps(steps, _TO_SERVICE)


def _of_main(service: dict[str, Any], steps: Path) -> Path:
    """Returns the path in a service of a field of the main container: a field of the service, or of its `mainContainer`."""
    main = (service.get("extraPodSpec") or {}).get("mainContainer") or {}
    match steps:
        case ("livenessProbe" | "readinessProbe" as name, *_) if main.get(name) is None and service.get(name) is not None:
            return steps
        case ("envFrom", *_) if not main.get("envFrom") and service.get("envFromSecret"):
            return ("envFromSecret",)
        case ("resources", *below) if service.get("resources") is not None:
            return _of_resources(service["resources"], main.get("resources") or {}, tuple(below))
        case ("volumeMounts", int(index), *below) if index >= (first := len(main.get("volumeMounts") or ())):
            return ("volumeMounts", index - first, *_rename_steps(below, {"mountPath": "mountPoint"}))
    return (*_EXTRA_MAIN, *steps)


def _of_resources(amounts: dict[str, Any], main: dict[str, Any], steps: Path) -> Path:
    """Returns the path in a service of a field of native resources: in `mainContainer` if it has the field, otherwise in `resources`."""
    match steps:
        case () if not main:
            return ("resources",)
        case (str(side), str(name), *_) if name not in (main.get(side) or {}):
            if name in ("cpu", "memory"):
                return ("resources", side, name)
            is_custom = name in ((amounts.get(side) or {}).get("custom") or {})
            return ("resources", side, "custom", name) if is_custom else ("resources", side, "gpu")
        case ("claims", *_) if not main.get("claims"):
            return ("resources", *steps)
    return (*_EXTRA_MAIN, "resources", *steps)


def _sidecars(service: dict[str, Any], *, is_converted: bool) -> list[Path]:
    """Returns the paths of the sidecars. A conversion leaves out a container `main` among them, and adds the frontend."""
    containers = (service.get("extraPodSpec") or {}).get("containers") or ()
    paths: list[Path] = [
        ("extraPodSpec", "containers", index)
        for index, container in enumerate(containers)
        if not is_converted or container.get("name") != MAIN
    ]
    return [*paths, ("frontendSidecar",)] if is_converted and service.get("frontendSidecar") is not None else paths


def _in_component(paths: SourcePaths, steps: Path) -> Path:
    if steps[:1] in _ONLY_V1ALPHA1:
        return paths.preserved or paths.path
    return (*paths.path, *_below_component(paths, _map_steps(steps, _TO_COMPONENT)))


def _in_role(index: int, paths: SourcePaths, steps: Path) -> Path:
    below = _below_component(paths, _map_steps(steps, _TO_COMPONENT))
    return (*paths.path, *(("roles", index) if below[:1] == ("podTemplate",) else ()), *below)


def _below_component(paths: SourcePaths, steps: Path) -> Path:
    containers = ((paths.written.get("podTemplate") or {}).get("spec") or {}).get("containers") or ()
    names = [container.get("name") for container in containers]
    match steps:
        case ("main", "volumeMounts", int(index), *rest) if paths.converted is not None:
            mount = paths.converted["extraPodSpec"]["mainContainer"]["volumeMounts"][index]
            return _of_mount(containers, index, mount.get("name"), mount.get("mountPath"), tuple(rest))
        case ("main", *rest):
            return ("podTemplate", "spec", "containers", names.index(MAIN) if MAIN in names else 0, *rest)
        case ("sidecars", int(index), *rest):
            others = [position for position, name in enumerate(names) if name != MAIN]
            # Another rule reports two components of one name, of which a conversion keeps the last one.
            return ("podTemplate", "spec", "containers", *((others[index], *rest) if index < len(others) else ()))
        case ("volumeMounts", int(index), *rest) if paths.converted is not None:
            mount = paths.converted["volumeMounts"][index]
            if mount.get("useAsCompilationCache") or "useAsCompilationCache" in rest:
                return ("compilationCache", *(_TO_CACHE[step] for step in rest if step in _TO_CACHE))
            return _of_mount(
                containers, index, mount.get("name"), mount.get("mountPoint"), _rename_steps(rest, {"mountPoint": "mountPath"})
            )
        case ("volumeMounts", *rest):
            return _below_component(paths, (MAIN, *_rename_steps(steps, {"mountPoint": "mountPath"})))
    return steps


def _of_mount(containers: Sequence[dict[str, Any]], index: int, name: Any, path: Any, steps: Path) -> Path:
    """Returns the path of a field of a mount of the main container: of the mount with this name and path, or else with this index."""
    main = next((position for position, container in enumerate(containers) if container.get("name") == MAIN), None)
    mounts = () if main is None else containers[main].get("volumeMounts") or ()
    same = (
        position
        for position, mount in enumerate(mounts)
        if mount.get("name") == name and (mount.get("mountPath") or None) == (path or None)
    )
    return ("podTemplate", "spec", "containers", main or 0, "volumeMounts", next(same, index), *steps)


def _rename_steps(steps: Sequence[str | int], names: Mapping[str | int, str]) -> Path:
    return tuple(names.get(step, step) for step in steps)
