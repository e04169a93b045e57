"""`krm-fn diff --live`: a render against exports of a real API server, and exports that cannot be used."""

from __future__ import annotations

import copy
import json

import pytest
import yaml

from krm_fn.render import config
from krm_fn.review.diff import comparison, live_states, rendered_state
from krm_fn.review.live import cluster_export
from tests.cli import console
from tests.support import given, golden
from tests.support.cases import cases
from tests.testbed.place import Place

EXAMPLE = golden.EXAMPLES / "older-planner"
SAME = "The states are the same: no object changes.\n"
KINDS = (
    "dynamographdeployments,deployments,replicasets,pods,services,endpoints,serviceaccounts,roles,rolebindings,configmaps,secrets,"
    "ingresses,persistentvolumeclaims,dynamographdeploymentscalingadapters"
)


@pytest.fixture(scope="module")
def place(dynamo, controllers):
    """A namespace with the planner example, applied on the server by a tool of GitOps. Its autoscaler has scaled a service."""
    there = Place(dynamo, dynamo.namespace("inference"))
    applied(there)
    there.kubectl("scale", "dynamographdeploymentscalingadapters/assistant-prefill", "--replicas=3")
    there.kubectl("scale", "deployments/assistant-prefill", "--replicas=3")
    there.kubectl("annotate", "deployments/assistant-decode", "team=search")
    there.kubectl("set", "env", "deployments/assistant-frontend", "DEBUG=1")
    return there


def applied(place, *arguments):
    text = console.run("render", "--config", EXAMPLE / "config.yaml", EXAMPLE / "graph.yaml").out
    place.kubectl("apply", "-f", "-", *(arguments or ("--server-side", "--field-manager=flux")), input=text)


@pytest.fixture
def states(tmp_path):
    """A copy of the example, to change."""
    for name in ("graph.yaml", "config.yaml"):
        (tmp_path / name).write_text((EXAMPLE / name).read_text())
    return tmp_path


def diff(folder, export, *arguments):
    return console.run("diff", "--live", "-", *arguments, folder, stdin=export if isinstance(export, str) else json.dumps(export))


def exporting(place, *arguments):
    return place.kubectl("get", KINDS, "--output", "json", *arguments)


def test_what_the_cluster_and_others_add_is_no_change(place, states):
    """Defaults, status, generated objects, replicas of an autoscaler, an annotation and a variable of somebody else."""
    done = diff(states, exporting(place, "--show-managed-fields"))
    assert (done.code, done.out) == (0, SAME)


def test_a_change_shows_exactly_itself(place, states):
    graph = states / "graph.yaml"
    graph.write_text(graph.read_text().replace("value: kv", "value: round-robin"))
    done = diff(states, exporting(place, "--show-managed-fields"), "--format", "json")
    told = json.loads(done.out)
    (changed,) = told["objects"]
    (field,) = changed["fields"]
    assert (changed["object"]["name"], changed["effect"]) == ("assistant-frontend", "restarts")
    assert (field["old"], field["new"]) == ("kv", "round-robin")
    assert field["madeBy"][0]["file"].endswith("graph.yaml")
    assert told["old"] == "the cluster"


def test_what_leaves_git_is_shown_as_removed(place, states):
    """A variable, an annotation and a service that the last apply wrote."""
    graph = yaml.safe_load((states / "graph.yaml").read_text())
    services = graph["spec"]["services"]
    del services["Planner"], services["Frontend"]["envs"]
    (states / "graph.yaml").write_text(yaml.safe_dump(graph))
    told = json.loads(diff(states, exporting(place, "--show-managed-fields"), "--format", "json").out)
    found = {each["object"]["name"]: each for each in told["objects"] if each["object"]["kind"] == "Deployment"}
    assert found["assistant-planner"]["effect"] == "deleted"
    assert [(field["old"]["name"], field["new"]) for field in found["assistant-frontend"]["fields"]] == [("DYN_ROUTER_MODE", None)]


def test_replicas_count_as_the_cluster_has_them(place, states):
    """The adapter asks for 3 pods with 2 GPUs; the file says 2."""
    text = exporting(place, "--show-managed-fields")
    graph = yaml.safe_load((states / "graph.yaml").read_text())
    graph["spec"]["services"]["Prefill"]["extraPodSpec"]["mainContainer"]["args"].append("--verbose")
    (states / "graph.yaml").write_text(yaml.safe_dump(graph))
    (changed,) = json.loads(diff(states, text, "--format", "json").out)["objects"]
    gpus = int(graph["spec"]["services"]["Prefill"]["resources"]["limits"]["gpu"])
    assert changed["gpus"]["before"] == changed["gpus"]["after"] == 3 * gpus


def test_without_managed_fields_only_pods_show_what_left_git(place, states):
    """What others changed in pods cannot be told apart then. Labels and annotations of objects change no pod, and others write them."""
    done = diff(states, exporting(place))
    assert "note DYN522" in done.out
    assert "Deployment inference/assistant-frontend: restarts" in done.out
    assert 'env[DEBUG]: removed {"name": "DEBUG", "value": "1"}' in done.out
    assert "team" not in done.out
    assert done.out.count("Deployment inference/") == 1


def test_client_side_apply_remembers_what_was_applied(dynamo, controllers, states):
    there = Place(dynamo, dynamo.namespace("clientside"))
    for name in ("graph.yaml", "config.yaml"):
        (states / name).write_text((states / name).read_text().replace("namespace: inference", "namespace: clientside"))
    there.kubectl("apply", "-f", "-", input=console.run("render", states).out)
    assert diff(states, exporting(there)).out.startswith(SAME)
    (states / "graph.yaml").write_text((states / "graph.yaml").read_text().replace("value: kv", "value: round-robin"))
    assert '"kv" -> "round-robin"' in diff(states, exporting(there)).out


# from here on, without a server

ITEMS = given.graph({"Worker": given.service("worker")})


def listed(*objects):
    return {"apiVersion": "v1", "kind": "List", "items": list(objects)}


@pytest.fixture
def graph(tmp_path):
    (tmp_path / "graph.yaml").write_text(console.GRAPH)
    return tmp_path


UNUSABLE = [
    # reason, export, code
    ("a table", "NAME   READY\nchat   1/1\n", "DYN565"),
    ("a table as JSON", json.dumps({"apiVersion": "meta.k8s.io/v1", "kind": "Table", "rows": []}), "DYN565"),
    ("truncated JSON", '{"apiVersion": "v1", "items": [{"kind": "Secret", "data": {"a": "c2VjcmV0"', "DYN004"),
    ("an object without a version", json.dumps(listed({"kind": "Service", "metadata": {"name": "a", "namespace": "team"}})), "DYN565"),
    ("another namespace", json.dumps(listed(given.item("Service", "chat", namespace="elsewhere"))), "DYN566"),
]


@cases(("reason", "export", "code"), UNUSABLE)
def test_an_export_that_cannot_be_used(reason, export, code, graph):
    done = diff(graph, export)
    assert (done.code, done.out) == (1, "")
    assert f"<stdin>: error {code} " in done.err or f"error {code} " in done.err
    assert "c2VjcmV0" not in done.err


def test_an_empty_export_is_a_first_installation(graph):
    done = diff(graph, listed())
    assert done.code == 0
    assert "DYN519" in done.out
    assert "Deployment team/chat-worker: created" in done.out


def test_kinds_and_namespaces_that_the_export_does_not_have(graph):
    (graph / "other.yaml").write_text(console.GRAPH.replace("namespace: team", "namespace: other"))
    done = diff(graph, listed(given.item("Service", "chat", namespace="team")))
    assert "warning DYN520 the export has no object of the namespace other" in done.out
    assert "DYN521 the export has no object of deployment.apps" in done.out
    assert "Deployment other/" not in done.out


UNLISTED = [
    # reason, the kinds that the export lacks, a sentence of the first line
    (
        "no Services",
        ["Service"],
        "2 objects count as new, because the export has no object of their kinds: Service chat-frontend, Service chat-worker.",
    ),
    (
        "no Deployments",
        ["Deployment"],
        "2 objects count as new, because the export has no object of their kinds: Deployment chat-frontend, Deployment chat-worker.",
    ),
    ("no ServiceAccounts", ["ServiceAccount"], "1 object counts as new, because the export has no object of its kind: ServiceAccount "),
]


@cases(("reason", "kinds", "sentence"), UNLISTED)
def test_the_first_line_names_objects_that_the_cluster_may_have(graph, reason, kinds, sentence):
    """Of a kind that the export lacks, the cluster may have objects, and clients may use their addresses."""
    objects = [each for each in yaml.safe_load_all(console.run("render", graph).out) if each["kind"] != "DynamoGraphDeployment"]
    headline = diff(graph, listed(*(each for each in objects if each["kind"] not in kinds))).out.partition("\n")[0]
    assert sentence in headline
    assert "address" not in headline
    assert "object is created" not in headline


def test_objects_of_graphs_that_are_not_named(graph):
    generated = [each for each in yaml.safe_load_all(console.run("render", graph).out) if each["kind"] != "DynamoGraphDeployment"]
    text = json.dumps(listed(*generated))
    done = diff(graph, text.replace("chat", "other"))
    assert "DYN523 the export has objects of DynamoGraphDeployment team/other" in done.out
    assert "deleted" not in done.out
    assert diff(graph, text).out.startswith(SAME)


def test_secrets_are_not_compared(graph):
    secret = given.item("Secret", "key", namespace="team", data={"a": "c2VjcmV0"})
    (graph / "secret.yaml").write_text(yaml.safe_dump({**secret, "data": {"a": "b3RoZXI="}}))
    done = diff(graph, listed(secret, given.item("ConfigMap", "a", namespace="team")))
    assert "Secret" not in done.out
    assert "c2VjcmV0" not in done.out + done.err


def test_two_versions_of_an_api_are_compared_by_their_metadata_only(graph):
    hpa = given.item("HorizontalPodAutoscaler", "a", namespace="team")
    old = {**hpa, "apiVersion": "autoscaling/v1", "spec": {"targetCPUUtilizationPercentage": 50}}
    new = {**hpa, "apiVersion": "autoscaling/v2", "spec": {"metrics": [{"type": "Resource"}]}}
    (graph / "hpa.yaml").write_text(yaml.safe_dump(new))
    assert "HorizontalPodAutoscaler team/a" not in diff(graph, listed(old)).out


@pytest.mark.parametrize("arguments", [["--live", "-", "--old", "."], ["--live", "-", "-"], ["--live", "-", "--nodes", "-", "."], ["."]])
def test_wrong_usage(arguments, graph, monkeypatch):
    monkeypatch.chdir(graph)
    assert console.run("diff", *arguments).code == 2


ODD = [None, 0, True, "x", [], {}, [None], [[1]], {"name": "a"}, [{"name": 1}], [{"name": "a"}, {"name": "a"}]]


def places(value, at=()):
    """The paths of all values inside a value."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield (*at, step)
        yield from places(inner, (*at, step))


@pytest.mark.parametrize("record", ["managed fields", "annotation", "none"])
def test_no_value_of_a_live_object_stops_the_comparison(record):
    """Each value of a live Deployment and its records is replaced in turn."""
    now = rendered_state.render([yaml.safe_load(console.GRAPH)], config.Config())
    live = json.loads(json.dumps(next(each for each in now.objects if each["kind"] == "Deployment")))
    mark: dict[str, object] = {"f:annotations": {"f:dynamo.krm-fn.io/owner": {}}}
    tree: dict[str, object] = {"f:metadata": mark, "f:spec": {"f:template": {"k:{": {}, 'k:{"name":1}': {}}}}
    if record == "managed fields":
        live["metadata"]["managedFields"] = [{"manager": "flux", "operation": "Apply", "fieldsV1": tree}, {"operation": "Update"}]
    elif record == "annotation":
        live["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = json.dumps(live)
    for number, at in enumerate(places(live)):
        changed = copy.deepcopy(live)
        holder = changed
        for step in at[:-1]:
            holder = holder[step]
        holder[at[-1]] = copy.deepcopy(ODD[number % len(ODD)])
        exported = cluster_export.read([changed])
        if not exported.results:
            made = live_states.states(exported, now)
            comparison.compare(made.old, made.new)
