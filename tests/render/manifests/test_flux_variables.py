"""A graph in which Flux replaces no variable passes this on to the objects that have one, and to no others."""

from __future__ import annotations

from krm_fn.render import expand
from krm_fn.render.config import Config
from tests.support import build_checks, golden
from tests.support.cases import cases

KEY = "kustomize.toolkit.fluxcd.io/substitute"
GRAPH, *_ = build_checks.read((golden.EXAMPLES / "v1beta1-agg-vllm" / "graph.yaml").read_text())


def graph(text, **metadata):
    """The example's graph with a variable in its last component."""
    *others, last = GRAPH["spec"]["components"]
    changed = {**last, "podTemplate": {**last["podTemplate"], "metadata": {"annotations": {"text": text}}}}
    return {**GRAPH, "metadata": {**GRAPH["metadata"], **metadata}, "spec": {**GRAPH["spec"], "components": [*others, changed]}}


def annotated(source):
    """The kinds of the generated objects with the annotation."""
    expansion = expand.expand([source], Config())
    assert not [finding for finding in expansion.results if finding.severity == "error"]
    return [entry["kind"] for entry in expansion.resources[1:] if KEY in entry["metadata"].get("annotations", {})]


BOTH = ["Deployment", "Service"]  # annotations of a pod template are on both
CASES = [
    ("an annotation", "${A}", {"annotations": {KEY: "disabled"}}, BOTH),
    ("a label", "${A}", {"labels": {KEY: "disabled"}}, BOTH),
    ("no variable", "$A $(B)", {"annotations": {KEY: "disabled"}}, []),
    ("another value", "${A}", {"annotations": {KEY: "enabled"}}, []),
    ("no annotation", "${A}", {}, []),
]


@cases(("text", "metadata", "kinds"), CASES)
def test_the_annotation_of_a_graph_is_on_its_objects_with_variables(text, metadata, kinds):
    assert annotated(graph(text, **metadata)) == kinds


def test_nothing_else_changes():
    """Pod templates do not get the annotation, so no pod restarts."""
    sources = [graph("${A}"), graph("${A}", annotations={KEY: "disabled"})]
    before, after = (expand.expand([source], Config()).resources for source in sources)
    assert [entry.get("spec") for entry in before[1:]] == [entry.get("spec") for entry in after[1:]]
