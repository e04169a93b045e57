"""A real API server sets the defaults of the definitions and merges their lists by key."""

from __future__ import annotations

from tests.support import schema_mistakes
from tests.support.cases import cases
from tests.testbed import api

MOUNT = {"name": "a", "mountPoint": "/a"}
WORKER = ("services", "Worker")
DEFAULTS = [
    ("nodes", schema_mistakes.worker(multinode={}), (*WORKER, "multinode"), {"nodeCount": 2}),
    ("an adapter", schema_mistakes.worker(scalingAdapter={}), (*WORKER, "scalingAdapter"), {"enabled": False}),
    ("a mount", schema_mistakes.worker(volumeMounts=[MOUNT]), (*WORKER, "volumeMounts"), [{**MOUNT, "useAsCompilationCache": False}]),
    (
        "a restart",
        schema_mistakes.graph({"services": {"Worker": {}}, "restart": {"id": "1", "strategy": {}}}),
        ("restart", "strategy"),
        {"type": "Sequential"},
    ),
    (
        "a port",
        schema_mistakes.container(ports=[{"containerPort": 1}]),
        (*WORKER, "extraPodSpec", "mainContainer", "ports", 0, "protocol"),
        "TCP",
    ),
    ("nothing else", schema_mistakes.worker(), WORKER, {}),
    ("a model", schema_mistakes.model(), ("modelType",), "base"),
    ("applying a request", schema_mistakes.request(), ("autoApply",), False),
    ("GPU discovery", schema_mistakes.request(), ("enableGpuDiscovery",), False),
    ("a mocker", schema_mistakes.request(), ("useMocker",), False),
    ("a ConfigMap", schema_mistakes.request(configMapRef={"name": "a"}), ("profilingConfig", "configMapRef", "key"), "disagg.yaml"),
]


@cases(("reason", "written", "path", "expected"), DEFAULTS)
def test_defaults(reason, written, path, expected, dynamo):
    """The defaults are those of the reference's definitions."""
    assert at(dynamo.apply(written).body["spec"], path) == expected


LISTS = [
    ("claims", ("pvcs",), lambda entries: {"pvcs": entries}),
    (
        "mounts",
        (*WORKER, "volumeMounts"),
        lambda entries: {"services": {"Worker": {"volumeMounts": [{**MOUNT, **entry} for entry in entries]}}},
    ),
    (
        "sidecars",
        (*WORKER, "extraPodSpec", "containers"),
        lambda entries: {"services": {"Worker": {"extraPodSpec": {"containers": entries}}}},
    ),
    (
        "variables of the main container",
        (*WORKER, "extraPodSpec", "mainContainer", "env"),
        lambda entries: {"services": {"Worker": {"extraPodSpec": {"mainContainer": {"env": entries}}}}},
    ),
]


@cases(("reason", "path", "make"), LISTS)
def test_two_managers_share_a_list(reason, path, make, dynamo):
    """Each manager applies an entry of its own and leaves the other's alone."""
    whole = {**schema_mistakes.worker(), "metadata": {"name": "shared"}}
    where = dynamo.client.path(whole)
    for manager, name in (("one", "a"), ("other", "b")):
        applied = {**whole, "spec": {**whole["spec"], **make([{"name": name}])}}
        answer = dynamo.client.request("PATCH", f"{where}?fieldManager={manager}&fieldValidation=Strict", applied, api.APPLY)
        assert answer.ok, answer.message
    assert [entry["name"] for entry in at(answer.body["spec"], path)] == ["a", "b"]
    assert dynamo.client.request("DELETE", where).ok


def at(value, path):
    for step in path:
        value = value[step]
    return value
