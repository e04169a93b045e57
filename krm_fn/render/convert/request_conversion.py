"""DynamoGraphDeploymentRequests. v1alpha1 keeps the targets of the profiler in a free-form object; v1beta1 has fields for them.

Follows the operator's dynamographdeploymentrequest_conversion.go.
"""

from __future__ import annotations

from krm_fn.kubernetes import merge
from krm_fn.kubernetes.values import mapping, objects, rename_fields
from krm_fn.render import names
from krm_fn.render.convert import preserved_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.kubernetes.types import Resource

_IN_SLA = {"sla": ("ttft", "itl", "optimizationType"), "workload": ("isl", "osl")}
"""Fields of v1beta1's `sla` and `workload` that v1alpha1 has under `config.sla`."""
_CACHE = {"pvcName": "pvcName", "modelPathInPvc": "pvcModelPath", "pvcMountPath": "pvcMountPath"}
_JOB = ("tolerations", "nodeSelector")
_OF_V1ALPHA1 = ("autoApply", "useMocker", "profilingConfig", "deploymentOverrides", "enableGpuDiscovery")
_OF_V1BETA1 = (*("autoApply", "image", "modelCache", "hardware", "workload", "sla", "overrides", "features", "searchStrategy"),)
_PHASES = {"Pending": "Pending", "Profiling": "Profiling", "Deploying": "Deploying", "Ready": "Ready", "Failed": "Failed"}


def to_v1beta1(request: Resource) -> Resource:
    """Converts a v1alpha1 request."""
    return _convert_request(request, "v1beta1")


def to_v1alpha1(request: Resource) -> Resource:
    """Converts a v1beta1 request."""
    return _convert_request(request, "v1alpha1")


def not_convertible(spec: dict[str, Any], version: str) -> list[tuple[str | int, ...]]:
    """Returns the paths of the fields that `version` does not have, in the specification of a request of the other version."""
    change, back = (_spec_to_v1beta1, _spec_to_v1alpha1) if version == "v1beta1" else (_spec_to_v1alpha1, _spec_to_v1beta1)
    return preserved_fields.ineffective(spec, change, back(change(spec)))


def _convert_request(request: Resource, version: str) -> Resource:
    changes, states = (_spec_to_v1beta1, _spec_to_v1alpha1), (_status_to_v1beta1, _status_to_v1alpha1)
    (change, back), (state, state_back) = (changes, states) if version == "v1beta1" else (changes[::-1], states[::-1])
    spec, preserved_spec = request.get("spec"), preserved_fields.spec(request)
    preserved: dict[str, Any] = {}
    if isinstance(spec, dict):
        plain = change(spec)
        new = (
            preserved_fields.fill_preserved(plain, preserved_spec, lambda wanted: back(wanted) == back(plain) or back(wanted) == spec)
            if preserved_spec
            else plain
        )
        request, preserved = {**request, "spec": new}, preserved_fields.difference(spec, back(new))
    request = preserved_fields.with_status_converted(request, state, state_back)
    return preserved_fields.with_spec(request, preserved)


def _spec_to_v1beta1(spec: dict[str, Any]) -> dict[str, Any]:
    profiling, config = mapping(spec.get("profilingConfig")), mapping(mapping(spec.get("profilingConfig")).get("config"))
    targets = mapping(config.get("sla"))
    parts = {part: merge.present(**{name: _target(name, targets.get(name)) for name in names}) for part, names in _IN_SLA.items()}
    written_cache = mapping(mapping(config.get("deployment")).get("modelCache"))
    cache = {_CACHE[name]: path for name, path in _present(written_cache, (*_CACHE,)).items() if isinstance(path, str)}
    mocker = {"mocker": {"enabled": True}} if spec.get("useMocker") is True else {}
    planner = {"planner": config["planner"]} if isinstance(config.get("planner"), dict) and config["planner"] else {}
    job = _job(profiling)
    return {
        **{field: value for field, value in spec.items() if field not in _OF_V1ALPHA1},
        **merge.present(image=profiling.get("profilerImage") or mapping(spec.get("deploymentOverrides")).get("workersImage") or None),
        **{part: fields for part, fields in (*parts.items(), ("modelCache", cache), ("features", {**planner, **mocker})) if fields},
        **({"overrides": {"profilingJob": {"template": {"spec": job}}}} if job else {}),
        "autoApply": spec.get("autoApply") is True,
    }


def _spec_to_v1alpha1(spec: dict[str, Any]) -> dict[str, Any]:
    targets = {name: spec[part][name] for part, names in _IN_SLA.items() for name in _present(mapping(spec.get(part)), names)}
    cache = rename_fields(_present(mapping(spec.get("modelCache")), (*_CACHE.values(),)), {new: old for old, new in _CACHE.items()})
    features = mapping(spec.get("features"))
    planner = features["planner"] if isinstance(features.get("planner"), dict) and features["planner"] else None
    config = merge.present(sla=targets or None, deployment={"modelCache": cache} if cache else None, planner=planner)
    pod = mapping(mapping(mapping(mapping(spec.get("overrides")).get("profilingJob")).get("template")).get("spec"))
    profiler = next((container for container in objects(pod.get("containers")) if container.get("name") == names.PROFILER), {})
    profiling = {
        **merge.present(profilerImage=spec.get("image") or None, config=config, resources=profiler.get("resources") or None),
        **{field: pod[field] for field in _JOB if pod.get(field)},
    }
    return {
        **{field: value for field, value in spec.items() if field not in _OF_V1BETA1},
        "profilingConfig": profiling,
        **({"useMocker": True} if mapping(features.get("mocker")).get("enabled") is True else {}),
        "autoApply": spec.get("autoApply") is not False,
    }


def _job(profiling: dict[str, Any]) -> dict[str, Any]:
    amounts = profiling.get("resources")
    containers = {"containers": [{"name": names.PROFILER, "resources": amounts}]} if amounts else {}
    return {**containers, **{field: profiling[field] for field in _JOB if profiling.get(field)}}


def _present(fields: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Returns the fields of these names that have a value."""
    return {name: fields[name] for name in names if fields.get(name) is not None}


def _target(name: str, value: Any) -> Any:
    """Returns the value of a target in v1beta1, None if v1beta1 has no such values: `config` is free-form."""
    if name == "optimizationType":
        return value if isinstance(value, str) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if name in _IN_SLA["workload"] else value


def _status_to_v1beta1(status: dict[str, Any]) -> dict[str, Any]:
    new = {
        key: value
        for key, value in status.items()
        if key not in ("state", "backend", "profilingResults", "generatedDeployment", "deployment")
    }
    deployed = mapping(status.get("deployment"))
    if "state" in status:
        is_ready = status["state"] in ("Ready", "DeploymentDeleted")
        deployed_now = status["state"] == "Ready" and deployed.get("created") is True
        new["phase"] = "Deployed" if deployed_now else "Ready" if is_ready else _PHASES.get(f"{status['state']}", "Pending")
    generated = status.get("generatedDeployment")
    profiled = None if generated is None else {"selectedConfig": generated}
    return {
        **new,
        **merge.present(dgdName=deployed.get("name"), profilingResults=profiled),
    }


def _status_to_v1alpha1(status: dict[str, Any]) -> dict[str, Any]:
    gone = ("phase", "profilingPhase", "dgdName", "profilingJobName", "profilingResults", "deploymentInfo")
    old = {key: value for key, value in status.items() if key not in gone}
    if "phase" in status:
        old["state"] = "Ready" if status["phase"] == "Deployed" else _PHASES.get(f"{status['phase']}", "Pending")
    name, generated = status.get("dgdName"), mapping(status.get("profilingResults")).get("selectedConfig")
    return {**old, **merge.present(deployment=None if name is None else {"name": name}, generatedDeployment=generated)}
