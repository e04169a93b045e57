"""Makes the plan of a DynamoGraphDeploymentRequest, and completes the free-form settings of the profiler with fields of the request.

Follows the operator's `internal/controller/dynamographdeploymentrequest_controller.go` (createProfilingJob, prepareProfilingConfig,
isOnlineProfiling), `internal/webhook/validation/dynamographdeploymentrequest.go`, and `dynamographdeploymentrequest_conversion.go`.
"""

from __future__ import annotations

from collections.abc import Iterator

from krm_fn.base import codes, results
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import canonical, version
from krm_fn.render import dynamo_api, names
from krm_fn.render.config import Config
from krm_fn.render.convert import path_mapping
from krm_fn.render.kinds import gates
from krm_fn.render.plan import BaseGraph, ModelCache, Overrides, RequestPlan, SourcePaths
from krm_fn.render.resolve import cluster
from krm_fn.render.resolve.cluster import ClusterFacts
from krm_fn.render.schema import fixes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.kubernetes.types import Resource

_RELEASE = (0, 9)  # the release of the profiling Job
_BASE_KEY = "disagg.yaml"
_CACHE = ("profilingConfig", "config", "deployment", "modelCache")
_CACHE_PATH = "/opt/model-cache"
_OUTPUT = "output_dir"
_GRAPH: Path = ("spec", "overrides", "dgd")
_CACHE_NAMES = {"modelPathInPvc": "pvcPath", "pvcMountPath": "mountPath"}
"""The names that the profiler of 0.9 has for the paths of a model cache."""
_IDENTITY = {"apiVersion", "kind", "metadata"}


def request(resource: Resource, config: Config, state: ClusterFacts) -> tuple[RequestPlan, list[Result]]:
    """Plans a request, and reports settings and fields without effect. `resource` must be well-formed, as for a graph.

    The profiling Job is that of Dynamo 0.9, so a v1beta1 request is read as v1alpha1.
    """
    paths = path_mapping.of_request(resource)
    if paths.ref.api_version == dynamo_api.V1ALPHA1:
        return _plan(resource, config, state, paths)
    from krm_fn.render.convert import preserved_fields  # noqa: PLC0415 - as in _as_read

    plan, findings = _plan(_as_read(resource), config, state, paths)
    metadata = _graph(resource).get("metadata")
    overrides = _overrides(metadata) if isinstance(metadata, dict) else plan.overrides
    return plan._replace(overrides=overrides), [*preserved_fields.findings(resource), *_unread(resource), *findings]


def _plan(resource: Resource, config: Config, state: ClusterFacts, paths: SourcePaths) -> tuple[RequestPlan, list[Result]]:
    """Plans a v1alpha1 request, and reports settings of the profiler."""
    spec = resource.get("spec") or {}
    written = spec.get("profilingConfig") or {}
    resources: Any = written.get("resources") or {}
    override: str = spec.get("runtimeVersionOverride") or ""
    image, namespace = written.get("profilerImage") or "", cluster.namespace(resource, config)
    completed, findings = _settings(spec, namespace, paths)
    cache, unreadable = _model_cache(completed, paths)
    secrets = [name for image_name in (image, config.profiling.copier_image) for name in state.pull_secrets(namespace, image_name)]
    plan = RequestPlan(
        name=paths.ref.name,
        namespace=namespace,
        ref=paths.ref,
        config=config,
        image=image,
        settings=completed,
        simulated=_simulates(completed),
        discovers_gpus=bool(spec.get("enableGpuDiscovery")),
        resources=canonical.container({"resources": resources})["resources"],
        tolerations=tuple(written.get("tolerations") or ()),
        output_claim=written.get("outputPVC") or "",
        base=_base(written.get("configMapRef")),
        cache=cache,
        pull_secrets=tuple(dict.fromkeys(secrets)),
        overrides=_overrides(spec.get("deploymentOverrides") or {}),
        paths=paths,
        gates=gates.open_gates(_RELEASE, version.core(override) if override else version.of_image(image), origin=""),
        version_path=paths.at("runtimeVersionOverride") if override else paths.at("profilingConfig", "profilerImage"),
    )
    return plan, [*findings, *unreadable, *_new_field(spec, paths)]


def _new_field(spec: dict[str, Any], paths: SourcePaths) -> Iterator[Result]:
    """Warns of a field that came to requests with operators from 1.0 on. The profiling Job is that of 0.9."""
    if (spec.get("profilingConfig") or {}).get("nodeSelector"):
        message = "the profiler of Dynamo 0.9 has no such field, so it has no effect; remove it"
        yield results.warning(codes.FIELD_NOT_IN_DYNAMO_0_9, message, paths.ref, paths.at("profilingConfig", "nodeSelector"))


def _base(written: dict[str, Any] | None) -> BaseGraph | None:
    return None if written is None else BaseGraph(written.get("name") or "", written.get("key") or _BASE_KEY)


def _overrides(written: dict[str, Any]) -> Overrides:
    """Returns the metadata of a request's graph that override those of the profiler's result."""
    return Overrides(
        name=written.get("name") or "",
        namespace=written.get("namespace") or "",
        labels=written.get("labels") or {},
        annotations=written.get("annotations") or {},
    )


def _settings(spec: dict[str, Any], namespace: str, paths: SourcePaths) -> tuple[dict[str, Any], list[Result]]:
    """Returns the settings of the profiler, and findings about settings that are overwritten or have no effect.

    Fields of the request win over the settings. All other settings stay as written.

    Rule profiling.settings: The profiler gets the settings that the user wrote, completed with the fields of the request. (operator:
    internal/controller/dynamographdeploymentrequest_controller.go prepareProfilingConfig)
    """
    findings: list[Result] = []
    profiled = spec.get("profilingConfig") or {}
    written = profiled.get("config") or {}
    deployment, engine = (_section(written, name, paths, findings) for name in ("deployment", "engine"))
    findings.extend(_overwritten("engine", engine, "backend", spec, paths))
    findings.extend(_overwritten("deployment", deployment, "model", spec, paths))
    findings.extend(_output(written, paths))
    image = (spec.get("deploymentOverrides") or {}).get("workersImage")
    completed = {
        **written,
        "deployment": {
            "namespace": namespace,
            **deployment,
            "model": spec.get("model") or "",
            **({"dgd_image": image} if image else {}),
        },
        "engine": {
            **engine,
            "backend": spec.get("backend") or "",
            **({"config": names.PROFILER_BASE} if profiled.get("configMapRef") is not None else {}),
        },
        _OUTPUT: names.PROFILER_OUTPUT,
    }
    return _whole(completed), findings


def _simulates(written: dict[str, Any]) -> bool:
    """True if the profiler simulates GPUs (AI Configurator). A switch that is no boolean counts as absent."""
    sweep = written.get("sweep")
    switches = (sweep.get(name) for name in ("useAiConfigurator", "use_ai_configurator")) if isinstance(sweep, dict) else ()
    return next((switch for switch in switches if isinstance(switch, bool)), False)


def _model_cache(written: dict[str, Any], paths: SourcePaths) -> tuple[ModelCache | None, list[Result]]:
    """Returns the model cache of the profiler, or None, and a warning for each part of a wrong type. The operator ignores such parts."""
    cache = written["deployment"].get("modelCache")
    if cache is None:
        return None, []
    if not isinstance(cache, dict):
        return None, [_report_ignored(paths.at(*_CACHE), paths, cache, "an object", "no model cache is mounted")]
    claim, path = cache.get("pvcName"), cache.get("mountPath")
    if not isinstance(claim, str) or not claim:
        at = paths.at(*_CACHE, "pvcName")
        return None, [_report_ignored(at, paths, claim, "the name of a PersistentVolumeClaim", "no model cache is mounted")]
    if path is None or (isinstance(path, str) and path):
        return ModelCache(claim, path or _CACHE_PATH), []
    at = paths.at(*_CACHE, "mountPath")
    return ModelCache(claim, _CACHE_PATH), [_report_ignored(at, paths, path, "a path", f"the model cache is mounted at {_CACHE_PATH}")]


def _section(written: dict[str, Any], name: str, paths: SourcePaths, findings: list[Result]) -> dict[str, Any]:
    """Returns a part of the settings that fields of the request are added to. Reports a part that is not an object."""
    section = written.get(name)
    if section is None or isinstance(section, dict):
        return section or {}
    message = f"{name} is {fixes.describe_value(section)}, but the function adds fields of the request to it; write an object, or remove it"
    findings.append(
        results.error(
            codes.PROFILING_SETTING_OF_WRONG_TYPE, message, paths.ref, paths.at("profilingConfig", "config", name), current=section
        )
    )
    return {}


def _overwritten(name: str, section: dict[str, Any], field: str, spec: dict[str, Any], paths: SourcePaths) -> Iterator[Result]:
    """Warns about a setting that differs from the field of the same name in the request, which overwrites it."""
    written, wins = section.get(field), spec.get(field) or ""
    if isinstance(written, str) and written and written != wins:
        message = f"{written!r} is overwritten by spec.{field}, {wins!r}; remove it"
        yield results.warning(
            codes.OVERWRITTEN_PROFILING_SETTING,
            message,
            paths.ref,
            paths.at("profilingConfig", "config", name, field),
            current=written,
            proposed=wins or None,
        )


def _output(written: dict[str, Any], paths: SourcePaths) -> Iterator[Result]:
    """Reports an output folder outside of the volume, because the Job publishes only files in the volume."""
    folder = written.get(_OUTPUT)
    if folder is not None and not (isinstance(folder, str) and folder.rstrip("/") == names.PROFILER_OUTPUT):
        message = f"the Job publishes only files in {names.PROFILER_OUTPUT}, so it would not find this output; remove the field"
        yield results.error(
            codes.PROFILER_WRITES_ELSEWHERE,
            message,
            paths.ref,
            paths.at("profilingConfig", "config", _OUTPUT),
            current=folder,
            proposed=names.PROFILER_OUTPUT,
        )


def _report_ignored(path: Path, paths: SourcePaths, value: Any, wanted: str, effect: str) -> Result:
    message = f"{path[-1]} is {'missing' if value is None else fixes.describe_value(value)}, so {effect}; write {wanted}"
    return results.warning(codes.IGNORED_MODEL_CACHE, message, paths.ref, path, current=value)


def _whole(value: Any) -> Any:
    """Returns the settings as an API server stores them: `50.0` becomes 50, so that both give the same Job."""
    if isinstance(value, dict):
        return {key: _whole(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_whole(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _as_read(resource: Resource) -> Resource:
    """Returns the request in v1alpha1, with the profiler's names for the paths of its model cache."""
    from krm_fn.render.convert import versions  # noqa: PLC0415 - most requests are v1alpha1

    converted = versions.to(dynamo_api.ALPHA1, resource)
    spec: dict[str, Any] = converted.get("spec") or {}
    profiling = spec.get("profilingConfig") or {}
    settings = profiling.get("config") or {}
    deployment = settings.get("deployment")
    if not isinstance(deployment, dict) or not isinstance(deployment.get("modelCache"), dict):
        return converted
    cache = {_CACHE_NAMES.get(field, field): value for field, value in deployment["modelCache"].items()}
    settings = {**settings, "deployment": {**deployment, "modelCache": cache}}
    return {**converted, "spec": {**spec, "profilingConfig": {**profiling, "config": settings}}}


def _graph(resource: Resource) -> dict[str, Any]:
    """Returns the graph that overrides fields of the result."""
    overrides = (resource.get("spec") or {}).get("overrides") or {}
    return overrides.get("dgd") or {}


def _unread(resource: Resource) -> Iterator[Result]:
    """Reports a request that lets the profiler choose the engine, and warns of each field without effect."""
    spec, address = resource.get("spec") or {}, results.ref(resource)
    if spec.get("backend", "auto") == "auto":
        message = "the profiler of Dynamo 0.9 cannot choose the engine; write backend: vllm, sglang or trtllm"
        yield results.error(codes.FIELD_NOT_IN_DYNAMO_0_9, message, address, ("spec", "backend"))
    from krm_fn.render.convert import not_convertible  # noqa: PLC0415 - as in _as_read

    for path, _ in not_convertible.fields(resource, dynamo_api.ALPHA1):
        is_default = path == ("spec", "searchStrategy") and spec["searchStrategy"] == "rapid"
        if not is_default and not (path == _GRAPH and _graph(resource).keys() <= _IDENTITY):
            message = "the profiler of Dynamo 0.9 has no such field, so it has no effect; remove it"
            yield results.warning(codes.FIELD_NOT_IN_DYNAMO_0_9, message, address, path)
