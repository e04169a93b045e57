"""`krm-fn status`: the status of Dynamo resources from a file or stdin, as a table or as resources."""

from __future__ import annotations

import json
import re

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from krm_fn.render import labels
from tests.cli import console
from tests.support import strategies
from tests.testbed import tier

GRAPH = yaml.safe_load(console.GRAPH)
POD_LABELS = {labels.GRAPH: "chat", labels.COMPONENT: "Worker"}


def deployment(name="chat-worker", replicas=2, ready=2, **status):
    """A Deployment of the graph with some pods available."""
    counts = {"replicas": replicas, "updatedReplicas": replicas, "readyReplicas": ready, "availableReplicas": ready}
    condition = {"type": "Available", "status": str(ready == replicas), "lastTransitionTime": "2026-01-01T00:00:00Z"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "team", "generation": 1},
        "spec": {"replicas": replicas},
        "status": {"observedGeneration": 1, **counts, "conditions": [condition], **status},
    }


def pod(reason, message="", name="chat-worker-1"):
    waiting = {"reason": reason, "message": message}
    status = {
        "conditions": [{"type": "Ready", "status": "False", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
        "containerStatuses": [{"name": "main", "state": {"waiting": waiting}}],
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "team", "labels": POD_LABELS},
        "status": status,
    }


def listing(*resources):
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(resources)})


def written(*resources, arguments=()):
    """The Dynamo resources that the verb writes."""
    done = console.run("status", "-o", "json", *arguments, "-", stdin=listing(*resources))
    assert done.code == 0, done.err
    return json.loads(done.out)["items"]


def state(*resources, arguments=()):
    return written(*resources, arguments=arguments)[0]["status"]["state"]


def test_the_table_names_each_workload_and_why_it_is_not_ready():
    """Without -o, a person reads the output, on a terminal and in a pipe, as with kubectl."""
    done = console.run("status", "-", stdin=listing(GRAPH, deployment("chat-frontend", 1, 1), deployment(ready=1)))
    assert done.code == 0
    head, frontend, worker, empty, summary, *_ = done.out.splitlines()
    assert (empty, summary) == ("", "graphs 0/1 ready")
    assert head.split() == ["GRAPH", "SERVICE", "WORKLOAD", "READY", "SINCE", "WHY"]
    assert frontend.split()[:4] == ["team/chat", "Frontend", "Deployment/chat-frontend", "1/1"]
    assert worker.split()[:4] == ["team/chat", "Worker", "Deployment/chat-worker", "1/2"]
    ages = {frontend.split()[4], worker.split()[4]}
    assert all(re.fullmatch(r"[0-9]+[dy]([0-9]+d)?", age) for age in ages), "ages, as kubectl prints them"
    assert "kubectl describe pods -n team -l nvidia.com/dynamo-graph-deployment-name=chat,nvidia.com/dynamo-component=Worker" in worker


def test_pods_in_the_input_give_their_reason():
    done = console.run("status", "-", stdin=listing(GRAPH, deployment(ready=1), pod("ImagePullBackOff", "no such image")))
    assert "pod chat-worker-1: ImagePullBackOff: container main, no such image" in done.out


def test_the_resources_leave_with_their_status_and_nothing_else():
    """Workloads and pods are input only. What the user wrote stays."""
    graph, model = written(
        {**GRAPH, "metadata": {**GRAPH["metadata"], "generation": 4}},
        deployment("chat-frontend", 1, 1),
        deployment(),
        {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoModel", "metadata": {"name": "m", "namespace": "team"}, "status": {"a": 1}},
    )
    assert graph["spec"] == GRAPH["spec"]
    assert labels.WORKLOADS not in labels.annotations(graph)
    assert graph["status"]["state"] == "successful"
    assert graph["status"]["observedGeneration"] == 4
    assert graph["status"]["services"]["Worker"] == {
        "componentKind": "Deployment",
        "componentName": "chat-worker",
        "componentNames": ["chat-worker"],
        "gpusPerEngine": 0,
        "gpusPerReplica": 0,
        "replicas": 2,
        "updatedReplicas": 2,
        "readyReplicas": 2,
        "availableReplicas": 2,
    }
    assert model["status"] == {"a": 1}


def test_yaml_has_one_document_for_each_resource():
    done = console.run("status", "-o", "yaml", "-", stdin=listing(GRAPH, deployment("chat-frontend", 1, 1), deployment()))
    assert yaml.safe_load(done.out)["status"]["state"] == "successful"


def test_a_component_takes_the_workloads_of_its_graph():
    component = {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoComponentDeployment",
        "metadata": {"name": "chat-worker", "namespace": "team", "labels": POD_LABELS},
        "spec": {"serviceName": "Worker"},
    }
    _, found = written(GRAPH, deployment("chat-frontend", 1, 0), deployment(), component)
    told = {each["type"]: (each["status"], each["reason"]) for each in found["status"]["conditions"]}
    assert told == {"Valid": ("True", "ValidationPassed"), "Available": ("True", "DeploymentReady")}
    assert found["status"]["service"]["componentName"] == "chat-worker"
    (alone,) = written(component)
    assert "status" not in alone


def test_an_adapter_counts_the_pods_of_its_service():
    adapter = {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoGraphDeploymentScalingAdapter",
        "metadata": {"name": "chat-worker", "namespace": "team"},
        "spec": {"replicas": 2, "dgdRef": {"name": "chat", "serviceName": "Worker"}},
    }
    scaled = {**GRAPH["spec"]["services"]["Worker"], "scalingAdapter": {"enabled": True}}
    graph = {**GRAPH, "spec": {"services": {**GRAPH["spec"]["services"], "Worker": scaled}}}
    _, found = written(graph, deployment(), adapter)
    assert found["status"]["replicas"] == 2
    assert found["status"]["conditions"][0]["status"] == "True"
    (alone,) = written(adapter)
    assert "status" not in alone


def test_a_component_without_a_graph_has_a_row_of_its_own():
    spec = {"componentType": "worker", "extraPodSpec": {"mainContainer": {"image": "a:1"}}}
    lone = {**GRAPH, "kind": "DynamoComponentDeployment", "metadata": {"name": "lone", "namespace": "team"}, "spec": spec}
    assert "Deployment/lone " in console.run("status", "-", stdin=listing(lone)).out
    (found,) = written(lone, deployment("lone", 1, 1))
    assert found["status"]["conditions"][1]["reason"] == "DeploymentReady"
    (refused,) = written({**lone, "spec": {**spec, "replicas": -1}})
    assert [(each["type"], each["status"], each["reason"]) for each in refused["status"]["conditions"]] == [
        ("Valid", "False", "ValidationFailed"),
        ("Stalled", "True", "ValidationFailed"),
    ]


def test_the_configuration_says_where_the_workloads_are(tmp_path):
    config = tmp_path / "render.yaml"
    config.write_text(
        "{apiVersion: dynamo.krm-fn.io/v1alpha1, kind: DynamoRender, metadata: {name: render}, spec: {orchestrator: grove, restart: sync}}"
    )
    done = console.run("status", "--config", config, "-", stdin=listing(GRAPH))
    assert "PodClique/chat-0-worker" in done.out
    restarted = {**GRAPH, "spec": {**GRAPH["spec"], "restart": {"id": "r1"}}}
    (found,) = written(restarted, arguments=("--config", config))
    assert found["status"]["restart"] == {"observedID": "r1", "phase": "Restarting", "inProgress": ["Frontend"]}


def test_the_namespace_of_resources_without_one():
    graph = {**GRAPH, "metadata": {"name": "chat"}}
    assert state(graph, deployment("chat-frontend", 1, 1), deployment(), arguments=("-n", "team")) == "successful"
    assert state(graph, deployment("chat-frontend", 1, 1), deployment(), arguments=("-n", "other")) == "pending"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"restart": {"id": "r1", "strategy": {"order": ["Worker"]}}}, "DYN110"),
        ({"restart": {"id": ""}}, "DYN026"),
        ({"services": {}}, "DYN100"),
    ],
    ids=["order", "id", "services"],
)
def test_a_spec_that_the_operator_refuses_has_failed(change, code):
    """The reference writes ValidationFailed and leaves services and restart as they were."""
    before = {"services": {"Worker": {"replicas": 7}}, "restart": {"observedID": "r0", "phase": "Completed"}}
    (graph,) = written({**GRAPH, "spec": {**GRAPH["spec"], **change}, "status": before}, deployment())
    ready = graph["status"]["conditions"][0]
    assert (graph["status"]["state"], ready["reason"]) == ("failed", "ValidationFailed")
    assert ready["message"].startswith(f"Validation failed: {code} spec.")
    assert {key: graph["status"][key] for key in before} == before


def test_a_spec_that_a_render_refuses_for_other_reasons_is_judged():
    """The graph is in the cluster, and its workloads say more than a rule about what an orchestrator accepts."""
    graph = {**GRAPH, "spec": {"services": {"Worker": {**GRAPH["spec"]["services"]["Worker"], "extraPodSpec": {"mainContainer": {}}}}}}
    assert state(graph, deployment()) == "successful"


def test_an_annotation_that_cannot_be_read_is_told():
    graph = {**GRAPH, "metadata": {**GRAPH["metadata"], "annotations": {labels.WORKLOADS: "[{"}}}
    done = console.run("status", "-", stdin=listing(graph))
    assert "team/chat  -        -         -      -      the annotation dynamo.krm-fn.io/workloads cannot be read" in done.out
    assert state(graph) == "failed"


def test_another_version_of_a_graph_keeps_its_status():
    newer = {**GRAPH, "apiVersion": "nvidia.com/v9", "status": {"state": "x"}}
    assert "workloads of this version of the resource are not known" in console.run("status", "-", stdin=listing(newer)).out
    assert written(newer) == [newer]


@pytest.mark.parametrize(
    ("text", "code"),
    [("", "DYN001"), ("{", "DYN004"), ("[1]", "DYN014"), ('{"kind": "List", "apiVersion": "v1", "items": [{"kind": "Pod"}]}', "DYN015")],
    ids=["empty", "broken", "list", "nameless"],
)
def test_input_that_cannot_be_read_is_a_finding(text, code):
    done = console.run("status", "-", stdin=text)
    assert (done.code, done.out) == (1, "")
    assert code in done.err
    assert "no status is computed" in done.err


def test_input_without_a_graph_is_told():
    done = console.run("status", "-", stdin=listing(deployment()))
    assert (done.code, done.err) == (0, "no Dynamo resource among the objects\n")
    assert json.loads(console.run("status", "-o", "json", "-", stdin=listing(deployment())).out)["items"] == []


READY = (GRAPH, deployment("chat-frontend", 1, 1), deployment())
WAITING = (GRAPH, deployment("chat-frontend", 1, 1), deployment(ready=1))


@pytest.mark.parametrize(
    ("resources", "code"),
    [(READY, 0), (WAITING, 3), ((GRAPH,), 3), ((deployment(),), 3)],
    ids=["ready", "a pod is missing", "the workloads are missing", "no graph"],
)
def test_the_exit_code_says_if_everything_is_ready(resources, code):
    """A step of CI needs no parser. Without --exit-code, a table of what is not ready is a success, as `kubectl get` is."""
    assert console.run("status", "--exit-code", "-", stdin=listing(*resources)).code == code
    assert console.run("status", "-", stdin=listing(*resources)).code == 0


def test_wrong_usage():
    assert console.run("status", "--wait", "soon").code == 2
    assert console.run("status", "--wait", "1m", "--watch").code == 2
    for option in (["--wait", "1m"], ["--watch"], ["-A"], ["--context", "c"]):
        assert console.run("status", *option, "-").code == 2
    assert console.run("status", "-o", "wide", "-").code == 2


@settings(max_examples=tier.number(60, 10))
@given(strategies.graphs() | strategies.broken(), strategies.JSON, st.dictionaries(st.text(max_size=3), strategies.JSON))
def test_any_graph_has_a_status(graph, status, metadata):
    """Graphs with all kinds of mistakes are in clusters without our admission rules. No bug is reported (DYN019)."""
    resource = {**graph, "metadata": {**metadata, **graph["metadata"]}, "status": status}
    for style in ("table", "json"):
        done = console.run("status", "-o", style, "-", stdin=listing(resource))
        assert (done.code, done.err) == (0, "")
        assert done.out
