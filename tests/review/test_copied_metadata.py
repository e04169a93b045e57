"""Fields of an API server in a resource that somebody copied from a cluster."""

from __future__ import annotations

from typing import Any

from krm_fn.review import copied_metadata
from tests.support import beta, given
from tests.support.cases import cases

GRAPH = beta.graph(beta.component("Worker"))
FIELDS = {"resourceVersion": "12", "uid": "1d2f", "generation": 3, "creationTimestamp": "2026-01-01T00:00:00Z"}
ROWS: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("both fields", FIELDS, {}, "remove both"),
    ("one field", {"uid": "1d2f"}, {}, "remove it"),
    ("fields that a server ignores", {"generation": 3}, {}, ""),
    ("an export", FIELDS, {"status": {}}, ""),
    ("an export with its managers", {**FIELDS, "managedFields": []}, {}, ""),
]


@cases(("metadata", "fields", "remedy"), ROWS)
def test_fields_of_a_server(metadata, fields, remedy):
    graph = {**GRAPH, **fields, "metadata": {**GRAPH["metadata"], **metadata}}
    found = [(finding.code, finding.severity, finding.message.partition("; ")[2]) for finding in copied_metadata.check([graph])]
    assert found == [("DYN756", "warning", remedy)] * bool(remedy)


def test_other_resources_are_left_out():
    claim = given.item("PersistentVolumeClaim", "models")
    assert [*copied_metadata.check([{**claim, "metadata": {**claim["metadata"], **FIELDS}}, {**GRAPH, "metadata": 3}])] == []
