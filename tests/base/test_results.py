"""Findings have an order, a text and a form on the wire (KRM Functions Specification, `ResourceList.results`)."""

from __future__ import annotations

from krm_fn.base import results
from krm_fn.base.results import Ref
from tests.support.cases import cases

GRAPH = Ref("nvidia.com/v1alpha1", "DynamoGraphDeployment", "chat", "team")

REFS = [
    (
        "everything there",
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "namespace": "n"}},
        Ref("v1", "Service", "a", "n"),
    ),
    ("no namespace", {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}}, Ref("v1", "Service", "a")),
    ("nothing at all", {}, Ref("", "", "")),
    ("metadata of a wrong type", {"kind": "Service", "metadata": ["name"]}, Ref("", "Service", "")),
    ("a name that is a number", {"metadata": {"name": 7, "namespace": None}}, Ref("", "", "")),
]


@cases(("resource", "address"), REFS)
def test_the_address_of_a_resource(resource, address):
    assert results.ref(resource) == address


FIELDS = [
    ("nothing", (), ""),
    ("steps are joined by dots", ("spec", "services"), "spec.services"),
    ("places in lists stand in brackets", ("spec", "envs", 0, "name"), "spec.envs[0].name"),
    ("a key with a dot is quoted", ("metadata", "labels", "a.b"), "metadata.labels['a.b']"),
    ("a key with a slash is quoted", ("metadata", "labels", "a/b"), "metadata.labels['a/b']"),
    ("a key with a bracket is quoted", ("spec", "a[0]", "b"), "spec['a[0]'].b"),
    ("an empty key is quoted", ("data", ""), "data['']"),
    ("a list of lists", ("a", 0, 1), "a[0][1]"),
]


@cases(("path", "text"), FIELDS)
def test_a_field_as_text(path, text):
    assert results.field(path) == text


def test_no_two_paths_have_one_text():
    paths = [row[1] for row in FIELDS] + [("spec.services",), ("a[0]",), ("a", 0)]
    assert len({results.field(path) for path in paths}) == len(paths)


def test_a_line_starts_with_the_code_and_the_field():
    assert results.line(results.error("DYN100", "is wrong; mend it", GRAPH, ("spec",))) == "DYN100 spec: is wrong; mend it"
    assert results.line(results.error("DYN100", "is wrong; mend it", GRAPH)) == "DYN100 is wrong; mend it"


FAILED = [
    ("nothing was found", [], False),
    ("a warning", [results.warning("DYN100", "a")], False),
    ("a note", [results.info("DYN300", "a")], False),
    ("an error", [results.error("DYN100", "a")], True),
    ("an error among others", [results.info("DYN300", "a"), results.error("DYN100", "a"), results.warning("DYN100", "a")], True),
]


@cases(("found", "fails"), FAILED)
def test_only_an_error_stops_the_build(found, fails):
    assert results.has_errors(found) is fails


def test_errors_come_first_then_files_lines_resources_and_fields():
    expected = [
        results.error("DYN101", "a", GRAPH, ("a",), file="a.yaml", line=2),
        results.error("DYN100", "a", GRAPH, ("a",), file="b.yaml", line=1),
        results.error("DYN100", "a", GRAPH, ("b",), file="b.yaml", line=1),
        results.error("DYN100", "a", GRAPH._replace(name="other"), ("a",), file="b.yaml", line=1),
        results.error("DYN100", "a", GRAPH, ("a",), file="b.yaml", line=3),
        results.warning("DYN100", "a"),
        results.warning("DYN100", "b"),
        results.info("DYN300", "a"),
    ]
    shuffled = expected[::-1]
    assert sorted(shuffled, key=results.order) == expected


def test_a_finding_with_everything_on_the_wire():
    finding = results.error(
        "DYN025", "is less than 0; write 0", GRAPH, ("spec", "x"), current=-1, proposed=0, file="a.yaml", document=2, line=4
    )
    assert results.wire(finding) == {
        "message": "DYN025 spec.x: is less than 0; write 0",
        "severity": "error",
        "resourceRef": {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment", "name": "chat", "namespace": "team"},
        "field": {"path": "spec.x", "currentValue": -1, "proposedValue": 0},
        "file": {"path": "a.yaml", "index": 2},
        "tags": {"code": "DYN025"},
    }


WIRE = [
    ("without a resource there is no field", results.info("DYN001", "a", None, ("spec",)), {"message", "severity", "tags"}),
    ("without a field", results.info("DYN001", "a", GRAPH), {"message", "severity", "tags", "resourceRef"}),
    ("without a file", results.info("DYN001", "a", GRAPH, ("spec",)), {"message", "severity", "tags", "resourceRef", "field"}),
]


@cases(("finding", "keys"), WIRE)
def test_what_is_unknown_is_left_out(finding, keys):
    assert set(results.wire(finding)) == keys


def test_values_that_are_empty_are_still_values():
    written = results.wire(results.error("DYN021", "a", GRAPH, ("spec",), current=False, proposed=""))
    assert written["field"] == {"path": "spec", "currentValue": False, "proposedValue": ""}


def test_a_resource_without_a_namespace_has_none_on_the_wire():
    assert results.wire(results.info("DYN001", "a", GRAPH._replace(namespace="")))["resourceRef"] == {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoGraphDeployment",
        "name": "chat",
    }
