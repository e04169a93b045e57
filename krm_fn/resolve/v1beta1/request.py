"""Makes the plan of a v1beta1 request. The profiling Job is that of Dynamo 0.9, so the request is read as v1alpha1.

Follows the reference's dynamographdeploymentrequest_conversion.go for what v1alpha1 says of the same request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.convert import lost, preserved, versions
from krm_fn.plan.address import RequestBook
from krm_fn.resolve.v1alpha1 import request as older

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from krm_fn.config import Config
    from krm_fn.kube.types import Resource
    from krm_fn.plan import RequestPlan
    from krm_fn.plan.address import RequestField
    from krm_fn.resolve.cluster import ClusterFacts
    from krm_fn.results import Path, Result

_KEPT: Path = ("metadata", "annotations")  # an operator's conversion keeps these fields of v1alpha1 there
_JOB: Path = ("spec", "overrides", "profilingJob")
_POD: Path = (*_JOB, "template", "spec")
_GRAPH: Path = ("spec", "overrides", "dgd")
FIELDS: Mapping[RequestField, Path] = {
    "base.key": _KEPT,
    "base.name": _KEPT,
    "cache": ("spec", "modelCache"),
    "cache.claim": ("spec", "modelCache", "pvcName"),
    "cache.path": ("spec", "modelCache", "pvcMountPath"),
    "gpu_discovery": _KEPT,
    "image": ("spec", "image"),
    "output_claim": _KEPT,
    "overrides.annotations": (*_GRAPH, "metadata", "annotations"),
    "overrides.labels": (*_GRAPH, "metadata", "labels"),
    "overrides.name": (*_GRAPH, "metadata", "name"),
    "overrides.namespace": (*_GRAPH, "metadata", "namespace"),
    "profiling": _JOB,
    "resources": (*_POD, "containers"),
    "settings": ("spec",),
    "tolerations": (*_POD, "tolerations"),
}
"""The path of each field of a request."""
_CACHE = {"modelPathInPvc": "pvcPath", "pvcMountPath": "mountPath"}
"""The names that the profiler of 0.9 has for the paths of a model cache."""
_IDENTITY = {"apiVersion", "kind", "metadata"}


def request(resource: Resource, config: Config, found: ClusterFacts) -> tuple[RequestPlan, list[Result]]:
    """The plan of a request, and the findings about fields that the profiler does not have. `resource` must be well-formed."""
    plan, findings = older.request(_as_read(resource), config, found, RequestBook(results.ref(resource), FIELDS))
    metadata = _graph(resource).get("metadata")
    overrides = older.overrides(metadata) if isinstance(metadata, dict) else plan.overrides
    return plan._replace(overrides=overrides), [*preserved.findings(resource), *_unread(resource), *findings]


def _as_read(resource: Resource) -> Resource:
    """The request in v1alpha1, with the profiler's names for the paths of its model cache."""
    converted = versions.to(versions.V1ALPHA1, resource)
    spec: dict[str, Any] = converted.get("spec") or {}
    profiling = spec.get("profilingConfig") or {}
    settings = profiling.get("config") or {}
    deployment = settings.get("deployment")
    if not isinstance(deployment, dict) or not isinstance(deployment.get("modelCache"), dict):
        return converted
    cache = {_CACHE.get(field, field): value for field, value in deployment["modelCache"].items()}
    settings = {**settings, "deployment": {**deployment, "modelCache": cache}}
    return {**converted, "spec": {**spec, "profilingConfig": {**profiling, "config": settings}}}


def _graph(resource: Resource) -> dict[str, Any]:
    """The graph that overrides fields of the result."""
    overrides = (resource.get("spec") or {}).get("overrides") or {}
    return overrides.get("dgd") or {}


def _unread(resource: Resource) -> Iterator[Result]:
    """An error if the profiler must choose the engine, and a warning for each field without effect."""
    spec, address = resource.get("spec") or {}, results.ref(resource)
    if spec.get("backend", "auto") == "auto":
        message = "the profiler of Dynamo 0.9 cannot choose the engine; write backend: vllm, sglang or trtllm"
        yield results.error("DYN411", message, address, ("spec", "backend"))
    for path, _ in lost.fields(resource, versions.V1ALPHA1):
        is_default = path == ("spec", "searchStrategy") and spec["searchStrategy"] == "rapid"
        if not is_default and not (path == _GRAPH and _graph(resource).keys() <= _IDENTITY):
            message = "the profiler of Dynamo 0.9 has no such field, so it has no effect; remove it"
            yield results.warning("DYN411", message, address, path)
