"""Requests, their Jobs, outputs and graphs for the tests of the status."""

from __future__ import annotations

from typing import Any

from krm_fn.render import labels
from krm_fn.syncer import profiler_output
from krm_fn.syncer.profiler_output import ProfilerOutput
from krm_fn.syncer.status import SyncFeatures, cached_object, cached_request, request_profiling, request_status
from krm_fn.syncer.status.cached_object import CachedObject
from krm_fn.syncer.status.cached_request import CachedRequest, ProfilingJob, RequestInputs
from tests.syncer.status.given import NOW

NAMESPACE, NAME = "team-a", "qwen"
HASH, OTHER = "a" * 64, "b" * 64
ALL = SyncFeatures(requests=True, auto_apply=True)
GRAPH: dict[str, Any] = {
    "apiVersion": "nvidia.com/v1alpha1",
    "kind": "DynamoGraphDeployment",
    "metadata": {"name": "vllm-disagg"},
    "spec": {"services": {"Frontend": {"componentType": "frontend", "replicas": 1}}},
}
TEXT = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: vllm-disagg}
spec:
  services:
    Frontend: {componentType: frontend, replicas: 1}
"""
NOTHING = RequestInputs()
COMPLETE = {"type": "Complete", "status": "True", "reason": "CompletionsReached"}
FAILED = {"type": "Failed", "status": "True", "message": "Job has reached the specified backoff limit"}
MARKS = {labels.REQUEST_NAME: NAME, labels.REQUEST_NAMESPACE: NAMESPACE}


def resource(status: Any = None, *, hash_: str | None = HASH, generation: int = 1, name: str = NAME, **spec: Any) -> dict[str, Any]:
    """A request as it is in a cluster. Without `hash_`, no render wrote it."""
    metadata: dict[str, Any] = {"name": name, "namespace": NAMESPACE, "generation": generation}
    if hash_ is not None:
        metadata["annotations"] = {labels.PROFILE_HASH: hash_}
    written = {"model": "Qwen/Qwen3-0.6B", "backend": "vllm", "profilingConfig": {"profilerImage": "p:1", "config": {}}, **spec}
    found = {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeploymentRequest", "metadata": metadata, "spec": written}
    return found if status is None else {**found, "status": status}


def newer(status: Any = None, **spec: Any) -> dict[str, Any]:
    """The same request in v1beta1, with these fields in its spec."""
    written = {"model": "Qwen/Qwen3-0.6B", "backend": "vllm", "image": "p:1", **spec}
    return {**resource(status), "apiVersion": "nvidia.com/v1beta1", "spec": written}


def read(status: Any = None, **more: Any) -> CachedRequest:
    """The same request as the status logic sees it."""
    return cached_request.read(resource(status, **more))


def job_resource(*conditions: Any, hash_: str = HASH, owner: str | None = NAME, suspend: bool = False) -> dict[str, Any]:
    """A profiling Job. `owner` is its label."""
    marks = {} if owner is None else {labels.REQUEST: owner}
    notes = {labels.PROFILE_HASH: hash_} if hash_ else {}
    metadata = {"name": f"profile-{NAME}", "namespace": NAMESPACE, "labels": marks, "annotations": notes}
    found = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "status": {"conditions": list(conditions)}}
    return {**found, "spec": {"suspend": suspend}}


def profiling(*conditions: Any, **more: Any) -> ProfilingJob:
    """The same Job as the status logic sees it."""
    return request_profiling.read_job(job_resource(*conditions, **more))


def config_map(text: str = TEXT, *, hash_: str = HASH, edited: bool = False, **texts: str) -> dict[str, Any]:
    """The ConfigMap with the output of the profiler. `edited`: somebody changed the text afterwards."""
    data = {profiler_output.CONFIG: text, **texts}
    written = {**data, profiler_output.CONFIG: "before"} if edited else data
    notes = {labels.PROFILE_HASH: hash_, labels.OUTPUT_HASH: profiler_output.output_hash(written)} if hash_ else {}
    metadata = {"name": f"dgdr-output-{NAME}", "namespace": NAMESPACE, "labels": {labels.REQUEST_NAME: NAME}, "annotations": notes}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def written(*texts: str, mocker: bool = False, **more: Any) -> ProfilerOutput:
    """The same output as the status logic sees it."""
    return profiler_output.read(profiler_output.read_config_map(config_map(*texts, **more)), mocker=mocker)


def graph(
    state: str = "", *, ours: bool = True, complete: bool = True, name: str = "vllm-disagg", namespace: str = NAMESPACE
) -> CachedObject:
    """The deployed graph. `complete`: it has the annotation `workloads`, which is written last."""
    metadata: dict[str, Any] = {"name": name, "namespace": namespace, "labels": MARKS if ours else {}}
    if complete:
        metadata["annotations"] = {labels.WORKLOADS: "[]"}
    return cached_object.read({**GRAPH, "metadata": metadata, "status": {"state": state} if state else {}})


def status(asked: CachedRequest, seen: RequestInputs = NOTHING, features: SyncFeatures = ALL, now: str = NOW) -> dict[str, Any]:
    """The status of a request."""
    return request_status.of_request(asked, seen, now, features)


def told(found: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Status and reason of each condition."""
    return {each["type"]: (each["status"], each["reason"]) for each in found["conditions"]}


def message(found: dict[str, Any], name: str) -> str:
    """The message of one condition."""
    (said,) = [each["message"] for each in found["conditions"] if each["type"] == name]
    return str(said)
