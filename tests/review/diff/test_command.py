"""`krm-fn diff`: the states that it reads, wrong input, exit codes, and texts that reach a terminal or a comment."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import jsonschema
import pytest
import yaml

from krm_fn.base import report_markdown
from krm_fn.cli.diff_command import FORMATS
from tests.cli import console
from tests.cli.test_check_old import clone, commit, write  # noqa: F401 - clone is a fixture
from tests.review.diff.test_scenario import SCHEMA
from tests.review.forecast import native_objects
from tests.support import given, golden
from tests.support.cases import cases

GRAPH = console.GRAPH
SCALED = GRAPH.replace("replicas: 2", "replicas: 3")
CONFIG = "apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {name: render}\nspec: {natsAddress: 'nats://%s:4222'}\n"
SAME = "The states are the same: no object changes.\n"


def diff(folder, *arguments, old="before.yaml", new="after.yaml"):
    done = console.run("diff", "--old", folder / old, *arguments, folder / new)
    return done._replace(out=done.out.replace(f"{folder}/", ""))


def told(done):
    value = json.loads(done.out)
    jsonschema.validate(value, SCHEMA)
    return value


@pytest.mark.parametrize("style", FORMATS)
def test_two_states_that_are_the_same_say_so(style, tmp_path):
    write(tmp_path, before=GRAPH, after=GRAPH)
    done = diff(tmp_path, "--format", style, "--fail-on", "changes,restarts,refused,interrupted,deleted")
    assert done.code == 0
    assert SAME.strip() in done.out
    assert "restart" not in done.out.replace("restarting", "")


def test_the_same_graph_written_in_another_way_is_the_same(tmp_path):
    write(tmp_path, before=GRAPH, after=yaml.safe_dump(yaml.safe_load(GRAPH), default_flow_style=True))
    assert diff(tmp_path).out == SAME


def test_a_git_revision_has_the_configuration_of_then(clone):  # noqa: F811
    write(clone, graph=GRAPH, render=CONFIG % "then")
    commit(clone)
    write(clone, render=CONFIG % "now")
    (clone / "apps" / "other.yaml").unlink()
    for arguments in ([clone], ["--config", clone / "render.yaml", clone / "graph.yaml"]):
        done = console.run("diff", "--old", "HEAD", *arguments)
        assert '"nats://then:4222" -> "nats://now:4222"' in done.out
        assert "render.yaml:4 spec.natsAddress" in done.out


@pytest.mark.parametrize("old", [".", "./before", "before"])
def test_a_removed_line_is_named_in_its_file(old, tmp_path, monkeypatch):
    variable = GRAPH.replace("      replicas: 2\n", "      replicas: 2\n      envs: [{name: A, value: a}]\n")
    write(tmp_path / "before", graph=variable)
    write(tmp_path / "after", graph=GRAPH)
    monkeypatch.chdir(tmp_path / "before" if old == "." else tmp_path)
    done = console.run("diff", "--old", old, tmp_path / "after")
    file = "graph.yaml" if old == "." else "before/graph.yaml"
    assert f"({file}:15 spec.services.Worker.envs[0].name)" in done.out


def test_a_file_without_a_configuration_has_the_one_of_now(tmp_path):
    write(tmp_path, before=GRAPH, after=GRAPH, render=CONFIG % "now")
    assert diff(tmp_path, "--config", tmp_path / "render.yaml").out == SAME


def test_an_error_in_the_old_state_is_a_warning(tmp_path):
    write(tmp_path, before=console.MISSPELT, after=GRAPH)
    done = diff(tmp_path)
    assert (done.code, diff(tmp_path, "--fail-on", "unknown").code) == (0, 3)
    assert "before.yaml:14:7: warning DYN511 spec.services.Worker.replica: the old state has the error DYN023" in done.out
    assert done.out.startswith("Not compared, because one of the states has errors: DynamoGraphDeployment chat.\n")
    assert "warning DYN510 the old state of DynamoGraphDeployment chat does not render" in done.out


def test_an_error_in_the_new_state_is_an_error_and_the_other_graphs_have_a_forecast(tmp_path):
    other = GRAPH.replace("name: chat", "name: other")
    write(tmp_path, before=f"{GRAPH}---\n{other}", after=f"{console.MISSPELT}---\n{other.replace('dynamo:1', 'dynamo:2')}")
    done = diff(tmp_path, "--fail-on", "restarts")
    assert done.code == 1
    assert "error DYN023" in done.out
    assert ": DynamoGraphDeployment chat. 1 of 2 services restarts: Worker.\n" in done.out


OTHER = GRAPH.replace("name: chat", "name: other")
BROKEN = [
    ("text that is no YAML", "kind: [DynamoGraphDeployment\n", ""),
    ("a graph twice", f"{GRAPH}---\n{GRAPH}", ""),
    ("a document that is no resource", f"{GRAPH.replace('name: chat', 'nam: chat')}", ""),
    ("a wrong configuration", GRAPH, CONFIG.replace("natsAddress", "natsAddres") % "now"),
]


@cases(("text", "render"), BROKEN)
@pytest.mark.parametrize("broken", ["before", "after"])
def test_a_graph_that_cannot_be_read_is_neither_new_nor_removed(broken, text, render, tmp_path):
    """The other graph, in another file, is compared unless the configuration is wrong."""
    for state in ("before", "after"):
        write(tmp_path, **{f"{state}__graph": GRAPH, f"{state}__other": OTHER.replace("replicas: 2", f"replicas: {len(state)}")})
    write(tmp_path / broken, graph=text, **({"render": render} if render else {}))
    done = diff(tmp_path, "--format", "json", old="before", new="after")
    value = told(done)
    assert [each["name"] for each in value["forecast"]["unknown"]] == (["chat", "other"] if render else ["chat"])
    assert {each["effect"] for each in value["objects"]} == (set() if render else {"updated"})
    assert done.code == int(broken == "after")
    assert {each["severity"] for each in value["findings"]} == ({"error", "warning"} if broken == "after" else {"warning"})


def test_warnings_that_are_not_new_are_left_out(tmp_path):
    warned = GRAPH.replace("      replicas: 2\n", "      replicas: 2\n      extraPodMetadata: {labels: {nvidia.com/selector: a}}\n")
    write(tmp_path, before=warned, after=warned.replace("replicas: 2", "replicas: 3"))
    assert "warning" in console.run("check", tmp_path / "after.yaml").out
    assert "warning" not in diff(tmp_path).out


def test_an_old_state_without_resources_is_a_warning(tmp_path):
    """A file or a folder is a typing error then; a revision may be older than the graph."""
    write(tmp_path, before="", after=GRAPH)
    done = diff(tmp_path)
    assert done.code == 0
    assert "before.yaml: warning DYN073 the old state holds no resource" in done.out


NODES = [
    ("a table", "NAME STATUS\nnode Ready\n", "DYN512"),
    ("another kind", json.dumps(given.item("ConfigMap", "a")), "DYN512"),
    ("an end that is missing", '{"apiVersion": "v1", "items": [', "DYN004"),
    ("nothing", "", "DYN512"),
    ("no pods", json.dumps(given.item("Node", "a", namespace="", status={"allocatable": {"nvidia.com/gpu": "1"}})), "DYN513"),
    ("no GPUs", json.dumps(given.item("Node", "a", namespace="")), "DYN538"),
]


@cases(("text", "code"), NODES)
def test_nodes_that_say_too_little(text, code, tmp_path):
    asks = GRAPH.replace("      replicas: 2\n", '      replicas: 2\n      resources: {limits: {gpu: "1"}}\n')
    write(tmp_path, before=asks, after=asks.replace("dynamo:1", "dynamo:2"))
    (tmp_path / "nodes").write_text(text)
    done = diff(tmp_path, "--nodes", tmp_path / "nodes", "--format", "json")
    found = {each["code"]: each["severity"] for each in told(done)["findings"]}
    assert code in found
    assert done.code == int("error" in found.values())


WRONG = [
    ([], "name the state before the change with --old"),
    (["--old", "before.yaml", "--fail-on", "restart"], "'restart' is not one of changes, deleted, restarts"),
    (["--old", "before.yaml", "--fail-on", "stuck"], "--fail-on stuck needs --nodes"),
    (["--old", "no-such-revision"], "no-such-revision is not a file or folder"),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG)
def test_wrong_usage(arguments, said, clone, monkeypatch):  # noqa: F811
    write(clone, before=GRAPH)
    monkeypatch.chdir(clone)
    done = console.run("diff", *arguments, "graph.yaml")
    assert done.code == 2
    assert said in done.err


def test_values_of_secrets_are_never_printed(tmp_path):
    written = "apiVersion: v1\nkind: Secret\nmetadata: {name: token}\nstringData: {key: %s}\n"
    write(tmp_path, before=written % "hunter2", after=written % "hunter3")
    for style in FORMATS:
        done = diff(tmp_path, "--format", style)
        assert "hunter" not in done.out
        assert "Secret" in done.out
        assert "(hidden)" in done.out


EVIL = "a\x1b[31m`|<b>@team</b>"


@pytest.mark.parametrize(("style", "line"), [("text", "  worker hash, in 3 fields: "), ("markdown", "- `worker hash, in 3 fields`: ")])
def test_the_fields_with_a_worker_hash_are_one_line(style, line, tmp_path):
    """The change that restarts the pods stays visible. JSON has each field."""
    variable = "replicas: 2\n      envs: [{name: A, value: %s}]"
    write(tmp_path, before=GRAPH.replace("replicas: 2", variable % "a"), after=GRAPH.replace("replicas: 2", variable % "b"))
    workload = diff(tmp_path, "--format", style).out.partition("Deployment team/chat-worker")[2].partition("Service team/")[0]
    assert workload.count(line) == 1
    assert ("dynamo-worker-hash" in workload, '"a" -> "b"' in workload) == (False, True)
    (changed,) = (each for each in told(diff(tmp_path, "--format", "json"))["objects"] if each["object"]["kind"] == "Deployment")
    assert len(changed["fields"]) == 4


PREFILL = (
    GRAPH
    + """\
    Prefill:
      componentType: prefill
      extraPodSpec:
        mainContainer: {image: "registry.example/dynamo:1.5.0"}
"""
)
SHARED = "all workers of a graph share a hash of their pod templates"
SHARED_RESTARTS = [
    # reason, before, after, the sentence
    (
        "a variable of one worker restarts the other",
        PREFILL,
        PREFILL.replace("replicas: 2", "replicas: 2\n      envs: [{name: A, value: b}]"),
        f"Prefill restarts, because {SHARED}.",
    ),
    ("a new image of all workers is a reason of its own", PREFILL, PREFILL.replace("dynamo:1.5.0", "dynamo:1.5.1"), ""),
    ("replicas are no reason to restart", PREFILL, PREFILL.replace("replicas: 2", "replicas: 3"), ""),
    ("a frontend has no hash", PREFILL, PREFILL.replace("front:1.5.0", "front:1.5.1"), ""),
]


@cases(("before", "after", "sentence"), SHARED_RESTARTS)
def test_a_worker_that_restarts_for_another_one_has_a_reason(before, after, sentence, tmp_path):
    """The text and the comment say it once, with the page that explains it."""
    write(tmp_path, before=before, after=after)
    for style in ("text", "markdown"):
        out = diff(tmp_path, "--format", style).out
        assert out.count(SHARED) == out.count("docs/releases.md#worker-revisions") == bool(sentence)
        assert sentence in out


def test_the_order_names_the_namespaces_of_graphs_with_one_name(tmp_path):
    graphs = "---\n".join([GRAPH, GRAPH.replace("namespace: team", "namespace: other")])
    write(tmp_path, before=graphs, after=graphs.replace("dynamo:1.5.0", "dynamo:1.5.1"))
    out = diff(tmp_path, "--format", "markdown").out
    assert "team/chat/Worker (2 steps" in out
    assert "other/chat/Worker (2 steps" in out


def test_control_characters_and_markdown_have_no_effect(tmp_path):
    """A value comes from the author of the change."""
    data = given.item("ConfigMap", "data", data={EVIL: EVIL, "text": f"one\n```\n{EVIL}"})
    write(tmp_path, before=json.dumps({**data, "data": {"text": "one\n"}}), after=json.dumps(data))
    for style in ("text", "markdown"):
        done = diff(tmp_path, "--format", style)
        assert "\x1b" not in done.out
        assert r"\x1b[31m" in done.out
    fences = re.findall("^ *(`{3,})", done.out, re.MULTILINE)
    assert fences == ["````", "````"]
    outside = re.sub("(`+) ?.*?[^`]\\1(?!`)", "", re.sub("(?s)````diff.*````", "", done.out))
    assert "@" not in outside
    assert "<b>" not in outside


def many(count, **fields):
    """Graphs with 25 services each, which is the most that a graph can have."""
    # Workers of 0.9 have no hash of all workers, which would change each of them at each change.
    main = {"image": "registry.example/dynamo:0.9.0", "env": [{"name": "DYN_STORE_KV", "value": "mem"}]}
    services = {f"Worker-{index}": given.service("worker", main=main, **fields) for index in range(25)}
    return "\n---\n".join(json.dumps(given.graph(services, name=f"chat-{index}")) for index in range(count // 25))


def test_a_comment_with_25_services_is_complete(tmp_path):
    write(tmp_path, before=many(25, envs=[{"name": f"A{n}", "value": "a"} for n in range(8)]), after=many(25))
    done = diff(tmp_path, "--format", "markdown")
    assert len(done.out) <= report_markdown.LIMIT
    assert done.out.count("<details>") == 25
    assert "left out" not in done.out


@pytest.mark.parametrize("count", [pytest.param(50, marks=pytest.mark.slow), 150])
def test_a_long_comment_is_cut_by_whole_objects(count, tmp_path):
    """The objects that are left out are named, as far as there is room."""
    variables = [{"name": f"VARIABLE_{n}", "value": "a" * 100} for n in range(20 if count == 50 else 1)]
    write(tmp_path, before=many(count, envs=variables), after=many(count))
    done = diff(tmp_path, "--format", "markdown")
    shown = done.out.count("<details>")
    assert len(done.out) <= report_markdown.LIMIT
    assert shown == done.out.count("</details>")
    assert 0 < shown < count
    names_and_rest = done.out.partition("are left out:")[2]
    rest = re.search(r"and (\d+) more", names_and_rest)
    assert len(re.findall("^- `Deployment ", names_and_rest, re.MULTILINE)) + int(rest[1] if rest else 0) == count - shown
    assert f"{count} of {count} services restart" in done.out
    assert f"and {count - 10} more" in done.out


def test_the_bytes_do_not_depend_on_the_order_of_hashes(tmp_path):
    write(tmp_path, before=GRAPH, after=GRAPH.replace("dynamo:1", "dynamo:2").replace("Frontend", "Front"))
    command = [sys.executable, "-m", "krm_fn", "diff", "--format", "json", "--old", tmp_path / "before.yaml", tmp_path / "after.yaml"]
    texts = {
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True, timeout=120).stdout
        for seed in "12"
    }
    assert len(texts) == 1


def test_a_terminal_gets_colours(tmp_path):
    from tests.cli.test_colour import CODES, terminal  # noqa: PLC0415

    write(tmp_path, before=GRAPH, after=GRAPH.replace("dynamo:1", "dynamo:2"))
    arguments = ("diff", "--old", str(tmp_path / "before.yaml"), str(tmp_path / "after.yaml"))
    shown = terminal(*arguments)
    assert "\x1b[33m\x1b[1mrestarts" in shown
    assert CODES.sub("", shown) == console.run(*arguments).out
    assert "\x1b" not in terminal(*arguments, NO_COLOR="1")


def test_a_change_that_check_refuses_is_refused(tmp_path):
    """`diff` has the findings of `check --old`: another engine is DYN400, and the exit code is 1, or 3 with --fail-on refused."""
    write(tmp_path, before=ENGINE % "vllm", after=ENGINE % "sglang")
    for arguments, code in (((), 1), (("--fail-on", "refused"), 3), (("--fail-on", "unknown"), 1)):
        done = diff(tmp_path, *arguments)
        assert done.code == code
        assert "\n1 change is refused: DynamoGraphDeployment chat.\n" in done.out
        assert re.search(r"^after.yaml:\d+:\d+: error DYN400 spec.backendFramework: ", done.out, re.MULTILINE)
    value = told(diff(tmp_path, "--format", "json"))
    assert value["forecast"]["refused"] == 1
    assert "DYN400" in {finding["code"] for finding in value["findings"]}


ENGINE = GRAPH.replace("spec:\n", "spec:\n  backendFramework: %s\n", 1)


def checked(folder):
    """The codes and severities of `check --old`."""
    done = console.run("check", "-o", "json", "--old", folder / "before.yaml", folder / "after.yaml")
    return codes(json.loads(done.out))


def codes(output):
    """The codes and severities of the findings about changes."""
    return {(finding["code"], finding["severity"]) for finding in output["findings"] if finding["code"].startswith("DYN4")}


UPDATES = [
    ("another engine", ENGINE % "vllm", ENGINE % "sglang", {("DYN400", "error")}),
    (
        "several nodes",
        GRAPH,
        GRAPH.replace("      replicas: 2\n", "      replicas: 2\n      multinode: {nodeCount: 2}\n"),
        {("DYN401", "error")},
    ),
    ("another service", GRAPH, GRAPH.replace("    Worker:\n", "    Second:\n"), {("DYN402", "warning")}),
]


@cases(("before", "after", "findings"), UPDATES)
def test_the_verdict_on_a_graph_is_that_of_check(before, after, findings, tmp_path):
    write(tmp_path, before=before, after=after)
    assert codes(told(diff(tmp_path, "--format", "json"))) == checked(tmp_path) == findings


def of_native(kind, **fields):
    """A native object as YAML."""
    (resource,) = (entry for entry in native_objects.ALL if entry["kind"] == kind and entry["metadata"]["name"] == "changed")
    return yaml.safe_dump({**resource, **fields})


def test_pods_of_a_stateful_set_restart(tmp_path):
    before = of_native("StatefulSet")
    write(tmp_path, before=before, after=before.replace("worker:1.0", "worker:1.1"))
    done = diff(tmp_path, "--fail-on", "restarts")
    assert done.code == 3
    assert "Pods of no service restart: StatefulSet changed.\n" in done.out


def test_an_object_in_no_namespace_is_shown_without_one(tmp_path):
    write(tmp_path, before=of_native("PriorityClass"), after=of_native("PriorityClass", value=5))
    assert "\nPriorityClass changed: refused\n" in diff(tmp_path).out


def test_an_unknown_kind_has_an_unknown_effect(tmp_path):
    text = "apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: chat, namespace: team}\nspec: {secretName: %s}\n"
    write(tmp_path, before=text % "one", after=text % "two")
    done = diff(tmp_path, "--fail-on", "unknown")
    assert done.code == 3
    assert done.out.startswith("No service restarts. The effect of 1 change is unknown: Certificate chat.\n")
    assert "note DYN574 krm-fn does not know the kind Certificate of cert-manager.io" in done.out


def test_more_gpus_of_a_shared_claim_are_refused(tmp_path):
    """The claim template of a component keeps its name, and an API server refuses another number of devices in it."""
    example = golden.EXAMPLES / "v1beta1-shared-gpus" / "graph.yaml"
    before = example.read_text("utf-8")
    after = re.sub(r'(nvidia.com/gpu: "?)(\d+)', lambda match: f"{match[1]}{int(match[2]) + 1}", before)
    assert after != before
    write(tmp_path, before=before, after=after)
    done = diff(tmp_path, "--config", example.parent / "config.yaml") if (example.parent / "config.yaml").exists() else diff(tmp_path)
    assert done.code == 1
    assert re.search(r"refused: ResourceClaimTemplate \S+-gpu", done.out)
    assert re.search(
        r"error DYN530 .*give it another name .*or delete the ResourceClaimTemplate \S+-gpu before you apply; running", done.out
    )
