"""`krm-fn request get`: the graph of a request, from objects in files and from a real cluster."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import yaml

from tests.cli import console
from tests.support.cases import cases
from tests.syncer.status import asked
from tests.syncer.status.asked import COMPLETE, FAILED, OTHER
from tests.testbed import programs

DATA = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: planner-profile-data}\ndata: {a: b}\n"
MARKS = {"dgdr.nvidia.com/name": "qwen", "dgdr.nvidia.com/namespace": "team-a", "nvidia.com/managed-by": "dynamo-operator"}


def listing(*resources):
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(resources)})


def get(*resources, arguments=()):
    """The verb with these objects on stdin."""
    return console.run("request", "get", "qwen", *arguments, "-", stdin=listing(*resources))


def test_the_graph_and_its_config_maps():
    """As documents to commit: with the overrides, without a status and without fields of a server."""
    request = asked.resource(deploymentOverrides={"name": "prod", "labels": {"team": "search"}})
    done = get(request, asked.config_map(f"{DATA}---\n{asked.TEXT}"))
    assert (done.code, done.err) == (0, "")
    graph, data = yaml.safe_load_all(done.out)
    metadata = {"name": "prod", "namespace": "team-a", "labels": {**MARKS, "team": "search"}}
    assert graph == {**asked.GRAPH, "metadata": metadata}
    assert data == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "planner-profile-data", "namespace": "team-a", "labels": MARKS},
        "data": {"a": "b"},
    }


def test_json_is_one_list():
    done = get(asked.resource(), asked.config_map(f"{DATA}---\n{asked.TEXT}"), arguments=["-o", "json"])
    assert [each["kind"] for each in json.loads(done.out)["items"]] == ["DynamoGraphDeployment", "ConfigMap"]


def test_a_render_takes_the_graph(tmp_path):
    """What is printed can be committed and rendered as it is."""
    text = asked.TEXT.replace("replicas: 1", "replicas: 1, extraPodSpec: {mainContainer: {image: a}}")
    (tmp_path / "graph.yaml").write_text(get(asked.resource(), asked.config_map(text)).out)
    done = console.run("render", tmp_path)
    assert done.code == 0, done.err
    assert "Deployment" in [each["kind"] for each in yaml.safe_load_all(done.out)]


def test_parts_that_are_not_used_are_notes():
    text = asked.TEXT.replace("spec:", "spec:\n  foo: 1")
    done = get(asked.resource(), asked.config_map(f"kind: Secret\n---\n{text}"))
    assert done.code == 0
    first, second = done.err.splitlines()
    assert first.startswith("note: the Secret at line 1 is not used: ")
    assert second == "note: Dynamo has no such fields, so they are left out: spec.foo"


def test_files_and_folders(tmp_path):
    (tmp_path / "request.yaml").write_text(yaml.safe_dump(asked.resource()))
    (tmp_path / "output.json").write_text(json.dumps(asked.config_map()))
    for paths in ([tmp_path], [tmp_path / "request.yaml", tmp_path / "output.json"]):
        done = console.run("request", "get", "qwen", *paths)
        assert (done.code, yaml.safe_load(done.out)["kind"]) == (0, "DynamoGraphDeployment"), done.err


def test_a_large_graph_is_printed_too():
    """The status cannot hold it, and says that this verb prints it."""
    text = asked.TEXT + "    Large: {extraPodSpec: {mainContainer: {args: [" + "x" * 300_000 + "]}}}\n"
    done = get(asked.resource(), asked.config_map(text))
    assert (done.code, len(done.out) > 300_000) == (0, True)


def test_the_namespace_chooses_between_requests_of_one_name():
    other = asked.resource()
    other["metadata"]["namespace"] = "team-b"
    done = get(asked.resource(), other, asked.config_map())
    assert (done.code, done.err) == (1, "Error: 2 requests are named qwen; choose one with -n team-a or -n team-b\n")
    assert get(asked.resource(), other, asked.config_map(), arguments=["-n", "team-a"]).code == 0
    assert get(asked.resource(), asked.config_map(), arguments=["-n", "team-b"]).code == 1


STORED = {"generatedDeployment": asked.GRAPH}
KEPT = [
    ("the output is gone", []),
    ("the output was edited", [asked.config_map(edited=True)]),
    ("the output is of other settings", [asked.config_map(hash_=OTHER)]),
]


@cases("objects", KEPT)
def test_the_graph_in_the_status_stands_in(objects):
    done = get(asked.resource(STORED), *objects)
    assert (done.code, yaml.safe_load(done.out)["spec"]) == (0, asked.GRAPH["spec"])
    assert done.err.startswith("note: this is the graph in the status of the request, without the ConfigMaps that may belong to it: ")


REFUSED = [
    ("no such request", [asked.config_map()], "no DynamoGraphDeploymentRequest qwen among 1 object"),
    ("nothing is profiled yet", [asked.resource()], "the Job profile-qwen does not exist yet; "),
    ("profiling runs", [asked.resource(), asked.job_resource()], "Profiling is in progress"),
    (
        "profiling failed",
        [asked.resource(), asked.job_resource(FAILED)],
        "profiling job failed: Job has reached the specified backoff limit; ",
    ),
    ("no output", [asked.resource(), asked.job_resource(COMPLETE)], "output ConfigMap dgdr-output-qwen not found"),
    ("an edited output", [asked.resource(), asked.config_map(edited=True)], "the ConfigMap dgdr-output-qwen was changed after"),
    ("no graph in it", [asked.resource(), asked.config_map(DATA)], "failed to extract DGD from config_with_planner.yaml: "),
    ("no name", [asked.resource(), asked.config_map(asked.TEXT.replace("name: vllm-disagg", ""))], "the generated graph has no name; set "),
    ("no mocker", [asked.resource(useMocker=True), asked.config_map()], "key mocker_config_with_planner.yaml not found in ConfigMap"),
]


@cases(("objects", "said"), REFUSED)
def test_without_a_usable_graph_it_says_why(objects, said):
    done = get(*objects)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"Error: {said}")


def test_the_output_of_an_operator_needs_no_job_and_no_hash():
    """`kubectl get dgdr,configmaps` is enough."""
    assert get(asked.resource(hash_=None), asked.config_map(hash_="")).code == 0


def test_input_that_cannot_be_read():
    done = console.run("request", "get", "qwen", "-", stdin="a: [")
    assert (done.code, done.out) == (1, "")
    assert "DYN004" in done.err
    assert done.err.endswith("Error: no request is read: 1 error\n")


WRONG = [
    (["get"], "Missing argument 'NAME'"),
    (["get", "../secrets/x"], "is not the name of a request"),
    (["get", "qwen", "--context", "c", "-"], "--kubeconfig and --context do not go together with PATH"),
    (["get", "qwen", "-n", "Team"], "is not a namespace"),
    (["put"], "No such command"),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG, ids=[row[1] for row in WRONG])
def test_wrong_usage(arguments, said):
    done = console.run("request", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_without_the_extra_only_files_can_be_read():
    """The extra brings the packages that speak to a cluster."""
    code = "import sys; sys.modules['aiohttp'] = None; from krm_fn import __main__; __main__.start()"
    command = [sys.executable, "-c", code, "request", "get", "qwen"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=programs.ROOT, timeout=60)
    said = "error: krm-fn request get without PATH needs more packages; run: pip install 'aiohttp>=3.12' 'prometheus_client>=0.21'\n"
    assert (done.returncode, done.stderr) == (2, said)
    objects = listing(asked.resource(), asked.config_map())
    done = subprocess.run([*command, "-"], input=objects, capture_output=True, text=True, check=False, cwd=programs.ROOT, timeout=60)
    assert done.returncode == 0, done.stderr


def test_a_kubeconfig_that_cannot_be_used(tmp_path):
    file = tmp_path / "kubeconfig"
    file.write_text("current-context: a\n")
    done = console.run("request", "get", "qwen", "--kubeconfig", file)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("Error: ")


@pytest.fixture
def namespace(dynamo):
    return dynamo.namespace("request-get")


def from_cluster(plane, *arguments):
    return console.run("request", "get", "qwen", "--kubeconfig", plane.kubeconfig, *arguments)


def test_from_a_cluster(dynamo, namespace):
    """The request, its Job and its output are read with the rights of the kubeconfig."""
    request, output = asked.resource(), asked.config_map(f"{DATA}---\n{asked.TEXT}")
    for each in (request, output):
        each["metadata"]["namespace"] = namespace
    missing = from_cluster(dynamo, "-n", namespace)
    assert missing.code == 1
    assert missing.err.startswith(f"Error: no DynamoGraphDeploymentRequest qwen in namespace {namespace} of https://")
    assert dynamo.client.create(request, dry_run=False).ok
    early = from_cluster(dynamo, "-n", namespace)
    assert (early.code, early.err[:42]) == (1, "Error: the Job profile-qwen does not exist")
    assert dynamo.client.create(output, dry_run=False).ok
    done = from_cluster(dynamo, "-n", namespace)
    assert done.code == 0, done.err
    graph, data = yaml.safe_load_all(done.out)
    assert (graph["metadata"]["namespace"], data["metadata"]["namespace"]) == (namespace, namespace)
    assert graph["spec"] == asked.GRAPH["spec"]
    assert dynamo.judge(graph).ok
    assert dynamo.judge(data).ok


def test_from_a_cluster_that_serves_v1beta1(dynamo_v1beta1):
    """The command asks the server for the version. The graph stays in the version in which the profiler wrote it."""
    space = dynamo_v1beta1.namespace("get-newer")
    request, output = asked.newer(overrides={"dgd": {**asked.GRAPH, "metadata": {"name": "served"}}}), asked.config_map()
    for each in (request, output):
        each["metadata"] = {**each["metadata"], "namespace": space}
        assert dynamo_v1beta1.client.create(each, dry_run=False).ok
    done = from_cluster(dynamo_v1beta1, "-n", space)
    assert done.code == 0, done.err
    graph = yaml.safe_load(done.out)
    assert (graph["apiVersion"], graph["metadata"]["name"], graph["spec"]) == ("nvidia.com/v1alpha1", "served", asked.GRAPH["spec"])


def test_a_cluster_that_refuses_says_so(dynamo, namespace, tmp_path):
    config = json.loads(dynamo.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": "wrong"}
    (tmp_path / "kubeconfig").write_text(json.dumps(config))
    done = console.run("request", "get", "qwen", "-n", namespace, "--kubeconfig", tmp_path / "kubeconfig")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("Error: 401 Unauthorized")
