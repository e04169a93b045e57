"""The check of a finished build under release 1.5: the same findings for graphs of both versions, and none about what an author wrote."""

from __future__ import annotations

import copy

import pytest

from krm_fn.base import results
from krm_fn.render import expand, labels
from krm_fn.render.config import Config
from krm_fn.review import finished_builds
from tests.support import beta, given
from tests.support.cases import cases

GPU = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
VLLM = {"command": ["python3", "-m", "dynamo.vllm"], "args": ["--model", "m"]}
TWO = {**VLLM, "args": ["--model", "m", "--tensor-parallel-size", "2"]}
NAMED = {"name": "DYN_NAMESPACE", "value": "x"}
PICKER = {"plugins": [{"type": "queue"}], "schedulingProfiles": [{"name": "a", "plugins": [{"pluginRef": "queue"}]}]}


def graph(name="chat", **spec):
    parts = (
        beta.component("Frontend", "frontend", metadata={"labels": {labels.GRAPH + "-x": "a"}}),
        beta.component("Worker", main={**VLLM, **GPU}, scalingAdapter={}, experimental={"gpuMemoryService": {}}),
        beta.component("Decode", "decode", main={**TWO, **GPU}, multinode={"nodeCount": 2}),
        beta.component("Picker", "epp", main={"image": given.CONFIGURED_PICKER}, eppConfig={"config": PICKER}),
    )
    return beta.graph(*parts, name=name, backendFramework="vllm", **spec)


def build(source=None, **settings):
    done = expand.expand([source or graph()], Config(dra=True, components=True, **settings))
    assert not results.has_errors(done.results), done.results
    return copy.deepcopy(done.resources)


def found(resources):
    return {(each.ref.kind, each.ref.name): each.code for each in finished_builds.check(resources, Config()) if each.ref}


def older():
    """A graph in v1alpha1 with fields that only a conversion keeps."""
    service = beta.service(labels={labels.NAMESPACE: "own"}, dynamoNamespace="shared", main=VLLM, envs=[NAMED])
    return given.graph({"Worker": service})


WRITTEN = beta.component(
    "Worker",
    metadata={"labels": {labels.COMPONENT: "mine"}},
    main={"env": [NAMED, {"name": "DYN_PARENT_DGD_K8S_NAME", "value": "y"}]},
)
BUILDS = [
    ("everything", graph(), {}),
    ("names with the hash of workers", graph(), {"worker_hash": "names"}),
    ("a graph on Grove", graph(), {"orchestrator": "grove"}),
    ("a graph with a dot in its name", beta.graph(beta.component("Frontend", "frontend"), beta.component("Worker"), name="llm.v1"), {}),
    ("a graph that etcd discovers", graph(), {"discovery_backend": "etcd"}),
    ("variables and labels of the author", beta.graph(WRITTEN), {}),
    ("variables of the graph", beta.graph(env=[NAMED]), {}),
    ("fields that only v1alpha1 has", older(), {"behaviour": "v1.5"}),
    ("fields that a conversion keeps", older(), {"behaviour": "v1.5", "source_version": "v1beta1"}),
    ("a graph that leaves in v1alpha1", graph(), {"behaviour": "v1.5", "source_version": "v1alpha1"}),
]


@cases(("source", "settings"), BUILDS)
def test_a_build_that_no_layer_changed_has_no_findings(source, settings):
    assert found(build(source, **settings)) == {}


def test_another_namespace_is_found_in_every_object_that_says_it():
    moved = build()
    for each in moved:
        each["metadata"]["namespace"] = "other"
    codes = found(moved)
    assert set(codes.values()) == {"DYN060"}
    assert {("Deployment", "chat-worker"), ("LeaderWorkerSet", "chat-decode-0"), ("Deployment", "chat-picker")} <= codes.keys()


@pytest.mark.parametrize(("flag", "code"), [("--pool-namespace", "DYN060"), ("--pool-name", "DYN061")])
def test_the_flags_of_a_picker_are_compared(flag, code):
    resources = build()
    picker = next(each for each in resources if (each["kind"], each["metadata"]["name"]) == ("Deployment", "chat-picker"))
    args = picker["spec"]["template"]["spec"]["containers"][0]["args"]
    args[args.index(flag) + 1] = "old"
    assert found(resources) == {("Deployment", "chat-picker"): code}


RENAMED = [
    ("ConfigMap", "chat-wait-leader-script", ("LeaderWorkerSet", "chat-decode-0")),
    ("ResourceClaimTemplate", "chat-worker-gpu", ("Deployment", "chat-worker")),
    ("ServiceAccount", "chat-k8s-service-discovery", ("Deployment", "chat-worker")),
]


@cases(("kind", "name", "referrer"), RENAMED)
def test_an_object_that_is_renamed_without_its_references_is_missed_where_it_is_used(kind, name, referrer):
    resources = build()
    next(each for each in resources if (each["kind"], each["metadata"]["name"]) == (kind, name))["metadata"]["name"] = f"eu-{name}"
    assert found(resources)[referrer] == "DYN061"


def test_the_host_of_a_destination_rule_is_compared():
    mesh = Config().service_mesh._replace(enabled=True)
    resources = build(service_mesh=mesh)
    rule = next(each for each in resources if each["kind"] == "DestinationRule")
    assert found(resources) == {}
    service, rest = rule["spec"]["host"].split(".", 1)
    for host, code in ((f"{service}.other.svc.cluster.local", "DYN060"), (f"old.{rest}", "DYN061")):
        rule["spec"]["host"] = host
        assert found(resources) == {("DestinationRule", rule["metadata"]["name"]): code}


@pytest.mark.parametrize("text", ["{", "[1]", '"a"', "[" * 5000, '{"spec": {"services": 5}}'])
def test_a_garbled_annotation_breaks_nothing(text):
    resources = build(older(), behaviour="v1.5", source_version="v1beta1")
    source = next(each for each in resources if each["kind"] == "DynamoGraphDeployment")
    source["metadata"]["annotations"][labels.PRESERVED_GRAPH] = text
    assert set(found(resources).values()) <= {"DYN062"}
