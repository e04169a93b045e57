"""A pod is built once, from layers, and each entry of its lists keeps its origin."""

from __future__ import annotations

from collections import Counter

import pytest

from krm_fn.render import engines
from krm_fn.render.manifests import component_defaults, graph_objects, pod_builder
from tests.support import given
from tests.support.cases import cases

MULTINODE = given.service(
    "worker",
    main={"command": ["python3", "-m", "dynamo.vllm"], "args": ["--tensor-parallel-size", "16"]},
    multinode={"nodeCount": 2},
    resources={"limits": {"gpu": "8"}},
    replicas=3,
)
ONCE = [
    ("one pod", given.service("worker", main={"args": ["python3 -m dynamo.vllm"]}), {}, {"main": 1}),
    ("three groups of two roles", MULTINODE, {}, {"leader": 1, "worker": 1}),
    ("two roles under Grove", MULTINODE, {"orchestrator": "grove"}, {"leader": 1, "worker": 1}),
]


@cases(("written", "settings", "roles"), ONCE)
def test_the_main_container_of_each_role_is_made_once(written, settings, roles, monkeypatch):
    """Rules check the same pods that the workload writes."""
    engine = engines.get("vllm")
    made: Counter[str] = Counter()
    defaults, container = pod_builder._POD_LAYERS["defaults"], engine.container

    def count_defaults(draft):
        made["defaults"] += 1
        defaults(draft)

    def count_role(main, role):
        made[role.role] += 1
        return container(main, role)

    monkeypatch.setitem(pod_builder._POD_LAYERS, "defaults", count_defaults)
    monkeypatch.setattr(engine, "container", count_role)
    given.rendered(given.graph({"Worker": written}), **settings)
    assert made == {"defaults": 1, **roles}


def built(written, **spec):
    plan, unreadable = given.plan(given.graph({"Worker": written}, **spec))
    assert not unreadable
    return graph_objects.pods(plan)[0]


FULL = given.service(
    "worker",
    main={"volumeMounts": [{"name": "own", "mountPath": "/own"}, {"name": "b", "mountPath": "/b"}]},
    pod={
        "containers": [{"name": "side", "image": "s"}],
        "volumes": [{"name": "own", "emptyDir": {}}, {"name": "b", "emptyDir": {}}],
    },
    volumeMounts=[{"name": "models", "mountPoint": "/models"}],
)
ENTRIES = [
    ("the user's volume", FULL, "pod", "volumes", 1, ("user", 1)),
    ("the volume of a claim", FULL, "pod", "volumes", 2, ("claims", 0)),
    ("the volume of shared memory", FULL, "pod", "volumes", 3, ("shared memory", 0)),
    ("the user's mount", FULL, "container", "volumeMounts", 0, ("user", 0)),
    ("the mount of a claim", FULL, "container", "volumeMounts", 2, ("claims", 0)),
    ("the user's container", FULL, "pod", "containers", 0, ("user", 0)),
    ("the main container, which engines change", FULL, "pod", "containers", 1, ("engine", 0)),
    ("a default volume", given.picker(), "pod", "volumes", 1, ("defaults", 1)),
    ("a volume in place of the default ones", given.picker(extraPodSpec=FULL["extraPodSpec"]), "pod", "volumes", 1, ("user", 1)),
]


@cases(("written", "part", "field", "index", "origin"), ENTRIES)
def test_every_entry_of_a_list_has_an_origin(written, part, field, index, origin):
    pods = built(written)
    (pod,) = pods.roles
    listed = (pod.main if part == "container" else pod.spec)[field]
    assert pods.origins.of(listed[index]) == origin


@pytest.mark.parametrize("kind", ["", "frontend", "worker", "planner", "epp"])
def test_the_pod_begins_with_its_defaults(kind):
    """A single-node pod of an engine without changes has the main container of the layers."""
    pods = built(given.picker() if kind == "epp" else given.service(kind))
    (pod,) = pods.roles
    default = component_defaults.pod(pods.plan)
    volumes = default.pop("volumes", [])
    assert {field: pod.spec[field] for field in default} == default
    assert pod.spec.get("volumes", [])[: len(volumes)] == volumes
    assert pods.main == pod.main
