"""Forty tasks as agents do them with the tools of `krm-fn mcp`, through the protocol."""

from __future__ import annotations

import subprocess

import pytest

from tests.cli.mcp_tools import agent
from tests.support import markdown
from tests.support.cases import cases
from tests.testbed import programs

pytestmark = pytest.mark.xdist_group("mcp")  # so that one server answers all tasks

GRAPH = markdown.files((programs.ROOT / "README.md").read_text())["graph.yaml"]
OLDER = GRAPH.replace(":1.6.1", ":1.5.1")


@pytest.fixture(scope="module")
def helper(tmp_path_factory):
    """An agent in a folder with a graph, its overlay and a Secret's reference."""
    root = tmp_path_factory.mktemp("deployments")
    (root / "graph.yaml").write_text(OLDER)
    (root / "graphs").mkdir()
    (root / "graphs" / "chat.yaml").write_text(GRAPH)
    with agent.connected(root, "auto") as connected:
        yield connected


@cases(
    ("example", "engine", "topology", "changed", "name", "created"),
    (
        ("one model on vLLM", "agg-vllm", "vllm", "aggregated", ("name: chat", "name: help"), "Deployment", "help-worker"),
        ("SGLang", "sglang", "sglang", "aggregated", ("namespace: inference", "namespace: prod"), "Service", "frontend"),
        ("TensorRT-LLM", "trtllm", "trtllm", "aggregated", ("namespace: inference", "namespace: prod"), "Deployment", "worker"),
        (
            "prefill, decode and a planner",
            "disagg-vllm-planner",
            "vllm",
            "disaggregated",
            ("name: advisor", "name: help"),
            "Deployment",
            "help-planner",
        ),
        ("more workers in v1beta1", "v1beta1-agg-vllm", "vllm", "aggregated", ("replicas: 2", "replicas: 3"), "Deployment", "worker"),
        (
            "prefill and decode on SGLang in v1beta1",
            "v1beta1-disagg-sglang",
            "sglang",
            "disaggregated",
            ("namespace: inference", "namespace: prod"),
            "Deployment",
            "prefill",
        ),
        (
            "several nodes in v1beta1",
            "v1beta1-multinode-vllm",
            "vllm",
            "multinode",
            ("namespace: inference", "namespace: prod"),
            "LeaderWorkerSet",
            "",
        ),
        ("several nodes", "multinode-vllm", "vllm", "multinode", ("namespace: inference", "namespace: prod"), "LeaderWorkerSet", ""),
        (
            "a model on a volume",
            "pvc-cache",
            "vllm",
            "aggregated",
            ("namespace: inference", "namespace: prod"),
            "PersistentVolumeClaim",
            "",
        ),
        ("an adapter", "lora", "vllm", "aggregated", ("namespace: inference", "namespace: prod"), "DynamoModel", ""),
    ),
)
def test_write_a_graph_from_an_example(helper, example, engine, topology, changed, name, created):
    """An agent finds an example, changes it, checks the text before it is saved, and sees the objects."""
    listed = helper.call("examples", engine=engine, topology=topology).content["examples"]
    assert example in [entry["name"] for entry in listed]
    text = helper.call("examples", name=example).content["files"]["graph.yaml"].replace(*changed)
    checked = helper.call("check", text=text)
    assert [finding for finding in checked.report["findings"] if finding["severity"] == "error"] == []
    objects = helper.call("render", text=text).report["items"]
    assert any(item["kind"] == name and created in item["metadata"]["name"] for item in objects)


@cases(
    ("right", "wrong", "code"),
    (
        ("a type with a slip", "type: worker", "type: workr", "DYN024"),
        ("GPUs as a word", 'nvidia.com/gpu: "1"', "nvidia.com/gpu: one", "DYN027"),
        ("a flag with a slip", "--model,", "--modell,", "DYN600"),
        ("a name twice", "name: Worker", "name: Frontend", "DYN080"),
        ("a field with a slip", "type: frontend", "typ: frontend", "DYN023"),
        ("an unknown engine", "backendFramework: vllm", "backendFramework: vlm", "DYN024"),
        ("capitals in a name", "name: chat,", "name: Chat,", "DYN251"),
        ("more GPUs than requested", "Qwen/Qwen3-0.6B]", "Qwen/Qwen3-0.6B, --tensor-parallel-size, '2']", "DYN612"),
        ("no version in a tag", "runtime:1.6.1\n          command", "runtime:latest\n          command", "DYN451"),
        ("an unknown version", "v1beta1", "v1", "DYN020"),
        ("replicas below zero", "type: worker", "replicas: -1", "DYN025"),
        ("no main container", "name: main\n          image", "name: mian\n          image", "DYN450"),
    ),
)
def test_repair_a_graph(helper, right, wrong, code):
    """An agent gets the code, its line and its page, and the repaired text has no finding."""
    broken = GRAPH.replace(right, wrong, 1)
    checked = helper.call("check", text=broken)
    assert code in checked.codes
    assert checked.content["exitCode"] == 1
    (first, *_) = [finding for finding in checked.report["findings"] if finding["code"] == code]
    assert ";" in first["message"]
    assert first["line"] > 0
    page = helper.call("codes", code=code).content
    assert page["fix"]
    assert helper.call("check", text=GRAPH).codes == []


@cases(
    ("images", "to", "is_moved"),
    (
        ("a minor version", "1.5.1", "1.6", True),
        ("a patch", "1.5.1", "1.6.1", True),
        ("from 1.0", "1.0.0", "1.5", True),
        ("already there", "1.6.2", "1.6", False),
        ("over several versions", "1.2.0", "1.6", True),
    ),
)
def test_plan_an_upgrade(helper, tmp_path, images, to, is_moved):
    """An agent gets the plan, and a patch that git applies. After it, the graph has the new images and no error."""
    text = GRAPH.replace(":1.6.1", f":{images}")
    plan = helper.call("upgrade", text=text, to=to)
    assert not plan.is_error
    patch = helper.call("upgrade", text=text, to=to, patch=True)
    assert bool(patch.report) == is_moved
    if is_moved:
        (tmp_path / "graph.yaml").write_text(text)
        subprocess.run(["git", "apply", "-"], input=patch.report, text=True, cwd=tmp_path, check=True, timeout=60)
        upgraded = (tmp_path / "graph.yaml").read_text()
        assert f":{to}" in upgraded
        assert f":{images}" not in upgraded
        assert helper.call("check", text=upgraded).content["exitCode"] == 0


def test_the_patch_of_a_saved_graph_applies(helper, tmp_path):
    """The paths of a patch are those below the root."""
    patch = helper.call("upgrade", paths=["graph.yaml"], to="1.6", patch=True).report
    (tmp_path / "graph.yaml").write_text(OLDER)
    subprocess.run(["git", "apply", "-"], input=patch, text=True, cwd=tmp_path, check=True, timeout=60)
    assert ":1.6" in (tmp_path / "graph.yaml").read_text()


@cases(
    ("arguments", "origin"),
    (
        ("replicas", {"object": "Deployment/chat-worker", "field": "spec.replicas"}, "rule"),
        ("an image", {"object": "Deployment/chat-worker", "field": "spec.template.spec.containers[0].image"}, "user"),
        ("ports", {"object": "Service/chat-frontend", "field": "spec.ports"}, "rule"),
        ("a line", {"line": "<stdin>:11"}, "user"),
    ),
)
def test_explain_a_field(helper, arguments, origin):
    """An agent asks where a value comes from."""
    answer = helper.call("explain", text=GRAPH, **arguments)
    kinds = {source["kind"] for entry in answer.report["objects"] for field in entry["fields"] for source in field["origins"]}
    assert origin in kinds


NAMED_SECRET = GRAPH.replace(
    "          resources: {limits", "          envFrom: [{secretRef: {name: hf-token}}]\n          resources: {limits"
)
NAMED_CLAIM = GRAPH.replace(
    "          command: [", "          volumeMounts: [{name: models, mountPath: /models}]\n          command: ["
).replace(
    "        containers:\n        - name: main\n",
    "        volumes: [{name: models, persistentVolumeClaim: {claimName: models}}]\n        containers:\n        - name: main\n",
)


@cases(
    ("text", "kind", "name"),
    (("a Secret", NAMED_SECRET, "Secret", "hf-token"), ("a claim", NAMED_CLAIM, "PersistentVolumeClaim", "models")),
)
def test_list_what_a_graph_needs(helper, text, kind, name):
    """An agent learns what must exist before it applies a graph."""
    needed = helper.call("needs", text=text).report["objects"]
    assert (kind, name) in [(entry["kind"], entry["name"]) for entry in needed]


@cases(
    ("old", "arguments", "says"),
    (
        ("nothing", "graph.yaml", {"text": OLDER}, "no object changes"),
        ("another model", "graph.yaml", {"text": OLDER.replace("Qwen3-0.6B", "Qwen3-8B")}, "restart"),
        ("another image", "graph.yaml", {"text": GRAPH}, "restart"),
        ("two files", "graph.yaml", {"paths": ["graphs/chat.yaml"]}, "restart"),
    ),
)
def test_judge_a_change(helper, old, arguments, says):
    """An agent compares what it wrote with the saved file."""
    assert says in helper.call("diff", old=old, **arguments).report["forecast"]["headline"]


@cases(
    ("search", "code"),
    (("no match", "quantum teapot", ""), ("a budget", "gpu budget planner", "DYN138"), ("a field", "unknown field", "DYN023")),
)
def test_find_a_code(helper, search, code):
    """An agent searches the codes by words."""
    found = helper.call("codes", search=search).content["codes"]
    assert code in found or not code
