"""Inputs for the rules about `gangScheduling`: some that break a rule, and similar ones that do not."""

from __future__ import annotations

from typing import Any

from krm_fn.kubernetes.types import Resource
from krm_fn.render import config
from tests.support import beta
from tests.support.faults import Case, fires, quiet

_POD = "spec.components[0].podTemplate"
_KUBERNETES: dict[str, Any] = {"gang_scheduling": "kubernetes"}
_VOLCANO: dict[str, Any] = {"gang_scheduling": "volcano"}
_NONE: dict[str, Any] = {"gang_scheduling": "none"}
_GROVE: dict[str, Any] = {"orchestrator": "grove"}
_SET: dict[str, Any] = {"orchestrator": "disaggregatedSet"}
_KAI_ENABLED = config.GroveSettings(kai_scheduler=config.KaiSchedulerSettings(enabled=True))
_MAIN: dict[str, Any] = {
    "image": "registry.example/dynamo:1.6.0",
    "command": ["python3"],
    "args": ["-m", "dynamo.sglang", "--model-path", "acme/tiny", "--tp-size", "8"],
    "resources": {"limits": {"nvidia.com/gpu": "4"}},
}


def worker(*, nodes: int = 2, annotations: dict[str, str] | None = None, **fields: Any) -> Resource:
    """A graph with a worker on several nodes."""
    spread: dict[str, Any] = {"multinode": {"nodeCount": nodes}} if nodes > 1 else {}
    return beta.graph(beta.component("Worker", main=_MAIN, **spread, **fields), annotations=annotations)


def with_roles(leader: dict[str, Any], follower: dict[str, Any]) -> Resource:
    """A graph whose worker has a pod template for each role, with these fields of the pods."""
    main = {"name": "main", **_MAIN}
    pods = {"leader": leader, "worker": follower}
    roles = [{"name": name, "podTemplate": {"spec": {**pod, "containers": [main]}}} for name, pod in pods.items()]
    return beta.graph({"name": "Worker", "type": "worker", "multinode": {"nodeCount": 2}, "roles": roles})


def prefill_and_decode() -> Resource:
    """A graph with a decode worker on several nodes, whose workers roll out together."""
    prefill = beta.component("Prefill", "prefill", main={**_MAIN, "args": [*_MAIN["args"], "--disaggregation-mode", "prefill"]})
    decode = beta.component("Decode", "decode", main={**_MAIN, "args": [*_MAIN["args"], "--disaggregation-mode", "decode"]})
    return beta.graph({**prefill, "multinode": {"nodeCount": 2}}, {**decode, "multinode": {"nodeCount": 2}})


def _platform(**versions: str) -> dict[str, Any]:
    return {"platform": config.PlatformSettings(**versions)}


PLATFORM = [
    fires("DYN840", "", "a Kubernetes that serves no PodGroups", worker(), **_KUBERNETES, **_platform(kubernetes="1.36.3")),
    fires("DYN840", "", "definitions that drop the name of the PodGroup", worker(), **_KUBERNETES, **_platform(leader_worker_set="v0.8.0")),
    quiet("the first versions that have it", worker(), **_KUBERNETES, **_platform(kubernetes="v1.37.0", leader_worker_set="0.9.0")),
    quiet("a release candidate of a newer version", worker(), **_KUBERNETES, **_platform(kubernetes="1.38.0-beta.0")),
    quiet("an older Kubernetes with Volcano", worker(), **_VOLCANO, **_platform(kubernetes="1.36.3")),
    quiet("an older Kubernetes without the setting", worker(), **_platform(kubernetes="1.36.3", leader_worker_set="v0.8.0")),
]
ORCHESTRATORS = [
    fires("DYN841", "", "gangs of Kubernetes under Grove", worker(), **_KUBERNETES, **_GROVE),
    fires("DYN841", "", "gangs of KAI without Grove", worker(), gang_scheduling="kai"),
    fires("DYN841", "", "gangs of Volcano under Grove in a release without them", worker(), **_VOLCANO, **_GROVE, behaviour="v1.2"),
    fires("DYN841", "", "gangs of Kubernetes in a DisaggregatedSet", prefill_and_decode(), **_KUBERNETES, **_SET),
    quiet("gangs of Volcano in a DisaggregatedSet", prefill_and_decode(), **_VOLCANO, **_SET),
    quiet("gangs of Volcano under Grove", worker(), **_VOLCANO, **_GROVE),
    quiet("gangs of KAI under Grove", worker(), gang_scheduling="kai", **_GROVE),
    quiet("no gangs under Grove", worker(), **_NONE, **_GROVE),
    fires("DYN842", "", "another scheduler of Grove", worker(), **_VOLCANO, **_GROVE, grove=_KAI_ENABLED),
    fires("DYN842", "", "a scheduler of Grove, and none", worker(), **_NONE, **_GROVE, grove=_KAI_ENABLED),
    quiet("the same scheduler of Grove", worker(), gang_scheduling="kai", **_GROVE, grove=_KAI_ENABLED),
    quiet("a scheduler of Grove for a graph without Grove", worker(), **_KUBERNETES, grove=_KAI_ENABLED),
]
PODS = [
    fires("DYN842", f"{_POD}.spec.schedulerName", "pods of Volcano", worker(pod={"schedulerName": "volcano"}), **_KUBERNETES),
    fires("DYN842", f"{_POD}.spec.schedulerName", "pods of Volcano, and no gangs", worker(pod={"schedulerName": "volcano"}), **_NONE),
    fires("DYN842", f"{_POD}.spec.schedulerName", "pods of another scheduler", worker(pod={"schedulerName": "mine"}), **_VOLCANO),
    quiet("pods of a second kube-scheduler", worker(pod={"schedulerName": "mine"}), **_KUBERNETES),
    quiet("pods of Volcano, as the setting says", worker(pod={"schedulerName": "volcano"}), **_VOLCANO),
    quiet("pods of Volcano without the setting", worker(pod={"schedulerName": "volcano"})),
    fires("DYN843", "", "a graph on single nodes", worker(nodes=1), **_KUBERNETES),
    quiet("a graph on single nodes, and no gangs", worker(nodes=1), **_NONE),
    quiet("pods of Volcano on single nodes, and no gangs", worker(nodes=1, pod={"schedulerName": "volcano"}), **_NONE),
    fires("DYN844", "spec.components[0].scalingAdapter", "replicas of an autoscaler", worker(scalingAdapter={}), **_KUBERNETES),
    quiet("replicas of an autoscaler with Volcano", worker(scalingAdapter={}), **_VOLCANO),
    fires(
        "DYN847",
        f"{_POD}.spec.schedulingGroup",
        "a PodGroup of the author",
        worker(pod={"schedulingGroup": {"podGroupName": "mine"}}),
        **_KUBERNETES,
    ),
    fires(
        "DYN845",
        "spec.components[0].roles[1].podTemplate.spec.priorityClassName",
        "a group with two priorities",
        with_roles({"priorityClassName": "high"}, {}),
        **_KUBERNETES,
    ),
    quiet("a group with one priority", with_roles({"priorityClassName": "high"}, {"priorityClassName": "high"}), **_KUBERNETES),
    quiet("a group with two priorities, and no gangs", with_roles({"priorityClassName": "high"}, {}), **_NONE),
]
_QUEUE = {"kai.scheduler/queue": "fast"}
MARKS = [
    fires("DYN846", f"{_POD}.metadata.labels['kai.scheduler/queue']", "a queue of KAI", worker(metadata={"labels": _QUEUE}), **_KUBERNETES),
    fires(
        "DYN846",
        f"{_POD}.metadata.annotations['scheduling.k8s.io/group-name']",
        "a group of Volcano",
        worker(metadata={"annotations": {"scheduling.k8s.io/group-name": "mine"}}),
        **_KUBERNETES,
    ),
    fires(
        "DYN846",
        "metadata.annotations['nvidia.com/kai-scheduler-queue']",
        "a queue of a graph",
        worker(annotations={"nvidia.com/kai-scheduler-queue": "fast"}),
        **_VOLCANO,
        **_GROVE,
    ),
    quiet("a queue of KAI on single nodes", worker(nodes=1, metadata={"labels": _QUEUE}), **_NONE),
    quiet("a queue of KAI under KAI", worker(metadata={"labels": _QUEUE}), gang_scheduling="kai", **_GROVE),
]

ALL: list[Case] = [*PLATFORM, *ORCHESTRATORS, *PODS, *MARKS]
