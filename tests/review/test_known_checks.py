"""Checks of a document after an edit: only what changed is judged again, and the findings are those of a check that knows nothing."""

from __future__ import annotations

from collections import Counter

import pytest

from krm_fn.render.config import Config
from krm_fn.review import resource_findings
from krm_fn.review.arguments import argument_findings
from krm_fn.review.known_checks import KnownChecks
from tests.support import beta, given
from tests.support.cases import cases

SECRET = given.item("Secret", "token", data={"HF_TOKEN": "eA=="})


def graph(name, flag="--dtype", **fields):
    """A graph with a worker of vLLM."""
    main = {"name": "main", "image": "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.6.1", "command": ["python3", "-m", "dynamo.vllm"]}
    words = ["--model", "Qwen/Qwen3-0.6B", flag, "bfloat16"]
    pod = {"spec": {"containers": [{**main, "args": words}]}}
    return beta.graph({"name": "Worker", "type": "worker", "podTemplate": pod, **fields}, name=name)


@pytest.fixture
def judged(monkeypatch):
    """Counts the graphs whose command lines are judged, by name."""
    counts: Counter[str] = Counter()
    original = argument_findings.check_plan

    def check_plan(planned, **options):
        counts[planned.plan.ref.name] += 1
        return original(planned, **options)

    monkeypatch.setattr(argument_findings, "check_plan", check_plan)
    return counts


def findings(resources, known=None):
    return [*resource_findings.check(resources, Config(), is_configured=True, known=known)]


BEFORE = [graph("a"), graph("b"), graph("c")]
EDITS = [
    ("nothing", [graph("a"), graph("b"), graph("c")], {}),
    ("a flag of one graph", [graph("a"), graph("b", "--dtpye"), graph("c")], {"b": 1}),
    ("a field of one graph", [graph("a"), graph("b"), graph("c", replcas=2)], {"c": 1}),
    ("a graph more", [*BEFORE, graph("d")], {"d": 1}),
    ("a graph less", BEFORE[1:], {}),
    ("a number in place of a boolean", [graph("a", replicas=True), *BEFORE[1:]], {"a": 1}),
]


@cases(("after", "expected"), EDITS)
def test_an_edit_judges_what_changed(judged, after, expected):
    """Graphs with the same text are not judged again, and the findings are those of a check of the whole."""
    known = KnownChecks()
    findings(BEFORE, known)
    judged.clear()
    again = findings(after, known)
    assert dict(judged) == expected
    assert again == findings(after)


def test_facts_about_other_resources_count(judged):
    """A Secret with a token can change the findings about each graph: all are judged again."""
    known = KnownChecks()
    findings([*BEFORE, SECRET], known)
    judged.clear()
    without = {**SECRET, "data": {}}
    assert findings([*BEFORE, without], known) == findings([*BEFORE, without])


def test_texts_between_two_edits_are_forgotten(judged):
    """A session of hours needs no more memory than its last text."""
    known = KnownChecks()
    for replicas in range(20):
        findings([graph("a", replicas=replicas), graph("b")], known)
        known.forget_unused()
    assert (judged["a"], judged["b"]) == (20, 1)
    assert len(known.items._expansions) == len(known._arguments) == 2
