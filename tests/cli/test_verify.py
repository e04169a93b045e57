"""`krm-fn verify`: formats, exit codes and wrong exports."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import krm_fn
from tests.cli import console
from tests.migration.equality import operator_export
from tests.migration.equality.operator_export import GRAPH
from tests.migration.equality.test_equality import SETTINGS, another_image
from tests.support.cases import cases

SCHEMA = json.loads((Path(krm_fn.__file__).parent / "review" / "schemas" / "verify.json").read_text())


@pytest.fixture
def exported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return operator_export.export(GRAPH, **SETTINGS)


def write(folder, objects):
    (folder / "export.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))


def test_an_equal_export_exits_with_zero(exported, tmp_path):
    write(tmp_path, exported)
    done = console.run("verify", "export.json")
    assert done.code == 0
    assert "2 differences, 0 of unknown cause" in done.out
    assert "5 of 7 objects the same, 2 of 2 pod templates" in done.out


def test_an_unknown_difference_exits_with_one(exported, tmp_path):
    another_image(exported)
    write(tmp_path, exported)
    done = console.run("verify", "export.json", "--report", "report.json")
    assert done.code == 1
    line = "Deployment chat-worker spec.template.spec.containers[main].image: "
    assert f'  unknown cause:\n    {line}"registry.example/other:0.9.0" runs, "registry.example/dynamo:0.9.0" is rendered' in done.out
    assert "registry" not in (tmp_path / "report.json").read_text()


def test_json_has_each_difference_with_its_cause(exported, tmp_path):
    write(tmp_path, exported)
    document = json.loads(console.run("verify", "-o", "json", "export.json").out)
    jsonschema.validate(document, SCHEMA)
    (namespace,) = document["namespaces"]
    assert (namespace["namespace"], namespace["explained"], namespace["settings"]["behaviour"]) == ("team", True, "v0.9")
    assert namespace["differences"][0]["cause"] == {"kind": "deviation", "name": "progress-deadline"}


WRONG = [
    ("no export", [], 2, "name an export"),
    ("two inputs", ["export.json", "--live"], 2, "name an export"),
    ("a file that is missing", ["none.json"], 2, "does not exist"),
    ("another namespace", ["export.json", "-n", "other"], 1, "no graph of the namespace other"),
]


@cases(("arguments", "code", "part"), WRONG)
def test_wrong_usage(arguments, code, part, exported, tmp_path):
    write(tmp_path, exported)
    done = console.run("verify", *arguments)
    assert (done.code, part in done.err) == (code, True)


BROKEN = [("a table", '{"kind": "Table", "apiVersion": "meta.k8s.io/v1", "rows": []}', "DYN565"), ("not YAML", "a: [", "DYN004")]


@cases(("text", "code"), BROKEN)
def test_a_broken_export_is_an_error(text, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "export.json").write_text(text)
    done = console.run("verify", "export.json")
    assert (done.code, code in done.err) == (1, True)
