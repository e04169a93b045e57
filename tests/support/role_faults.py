"""Inputs for the rules about roles and about provider overrides: some that break a rule, and similar ones that do not."""

from __future__ import annotations

from typing import Any

from krm_fn.kubernetes.types import Resource
from krm_fn.render import config, labels
from tests.support import beta
from tests.support.faults import Case, fires, quiet

_AT = "spec.components[0]"
_GROVE: dict[str, Any] = {"orchestrator": "grove", "grove": config.GroveSettings(topology_aware_scheduling="enabled")}
_NEWEST = "registry.example/dynamo:1.6.1"
_PAIR = [{"name": "leader"}, {"name": "worker"}]
_RACK = {"topologyConstraint": {"pack": {"required": "rack"}}}
_SGLANG = {"command": ["python3", "-m", "dynamo.sglang"], "args": ["--model-path", "acme/tiny"]}
_GPUS = {"resources": {"limits": {"nvidia.com/gpu": "8"}}}


def several(*, roles: Any = None, nodes: int = 3, **fields: Any) -> Resource:
    """A component of SGLang on several nodes."""
    main = {**_SGLANG, **_GPUS, "image": _NEWEST}
    return beta.component("Worker", main=main, multinode={"nodeCount": nodes}, **({"roles": roles} if roles else {}), **fields)


def own(name: str, *, main: Any = None, pod: Any = None, metadata: Any = None, **fields: Any) -> Resource:
    """A role with a pod template of its own."""
    spec = {"containers": [{"name": "main", "image": _NEWEST, **_SGLANG, **_GPUS, **(main or {})}], **(pod or {})}
    return {"name": name, "podTemplate": {"spec": spec, **({"metadata": metadata} if metadata else {})}, **fields}


def launched(*roles: Resource, nodes: int = 3, **fields: Any) -> Resource:
    """A component whose roles have pod templates of their own."""
    listed = list(roles) or [own("leader"), own("worker")]
    return {"name": "Worker", "type": "worker", "multinode": {"nodeCount": nodes}, "roles": listed, **fields}


def override(value: Any, **fields: Any) -> dict[str, Any]:
    """A provider override."""
    return {"providerOverride": {"apiVersion": "grove.io/v1alpha1", "value": value, **fields}}


def _planned(image: str) -> Resource:
    return beta.graph(launched(scalingAdapter={}), beta.component("Planner", "planner", main={"image": image}))


def _minimum(number: Any) -> dict[str, Any]:
    return override({"minAvailable": number})


_WITHOUT_MAIN: Resource = {"name": "worker", "podTemplate": {"spec": {"containers": [{"name": "a", "image": _NEWEST}]}}}
_SIXTEEN = {"behaviour": "v1.6"}
_OF_ROLE = f"{_AT}.roles[1].providerOverride"

ROLES = [
    quiet("both roles", beta.graph(several(roles=_PAIR))),
    quiet(
        "both roles with their numbers", beta.graph(several(roles=[{"name": "leader", "replicas": 1}, {"name": "worker", "replicas": 2}]))
    ),
    fires("DYN498", f"{_AT}.roles", "roles on one node", beta.graph(beta.component("Worker", roles=_PAIR))),
    fires("DYN498", f"{_AT}.roles", "one role only", beta.graph(several(roles=_PAIR[:1]))),
    Case(
        "a role with another name",
        [("DYN498", f"{_AT}.roles"), ("DYN498", f"{_AT}.roles[1].name")],
        [beta.graph(several(roles=[{"name": "leader"}, {"name": "follower"}]))],
        {},
    ),
    fires(
        "DYN498",
        f"{_AT}.roles[1].replicas",
        "a worker for each node",
        beta.graph(several(roles=[{"name": "leader"}, {"name": "worker", "replicas": 3}])),
    ),
    fires(
        "DYN498",
        f"{_AT}.multinode",
        "a frontend on several nodes since 1.6",
        beta.graph(beta.component("Front", "frontend", main={**_GPUS, **_SGLANG}, multinode={})),
        **_SIXTEEN,
    ),
]
TEMPLATES = [
    quiet("a pod template for each role", beta.graph(launched())),
    fires("DYN499", f"{_AT}.roles", "pod templates under 1.5", beta.graph(launched()), behaviour="v1.5"),
    fires("DYN499", f"{_AT}.roles[1]", "one role with a pod template", beta.graph(launched(own("leader"), {"name": "worker"}))),
    fires("DYN499", f"{_AT}.podTemplate", "both sources of pods", beta.graph(several(roles=[own("leader"), own("worker")]))),
    fires(
        "DYN450",
        f"{_AT}.roles[1].podTemplate.spec.containers[0].name",
        "a role without main",
        beta.graph(launched(own("leader"), _WITHOUT_MAIN)),
    ),
    fires(
        "DYN451",
        f"{_AT}.roles[1].podTemplate.spec.containers[0].image",
        "a role with an image without a version",
        beta.graph(launched(own("leader"), own("worker", main={"image": "registry.example/dynamo:main"}))),
    ),
    fires(
        "DYN499",
        f"{_AT}.roles[1].podTemplate.metadata.annotations['{labels.POWER_LIMIT}']",
        "a power limit of one role",
        beta.graph(launched(own("leader"), own("worker", metadata={"annotations": {labels.POWER_LIMIT: "500"}}))),
    ),
    fires("DYN499", f"{_AT}.experimental.gpuMemoryService", "shared GPUs", beta.graph(launched(experimental={"gpuMemoryService": {}}))),
    fires(
        "DYN499", "spec.components[1].podTemplate.spec.containers[0].image", "a planner of 1.5", _planned("registry.example/dynamo:1.5.1")
    ),
    quiet("a planner of 1.6", _planned(_NEWEST)),
    fires(
        "DYN499",
        f"{_AT}.roles[0].podTemplate.spec.containers[0].args",
        "a shell line without a place for the port",
        beta.graph(
            launched(
                own("leader", main={"command": ["sh", "-c"], "args": ["./start --distributed-executor-backend mp"]}),
                own("worker", main={"command": ["python3", "-m", "dynamo.vllm"], "args": ["--distributed-executor-backend", "mp"]}),
            ),
            backendFramework="vllm",
        ),
    ),
]
OVERRIDES = [
    quiet("a topology of the graph", beta.graph(several(), **override({"spec": {"template": _RACK}})), **_GROVE),
    quiet("a topology of a component", beta.graph(several(**override(_RACK))), **_GROVE),
    quiet(
        "the target of a component on several nodes", beta.graph(several(**override(_RACK, target="PodCliqueScalingGroupConfig"))), **_GROVE
    ),
    quiet("a topology of a role", beta.graph(several(roles=[_PAIR[0], {**_PAIR[1], **override(_RACK)}])), **_GROVE),
    quiet("a minimum since 1.6", beta.graph(several(replicas=3, **_minimum(2))), **_GROVE),
    quiet(
        "a minimum on one node",
        beta.graph(beta.component("Worker", replicas=2, **override({"spec": {"minAvailable": 2}}))),
        **_GROVE,
        **_SIXTEEN,
    ),
    fires("DYN452", f"{_AT}.providerOverride", "an override without Grove", beta.graph(several(**override(_RACK)))),
    fires("DYN452", "spec.providerOverride", "an override of a graph without Grove", beta.graph(**override({"spec": {"template": _RACK}}))),
    fires(
        "DYN452", _OF_ROLE, "an override of a role without Grove", beta.graph(several(roles=[_PAIR[0], {**_PAIR[1], **override(_RACK)}]))
    ),
    fires(
        "DYN449",
        f"{_AT}.providerOverride.apiVersion",
        "the version of a later Grove",
        beta.graph(several(**override(_RACK, apiVersion="grove.io/v1beta1"))),
        **_GROVE,
    ),
    fires(
        "DYN475", f"{_AT}.providerOverride.apiVersion", "another group", beta.graph(several(**override(_RACK, apiVersion="a/v1"))), **_GROVE
    ),
    fires(
        "DYN475",
        f"{_AT}.providerOverride.target",
        "another target",
        beta.graph(several(**override(_RACK, target="PodCliqueSet"))),
        **_GROVE,
    ),
    fires("DYN475", f"{_AT}.providerOverride.value.replicas", "another field", beta.graph(several(**override({"replicas": 2}))), **_GROVE),
    fires(
        "DYN475",
        f"{_OF_ROLE}.value.minAvailable",
        "a minimum of a role",
        beta.graph(several(roles=[_PAIR[0], {**_PAIR[1], **_minimum(1)}])),
        **_GROVE,
    ),
    fires(
        "DYN475",
        f"{_AT}.providerOverride.value.minAvailable",
        "a minimum under 1.5",
        beta.graph(several(**_minimum(1))),
        **_GROVE,
        behaviour="v1.5",
    ),
    fires("DYN475", f"{_AT}.providerOverride.value.minAvailable", "a minimum of 0", beta.graph(several(**_minimum(0))), **_GROVE),
    fires(
        "DYN475", f"{_AT}.providerOverride.value.minAvailable", "a minimum above the replicas", beta.graph(several(**_minimum(2))), **_GROVE
    ),
    fires(
        "DYN475",
        f"{_AT}.providerOverride",
        "two forms of a minimum",
        beta.graph(several(replicas=2, **_minimum(2)), {**beta.component("Other", replicas=2, main=_SGLANG), "minAvailable": 2}),
        **_GROVE,
    ),
]

CASES = [*ROLES, *TEMPLATES, *OVERRIDES]
