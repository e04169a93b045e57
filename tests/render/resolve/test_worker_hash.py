"""The worker hash: the operator's, digit by digit, and what changes it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.render.resolve import worker_hash as hashing
from krm_fn.render.resolve.worker_hash import PLACEHOLDER, Worker

HASH = "nvidia.com/dynamo-worker-hash"
ORIGIN = "nvidia.com/dynamo-operator-origin-version"


def worker(namespace="ns", image="registry.example/w:1.4.0", runtime="", origin="1.5.0", **changed):
    main = {
        "name": "main",
        "image": image,
        "ports": [{"containerPort": 9000, "protocol": "TCP"}],
        "resources": {"limits": {"nvidia.com/gpu": "1", "memory": "20Gi"}},
    }
    labels = {
        "nvidia.com/dynamo-component": "decode",
        "nvidia.com/dynamo-graph-deployment-name": "g",
        "nvidia.com/dynamo-namespace": f"{namespace}-g",
        "nvidia.com/dynamo-sub-component-type": "decode",
        HASH: PLACEHOLDER,
    }
    template = {"metadata": {"labels": {HASH: PLACEHOLDER}, "annotations": {ORIGIN: origin}}, "spec": {"containers": [main]}}
    spec = {"backendFramework": "vllm", "name": "decode", "type": "decode", "podTemplate": template}
    return Worker(labels, {}, runtime, {}, {**spec, **changed})


def test_roles_and_overrides_are_where_the_operator_declares_them():
    """Roles have an order by name, and an override the order of a stored object."""
    override = {"apiVersion": "grove.io/v1alpha1", "target": "PodCliqueScalingGroupConfig", "value": {"b": [{"d": 1, "c": 2}], "a": 1}}
    roles = [{"name": "leader", "podTemplate": {}}, {"name": "worker", "replicas": 2}]
    written = worker(providerOverride=override, multinode={"nodeCount": 3}, roles=roles)._replace(
        runtime_version="1.6.0", role_versions={"worker": "1.6.1", "leader": "1.6.0"}
    )
    text = hashing.text({"decode": written})
    assert '"runtimeVersion":"1.6.0","roleRuntimeVersions":{"leader":"1.6.0","worker":"1.6.1"},"spec":{"backendFramework":"vllm",' in text
    assert (
        '"providerOverride":{"apiVersion":"grove.io/v1alpha1","target":"PodCliqueScalingGroupConfig",'
        '"value":{"a":1,"b":[{"c":2,"d":1}]}},"name":"decode","type":"decode"' in text
    )
    assert '"multinode":{"nodeCount":3},"roles":[{"name":"leader","podTemplate":{"metadata":' in text
    assert text.count('{"name":"worker"}') == 1


def worker_hash(**changed):
    return hashing.worker_hash({"decode": worker(**changed)})


@pytest.mark.parametrize(
    ("changed", "digits"),
    [
        ({}, "fca6cda8"),
        ({"namespace": "ns2"}, "e5ad49a4"),
        ({"image": "registry.example/w:1.5.0", "runtime": "1.5.0"}, "c6a856fe"),
        ({"image": "registry.example/w@sha256:abc"}, "a5b05ef5"),
        ({"origin": "1.4.0"}, "05e492a0"),
    ],
)
def test_the_hash_is_the_operators(changed, digits):
    assert worker_hash(**changed) == digits


UNCHANGING: list[dict[str, Any]] = [
    {"replicas": 7},
    {"minAvailable": 2},
    {"scalingAdapter": {}},
    {"runtimeVersionOverride": "1.4.0"},
    {"globalDynamoNamespace": False},
    {"multinode": None},
]
CHANGING: list[dict[str, Any]] = [
    {"multinode": {"nodeCount": 2}},
    {"multinode": {"nodeCount": 3}},
    {"sharedMemorySize": "1Gi"},
    {"sharedMemorySize": "0"},
    {"modelRef": {"name": "m"}},
    {"frontendSidecar": "side"},
    {"compilationCache": {"pvcName": "cache"}},
    {"topologyConstraint": {"packDomain": "rack"}},
    {"globalDynamoNamespace": True},
    {"type": "prefill"},
    {"backendFramework": "sglang"},
    {"experimental": {}},
    {"experimental": {"grove": {}}},
    {"experimental": {"grove": {"forceScalingGroup": False}}},
    {"experimental": {"gpuMemoryService": {"mode": "IntraPod", "deviceClassName": "gpu.nvidia.com"}}},
]


@pytest.mark.parametrize("changed", UNCHANGING, ids=repr)
def test_changes_without_new_pods_keep_the_hash(changed):
    assert worker_hash(**changed) == worker_hash()


def test_each_change_of_pods_gives_another_hash():
    hashes = [worker_hash(**changed) for changed in [{}, *CHANGING]]
    assert len({*hashes}) == len(hashes)


def test_equal_amounts_give_equal_hashes():
    assert worker_hash(sharedMemorySize="20480Mi") == worker_hash(sharedMemorySize="20Gi")


def test_all_workers_have_a_part_in_one_hash():
    both = {"a": worker(name="a"), "b": worker(name="b")}
    assert hashing.worker_hash(both) == hashing.worker_hash(dict(reversed(both.items())))
    assert hashing.worker_hash(both) not in (hashing.worker_hash({"a": both["a"]}), hashing.worker_hash({"b": both["b"]}))


def test_the_text_has_the_entries_by_name():
    entries = json.loads(hashing.text({"b": worker(name="b", runtime="1.5.0"), "a": worker(name="a")}))
    assert [*entries] == ["a", "b"]
    assert [*entries["a"]] == ["labels", "spec"]
    assert [*entries["b"]] == ["labels", "runtimeVersion", "spec"]
    assert [*entries["b"]["spec"]] == ["backendFramework", "name", "type", "podTemplate"]


def turned(value):
    """The value with the keys of every mapping in the opposite order."""
    if isinstance(value, dict):
        return {key: turned(inner) for key, inner in reversed(value.items())}
    return [turned(inner) for inner in value] if isinstance(value, list) else value


@given(st.lists(st.sampled_from(["A", "B", "C"]), min_size=2, unique=True))
def test_the_order_of_keys_means_nothing_and_that_of_variables_counts(names):
    def of(listed, change=lambda spec: spec):
        found = worker()
        template = found.spec["podTemplate"]
        main = {**template["spec"]["containers"][0], "env": [{"name": name, "value": "1"} for name in listed]}
        spec = {**found.spec, "podTemplate": {**template, "spec": {"containers": [main]}}}
        return hashing.worker_hash({"decode": found._replace(spec=change(spec), labels=change(found.labels))})

    assert of(names, turned) == of(names)
    assert of(reversed(names)) != of(names)
