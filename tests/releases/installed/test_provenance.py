"""The provenance and the bill of materials of a release, checked with the classes of their formats."""

from __future__ import annotations

import json
import subprocess

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from release import archives

from tests.releases.installed import conftest
from tests.testbed import programs

PREDICATE = "predicates.provenance.v1.provenance"


@pytest.fixture(scope="module")
def statement(built):
    return json.loads(built.file("provenance.intoto.json").read_text())


def test_the_statement_has_the_types_of_in_toto_and_slsa(statement):
    """The parser of protobuf accepts no unknown field."""
    conftest.tool("twine")  # it comes with the extra that has these modules, too
    json_format = pytest.importorskip("google.protobuf.json_format")
    messages, predicates = (pytest.importorskip(f"in_toto_attestation.{name}_pb2") for name in ("v1.statement", PREDICATE))
    parsed = json_format.ParseDict(statement, messages.Statement())
    pytest.importorskip("in_toto_attestation.v1.statement").Statement.copy_from_pb(parsed).validate()
    assert parsed.predicate_type == "https://slsa.dev/provenance/v1"
    predicate = json_format.ParseDict(statement["predicate"], predicates.Provenance())
    assert predicate.build_definition.build_type
    assert predicate.run_details.builder.id


def test_the_statement_names_each_file_and_the_commit(built, statement):
    subjects = {subject["name"]: subject["digest"]["sha256"] for subject in statement["subject"]}
    own = {"provenance.intoto.json", "SHA256SUMS"}
    assert subjects == {file.name: archives.digest(file.read_bytes()) for file in built.folder.iterdir() if file.name not in own}
    (commit,) = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=programs.ROOT, capture_output=True, text=True, check=True).stdout.strip()
    assert commit["digest"] == {"gitCommit": head}


def test_the_bill_of_materials_lists_what_the_zipapp_contains(built):
    text = built.file("*.cdx.json").read_text()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bill = json.loads(text)
    assert bill["metadata"]["component"]["version"] == built.release.version
    assert {component["name"] for component in bill["components"]} == {"click", "pyyaml"}
