"""Edits of one Deployment: what is edited, why its pods restart or stay, and True if they restart."""

from __future__ import annotations

import copy
import random
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Object = dict[str, Any]

_PROBE = {"httpGet": {"path": "/health", "port": 8000}, "periodSeconds": 10, "failureThreshold": 3}
_MAIN = {
    "name": "main",
    "image": "registry.example/worker:1.0",
    "command": ["python3", "-m", "dynamo.vllm"],
    "args": ["--model", "Qwen/Qwen3-0.6B"],
    "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}, {"name": "C", "value": "$(A)"}],
    "ports": [{"name": "http", "containerPort": 8000}],
    "resources": {"requests": {"cpu": "2", "memory": "4Gi"}, "limits": {"cpu": "4", "memory": "8Gi", "nvidia.com/gpu": "1"}},
    "livenessProbe": _PROBE,
    "volumeMounts": [{"name": "cache", "mountPath": "/cache"}],
}
_SPEC = {
    "containers": [_MAIN, {"name": "sidecar", "image": "registry.example/sidecar:1.0"}],
    "volumes": [{"name": "cache", "emptyDir": {"sizeLimit": "1Gi"}}, {"name": "settings", "configMap": {"name": "settings"}}],
}
_LABELS = {"app": "edited"}


def deployment() -> Object:
    """The Deployment that every edit begins with."""
    template = {"metadata": {"labels": {**_LABELS, "tier": "worker"}, "annotations": {"note": "1"}}, "spec": _SPEC}
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}
    spec = {"replicas": 0, "selector": {"matchLabels": _LABELS}, "strategy": strategy, "template": template}
    return copy.deepcopy({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "edited"}, "spec": spec})


class Edit(NamedTuple):
    """One edit. `path` is a path in the Deployment; `value` is written there, and None removes the field."""

    reason: str
    restarts: bool
    path: tuple[str | int, ...]
    value: Any


def edited(edit: Edit) -> Object:
    """The Deployment after an edit."""
    return written(deployment(), edit.path, edit.value)


def written(resource: Object, path: tuple[str | int, ...], value: Any) -> Object:
    """The resource with a value at a path. None removes it. Objects on the way are made."""
    holder: Any = resource
    for step in path[:-1]:
        holder = holder.setdefault(step, {}) if isinstance(holder, dict) else holder[step]
    if value is None:
        holder.pop(path[-1])
    elif isinstance(holder, list) and path[-1] == len(holder):
        holder.append(value)
    else:
        holder[path[-1]] = value
    return resource


_POD = ("spec", "template", "spec")
_META = ("spec", "template", "metadata")
_C = (*_POD, "containers", 0)
_ENV: list[Object] = _MAIN["env"]  # type: ignore[assignment]

LISTED = (
    # outside the template
    Edit("a label of the Deployment is not in its pods", False, ("metadata", "labels"), {"a": "b"}),
    Edit("an annotation of the Deployment is not in its pods", False, ("metadata", "annotations"), {"a": "b"}),
    Edit("the strategy says how pods are replaced", False, ("spec", "strategy"), {"type": "Recreate"}),
    Edit("the deadline is about progress only", False, ("spec", "progressDeadlineSeconds"), 900),
    Edit("minReadySeconds is about progress only", False, ("spec", "minReadySeconds"), 5),
    Edit("the history holds old ReplicaSets", False, ("spec", "revisionHistoryLimit"), 2),
    # metadata of pods
    Edit("a new annotation of the pods", True, (*_META, "annotations", "more"), "1"),
    Edit("a changed annotation of the pods", True, (*_META, "annotations", "note"), "2"),
    Edit("a removed annotation of the pods", True, (*_META, "annotations", "note"), None),
    Edit("an annotation that becomes empty", True, (*_META, "annotations", "note"), ""),
    Edit("a new label of the pods", True, (*_META, "labels", "more"), "1"),
    Edit("a changed label of the pods", True, (*_META, "labels", "tier"), "other"),
    Edit("a field of a feature gate that is off", False, (*_POD, "schedulingGroup"), {"podGroupName": "first"}),
    # defaults
    Edit("the default restart policy", False, (*_POD, "restartPolicy"), "Always"),
    Edit("the default DNS policy", False, (*_POD, "dnsPolicy"), "ClusterFirst"),
    Edit("the default scheduler", False, (*_POD, "schedulerName"), "default-scheduler"),
    Edit("another scheduler", True, (*_POD, "schedulerName"), "volcano"),
    Edit("the default grace period", False, (*_POD, "terminationGracePeriodSeconds"), 30),
    Edit("no grace period is not the default", True, (*_POD, "terminationGracePeriodSeconds"), 0),
    Edit("an empty security context of the pod is the default", False, (*_POD, "securityContext"), {}),
    Edit("an empty security context of a container is a value", True, (*_C, "securityContext"), {}),
    Edit("the default pull policy of a version", False, (*_C, "imagePullPolicy"), "IfNotPresent"),
    Edit("another pull policy", True, (*_C, "imagePullPolicy"), "Always"),
    Edit("the default path of termination messages", False, (*_C, "terminationMessagePath"), "/dev/termination-log"),
    Edit("the default protocol", False, (*_C, "ports", 0, "protocol"), "TCP"),
    Edit("another protocol", True, (*_C, "ports", 0, "protocol"), "UDP"),
    Edit("the default mode of a volume", False, (*_POD, "volumes", 1, "configMap", "defaultMode"), 420),
    Edit("another mode of a volume", True, (*_POD, "volumes", 1, "configMap", "defaultMode"), 256),
    Edit("the default timeout of a probe", False, (*_C, "livenessProbe", "timeoutSeconds"), 1),
    Edit("a timeout of zero means the default", False, (*_C, "livenessProbe", "timeoutSeconds"), 0),
    Edit("the default period, no longer written", False, (*_C, "livenessProbe", "periodSeconds"), None),
    Edit("another period of a probe", True, (*_C, "livenessProbe", "periodSeconds"), 20),
    Edit("the default scheme", False, (*_C, "livenessProbe", "httpGet", "scheme"), "HTTP"),
    Edit("a port as text is another port", True, (*_C, "livenessProbe", "httpGet", "port"), "http"),
    Edit("a delay of zero is no delay", False, (*_C, "livenessProbe", "initialDelaySeconds"), 0),
    # zero values
    Edit("hostNetwork: false is the zero value", False, (*_POD, "hostNetwork"), False),
    Edit("shareProcessNamespace: false is a value behind a pointer", True, (*_POD, "shareProcessNamespace"), False),
    Edit("an empty node selector", False, (*_POD, "nodeSelector"), {}),
    Edit("empty tolerations", False, (*_POD, "tolerations"), []),
    Edit("an empty affinity is a value behind a pointer", True, (*_POD, "affinity"), {}),
    Edit("readOnly: false", False, (*_C, "volumeMounts", 0, "readOnly"), False),
    Edit("an empty working directory", False, (*_C, "workingDir"), ""),
    Edit("tty: false", False, (*_C, "tty"), False),
    Edit("an empty resource list of a sidecar", False, (*_POD, "containers", 1, "resources"), {}),
    Edit("an empty list of arguments", False, (*_POD, "containers", 1, "args"), []),
    Edit("a variable with an empty value", True, (*_C, "env", 3), {"name": "D", "value": ""}),
    # quantities
    Edit("the same processors in thousandths", False, (*_C, "resources", "requests", "cpu"), "2000m"),
    Edit("the same processors as a number", False, (*_C, "resources", "requests", "cpu"), 2),
    Edit("other processors", True, (*_C, "resources", "requests", "cpu"), "2100m"),
    Edit("the same memory in another unit", False, (*_C, "resources", "requests", "memory"), "4096Mi"),
    Edit("the same memory as a number", False, (*_C, "resources", "limits", "memory"), 8589934592),
    Edit("the same memory in thousands", False, (*_C, "resources", "limits", "memory"), "8589934592"),
    Edit("the same size of a volume", False, (*_POD, "volumes", 0, "emptyDir", "sizeLimit"), "1024Mi"),
    Edit("requests equal to the limits are written", True, (*_C, "resources", "requests", "nvidia.com/gpu"), "1"),
    Edit("more GPUs", True, (*_C, "resources", "limits", "nvidia.com/gpu"), "2"),
    # lists and images
    Edit("the order of variables", True, (*_C, "env"), [_ENV[1], _ENV[0], _ENV[2]]),
    Edit("the order of arguments", True, (*_C, "args"), ["Qwen/Qwen3-0.6B", "--model"]),
    Edit("the order of containers", True, (*_POD, "containers"), [_SPEC["containers"][1], _MAIN]),  # type: ignore[index]
    Edit("the order of volumes", True, (*_POD, "volumes"), [_SPEC["volumes"][1], _SPEC["volumes"][0]]),  # type: ignore[index]
    Edit("a digest beside the same tag", True, (*_C, "image"), f"registry.example/worker:1.0@sha256:{'0' * 64}"),
    Edit("another tag", True, (*_C, "image"), "registry.example/worker:1.1"),
    Edit("a new container", True, (*_POD, "containers", 2), {"name": "third", "image": "registry.example/third:1"}),
    Edit("a new volume, which no container mounts", True, (*_POD, "volumes", 2), {"name": "more", "emptyDir": {}}),
    Edit("a service account", True, (*_POD, "serviceAccountName"), "worker"),
    Edit("the service account under its old name", True, (*_POD, "serviceAccount"), "worker"),
)

# what may stand at a path: the value of the Deployment above, its equals, and others
_CHOICES: dict[tuple[str | int, ...], tuple[Any, ...]] = {
    (*_POD, "restartPolicy"): ("Always",),
    (*_POD, "dnsPolicy"): ("ClusterFirst", "Default"),
    (*_POD, "hostIPC"): (False, True),
    (*_POD, "enableServiceLinks"): (True, False),
    (*_POD, "automountServiceAccountToken"): (True, False),
    (*_POD, "priorityClassName"): ("",),
    (*_POD, "nodeSelector"): ({}, {"zone": "a"}),
    (*_POD, "imagePullSecrets"): ([], [{"name": "pull"}]),
    (*_POD, "hostAliases"): ([], [{"ip": "10.0.0.1", "hostnames": ["one"]}]),
    (*_POD, "securityContext"): ({}, {"runAsNonRoot": False}, {"supplementalGroups": []}, {"fsGroup": 0}),
    (*_POD, "tolerations"): ([], [{"operator": "Exists"}], [{"key": "", "operator": "Exists"}]),
    (*_POD, "topologySpreadConstraints"): ([],),
    (*_POD, "dnsConfig"): ({}, {"options": []}),
    (*_POD, "volumes", 0): (
        {"name": "cache"},
        {"name": "cache", "emptyDir": {"sizeLimit": "1.0Gi"}},
        {"name": "cache", "emptyDir": {"medium": "", "sizeLimit": 1073741824}},
        {"name": "cache", "hostPath": {"path": "/cache"}},
    ),
    (*_POD, "volumes", 1): (
        {"name": "settings", "configMap": {"name": "settings", "items": []}},
        {"name": "settings", "configMap": {"name": "settings", "optional": False}},
        {"name": "settings", "secret": {"secretName": "settings"}},
        {"name": "settings", "projected": {"sources": [{"configMap": {"name": "settings"}}]}},
    ),
    (*_C, "image"): ("registry.example/worker", "registry.example/worker:latest", "worker@sha256:" + "1" * 64),
    (*_C, "env", 0): ({"name": "A", "value": "1", "valueFrom": None}, {"name": "A", "value": "one"}, {"name": "A"}),
    (*_C, "env", 3): (
        {"name": "D", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "D", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
    ),
    (*_C, "envFrom"): ([], [{"secretRef": {"name": "token"}}], [{"secretRef": {"name": "token", "optional": False}}]),
    (*_C, "command"): ([], ["python3", "-m", "dynamo.vllm"]),
    (*_C, "ports", 0): (
        {"name": "http", "containerPort": 8000, "hostPort": 0},
        {"name": "http", "containerPort": 8000, "hostIP": ""},
        {"name": "web", "containerPort": 8000},
    ),
    (*_C, "resources", "limits", "cpu"): ("4.0", "4000m", 4, "4e0", "0.004k", "4001m", "3999.5m", "3999.9999m"),
    (*_C, "resources", "limits", "memory"): ("8192Mi", "8Gi", "8589934592", "8589934.592k", "8e9", "8G"),
    (*_C, "resources", "claims"): ([],),
    (*_C, "lifecycle"): ({}, {"preStop": {"exec": {"command": ["sleep", "1"]}}}, {"preStop": {"httpGet": {"port": 8000}}}),
    (*_C, "readinessProbe"): ({"grpc": {"port": 9000}}, {"grpc": {"port": 9000, "service": ""}}, {"httpGet": {"port": 8000, "path": "/"}}),
    (*_C, "livenessProbe", "successThreshold"): (0, 1),
    (*_C, "livenessProbe", "failureThreshold"): (0, 3, 4),
    (*_C, "livenessProbe", "httpGet", "path"): ("/health", "/", ""),
    (*_C, "livenessProbe", "httpGet", "httpHeaders"): ([], [{"name": "a", "value": ""}]),
    (*_C, "stdin"): (False, True),
    (*_C, "securityContext"): ({}, {"privileged": False}, {"capabilities": {}}, {"capabilities": {"add": []}}),
    (*_C, "volumeMounts", 0): (
        {"name": "cache", "mountPath": "/cache", "subPath": ""},
        {"name": "cache", "mountPath": "/cache", "mountPropagation": "None"},
        {"name": "cache", "mountPath": "/cache/"},
    ),
    (*_META, "annotations"): ({"note": "1"}, {}, {"note": "1", "also": ""}),
}


def generated(count: int, seed: int) -> Iterator[tuple[Object, Object]]:
    """Pairs of states of the Deployment. Each state has up to three random choices, and the states share most of them."""
    draw = random.Random(seed)  # noqa: S311 - test data
    for _ in range(count):
        paths = draw.sample(sorted(_CHOICES, key=str), 3)
        both = _chosen(deployment(), paths[:2], draw.choice)
        changed = draw.sample(paths, draw.choice((1, 1, 2)))
        yield both, _chosen(copy.deepcopy(both), changed, draw.choice)


def _chosen(state: Object, paths: list[tuple[str | int, ...]], choice: Callable[[Any], Any]) -> Object:
    for path in paths:
        state = written(state, path, copy.deepcopy(choice(_CHOICES[path])))
    return state
