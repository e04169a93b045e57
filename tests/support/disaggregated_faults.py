"""Graphs with `orchestrator: disaggregatedSet`: some that a DisaggregatedSet cannot hold, and similar ones that it can."""

from __future__ import annotations

from typing import Any

from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels
from krm_fn.render.config import LeaderWorkerSetSettings, PlatformSettings
from tests.support import beta, given
from tests.support.faults import Case, fires, quiet

SETTINGS = {"orchestrator": "disaggregatedSet"}
_AT, _NEXT = "spec.components[0]", "spec.components[1]"
_JOINED = f"metadata.annotations['{labels.ROLLOUT_GROUP}']"
_LONG = "a-graph-with-quite-a-longer-name"  # 32 characters, and the role `prefill` has 7


def pair(*others: Resource, prefill: Any = None, decode: Any = None, **graph: Any) -> Resource:
    """A graph with a prefill worker and a decode worker, and other components after them."""
    components = (beta.component("Prefill", "prefill", **(prefill or {})), beta.component("Decode", "decode", **(decode or {})))
    return beta.graph(*components, *others, **graph)


def _annotated(key: str, value: str) -> dict[str, Any]:
    return {"metadata": {"annotations": {key: value}}}


def _group(name: str) -> dict[str, str]:
    return {labels.ROLLOUT_GROUP: name}


def _lws(version: str) -> PlatformSettings:
    return PlatformSettings(leader_worker_set=version)


def _steps(surge: str, unavailable: str, **worker: Any) -> Resource:
    """A pair whose prefill workers roll out with these steps."""
    marks = {labels.MAX_SURGE: surge, labels.MAX_UNAVAILABLE: unavailable}
    return pair(prefill={"metadata": {"annotations": marks}, **worker})


_SCALED = pair(prefill={"replicas": 3, "scalingAdapter": {}})
_AT_STEP = f"{_AT}.podTemplate.metadata.annotations"
_OLD = given.graph(
    {
        "Prefill": given.service("worker", subComponentType="prefill", main={"image": "nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.9.1"}),
        "Decode": given.service("worker", subComponentType="decode", main={"image": "nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.9.1"}),
    }
)

ALL: list[Case] = [
    quiet("prefill and decode", pair(), **SETTINGS),
    quiet("prefill and decode with a frontend", pair(beta.component("Frontend", "frontend")), **SETTINGS),
    quiet("roles of several nodes", pair(prefill={"multinode": {}}), **SETTINGS),
    quiet("all roles stopped", pair(prefill={"replicas": 0}, decode={"replicas": 0}), **SETTINGS),
    quiet("a graph that opts out of Grove", pair(annotations={labels.ENABLE_GROVE: "false"}), **SETTINGS),
    quiet("a graph whose operator chose Deployments", pair(annotations={labels.WORKLOAD_PROVIDER: "component"}), **SETTINGS),
    fires("DYN820", "spec.components", "workers that do both", beta.graph(), **SETTINGS),
    fires("DYN820", "spec.components", "prefill alone", beta.graph(beta.component("Prefill", "prefill")), **SETTINGS),
    quiet("workers that do both, on Deployments", beta.graph()),
    Case(
        "images whose workers have no hash, beside the note about them",
        [("DYN821", "spec.services"), ("DYN173", "spec.services.Prefill.extraPodSpec.mainContainer.image")],
        [_OLD],
        SETTINGS,
    ),
    fires("DYN821", "spec.components", "no hash, by the configuration", pair(), worker_hash="none", **SETTINGS),
    quiet("names of 50 characters", pair(name=_LONG[:-1]), **SETTINGS),
    fires("DYN822", f"{_AT}.name", "names of 51 characters", pair(name=_LONG), **SETTINGS),
    quiet("the same names on Deployments", pair(name=_LONG)),
    Case(
        "eleven replicas of a role whose name is at its limit",
        [("DYN822", f"{_AT}.name")],
        [pair(name=_LONG[:-1], prefill={"replicas": 11})],
        SETTINGS,
    ),
    quiet("an autoscaled role", _SCALED, **SETTINGS),
    quiet("an autoscaled role and a controller that can scale it", _SCALED, platform=_lws("0.10.0"), **SETTINGS),
    quiet("an autoscaled Deployment beside an old controller", _SCALED, platform=_lws("0.9.0")),
    fires("DYN823", f"{_AT}.scalingAdapter", "an autoscaled role and an old controller", _SCALED, platform=_lws("0.9.1"), **SETTINGS),
    quiet("an autoscaled role beside a stopped one", pair(prefill={"scalingAdapter": {}}, decode={"replicas": 0}), **SETTINGS),
    quiet("an autoscaled frontend", pair(beta.component("Frontend", "frontend", scalingAdapter={})), **SETTINGS),
    fires(
        "DYN825",
        f"{_NEXT}.podTemplate.metadata.annotations['{labels.STRATEGY}']",
        "a role that stops first",
        pair(decode=_annotated(labels.STRATEGY, "Recreate")),
        **SETTINGS,
    ),
    fires(
        "DYN159",
        f"{_NEXT}.podTemplate.metadata.annotations['{labels.MAX_SURGE}']",
        "a step that is no number",
        pair(decode=_annotated(labels.MAX_SURGE, "some")),
        **SETTINGS,
    ),
    quiet("a quarter of 16 replicas, of which a quarter is one", _steps("0", "25%", replicas=16), **SETTINGS),
    quiet("all replicas at once", _steps("0", "100%", replicas=3), **SETTINGS),
    quiet("a quarter of three with a surge", _steps("1", "25%", replicas=3), **SETTINGS),
    fires("DYN159", f"{_AT_STEP}['{labels.MAX_UNAVAILABLE}']", "half of three", _steps("0", "50%", replicas=3), **SETTINGS),
    fires("DYN159", f"{_AT_STEP}['{labels.MAX_UNAVAILABLE}']", "a quarter of three", _steps("0", "25%", replicas=3), **SETTINGS),
    quiet("a quarter of three pods of a Deployment, which takes one", _steps("0", "25%", replicas=3)),
    fires(
        "DYN159",
        f"{_AT_STEP}['{labels.MAX_UNAVAILABLE}']",
        "a quarter of a role that an autoscaler scales",
        _steps("0", "25%", replicas=8, scalingAdapter={}),
        **SETTINGS,
    ),
    fires("DYN159", f"{_AT_STEP}['{labels.MAX_SURGE}']", "more than all replicas", _steps("150%", "0"), **SETTINGS),
    fires(
        "DYN826",
        "spec.components[10].name",
        "eleven roles",
        beta.graph(*(beta.component(f"P{index}", "prefill") for index in range(10)), beta.component("Decode", "decode")),
        **SETTINGS,
    ),
    fires("DYN827", f"{_AT}.replicas", "one role stopped", pair(prefill={"replicas": 0}), **SETTINGS),
    quiet("one role stopped, on Deployments", pair(prefill={"replicas": 0})),
    fires("DYN101", "spec.components[2].name", "two roles with one name", pair(beta.component("decode", "decode")), **SETTINGS),
    quiet("a worker that joins", pair(beta.component("Encode"), annotations=_group("Encode")), **SETTINGS),
    quiet("an annotation for another orchestrator", pair(annotations=_group("Encode"))),
    fires("DYN828", _JOINED, "a worker that is not there", pair(annotations=_group("Encode")), **SETTINGS),
    fires(
        "DYN828",
        _JOINED,
        "a frontend that joins",
        pair(beta.component("Frontend", "frontend"), annotations=_group("Frontend")),
        **SETTINGS,
    ),
    fires(
        "DYN829",
        f"metadata.annotations['{labels.WORKLOAD_PROVIDER}']",
        "a graph whose operator chose Grove",
        pair(annotations={labels.WORKLOAD_PROVIDER: "grove"}),
        **SETTINGS,
    ),
    fires("DYN830", "", "no LeaderWorkerSets in the cluster", pair(), leader_worker_set=LeaderWorkerSetSettings(enabled=False), **SETTINGS),
    fires(
        "DYN831",
        "spec.restart",
        "a restart of one role after the other",
        pair(restart={"id": "1"}),
        restart="sync",
        **SETTINGS,
    ),
    quiet("a restart of all roles", pair(restart={"id": "1", "strategy": {"type": "Parallel"}}), **SETTINGS),
    fires("DYN485", "", "a controller without the kind", pair(), platform=_lws("0.8.0"), **SETTINGS),
    quiet("a controller with the kind", pair(), platform=_lws("0.9.0"), **SETTINGS),
    quiet("an older controller for Deployments", pair(), platform=_lws("0.8.0")),
]
