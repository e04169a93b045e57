"""The pod of a profiling Job: the profiler between two containers of our own.

The profiler is an init container, so that a failed profiler fails the pod, and its output is published only after a success. The operator
runs the profiler and the copier side by side (`internal/controller/dynamographdeploymentrequest_controller.go` createProfilingJob).
"""

from __future__ import annotations

from krm_fn.base.yaml import emitter
from krm_fn.kubernetes import env
from krm_fn.render import labels, names
from krm_fn.render.manifests import component_defaults
from krm_fn.render.manifests.profiling import profiler_scripts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kubernetes.native_types import (
        Container,
        EnvVar,
        ObjectMeta,
        PodSpec,
        PodTemplateSpec,
        ResourceRequirements,
        Volume,
        VolumeMount,
    )
    from krm_fn.render.plan import RequestPlan

CHECK = "output-check"
"""The name of the container that checks before the profiler runs.

Rule profiling.check-name: The container that checks has the name `output-check`. (krm-fn)
"""
COPIER = "output-copier"
"""The name of the container that publishes the output.

Rule profiling.copier-name: The container that publishes the output has the name `output-copier`. (krm-fn)
"""
OUTPUT, BASE, CACHE = "profiling-output", "profiling-config", "model-cache"
"""The names of the volumes of a profiling Job.

Rule profiling.output-volume: The volume with the output of a profiling has the name `profiling-output`. (operator:
internal/controller/dynamographdeploymentrequest_controller.go createProfilingJob)
"""
_USER = 1000
"""The user and the group of all containers.

Rule profiling.user: The containers of a profiling Job run as user and group 1000. (operator:
internal/controller/dynamographdeploymentrequest_controller.go createProfilingJob)
"""
_TOKEN: EnvVar = {"name": "HUGGING_FACE_HUB_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf-token-secret", "key": "HF_TOKEN"}}}
"""The variable with the token of Hugging Face.

Rule profiling.token: The profiler downloads models with the token of Hugging Face in a Secret. (operator:
internal/controller/dynamographdeploymentrequest_controller.go createProfilingJob)
"""
_RESOURCES: ResourceRequirements = {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"cpu": "1", "memory": "512Mi"}}
"""The resources of the containers beside the profiler.

Rule profiling.helper-resources: The containers beside the profiler have small requests and limits. (krm-fn)
"""
_RETRY_PAUSES = "1 2 4 8 15 30"  # seconds
"""The pauses between the runs of a failed command, in seconds.

Rule profiling.pauses: The scripts repeat a failed command after 1, 2, 4, 8, 15 and 30 seconds. (krm-fn)
"""


def template(plan: RequestPlan, profile_hash: str) -> PodTemplateSpec:
    """Makes the pod template of a profiling Job.

    Rule profiling.pod: The pod of a profiling Job has three containers: one that checks, the profiler, and one that publishes the output.
    (operator: internal/controller/dynamographdeploymentrequest_controller.go createProfilingJob)
    """
    spec: PodSpec = {
        "serviceAccountName": names.PROFILING_ACCOUNT,
        "restartPolicy": "Never",
        "securityContext": {"runAsNonRoot": True, "runAsUser": _USER, "runAsGroup": _USER, "fsGroup": _USER},
        "initContainers": [_framing(plan, profile_hash, CHECK, profiler_scripts.CHECK), profiler(plan)],
        "containers": [_framing(plan, profile_hash, COPIER, profiler_scripts.copy(plan.kept_as))],
        "volumes": volumes(plan),
    }
    if plan.tolerations:
        spec["tolerations"] = list(plan.tolerations)
    if plan.pull_secrets:
        spec["imagePullSecrets"] = [{"name": name} for name in plan.pull_secrets]
    metadata: ObjectMeta = {"labels": {labels.REQUEST: plan.name}, "annotations": {labels.DEFAULT_CONTAINER: names.PROFILER}}
    return {"metadata": metadata, "spec": spec}


def profiler(plan: RequestPlan) -> Container:
    """Makes the container of the profiler.

    Rule profiling.profiler: The profiler runs with the settings of the request. (operator:
    internal/controller/dynamographdeploymentrequest_controller.go createProfilingJob)
    """
    container: Container = {
        "name": names.PROFILER,
        "image": plan.image,
        "command": ["python", "-m", "benchmarks.profiler.profile_sla"],
        "args": ["--profile-config", emitter.text(emitter.sort_keys(plan.settings))],
        "env": [_TOKEN, *_addresses(plan), *_request(plan)],
        "volumeMounts": list(_mounts(plan)),
    }
    if plan.discovers_gpus:
        container["args"].append("--enable-gpu-discovery")
    if plan.resources:
        container["resources"] = plan.resources
    return container


def volumes(plan: RequestPlan) -> list[Volume]:
    """Returns the volumes of the pod of a profiling Job.

    Rule profiling.volumes: The pod of a profiling Job has a volume for the output, and one for each ConfigMap and claim that the profiler
    reads. (operator: internal/controller/dynamographdeploymentrequest_controller.go createProfilingJob)
    """
    volumes: list[Volume] = [{"name": OUTPUT, "emptyDir": {}}]
    if plan.output_claim:
        volumes = [{"name": OUTPUT, "persistentVolumeClaim": {"claimName": plan.output_claim}}]
    if plan.base:
        items = [{"key": plan.base.key, "path": names.PROFILER_BASE.rpartition("/")[2]}]
        volumes.append({"name": BASE, "configMap": {"name": plan.base.config_map, "items": items}})
    if plan.cache:
        volumes.append({"name": CACHE, "persistentVolumeClaim": {"claimName": plan.cache.claim, "readOnly": True}})
    return volumes


def _mounts(plan: RequestPlan) -> Iterator[VolumeMount]:
    """Yields the mounts of the profiler.

    Rule profiling.mounts: The profiler mounts the folders that it reads and writes. (operator:
    internal/controller/dynamographdeploymentrequest_controller.go createProfilingJob)
    """
    yield {"name": OUTPUT, "mountPath": names.PROFILER_OUTPUT}
    if plan.base:
        yield {"name": BASE, "mountPath": names.PROFILER_BASE.rpartition("/")[0], "readOnly": True}
    if plan.cache:
        yield {"name": CACHE, "mountPath": plan.cache.path, "readOnly": True}


def _framing(plan: RequestPlan, profile_hash: str, name: str, text: str) -> Container:
    """Makes a container beside the profiler, which runs the script `text`. Only the check writes to the output: it removes old files.

    Rule profiling.helpers: The containers beside the profiler run a script of krm-fn. (krm-fn)
    """
    mount: VolumeMount = {"name": OUTPUT, "mountPath": names.PROFILER_OUTPUT}
    return {
        "name": name,
        "image": plan.config.profiling.copier_image,
        "command": ["/bin/sh", "-c"],
        "args": [text],
        "env": [
            *_request(plan),
            env.value("JOB_NAME", names.profiling_job(plan.name)),
            env.value("OUTPUT_CONFIG_MAP", names.profiling_output(plan.name)),
            env.value("OUTPUT_FOLDER", names.PROFILER_OUTPUT),
            env.value("PROFILE_HASH", profile_hash),
            env.value("RETRY_PAUSES", _RETRY_PAUSES),
            env.value("HOME", "/tmp"),  # noqa: S108 - the cache of kubectl, in a container with another user than the image's
        ],
        "resources": _RESOURCES,
        "volumeMounts": [mount if name == CHECK else {**mount, "readOnly": True}],
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }


def _request(plan: RequestPlan) -> list[EnvVar]:
    """Returns the variables with the name and the namespace of the request.

    Rule profiling.request: The containers of a profiling Job know their request from variables. (operator:
    internal/controller/dynamographdeploymentrequest_controller.go createProfilingJob)
    """
    return [env.value("DGDR_NAME", plan.name), env.value("DGDR_NAMESPACE", plan.namespace)]


def _addresses(plan: RequestPlan) -> list[EnvVar]:
    """Returns the variables with the configured addresses of NATS and etcd. The operator makes both up from the namespace."""
    return [
        variable for variable in component_defaults.platform_variables(plan.config) if variable["name"] in ("NATS_SERVER", "ETCD_ENDPOINTS")
    ]
