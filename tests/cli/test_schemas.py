"""`krm-fn crds` and `krm-fn schema`: what they print, and wrong usage."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

from krm_fn import review
from krm_fn.schemas.generate import crds, editor, kustomize_files
from tests.cli import console
from tests.support.cases import cases
from tests.testbed import programs


def test_crds_are_printed_one_after_the_other():
    done = console.run("crds")
    assert (done.code, done.err) == (0, "")
    assert list(yaml.load_all(done.out, Loader=yaml.CSafeLoader)) == crds.definitions()


@pytest.mark.parametrize(
    ("reader", "expected"), [("editor", editor.schema), ("kustomize", kustomize_files.schema)], ids=["editor", "kustomize"]
)
def test_schemas_are_json(reader, expected):
    done = console.run("schema", "--for", reader)
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == expected()


@pytest.mark.parametrize("written", sorted((Path(review.__file__).parent / "schemas").glob("*.json")), ids=lambda path: path.stem)
def test_the_schema_of_a_report_has_the_name_of_its_verb(written):
    done = console.run("schema", "--for", written.stem)
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == json.loads(written.read_text())
    jsonschema.Draft202012Validator.check_schema(json.loads(done.out))
    assert f"krm-fn {written.stem}" in console.run(written.stem, "--help").out


def test_an_editor_is_the_reader_unless_another_is_named():
    assert console.run("schema").out == console.run("schema", "--for", "editor").out


def test_names_follow_the_services_of_graphs(tmp_path):
    (tmp_path / "graph.yaml").write_text(console.GRAPH)
    (tmp_path / "other.yaml").write_text("apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {services: {No: 1}}\n")
    done = console.run("schema", "--for", "names", tmp_path)
    assert (done.code, done.err) == (0, "")
    assert yaml.safe_load(done.out) == kustomize_files.references(["Frontend", "Worker"])
    assert console.run("schema", "--for", "names", "-", stdin=console.GRAPH).out == done.out


def test_names_without_graphs():
    assert yaml.safe_load(console.run("schema", "--for", "names").out) == kustomize_files.references()


def test_a_graph_that_cannot_be_read(tmp_path):
    (tmp_path / "graph.yaml").write_text("spec: [\n")
    done = console.run("schema", "--for", "names", tmp_path / "graph.yaml")
    assert (done.code, done.out) == (1, "")
    assert "graph.yaml:2:1: error DYN004" in done.err


@pytest.mark.slow
def test_the_exchange_of_the_served_version_has_an_order():
    """The version that most clusters serve is printed without a warning. The other one takes it away, and loses fields in a wrong order."""
    assert console.run("crds").err == ""
    done = console.run("crds", "--served", "v1beta1")
    assert (done.code, list(yaml.safe_load_all(done.out))) == (0, crds.definitions("v1beta1"))
    assert done.err.startswith("warning: an API server serves one version.")
    steps = [done.err.index(step) for step in ("krm-fn convert,", "> before.yaml", "Apply these definitions", "start the syncer")]
    assert steps == sorted(steps)
    heading = done.err.partition('"')[2].partition('"')[0]
    assert f"## {heading}\n" in (programs.ROOT / "docs" / "upgrades.md").read_text()


@pytest.mark.parametrize(
    ("reason", "arguments", "says"),
    [
        ("graphs are for names", ["schema", "-"], "GRAPH needs --for names"),
        ("an unknown reader", ["schema", "--for", "me"], "'me' is not one of"),
        ("a file that is not there", ["schema", "--for", "names", "nowhere.yaml"], "does not exist"),
        ("definitions take nothing", ["crds", "more"], "unexpected extra argument"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_usage(reason, arguments, says):
    done = console.run(*arguments)
    assert done.code == 2
    assert says in done.err


def test_help_does_not_wait_for_the_models():
    """It imports every verb; pydantic alone would take longer than all of them."""
    program = "import sys; from krm_fn import cli; [cli.group.get_command(None, verb) for verb in cli.group.list_commands(None)]; "
    asked = [sys.executable, "-c", f"{program}print('krm_fn.cli.schema_command' in sys.modules, 'pydantic' in sys.modules)"]
    assert subprocess.run(asked, cwd=programs.ROOT, capture_output=True, text=True, check=True).stdout == "True False\n"


FORMATS = [
    ("crds", ["crds"], "yaml"),
    ("the editor's", ["schema"], "json"),
    ("kustomize's lists", ["schema", "--for", "kustomize"], "json"),
    ("kustomize's names", ["schema", "--for", "names"], "yaml"),
]


@cases(("reason", "arguments", "default"), FORMATS)
def test_output_is_a_format_everywhere(reason, arguments, default):
    """YAML and JSON are the same values; JSON holds several objects as one List."""
    printed = {style: console.run(*arguments, "-o", style).out for style in ("yaml", "json")}
    assert printed[default] == console.run(*arguments).out
    documents = list(yaml.load_all(printed["yaml"], Loader=yaml.CSafeLoader))
    value = json.loads(printed["json"])
    assert documents == (value["items"] if arguments == ["crds"] else [value])
