"""The file of a resource, from the annotations of kpt or kustomize."""

import pytest

from krm_fn.render.krm import origin
from tests.support.cases import cases

PATH = "internal.config.kubernetes.io/path"
INDEX = "internal.config.kubernetes.io/index"
ORIGIN = "config.kubernetes.io/origin"

ANNOTATIONS = [
    # reason, annotations, file
    ("no annotations", {}, ("", 0)),
    ("kpt", {PATH: "a/b.yaml", INDEX: "2"}, ("a/b.yaml", 2)),
    ("older kpt", {"config.kubernetes.io/path": "a.yaml", "config.kubernetes.io/index": "1"}, ("a.yaml", 1)),
    ("a path without an index", {PATH: "a.yaml"}, ("a.yaml", 0)),
    ("an index that is not a number", {PATH: "a.yaml", INDEX: "x"}, ("a.yaml", 0)),
    ("an index of 5000 digits", {PATH: "a.yaml", INDEX: "9" * 5000}, ("a.yaml", 0)),
    ("kustomize", {ORIGIN: "path: a.yaml\n"}, ("a.yaml", 0)),
    (
        "kustomize, from another repository",
        {ORIGIN: "path: b/a.yaml\nrepo: https://example.com/x\nref: v1\n"},
        ("https://example.com/x//b/a.yaml?ref=v1", 0),
    ),
    (
        "kustomize, from another repository's head",
        {ORIGIN: "path: a.yaml\nrepo: https://example.com/x\n"},
        ("https://example.com/x//a.yaml", 0),
    ),
    ("kustomize, generated", {ORIGIN: "configuredIn: fn.yaml\nconfiguredBy:\n  kind: X\n"}, ("fn.yaml", 0)),
    ("an origin that is not YAML", {ORIGIN: "path: [\n"}, ("", 0)),
    ("an origin that is a string", {ORIGIN: "a.yaml"}, ("", 0)),
    ("an origin without a path", {ORIGIN: "path: {}\n"}, ("", 0)),
    ("annotations of wrong types", {PATH: 1, ORIGIN: ["x"]}, ("", 0)),
    ("only an index", {INDEX: "1"}, ("", 0)),
]


@cases(("annotations", "file"), ANNOTATIONS)
def test_file(annotations, file):
    assert origin.file({"metadata": {"annotations": annotations}}) == file


@pytest.mark.parametrize("resource", [{}, {"metadata": None}, {"metadata": {"annotations": "x"}}, {"metadata": []}], ids=str)
def test_a_resource_of_any_shape_has_no_file(resource):
    assert origin.file(resource) == ("", 0)
    assert origin.location(resource, 7) == {"line": 7}


def test_a_place_has_lines_only_for_input_that_the_user_wrote():
    assert origin.location({"metadata": {"annotations": {"a": "b"}}}, 7) == {"line": 7}
    assert origin.location({"metadata": {"annotations": {INDEX: "0"}}}, 7) == {}
    assert origin.location({"metadata": {"annotations": {INDEX: "3", PATH: "a.yaml"}}}, 7) == {"file": "a.yaml", "document": 3}


def test_kpt_is_recognized_by_its_own_annotations():
    assert origin.under_kpt([{}, {"metadata": {"annotations": {"internal.config.kubernetes.io/seqindent": "compact"}}}])
    assert origin.under_kpt([{"metadata": {"annotations": {"internal.config.kubernetes.io/package-path": "/x"}}}])
    assert not origin.under_kpt([{}, {"metadata": {"annotations": {PATH: "a.yaml", INDEX: "0"}}}])
    assert not origin.under_kpt([])
