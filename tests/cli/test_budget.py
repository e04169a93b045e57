"""`--budget` of `krm-fn check` and `krm-fn diff`: the table, the formats, the exit codes and wrong files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest

import krm_fn
from tests.cli import console
from tests.support.cases import cases

HEAD = "apiVersion: config.dynamo.krm-fn.io/v1alpha1\nkind: DynamoBudget\nmetadata: {name: gpus}\n"
BUDGET = f"""{HEAD}spec:
  currency: USD
  budgets:
  - name: search
    namespaces: [search]
    gpus: 6
    pricePerGpuHour: 2.5
"""
GRAPH = """apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {name: chat, namespace: search}
spec:
  components:
  - name: Worker
    type: worker
    replicas: 3
    podTemplate:
      spec:
        containers:
        - name: main
          image: registry.example/vllm-runtime:1.5.1
          command: [python3, -m, dynamo.vllm]
          args: [--model, acme/tiny]
          resources: {limits: {nvidia.com/gpu: "2"}}
"""
LARGER = GRAPH.replace("replicas: 3", "replicas: 4")


SCHEMA = json.loads((Path(krm_fn.__file__).parent / "review" / "schemas" / "diff.json").read_text())


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {"budget.yaml": BUDGET, "graph.yaml": GRAPH, "larger.yaml": LARGER}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def table(text):
    return [re.split(r"  +", line) for line in text.splitlines() if line.startswith(("BUDGET", "search"))]


def test_check_prints_the_gpus_in_use():
    done = console.run("check", "--budget", "budget.yaml", "graph.yaml")
    assert (done.code, table(done.out)) == (
        0,
        [
            ["BUDGET", "LIMIT", "BEFORE", "PEAK", "AFTER", "PEAK USD/H", "AFTER USD/H", "STATE"],
            ["search", "6", "6", "6", "6", "15.00", "15.00", "ok"],
        ],
    )


def test_check_fails_above_the_limit():
    done = console.run("check", "--budget", "budget.yaml", "larger.yaml")
    assert done.code == 1
    assert (
        "budget.yaml:9:5: error DYN640 spec.budgets[0].gpus: the budget search is exceeded: 8 GPUs in use, and the limit is 6" in done.out
    )


def test_check_compares_with_the_old_state(folder):
    """Without a rollout, the peak of more replicas is their number."""
    (folder / "old").mkdir()
    (folder / "old" / "graph.yaml").write_text(GRAPH)
    (folder / "graph.yaml").write_text(LARGER)
    done = console.run("check", "--old", "old/graph.yaml", "--budget", "budget.yaml", "graph.yaml")
    assert table(done.out)[1][1:5] == ["6", "6", "8", "8"]


def test_diff_counts_the_peak_of_a_rollout(folder):
    """A Deployment starts a quarter of its new pods, rounded up, before it stops old ones."""
    (folder / "changed.yaml").write_text(GRAPH.replace("acme/tiny", "acme/small"))
    done = console.run("diff", "--old", "graph.yaml", "--budget", "budget.yaml", "changed.yaml")
    assert (done.code, table(done.out)[1][2:5]) == (1, ["6", "8", "6"])
    assert "8 GPUs at the peak of the change, and the limit is 6; most are of search/chat/Worker (8)" in done.out


def test_json_and_markdown_have_the_numbers():
    done = console.run("diff", "--old", "graph.yaml", "--budget", "budget.yaml", "--format", "json", "larger.yaml")
    jsonschema.validate(json.loads(done.out), SCHEMA)
    (limit,) = json.loads(done.out)["budget"]["limits"]
    assert limit == {
        "name": "search",
        "gpus": {"limit": 6, "before": 6, "peak": 8, "after": 8},
        "costPerHour": {"limit": None, "before": 15.0, "peak": 20.0, "after": 20.0},
        "exceeded": True,
        "largest": [{"name": "search/chat/Worker", "gpus": 8}],
    }
    done = console.run("diff", "--old", "graph.yaml", "--budget", "budget.yaml", "--format", "markdown", "larger.yaml")
    assert "| `search` | 6 | 6 | 8 | 8 | 20.00 | 20.00 | exceeded |" in done.out
    done = console.run("check", "--budget", "budget.yaml", "-o", "json", "larger.yaml")
    assert json.loads(done.out)["budget"]["limits"] == [
        {
            **limit,
            "gpus": {"limit": 6, "before": 8, "peak": 8, "after": 8},
            "costPerHour": {"limit": None, "before": 20.0, "peak": 20.0, "after": 20.0},
        }
    ]


def test_the_project_file_names_the_budget(folder):
    text = "apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoProject\nmetadata: {name: project}\nspec: {budget: budget.yaml}\n"
    (folder / ".krm-fn.yaml").write_text(text)
    assert console.run("check", "larger.yaml").code == 1
    assert "budget: budget.yaml" in console.run("check", "--show-config", "larger.yaml").out.replace(str(folder) + "/", "")


WRONG = [
    ("an unknown field", f"{HEAD}spec: {{budgets: [{{name: a, gpu: 1}}]}}\n", "DYN023", "spec.budgets[0].gpu"),
    (
        "a price that is no number",
        f"{HEAD}spec: {{budgets: [{{name: a, gpus: 1, pricePerGpuHour: cheap}}]}}\n",
        "DYN021",
        "pricePerGpuHour",
    ),
    ("a negative limit", f"{HEAD}spec: {{budgets: [{{name: a, gpus: -1}}]}}\n", "DYN025", "spec.budgets[0].gpus"),
    ("a fraction of a GPU", f"{HEAD}spec: {{budgets: [{{name: a, gpus: 1.5}}]}}\n", "DYN021", "spec.budgets[0].gpus"),
    ("no budget in the list", f"{HEAD}spec: {{budgets: []}}\n", "DYN641", "the list has no budget"),
    ("no limit", f"{HEAD}spec: {{budgets: [{{name: a}}]}}\n", "DYN641", "the budget a has no limit"),
    ("a cost without a price", f"{HEAD}spec: {{budgets: [{{name: a, costPerHour: 5}}]}}\n", "DYN641", "write pricePerGpuHour"),
    ("a name twice", f"{HEAD}spec: {{budgets: [{{name: a, gpus: 1}}, {{name: a, gpus: 2}}]}}\n", "DYN080", "spec.budgets[1].name"),
    ("another kind", GRAPH, "DYN641", "the file has DynamoGraphDeployment"),
    ("two documents", f"{BUDGET}---\n{BUDGET}", "DYN641", "the file has DynamoBudget, DynamoBudget"),
    ("an empty file", "", "DYN641", "the file has no document"),
    ("not YAML", "a: [", "DYN004", "budget.yaml"),
]


@cases(("text", "code", "part"), WRONG)
def test_a_wrong_budget_stops_the_command(text, code, part, folder):
    (folder / "budget.yaml").write_text(text)
    for command in (["check", "graph.yaml"], ["diff", "--old", "graph.yaml", "larger.yaml"]):
        done = console.run(*command, "--budget", "budget.yaml")
        assert (done.code, done.out) == (1, "")
        assert code in done.err
        assert part in done.err
