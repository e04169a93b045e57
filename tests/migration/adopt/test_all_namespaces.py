"""All namespaces of a cluster adopted at once: folders, one page of steps with one list of leftovers, and one page of proof."""

from __future__ import annotations

import copy
import json

import pytest

from krm_fn.migration.adopt import all_namespaces
from krm_fn.render import labels
from tests.cli import console
from tests.migration.adopt import test_adopt as exports
from tests.support import given
from tests.support.cases import cases


def graph_in(namespace, **settings):
    return exports.exported(given.graph(exports.SERVICES, namespace=namespace), behaviour="v0.9", **settings)


def left_over(kind, name, namespace, **fields):
    """An object with the mark of an operator."""
    item = given.item(kind, name, namespace=namespace, **fields)
    item["metadata"]["annotations"] = {labels.LAST_APPLIED_HASH: "0"}
    return item


CLUSTER = [
    *graph_in("search", natsAddress="nats://nats:4222"),
    left_over("Service", "chat-worker-d", "search"),
    left_over("PersistentVolumeClaim", "models", "search"),
    *graph_in("chat"),
    left_over("Service", "chat-frontend-p", "chat"),
    left_over("Service", "chat-frontend", "chat"),  # Git has it
    left_over("Service", "nobody", "empty"),
]


def test_each_namespace_has_its_own_settings_and_all_have_one_page():
    adopted = all_namespaces.adopt_all(CLUSTER)
    assert list(adopted.namespaces) == ["chat", "search"]  # a namespace without a graph is left alone
    settings = {name: adoption.files["render.yaml"]["spec"].get("natsAddress") for name, adoption in adopted.namespaces.items()}
    assert settings == {"chat": None, "search": "nats://nats:4222"}
    assert sorted(adopted.pages) == ["MIGRATION.md", "VERIFICATION.md"]
    assert all_namespaces.summary(adopted.namespaces) == "4 of 4 pod templates of 2 namespaces the same, no restart"
    assert adopted.is_steady


def test_the_steps_stop_the_operator_once_and_list_the_leftovers_once():
    steps = all_namespaces.adopt_all(CLUSTER).pages["MIGRATION.md"]
    assert steps.count("--replicas=0") == 1
    for name in ("chat", "search"):
        file = f"{name}/dynamographdeployment_chat.yaml"
        assert f"krm-fn render {file} --config {name}/render.yaml > {name}/chat.objects.yaml" in steps
        assert f"krm-fn adopt take-over {name}/chat.objects.yaml" in steps
        assert f"kustomize build --enable-alpha-plugins --enable-exec {name}/" in steps
    assert [line for line in steps.splitlines() if " delete " in line and "webhook" not in line] == [
        "kubectl --namespace chat delete service/chat-frontend-p",
        "kubectl --namespace search delete service/chat-worker-d",
    ]


def test_the_page_of_proof_names_each_difference():
    worse = json.loads(json.dumps(CLUSTER))
    worker = exports.workload([item for item in worse if item["metadata"]["namespace"] == "chat"], "chat-worker")
    exports.container(worker["spec"])["args"].append("--more")
    proof = all_namespaces.adopt_all(worse).pages["VERIFICATION.md"]
    assert proof.startswith("# Verification: 3 of 4 pod templates of 2 namespaces the same\n")
    assert "| `chat` | chat | 2 | 1 | **pods would restart** |" in proof
    assert "| `search` | chat | 2 | 2 | no restart |" in proof
    assert "* `chat`: error Deployment chat-worker: DYN568" in proof


def test_names_of_objects_never_become_commands():
    """Anybody who may create a RoleBinding chooses its name."""
    hostile = left_over("RoleBinding", "a;id", "chat", api="rbac.authorization.k8s.io/v1")
    adopted = all_namespaces.adopt_all([*CLUSTER, hostile])
    assert ";id" not in adopted.pages["MIGRATION.md"]


UNUSABLE = [("nothing", []), ("no graph", [left_over("Service", "a", "b")]), ("a table", ["NAME READY"])]


@cases(("reason", "values"), UNUSABLE)
def test_unusable_exports(reason, values):
    adopted = all_namespaces.adopt_all(values)
    assert [finding.code for finding in adopted.results] == ["DYN565"]
    assert not adopted.pages


SETTLED = {"observedGeneration": 3, "replicas": 2, "updatedReplicas": 2}
STATUSES = [
    ("no status", {}, False),
    ("all pods are of the last change", SETTLED, False),
    ("a change that the controller has not seen", {**SETTLED, "observedGeneration": 2}, True),
    ("an old pod", {**SETTLED, "replicas": 3}, True),
    ("one pod of two", {**SETTLED, "updatedReplicas": 1}, True),
    ("no pod", {"observedGeneration": 3}, True),
    ("wrong types", {"observedGeneration": "x", "replicas": [], "updatedReplicas": None}, False),
]


@cases(("reason", "status", "found"), STATUSES)
def test_an_update_in_progress(reason, status, found):
    cluster = copy.deepcopy(CLUSTER)
    worker = exports.workload(cluster, "chat-worker")
    worker["metadata"]["generation"] = 3
    worker["status"] = status
    adopted = all_namespaces.adopt_all(cluster)
    assert ["DYN589"] * found == [finding.code for finding in adopted.findings]
    assert adopted.is_steady != found


def test_grove_updates_a_set():
    cluster = exports.exported(given.graph(exports.SERVICES), behaviour="v1.5", orchestrator="grove")
    exports.workload(cluster, "chat")["status"] = {"updateProgress": {"updateStartedAt": "2026-01-01T00:00:00Z"}}
    assert [finding.code for finding in all_namespaces.adopt_all(cluster).findings] == ["DYN589"]
    exports.workload(cluster, "chat")["status"]["updateProgress"]["updateEndedAt"] = "2026-01-01T00:01:00Z"
    assert not all_namespaces.adopt_all(cluster).findings


def test_the_command_writes_a_folder_for_each_namespace(tmp_path):
    export = json.dumps({"apiVersion": "v1", "kind": "List", "items": CLUSTER})
    done = console.run("adopt", "-A", "--output-dir", tmp_path / "all", stdin=export)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[-1] == "4 of 4 pod templates of 2 namespaces the same, no restart"
    files = sorted(str(path.relative_to(tmp_path / "all")) for path in (tmp_path / "all").rglob("*.*"))
    of_namespace = ["dynamographdeployment_chat.yaml", "kustomization.yaml", "render.yaml"]
    assert files == ["MIGRATION.md", "VERIFICATION.md", *(f"{name}/{file}" for name in ("chat", "search") for file in of_namespace)]


USAGE = [
    (["--wait", "1m"], "--wait needs --namespace or --all-namespaces"),
    (["-A", "--wait", "1m", "--live", __file__], "--wait reads the cluster, and --live a file"),
    (["-n", "team", "--live", __file__], "--namespace reads the cluster, and --live a file"),
    (["-A", "-n", "team"], "name either --namespace or --all-namespaces"),
    (["-A", "--wait", "soon"], "is not a duration"),
    (["-A", "--wait=-1s"], "is negative"),
]


@pytest.mark.parametrize(("options", "message"), USAGE, ids=[row[1] for row in USAGE])
def test_wrong_usage(options, message, tmp_path):
    done = console.run("adopt", *options, "--output-dir", tmp_path / "all")
    assert done.code == 2
    assert message in done.err


def test_a_cluster_that_cannot_be_read(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))  # no kubectl
    done = console.run("adopt", "-A", "--wait", "1s", "--output-dir", tmp_path / "all")
    assert done.code == 1
    assert "kubectl" in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "all").exists()
