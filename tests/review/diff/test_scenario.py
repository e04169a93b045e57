"""The change of the front page in all formats: 2 of 4 services restart, 2 GPUs interrupted, peak 10, stuck with 8, one binding refused."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import jsonschema
import pytest

from krm_fn import review
from tests.cli import console
from tests.review.diff import scenario
from tests.support import golden
from tests.support.cases import cases

SCHEMA = json.loads((Path(review.__file__).parent / "schemas" / "diff.json").read_text())


@pytest.fixture
def states(tmp_path):
    return scenario.write(tmp_path)


def diff(states, *arguments):
    old, new, nodes = states
    return console.run("diff", "--old", old, "--nodes", nodes, *arguments, new)


MAIN = "spec.template.spec.containers[main]"
TEXT = f"""\
2 of 4 services restart: Frontend, Decode. 2 GPUs are interrupted. 6 GPUs before, 10 at the peak, 8 after.
1 change is refused: RoleBinding planner-serviceaccount-binding.
The rollout of assistant-decode is stuck: 4 GPUs must be free, and 2 are.

SERVICE             EFFECT           GPUS    CHANGED BY
assistant/Decode    restarts, stuck  2 -> 4  new/graph.yaml:69
assistant/Frontend  restarts         0       new/graph.yaml:17
assistant/Planner   same             0
assistant/Prefill   same             4

RoleBinding inference/planner-serviceaccount-binding: refused
  roleRef.name: "team-planner" -> "planner-next"  (new/config.yaml:9 spec.rbac.plannerRole)

Deployment inference/assistant-frontend: restarts
  {MAIN}.env[DYN_ROUTER_MODE].value: "kv" -> "round-robin"  (new/graph.yaml:17 spec.services.Frontend.envs[0].value)

Deployment inference/assistant-decode: restarts
  {MAIN}.resources.limits['nvidia.com/gpu']: "2" -> "4"  (new/graph.yaml:69 spec.services.Decode.resources.limits.gpu)

"""


def test_text(states, tmp_path):
    done = diff(states)
    text = done.out.replace(f"{tmp_path}/", "")
    assert (done.code, done.err) == (1, "")
    assert text.startswith(TEXT)
    sizes, first, second = text[len(TEXT) :].splitlines()
    assert "DYN613" in sizes  # the engine does not use the GPUs that the change adds
    assert first.startswith("new/config.yaml:9: error DYN530 roleRef:")
    assert second.startswith(
        "new/graph.yaml:69: warning DYN532 the rollout is stuck: a new pod needs 4 GPUs, and 2 GPUs of the nodes are free"
    )
    assert 'max-surge: "0" and nvidia.com/deployment-rolling-update-max-unavailable: "1" (one replica stops at a time, enough' in second


def test_markdown_begins_with_the_verdict_and_a_table(states, tmp_path):
    done = diff(states, "--format", "markdown")
    head, answers, table, *_ = done.out.replace(f"{tmp_path}/", "").partition("### What the change does\n\n")[2].split("\n\n")
    assert done.code == 1
    assert [line.replace("*", "").strip() for line in head.splitlines()] == TEXT.splitlines()[:3]
    assert [line.partition(":**")[0] for line in answers.splitlines()] == ["- **Must exist first", "- **Order", "- **Way back"]
    assert answers.startswith("- **Must exist first:** ClusterRole planner-next.\n")
    assert table.splitlines()[:3] == [
        "| Service | Effect | GPUs | Changed by |",
        "|---|---|---|---|",
        "| `assistant/Decode` | **restarts**, **stuck** | 2 → 4 | `new/graph.yaml:69` |",
    ]
    assert done.out.count("<details>") == done.out.count("</details>") == 3


def test_json(states, tmp_path):
    done = diff(states, "--format", "json")
    told = json.loads(done.out)
    jsonschema.validate(told, SCHEMA)
    forecast = told["forecast"]
    assert (len(forecast["services"]), [each["name"] for each in forecast["restarting"]]) == (4, ["Frontend", "Decode"])
    assert forecast["gpus"] == {"before": 6, "peak": 10, "after": 8, "interrupted": 2, "needed": 4, "free": 2}
    assert (forecast["refused"], forecast["stuck"]) == (1, True)
    (field,) = told["objects"][0]["fields"]
    assert (field["field"], field["change"], field["old"], field["new"]) == ("roleRef.name", "changed", "team-planner", "planner-next")
    (line,) = field["madeBy"]
    assert (line["state"], Path(line["file"]).relative_to(tmp_path).as_posix(), line["line"]) == ("new", "new/config.yaml", 9)
    assert [each["code"] for each in told["findings"]] == ["DYN613", "DYN530", "DYN532"]


def test_enough_nodes_end_the_rollouts(tmp_path):
    done = diff(scenario.write(tmp_path, gpus=10))
    assert "The rollouts fit on the nodes.\n" in done.out
    assert "stuck" not in done.out


def test_without_nodes_the_forecast_says_how_many_gpus_must_be_free(states):
    old, new, _ = states
    done = console.run("diff", "--old", old, new)
    assert "The rollouts need 4 free GPUs.\n" in done.out
    assert "stuck" not in done.out


FAIL_ON = [("refused", 3), ("stuck", 3), ("restarts,interrupted", 3), ("changes", 3), ("deleted", 1)]


@pytest.mark.parametrize(("words", "code"), FAIL_ON)
def test_the_exit_code_is_3_for_what_fail_on_names(states, words, code):
    """Without it, the refused change makes it 1."""
    assert diff(states, "--fail-on", words).code == code


SETS = [
    (
        "a clique goes",
        "name: Prefill",
        "name: Prefiller",
        ["Prefill deleted 16 -> 0 42", "Decode refused 32 42", "Frontend refused 0", "Prefiller refused 0 -> 16 42"],
    ),
    ("two numbers", "replicas: 2", "replicas: 3", ["Decode updated 32 -> 48 14", "Frontend updated 0 33", "Prefill same 16"]),
]


@cases(("old", "new", "rows"), SETS)
def test_each_service_of_a_set_has_its_own_gpus_and_lines(old, new, rows, tmp_path):
    """Under Grove, one object has the pods of all services."""
    example = golden.EXAMPLES / "multinode-sglang-grove"
    states = tmp_path / "old", tmp_path / "new"
    for state in states:
        state.mkdir()
        for name in ("graph.yaml", "config.yaml"):
            shutil.copy(example / name, state)
    scenario.edit(states[1] / "graph.yaml", old, new)
    table = console.run("diff", "--old", *states).out.split("\n\n")[1].splitlines()[1:]
    assert [re.sub("\\S*yaml:", "", " ".join(line.removeprefix("split/").split())) for line in table] == rows


def test_services_of_several_graphs_are_named_with_their_graph(tmp_path):
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    for file in (old, new):
        shutil.copy(golden.EXAMPLES / "multinode-vllm" / "graph.yaml", file)
    scenario.edit(new, "vllm-runtime", "vllm-runtime-next")
    done = console.run("diff", "--old", old, new)
    assert done.out.startswith("4 of 4 services restart: large/Frontend, large/Worker, experts/Frontend, experts/Worker. ")
