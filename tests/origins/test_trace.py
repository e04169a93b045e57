"""The tracing import: marks on texts and numbers, and the second core beside the ordinary one."""

from __future__ import annotations

import json
import sys

import explain_coverage
import pytest

from krm_fn.base import results
from krm_fn.origins import marked_values, trace, tracing_loader, tracing_rewriter, tracing_runtime
from krm_fn.origins.marked_values import MarkedText, Whole
from krm_fn.origins.origin import Origin
from krm_fn.render import expand
from krm_fn.render.config import Config
from tests.support import given
from tests.testbed import tier

A, B = Origin("user", ("a",)), Origin("user", ("b",))
EXAMPLES = dict(explain_coverage.examples())


def text(written, mark):
    return MarkedText(written, frozenset((mark,)))


@pytest.mark.parametrize(
    ("reason", "made", "expected"),
    [
        ("a sum has the marks of both", text("x", A) + text("y", B), {A, B}),
        ("a plain text on the left keeps the marks", "x" + text("y", B), {B}),
        ("a join has the marks of the parts and of the separator", text("-", B).join(["x", text("y", A), "z"]), {A, B}),
        ("a word of a line has its own marks only", (text("x ", A) + text("y", B)).split()[1], {B}),
        ("a slice has the marks of its characters", (text("xx", A) + text("yy", B))[1:2], {A}),
        ("a prefix that is removed takes its marks along", (text("xx", A) + text("yy", B)).removeprefix("xx"), {B}),
        ("a changed text keeps all marks", text("x", A).upper(), {A}),
        ("a replacement is part of the text", text("x", A).replace("x", text("y", B)), {A, B}),
        ("a product has the marks of both numbers", Whole(2, frozenset((A,))) * Whole(3, frozenset((B,))), {A, B}),
        ("a number keeps its marks as text", str(Whole(2, frozenset((A,)))), {A}),
    ],
)
def test_marks_follow_the_value(reason, made, expected):
    assert marked_values.of(made) == expected, reason


def test_plain_removes_all_marks():
    value = marked_values.plain({text("a", A): [text("b", B), Whole(1)], "c": (text("d", A),)})
    assert value == {"a": ["b", 1], "c": ("d",)}
    assert {type(each) for each in (*value, *value["a"], *value["c"])} == {str, int, list, tuple} - {list, tuple}


def run(source):
    """The variables of a rewritten module."""
    found = {**tracing_loader._RUNTIME}
    exec(compile(tracing_rewriter.rewrite(source, "module", constants=True), "module", "exec"), found)  # noqa: S102 - the text of a test
    return found


def test_a_rewritten_module_marks_its_constants_with_their_function():
    found = run("PORT = 8000\ndef f(x): return f'{x}:{PORT}'\nmade = f('host')\n")
    assert found["made"] == "host:8000"
    assert {mark.path for mark in marked_values.of(found["made"])} == {("module", "PORT"), ("module", "f"), ("module", "made")}


def test_a_key_tells_who_placed_its_value_and_what_it_won_over():
    found = run("def f(user): return {'a': 1, **user}\n")
    made = found["f"]({text("a", A): Whole(2, frozenset((A,)))})
    (key,) = made
    assert made == {"a": 2}
    assert marked_values.of(key) == frozenset((A,))
    assert [(won.value, {mark.path for mark in won.marks}) for won in key.overridden] == [(1, {("module", "f")})]


def test_patterns_types_and_comparisons_work_as_before():
    source = "def f(x):\n  match x:\n    case ('a', int(n)) if type(n) is int and n > 0: return n + 1\n  return 0\n"
    assert run(source)["f"]((text("a", A), Whole(1))) == 2


def test_only_functions_without_parameters_keep_their_cache():
    calls = []
    cached, uncached = tracing_runtime.without_cache(lambda: calls.append(1)), tracing_runtime.without_cache(maxsize=1)(calls.append)
    for _ in range(2):
        cached()
        uncached("x")
    assert calls == [1, "x", "x"]


def test_the_ordinary_modules_are_back_after_a_trace():
    before = {name: module for name, module in sys.modules.items() if name.startswith("krm_fn")}
    trace.render([given.graph({"A": given.service("frontend")})], Config())
    assert {name: sys.modules[name] for name in before} == before
    assert sys.modules["krm_fn.render"].expand is expand


def test_a_trace_leaves_its_input_alone():
    graph = given.graph({"A": given.service("frontend")})
    before = json.dumps(graph)
    trace.render([graph], Config())
    assert json.dumps(graph) == before


def test_examples_are_found():
    assert {"agg-vllm", "multinode-sglang-grove", "v1beta1-agg-vllm", "request"} <= EXAMPLES.keys()


@pytest.mark.parametrize("name", [*EXAMPLES][:: tier.number(1, 3)])
def test_an_example_renders_the_same_and_every_leaf_has_an_origin(name):
    loaded = EXAMPLES[name]
    found = explain_coverage.measure(loaded.values, loaded.config, oracle=False)
    assert found is not None
    assert (found.equal, found.unknown) == (True, [])


def test_the_oracle_confirms_an_example():
    loaded = EXAMPLES["scaling-keda"]
    found = explain_coverage.measure(loaded.values, loaded.config, oracle=True)
    assert found is not None
    assert found.judged > 100
    assert found.refuted == []


def test_the_oracle_refutes_a_wrong_origin(monkeypatch):
    """The replicas as the origin of everything."""
    right, graph = trace.render, given.graph({"A": given.service("frontend", replicas=2)})
    wrong = frozenset((Origin("user", ("spec", "services", "A", "replicas"), results.ref(graph)),))

    def render(resources, settings):
        traced = right(resources, settings)
        return traced._replace(leaves={key: [leaf._replace(marks=wrong) for leaf in found] for key, found in traced.leaves.items()})

    monkeypatch.setattr(trace, "render", render)
    found = explain_coverage.measure([graph], Config(), oracle=True)
    assert found is not None
    assert len([each for each in found.refuted if "does not follow spec.services.A.replicas" in each]) > 100
