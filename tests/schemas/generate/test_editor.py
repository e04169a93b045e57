"""The JSON Schema for editors is valid, has descriptions, and judges our kinds only."""

from __future__ import annotations

import pytest
from jsonschema import Draft7Validator

from krm_fn.schemas.generate import editor, structural
from tests.support import schema_mistakes

SCHEMA = editor.schema()
VALIDATOR = Draft7Validator(SCHEMA)
DEFINITIONS = SCHEMA["definitions"]
OTHER = {"apiVersion": "v1", "kind": "Service", "metadata": 1, "anything": []}


def claim(**fields):
    """A graph with a claim to create; a field of None is left out."""
    whole = {"name": "a", "create": True, "storageClass": "s", "size": "1Gi", "volumeAccessMode": "ReadWriteOnce", **fields}
    return schema_mistakes.graph({"services": {"Worker": {}}, "pvcs": [{key: word for key, word in whole.items() if word is not None}]})


def test_it_is_a_schema():
    Draft7Validator.check_schema(SCHEMA)


def test_it_has_no_words_that_editors_do_not_know():
    known = {*editor._SAME, "$ref", "allOf", "items", "properties", "additionalProperties", "maximum", "uniqueItems"}
    assert [keyword for definition in DEFINITIONS.values() for keyword in keywords(definition) if keyword not in known] == []


def keywords(schema):
    for keyword, value in schema.items():
        yield keyword
        if keyword in ("items", "additionalProperties") and isinstance(value, dict):
            yield from keywords(value)
        elif keyword == "properties":
            for field in value.values():
                yield from keywords(field)


@pytest.mark.parametrize("kind", structural.kinds(), ids=lambda kind: kind.__name__)
def test_a_file_is_judged_by_its_kind(kind):
    """The schema selects the definition by the kind of the file."""
    version, name = structural.address(kind)
    address = {"apiVersion": version, "kind": name}
    assert all("services" not in error.message for error in VALIDATOR.iter_errors(address))
    (extra,) = (error.message for error in VALIDATOR.iter_errors({**address, "zzz": 1}) if "zzz" in error.message)
    assert "Additional properties are not allowed" in extra


@pytest.mark.parametrize(
    ("reason", "document", "path"),
    [
        ("a graph", schema_mistakes.worker(), None),
        ("another product's kind", OTHER, None),
        ("a graph in another version", {**schema_mistakes.worker(), "apiVersion": "nvidia.com/v2"}, ["apiVersion"]),
        (
            "a slip deep down",
            schema_mistakes.container(livenessProbe={"httpGet": {"prt": 80}}),
            ["spec", "services", "Worker", "extraPodSpec"],
        ),
        ("a claim that exists", schema_mistakes.graph({"services": {"Worker": {}}, "pvcs": [{"name": "a", "size": "0Gi"}]}), None),
        (
            "a claim that is not to be created",
            schema_mistakes.graph({"services": {"Worker": {}}, "pvcs": [{"name": "a", "create": False}]}),
            None,
        ),
        ("a claim to create", claim(), None),
        ("a claim to create, of two bytes", claim(size=2), None),
        ("a claim to create, of half a Gi", claim(size="0.5Gi"), None),
        ("a claim to create without a size", claim(size=None), ["spec", "pvcs", 0]),
        ("a claim to create, of no size", claim(size="0Gi"), ["spec", "pvcs", 0, "size"]),
        ("a claim to create, of no bytes", claim(size=0), ["spec", "pvcs", 0, "size"]),
        ("a claim to create without a class", claim(storageClass=None), ["spec", "pvcs", 0]),
        ("a claim to create with an empty class", claim(storageClass=""), ["spec", "pvcs", 0, "storageClass"]),
        ("a claim to create without a mode", claim(volumeAccessMode=None), ["spec", "pvcs", 0]),
        ("a number in quotes", schema_mistakes.worker(replicas="2"), ["spec", "services", "Worker", "replicas"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_an_editor_underlines(reason, document, path):
    found = [list(error.absolute_path) for error in VALIDATOR.iter_errors(document)]
    assert bool(found) is (path is not None)
    assert all(place[: len(path or ())] == path for place in found)


def test_a_file_without_a_kind_lacks_just_that():
    """The error names the kind only, not the fields that some kind requires."""
    (error,) = VALIDATOR.iter_errors({"apiVersion": "nvidia.com/v1alpha1"})
    assert error.message == "'kind' is a required property"


def test_kinds_and_versions_are_proposed():
    """An editor completes the values of an enum, although a file may hold other kinds."""
    assert set(SCHEMA["properties"]["kind"]["anyOf"][0]["enum"]) == {structural.address(kind)[1] for kind in structural.kinds()}
    assert SCHEMA["properties"]["apiVersion"]["anyOf"][0]["enum"] == [
        "config.dynamo.krm-fn.io/v1alpha1",
        "dynamo.krm-fn.io/v1alpha1",
        "nvidia.com/v1alpha1",
        "nvidia.com/v1beta1",
        "operator.config.dynamo.nvidia.com/v1alpha1",
    ]


def test_fields_are_described_and_have_their_defaults():
    component = DEFINITIONS["Component"]["properties"]
    assert component["envFromSecret"]["description"] == "A Secret whose keys become environment variables of the main container."
    assert DEFINITIONS["Multinode"]["properties"]["nodeCount"]["default"] == 2
    assert DEFINITIONS["RenderSpec"]["properties"]["debuggerImage"]["default"] == "python:3.12-slim"
    ours = structural.models(structural.kinds())
    assert [name for name in ours if "description" not in DEFINITIONS[name]] == []
