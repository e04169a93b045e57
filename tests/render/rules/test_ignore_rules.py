"""Warnings and notes can be left out by code, everywhere or for one resource; errors cannot."""

import pytest

from krm_fn.base import results
from krm_fn.render import config, function_config
from krm_fn.render.rules import ignore_rules
from tests.support import given
from tests.support.cases import cases

LABELLED = {"Worker": given.service("worker", labels={"tier": "gold"})}


def graph(text, name="chat"):
    annotations = {} if text is None else {"dynamo.krm-fn.io/ignore": text}
    return given.graph(LABELLED, name=name, annotations=annotations)


TEXTS = [
    # reason, annotation, True if DYN114 stays
    ("no annotation", None, True),
    ("the code", "DYN114", False),
    ("among others", "DYN153,DYN114", False),
    ("blanks, line ends and lower case", " dyn153,\n dyn114 ", False),
    ("another code", "DYN115", True),
    ("a part of the code", "DYN11", True),
    ("nothing", "", True),
]


@cases(("text", "stays"), TEXTS)
def test_the_annotation_of_a_resource(text, stays):
    found = given.expanded(graph(text)).results
    assert ("DYN114" in {result.code for result in found}) is stays


def test_the_annotation_is_for_its_own_resource_only():
    found = given.expanded(graph("DYN114"), graph(None, name="other")).results
    assert [result.ref.name for result in found if result.ref and result.code == "DYN114"] == ["other"]


def test_the_annotation_stays_on_the_graph_and_reaches_no_object():
    kept, *made = sorted(given.expanded(graph("DYN114")).resources, key=lambda each: each["kind"] != "DynamoGraphDeployment")
    assert kept["metadata"]["annotations"]["dynamo.krm-fn.io/ignore"] == "DYN114"
    assert made
    assert "krm-fn.io/ignore" not in repr(made)


def test_the_annotation_is_no_setting_of_a_generator():
    notes = {"dynamo.krm-fn.io/ignore": "DYN114", "config.kubernetes.io/function": "exec: {path: krm-fn}"}
    item = given.graph(LABELLED, annotations=notes)
    assert function_config.read(item) == (config.Config(), [])


SEVERITIES = [("error", True), ("warning", False), ("info", False)]


@pytest.mark.parametrize(("severity", "stays"), SEVERITIES)
def test_errors_always_stay(severity, stays):
    found = [results.Result(severity, "DYN114", "is wrong")]
    assert ignore_rules.apply(found, [], ["DYN114"]) == (found if stays else [])
    about = [found[0]._replace(ref=results.ref(graph("DYN114")))]
    assert ignore_rules.apply(about, [graph("DYN114")]) == (about if stays else [])
