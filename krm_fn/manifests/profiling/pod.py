"""The pod of a profiling Job: the profiler between two containers of our own.

The profiler is an init container, so that a failed profiler fails the pod, and its output is published only after a success. The reference
runs the profiler and the copier side by side (`internal/controller/dynamographdeploymentrequest_controller.go` createProfilingJob).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import labels, names
from krm_fn.manifests import env
from krm_fn.manifests.profiling import script
from krm_fn.yamlio import emitter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.types import Container, EnvVar, Metadata, PodSpec, PodTemplate, Resources, Volume, VolumeMount
    from krm_fn.plan import RequestPlan

CHECK = "output-check"
PROFILER = "profiler"
COPIER = "output-copier"
OUTPUT_FOLDER = "/data"
BASE_FILE = "/config/disagg.yaml"

OUTPUT, BASE, CACHE = "profiling-output", "profiling-config", "model-cache"
_USER = 1000
_TOKEN: EnvVar = {"name": "HUGGING_FACE_HUB_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf-token-secret", "key": "HF_TOKEN"}}}
_RESOURCES: Resources = {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"cpu": "1", "memory": "512Mi"}}
_RETRY_PAUSES = "1 2 4 8 15 30"  # seconds


def template(plan: RequestPlan, profile_hash: str) -> PodTemplate:
    """The pod template of the Job."""
    spec: PodSpec = {
        "serviceAccountName": names.PROFILING_ACCOUNT,
        "restartPolicy": "Never",
        "securityContext": {"runAsNonRoot": True, "runAsUser": _USER, "runAsGroup": _USER, "fsGroup": _USER},
        "initContainers": [_framing(plan, profile_hash, CHECK, script.CHECK), profiler(plan)],
        "containers": [_framing(plan, profile_hash, COPIER, script.copy(plan.kept_as))],
        "volumes": volumes(plan),
    }
    if plan.tolerations:
        spec["tolerations"] = list(plan.tolerations)
    if plan.pull_secrets:
        spec["imagePullSecrets"] = [{"name": name} for name in plan.pull_secrets]
    metadata: Metadata = {"labels": {labels.REQUEST: plan.name}, "annotations": {labels.DEFAULT_CONTAINER: PROFILER}}
    return {"metadata": metadata, "spec": spec}


def profiler(plan: RequestPlan) -> Container:
    """The container of the profiler."""
    container: Container = {
        "name": PROFILER,
        "image": plan.image,
        "command": ["python", "-m", "benchmarks.profiler.profile_sla"],
        "args": ["--profile-config", emitter.text(emitter.ordered(plan.settings))],
        "env": [_TOKEN, *_addresses(plan), *_request(plan)],
        "volumeMounts": list(_mounts(plan)),
    }
    if plan.discovers_gpus:
        container["args"].append("--enable-gpu-discovery")
    if plan.resources:
        container["resources"] = plan.resources
    return container


def volumes(plan: RequestPlan) -> list[Volume]:
    """The volumes of the pod: the output, and what the profiler reads."""
    found: list[Volume] = [{"name": OUTPUT, "emptyDir": {}}]
    if plan.output_claim:
        found = [{"name": OUTPUT, "persistentVolumeClaim": {"claimName": plan.output_claim}}]
    if plan.base:
        items = [{"key": plan.base.key, "path": BASE_FILE.rpartition("/")[2]}]
        found.append({"name": BASE, "configMap": {"name": plan.base.config_map, "items": items}})
    if plan.cache:
        found.append({"name": CACHE, "persistentVolumeClaim": {"claimName": plan.cache.claim, "readOnly": True}})
    return found


def _mounts(plan: RequestPlan) -> Iterator[VolumeMount]:
    yield {"name": OUTPUT, "mountPath": OUTPUT_FOLDER}
    if plan.base:
        yield {"name": BASE, "mountPath": BASE_FILE.rpartition("/")[0], "readOnly": True}
    if plan.cache:
        yield {"name": CACHE, "mountPath": plan.cache.path, "readOnly": True}


def _framing(plan: RequestPlan, profile_hash: str, name: str, text: str) -> Container:
    """A container of our own. Only the check writes to the output: it removes old files."""
    mount: VolumeMount = {"name": OUTPUT, "mountPath": OUTPUT_FOLDER}
    return {
        "name": name,
        "image": plan.config.profiling.copier_image,
        "command": ["/bin/sh", "-c"],
        "args": [text],
        "env": [
            *_request(plan),
            env.value("JOB_NAME", names.profiling_job(plan.name)),
            env.value("OUTPUT_CONFIG_MAP", names.profiling_output(plan.name)),
            env.value("OUTPUT_FOLDER", OUTPUT_FOLDER),
            env.value("PROFILE_HASH", profile_hash),
            env.value("RETRY_PAUSES", _RETRY_PAUSES),
            env.value("HOME", "/tmp"),  # noqa: S108 - the cache of kubectl, in a container with another user than the image's
        ],
        "resources": _RESOURCES,
        "volumeMounts": [mount if name == CHECK else {**mount, "readOnly": True}],
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }


def _request(plan: RequestPlan) -> list[EnvVar]:
    return [env.value("DGDR_NAME", plan.name), env.value("DGDR_NAMESPACE", plan.namespace)]


def _addresses(plan: RequestPlan) -> list[EnvVar]:
    """NATS and etcd as configured. The reference makes both addresses up from the namespace."""
    return [variable for variable in env.platform(plan.config) if variable["name"] in ("NATS_SERVER", "ETCD_ENDPOINTS")]
