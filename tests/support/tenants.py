"""The worst that a tenant may write, in sizes: resources as an API server stores them, drawn by chance.

`size` scales everything that a tenant may write many of. At 1,000, each resource is about as large as an API server accepts.
"""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

from krm_fn.render import labels

if TYPE_CHECKING:
    from collections.abc import Callable

Object = dict[str, Any]
NAMESPACE = "tenant"
_GROVE, _NVIDIA = "grove.io/v1alpha1", "nvidia.com/v1alpha1"
_APIS = {
    "Deployment": "apps/v1",
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1",
    "PodClique": _GROVE,
    "PodCliqueScalingGroup": _GROVE,
    "Unknown": "example.com/v1",
}
_LISTED = 25
"""The number of workloads that each of many other graphs lists, too."""
_PHASES = ("Restarting", "Completed", "Failed")


def state(chance: Random, size: int) -> list[Object]:
    """A graph with its adapters and components, all objects that it lists, pods, models, and other graphs that list the same.

    Two sizes with the same chance can be compared: they have the same kinds of objects, and the entries of all graphs grow as `size`.
    """
    services = [f"S{number}" for number in range(chance.choice((1, 3, size)))]
    kinds = chance.choice((list(_APIS), ["Deployment"], ["PodClique"], ["PodCliqueScalingGroup"], ["LeaderWorkerSet"]))
    has_workloads, has_cliques, seed = chance.random() < 0.8, chance.random() < 0.5, chance.random()

    def of(name: str) -> Random:
        return Random(f"{seed} {name}")  # noqa: S311 - no secret

    chance = of("entries")
    entries = [_entry(chance, services[number % len(services)], kinds[number % len(kinds)], number) for number in range(size)]
    others = [f"other-{number}" for number in range(size // 10)]
    return [
        *(_graph(of(name), name, services, entries) for name in ("chat", "twin")),
        *(_workload(chance, entry) for entry in entries if has_workloads),
        _clique_set(of("cliques"), services, size),
        *(_clique(chance, number, services) for number in range(size) if has_cliques),
        *(_pod(chance, number, services) for number in range(size)),
        *(_adapter(chance, number, services) for number in range(size)),
        *(_component(number, services) for number in range(size // 10)),
        *(_model(number) for number in range(size)),
        *(_graph(of(name), name, services, entries[:_LISTED]) for name in others),
    ]


def adapters_of_one_graph(size: int, most_services: int) -> list[Object]:
    """A graph with as many workloads as are read, and `size` scaling adapters for its services. The workloads have other replicas."""
    workloads = min(size, 1000)
    services = [f"S{number}" for number in range(min(workloads, most_services))]
    entries = [
        {"service": services[number % len(services)], "apiVersion": "apps/v1", "kind": "Deployment", "name": f"w{number}"}
        for number in range(workloads)
    ]
    chance = Random(1)  # noqa: S311 - no secret
    return [
        _graph(chance, "chat", services, entries),
        *(_workload(chance, entry) for entry in entries),
        *(_adapter(chance, number, services) for number in range(size)),
    ]


def graph(way: str, size: int) -> Object:
    """A graph that is large in one way (`WAYS`), for a render."""
    fields: Object = WAYS[way](size)
    metadata = named("chat", annotations=fields.pop("metadata", {}))
    spec: Object = fields.pop("spec", {})
    services = fields.pop("services", {"Worker": {"componentType": "worker", "replicas": 1, **_engine(), **fields}})
    return {"apiVersion": _NVIDIA, "kind": "DynamoGraphDeployment", "metadata": metadata, "spec": {"services": services, **spec}}


def _engine(*args: str, **fields: Any) -> Object:
    container = {"image": "a/vllm-runtime:1.5.1", "command": ["python3", "-m", "dynamo.vllm"], "args": [*args]}
    return {"extraPodSpec": {"mainContainer": {**container, **fields}}}


def _pod_spec(**fields: Any) -> Object:
    return {"extraPodSpec": {"mainContainer": {"image": "a/vllm-runtime:1.5.1"}, **fields}}


WAYS: dict[str, Callable[[int], Object]] = {
    "components": lambda size: {"services": {f"S{number}": {"componentType": "worker", **_engine()} for number in range(size // 5)}},
    "restart order": lambda size: {"spec": {"restart": {"id": "a", "strategy": {"order": [f"S{number}" for number in range(size)]}}}},
    "annotations of the graph": lambda size: {"metadata": {f"a.example.com/{number}": "x" * 200 for number in range(size)}},
    "one annotation": lambda size: {"metadata": {labels.WORKLOADS: "[" * size, "a.example.com/a": "x" * 200 * size}},
    "variables of the graph": lambda size: {"spec": {"envs": _variables(size)}},
    "variables": lambda size: {"envs": _variables(size)},
    "references of variables": lambda size: {"envs": [{"name": "A", "value": "$(A" * 50 * size}]},
    "labels": lambda size: {"labels": {f"l.example.com/{number}": "x" for number in range(size)}},
    "annotations of pods": lambda size: {"extraPodMetadata": {"annotations": {f"l.example.com/{number}": "$(" for number in range(size)}}},
    "flags": lambda size: _engine(*(f"--flag-{number}" for number in range(size))),
    "one flag again": lambda size: _engine(*("--model", "m") * size),
    "a long flag": lambda size: _engine("--" + "x" * 40 * size),
    "a long value": lambda size: _engine("--max-model-len", "9" * 40 * size),
    "a long document": lambda size: _engine("--kv-transfer-config", "{" * 40 * size),
    "a shell line": lambda size: _engine("python3 -m dynamo.vllm " + "--model m && python3 " * size, command=["sh", "-c"]),
    "quotes": lambda size: _engine("'\"`$(" * 20 * size, command=["sh", "-c"]),
    "digits of a shell line": lambda size: _engine("1" * 40 * size, command=["sh", "-c"]),
    "an image": lambda size: _engine(image="x/" * 20 * size),
    "a tag": lambda size: _engine(image="a/vllm-runtime:1.5.1" + "-dev" * 10 * size),
    "a quantity": lambda size: {"resources": {"requests": {"cpu": "0" * 40 * size}}},
    "containers": lambda size: _pod_spec(containers=[{"name": f"c{number}", "image": "a:1"} for number in range(size)]),
    "volumes": lambda size: _pod_spec(volumes=[{"name": f"v{number}", "emptyDir": {}} for number in range(size)]),
    "mounts": lambda size: _engine(volumeMounts=[{"name": f"v{number}", "mountPath": f"/{number}"} for number in range(size)]),
    "ports": lambda size: _engine(ports=[{"name": f"p{number}", "containerPort": number + 1} for number in range(size)]),
    "tolerations": lambda size: _pod_spec(tolerations=[{"key": f"k{number}", "operator": "Exists"} for number in range(size)]),
    "claims": lambda size: {
        "spec": {"pvcs": [{"name": f"p{number}", "create": False} for number in range(size)]},
        "volumeMounts": [{"name": f"p{number}", "mountPoint": f"/{number}"} for number in range(size)],
    },
    "unknown fields": lambda size: {f"unknown{number}": number for number in range(size // 5)},
    "deep fields": lambda size: _pod_spec(affinity={"nodeAffinity": {"x": [[]] * size}}),
}
"""Ways in which a graph can be large: fields of its only service, or under `services`, `spec` or `metadata` those of the graph."""


def _variables(size: int) -> list[Object]:
    return [{"name": f"V{number}", "value": "x" * 20} for number in range(size)]


def named(name: str, **more: Any) -> Object:
    """The metadata of a stored object of the tenant."""
    return {"name": name, "namespace": NAMESPACE, "generation": 3, "uid": f"uid-{name}", "resourceVersion": "1", **more}


def _entry(chance: Random, service: str, kind: str, number: int) -> Object:
    entry: Object = {"service": service, "apiVersion": _APIS[kind], "kind": kind, "name": f"chat-0-w{number}"}
    if chance.random() < 0.5:
        entry["replicas"] = 1
    claims = [{"template": f"t{claim}", "times": 2} for claim in range(3)]
    return entry | chance.choice(({}, {"gpusPerEngine": 1, "gpusPerReplica": 1, "claimsPerEngine": claims}))


def _graph(chance: Random, name: str, services: list[str], entries: list[Object]) -> Object:
    restart = {"id": "r1", "strategy": chance.choice(({}, {"type": "Parallel"}, {"order": services[::-1]}))}
    stored = {"observedID": "r1", "phase": chance.choice(_PHASES), "inProgress": services if chance.random() < 0.5 else services[:1]}
    written = {labels.WORKLOADS: json.dumps(entries, separators=(",", ":"))}
    if chance.random() < 0.5:
        written[labels.RESTART] = "sync"
    planner = {"Planner": {"componentType": "planner"}} if chance.random() < 0.3 else {}
    conditions = [{"type": f"C{number}", "status": "True", "message": "x" * 50} for number in range(len(entries))]
    return {
        "apiVersion": _NVIDIA,
        "kind": "DynamoGraphDeployment",
        "metadata": named(name, annotations=written),
        "spec": {"services": {**{service: {"modelRef": {"name": "base"}} for service in services}, **planner}, "restart": restart},
        "status": {"restart": stored, "conditions": conditions if chance.random() < 0.3 else [], "services": {}},
    }


def _workload(chance: Random, entry: Object) -> Object:
    ready = int(chance.random() < 0.9)
    counts = {f"{name}eplicas": ready for name in ("r", "updatedR", "readyR", "availableR")}
    status = {"observedGeneration": 3, **counts, "conditions": [{"type": "Available", "status": "True" if ready else "False"}]}
    return {
        "apiVersion": entry["apiVersion"],
        "kind": entry["kind"],
        "metadata": named(entry["name"], labels={labels.GRAPH: "chat", labels.PART_OF: "chat"}),
        "spec": {"replicas": 1},
        "status": status,
    }


def _clique_set(chance: Random, services: list[str], size: int) -> Object:
    cliques = [
        {"name": f"w{number}", "labels": {labels.COMPONENT: services[number % len(services)]}, "spec": {"replicas": 1}}
        for number in range(size if chance.random() < 0.5 else 1)
    ]
    status = {"observedGeneration": 3, "currentGenerationHash": "h"}
    metadata = named("chat", labels={labels.GRAPH: "chat"})
    return {
        "apiVersion": _GROVE,
        "kind": "PodCliqueSet",
        "metadata": metadata,
        "spec": {"template": {"cliques": cliques}},
        "status": status,
    }


def _clique(chance: Random, number: int, services: list[str]) -> Object:
    group = f"chat-0-w{chance.randrange(3)}" if chance.random() < 0.5 else ""
    marks = {labels.PART_OF: "chat", labels.GROVE_GROUP: group, labels.COMPONENT: services[number % len(services)]}
    status = {"observedGeneration": 3, "replicas": 1, "readyReplicas": 1, "updatedReplicas": 1, "currentPodCliqueSetGenerationHash": "h"}
    metadata = named(f"chat-0-g{number}-w{number}", labels=marks)
    return {"apiVersion": _GROVE, "kind": "PodClique", "metadata": metadata, "spec": {"replicas": 1}, "status": status}


def _pod(chance: Random, number: int, services: list[str]) -> Object:
    waiting = {
        "name": "main",
        "state": {"waiting": {"reason": chance.choice(("ImagePullBackOff", "ContainerCreating")), "message": "x" * 99}},
    }
    marks = {labels.GRAPH: "chat", labels.COMPONENT: services[number % len(services)], labels.BASE_MODEL_HASH: "h"}
    conditions = [{"type": "Ready", "status": "False", "lastTransitionTime": "2026-03-01T11:00:00Z"}]
    status = {"phase": "Pending", "conditions": conditions, "containerStatuses": [waiting]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": named(f"p{number}", labels=marks), "status": status}


def _adapter(chance: Random, number: int, services: list[str]) -> Object:
    target = {"name": "chat", "serviceName": services[number % len(services)]}
    metadata = named(f"a{chance.randrange(10**6)}-{number}")
    return {
        "apiVersion": _NVIDIA,
        "kind": "DynamoGraphDeploymentScalingAdapter",
        "metadata": metadata,
        "spec": {"replicas": 2, "dgdRef": target},
    }


def _component(number: int, services: list[str]) -> Object:
    marks = {labels.GRAPH: "chat", labels.COMPONENT: services[number % len(services)]}
    return {"apiVersion": _NVIDIA, "kind": "DynamoComponentDeployment", "metadata": named(f"c{number}", labels=marks), "spec": {}}


def _model(number: int) -> Object:
    spec = {"modelName": f"m{number}", "baseModelName": "base", "modelType": "lora", "source": {"uri": "hf://a/b"}}
    return {"apiVersion": _NVIDIA, "kind": "DynamoModel", "metadata": named(f"m{number}"), "spec": spec}
