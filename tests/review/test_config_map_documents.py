"""YAML and JSON in ConfigMaps that no parser reads."""

from __future__ import annotations

from krm_fn.review import config_map_documents
from tests.support import given
from tests.support.cases import cases

DOCUMENTS = [
    ("a tab", "agg.yaml", "a:\n\tb: 1\n", "agg.yaml is not YAML: line 2 of it, a tab"),
    ("a wrong level", "agg.yml", "a:\n  b: 1\n   c: 2\n", "agg.yml is not YAML: line 3 of it"),
    ("no JSON", "config.json", '{"a": 1,}', "config.json is not JSON, from line 1 of it on; correct this line"),
    ("YAML", "agg.yaml", "a: 1\n---\nb: 2\n", ""),
    ("JSON", "config.json", '{"a": 1}', ""),
    ("a template", "agg.yaml", "{{ if .a }}\na: 1\n{{ end }}\n", ""),
    ("a variable of a shell", "agg.yaml", "a: ${A\n", ""),
    ("another language", "run.sh", "a:\n\tb: 1\n", ""),
    ("no text", "agg.yaml", 3, ""),
]


@cases(("key", "text", "message"), DOCUMENTS)
def test_documents_of_config_maps(key, text, message):
    findings = [*config_map_documents.check([given.item("ConfigMap", "c", data={key: text}), {"kind": "ConfigMap", "data": []}])]
    assert [(finding.code, finding.severity, finding.path) for finding in findings] == [("DYN697", "warning", ("data", key))] * bool(
        message
    )
    assert all(message in finding.message and "; " in finding.message for finding in findings)
