"""Version 1 of the worker hash: the operator's, digit by digit, what changes it, and what does not.

The expected texts are written by hand as Go's JSON encoder writes the services, so that no code of krm-fn makes them.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from krm_fn.render.convert import versions
from krm_fn.render.kinds import releases
from krm_fn.render.resolve import v1_worker_hash
from tests.support import beta, given
from tests.support.cases import cases

FULL, OLDER = releases.get("v1_3"), releases.get("v1_2")


def text(graph, release=FULL):
    return v1_worker_hash.text(graph, release)


def alpha(**fields):
    """The text of a v1alpha1 graph whose only worker has these fields."""
    return text(given.graph({"w": {"componentType": "worker", **fields}}))


SERVICE = given.service(
    "worker",
    main={"name": "engine", "args": ["--model", "a<b"], "ports": [{"containerPort": 9000}], "startupProbe": {"periodSeconds": 9}},
    pod={"tolerations": [{"key": "gpu"}], "containers": [{"name": "log", "image": "log:1"}]},
    replicas=2,
    resources={"limits": {"gpu": "1", "memory": "20480Mi"}},
    envs=[{"name": "B", "value": "1"}, {"name": "A", "value": "2"}],
    envFromSecret="token",
    sharedMemory={"size": "2048Mi"},
    volumeMounts=[{"name": "weights", "mountPoint": "/weights"}],
    multinode={"nodeCount": 2},
)
SERVICE_TEXT = (
    '{"resources":{"limits":{"memory":"20480Mi","gpu":"1"}},"envs":[{"name":"B","value":"1"},{"name":"A","value":"2"}],'
    '"envFromSecret":"token","volumeMounts":[{"name":"weights","mountPoint":"/weights"}],"sharedMemory":{"size":"2Gi"},'
    '"extraPodSpec":{"tolerations":[{"key":"gpu"}],"containers":[{"name":"log","image":"log:1","resources":{}}],'
    f'"mainContainer":{{"name":"engine","image":"{given.IMAGE}","args":["--model","a\\u003cb"],'
    '"ports":[{"containerPort":9000,"protocol":"TCP"}],"resources":{},"startupProbe":{"periodSeconds":9}}},"multinode":{"nodeCount":2}}'
)
COMPONENT = beta.component(
    "w",
    "decode",
    main={
        "resources": {"limits": {"nvidia.com/gpu": 1, "memory": "20480Mi", "rdma/ib": "1"}},
        "env": [{"name": "A", "value": "2"}],
        "volumeMounts": [{"name": "data", "mountPath": "/data", "subPath": "a"}, {"name": "cache", "mountPath": "/c"}],
        "livenessProbe": {"exec": {"command": ["true"]}},
    },
    metadata={"labels": {"team": "a"}},
    replicas=3,
    compilationCache={"pvcName": "cache", "mountPath": "/c"},
    sharedMemorySize="0",
    experimental={"gpuMemoryService": {}},
)
COMPONENT_TEXT = (
    '{"resources":{"limits":{"memory":"20Gi","gpu":"1","custom":{"rdma/ib":"1"}}},"envs":[{"name":"A","value":"2"}],'
    '"volumeMounts":[{"name":"cache","mountPoint":"/c","useAsCompilationCache":true},{"name":"data","mountPoint":"/data"}],'
    '"sharedMemory":{"disabled":true,"size":"0"},"extraPodMetadata":{"labels":{"team":"a"}},'
    f'"extraPodSpec":{{"mainContainer":{{"name":"","image":"{beta.IMAGE}","resources":{{}}}}}},"livenessProbe":{{"exec":{{"command":["true"]}}}},'
    '"gpuMemoryService":{"enabled":true,"mode":"intraPod","deviceClassName":"gpu.nvidia.com"}}'
)
GRAPHS = [
    (given.graph({"w": SERVICE, "Front": given.service("frontend")}), f'{{"w":{SERVICE_TEXT}}}'),
    (beta.graph(beta.component("Front", "frontend"), COMPONENT), f'{{"w":{COMPONENT_TEXT}}}'),
    (
        given.graph({"b": {"componentType": "worker"}, "a": {"componentType": "prefill"}, "B": {"componentType": "decode"}}),
        '{"B":{},"a":{},"b":{}}',
    ),
    (given.graph({"Front": given.service("frontend")}), "{}"),
]


@pytest.mark.parametrize(("graph", "expected"), GRAPHS, ids=["service", "component", "names", "no worker"])
def test_the_hash_is_that_of_the_services_as_go_writes_them(graph, expected):
    assert text(graph) == expected
    assert v1_worker_hash.worker_hash(graph, FULL) == hashlib.sha256(expected.encode()).hexdigest()[:8]


NOT_COUNTED: list[dict[str, Any]] = [
    {"replicas": 7},
    {"annotations": {"a": "b"}},
    {"labels": {"a": "b"}},
    {"serviceName": "other"},
    {"componentType": "decode"},
    {"subComponentType": "prefill"},
    {"dynamoNamespace": "other"},
    {"autoscaling": {"enabled": True}},
    {"scalingAdapter": {"enabled": True}},
    {"ingress": {"enabled": True}},
    {"modelRef": {"name": "m"}},
    {"globalDynamoNamespace": False},
    {"envs": []},
]


@pytest.mark.parametrize("fields", NOT_COUNTED, ids=repr)
def test_what_changes_without_new_pods_does_not_count(fields):
    service = given.service("worker")
    assert text(given.graph({"w": {**service, **fields}})) == text(given.graph({"w": service}))


def test_what_a_graph_adds_to_its_workers_does_not_count():
    plain = given.graph()
    graph = given.graph(
        annotations={"nvidia.com/dynamo-discovery-backend": "etcd"}, envs=[{"name": "A", "value": "1"}], backendFramework="vllm"
    )
    assert text(graph) == text(plain)
    assert text({**graph, "metadata": {**graph["metadata"], "name": "other", "namespace": "other"}}) == text(plain)


COUNTED: list[dict[str, Any]] = [
    {"minAvailable": 1},
    {"multinode": {}},
    {"globalDynamoNamespace": True},
    {"envs": [{"name": "A", "value": "1"}]},
    {"sharedMemory": {"disabled": True}},
    {"resources": {}},
    {"resources": {"limits": {"cpu": "1"}}},
    {"resources": {"limits": {"cpu": "1000m"}}},
    {"extraPodMetadata": {"labels": {"a": "b"}}},
    {"topologyConstraint": {"packDomain": "rack"}},
    {"frontendSidecar": {"image": "front:1"}},
    {"checkpoint": {"enabled": True, "checkpointRef": "r"}},
    {"gpuMemoryService": {"enabled": False}},
    {"failover": {"enabled": True}},
    {"livenessProbe": {"periodSeconds": 1}},
    {"readinessProbe": {"periodSeconds": 1}},
    {"volumeMounts": [{"name": "a", "mountPoint": "/a"}]},
    {"envFromSecret": ""},
]


def test_each_other_field_of_a_service_counts():
    texts = [text(given.graph({"w": {**given.service("worker"), **fields}})) for fields in [{}, *COUNTED]]
    assert len({*texts}) == len(texts)


A, B = {"name": "a", "mountPoint": "/a"}, {"name": "b", "mountPoint": "/b"}
CACHE = {"name": "c", "mountPoint": "/c", "useAsCompilationCache": True}
OWN = {"name": "own", "mountPath": "/own", "subPath": "s"}


def mounts(written, native=None):
    """The mounts of a service in the text: those of the service, and those of its main container."""
    main = {} if native is None else {"extraPodSpec": {"mainContainer": {"image": "i", "volumeMounts": native}}}
    service = json.loads(alpha(volumeMounts=written, **main))["w"]
    return service.get("volumeMounts", []), service.get("extraPodSpec", {}).get("mainContainer", {}).get("volumeMounts", [])


MOUNTS = [
    ("in their order", [B, A], None, [B, A], []),
    ("each one once", [A, B, A], None, [A, B], []),
    ("the cache first without a main container", [A, CACHE], None, [CACHE, A], []),
    ("all caches first", [A, CACHE, {**B, "useAsCompilationCache": True}], None, [CACHE, {**B, "useAsCompilationCache": True}, A], []),
    ("the cache first beside a main container without mounts", [A, CACHE], [], [CACHE, A], []),
    ("the cache last beside mounts of the main container", [CACHE, A], [OWN], [A, CACHE], [OWN]),
    ("mounts of the main container stay there", [], [OWN], [], [OWN]),
    ("a repeated mount moves all of them to the service", [A], [OWN, OWN], [{"name": "own", "mountPoint": "/own"}], []),
    (
        "a cache that the main container mounts, too",
        [CACHE],
        [OWN, {"name": "c", "mountPath": "/c"}],
        [CACHE, {"name": "own", "mountPoint": "/own"}],
        [],
    ),
]


@cases(("written", "native", "flat", "kept"), MOUNTS)
def test_mounts_are_read_as_both_conversions_leave_them(written, native, flat, kept):
    assert mounts(written, native) == (flat, kept)


PODS = [
    ("an empty pod stays", {"extraPodSpec": {}}, {"extraPodSpec": {}}),
    ("an empty list says nothing", {"extraPodSpec": {"tolerations": []}}, {"extraPodSpec": {}}),
    ("a main container without content goes", {"extraPodSpec": {"mainContainer": {"args": []}}}, {"extraPodSpec": {}}),
    ("beside other fields, too", {"extraPodSpec": {"schedulerName": "s", "mainContainer": {}}}, {"extraPodSpec": {"schedulerName": "s"}}),
    (
        "its name alone stays in a pod without fields",
        {"extraPodSpec": {"mainContainer": {"name": "n"}}},
        {"extraPodSpec": {"mainContainer": {"name": "n", "resources": {}}}},
    ),
    (
        "its name alone goes beside fields of the pod",
        {"extraPodSpec": {"schedulerName": "s", "mainContainer": {"name": "n"}}},
        {"extraPodSpec": {"schedulerName": "s"}},
    ),
    (
        "but not if the service has fields for the main container",
        {"extraPodSpec": {"schedulerName": "s", "mainContainer": {"name": "n"}}, "resources": {}},
        {"extraPodSpec": {"schedulerName": "s", "mainContainer": {"name": "n", "resources": {}}}, "resources": {}},
    ),
    ("a container with the name of the main one goes", {"extraPodSpec": {"containers": [{"name": "main", "image": "i"}]}}, {}),
    (
        "the same secret twice is one",
        {"envFromSecret": "s", "extraPodSpec": {"mainContainer": {"envFrom": [{"secretRef": {"name": "s"}}]}}},
        {"envFromSecret": "s"},
    ),
    (
        "another source of variables stays",
        {"envFromSecret": "s", "extraPodSpec": {"mainContainer": {"envFrom": [{"secretRef": {"name": "t"}}]}}},
        {"envFromSecret": "s", "extraPodSpec": {"mainContainer": {"name": "", "envFrom": [{"secretRef": {"name": "t"}}], "resources": {}}}},
    ),
]


@cases(("fields", "expected"), PODS)
def test_pods_are_read_as_both_conversions_leave_them(fields, expected):
    assert json.loads(alpha(**fields))["w"] == expected


def test_a_release_reads_only_the_fields_that_it_has():
    """Dynamo 1.2 has no minimum of replicas, and its checkpoints have a mode and no policies."""
    service = given.service("worker", checkpoint={"enabled": False}, minAvailable=1)
    written = json.loads(text(given.graph({"w": service}), OLDER))["w"]
    assert "minAvailable" not in written
    assert written["checkpoint"] == {"mode": "Auto"}
    component = beta.component("w", experimental={"checkpoint": {"checkpointRef": "r"}}, minAvailable=1)
    written = json.loads(text(beta.graph(component), OLDER))["w"]
    assert "minAvailable" not in written
    assert written["checkpoint"] == {"enabled": True, "mode": "Auto", "checkpointRef": "r"}


def exported(graph, preserved):
    """A graph with fields that the other version lacks, in the annotation of the operator."""
    annotation = {"nvidia.com/dgd-spec": json.dumps({"version": 1, "spec": preserved})}
    return {**graph, "metadata": {**graph["metadata"], "annotations": annotation}}


def test_a_graph_that_kubectl_prints_in_v1beta1_has_the_hash_of_its_services():
    """The operator preserves where the author wrote a field, and an amount as the author wrote it."""
    main = {"image": given.IMAGE, "volumeMounts": [OWN], "env": [{"name": "A", "value": "1"}]}
    service = {"componentType": "worker", "resources": {"limits": {"cpu": "1000m"}}, "extraPodSpec": {"mainContainer": main}}
    component = beta.component("w", main={**main, "resources": {"limits": {"cpu": "1"}}})
    kept = {
        "resources": service["resources"],
        "extraPodSpec": {"mainContainer": {"name": "", "resources": {}, **{k: main[k] for k in ("volumeMounts", "env")}}},
    }
    graph = exported(beta.graph(component), {"services": {"w": kept}})
    assert text(graph) == text(given.graph({"w": service})) != text(beta.graph(component))


def test_a_v1beta1_graph_that_kubectl_prints_in_v1alpha1_has_the_hash_of_its_components():
    graph = beta.graph(beta.component("w", main={"volumeMounts": [{"name": "own", "mountPath": "/own", "subPath": "s"}]}))
    converted = versions.to("v1alpha1", graph)
    assert "nvidia.com/dgd-spec" in converted["metadata"]["annotations"]
    assert text(converted) == text(graph)
