"""The table follows from the models and the native definitions, and holds what its readers need."""

from __future__ import annotations

import json

import pytest

from krm_fn.base import registry
from krm_fn.render import config
from krm_fn.render.schema import table
from krm_fn.schemas.api import base, dynamo_render
from krm_fn.schemas.generate import native_definitions, structural

WRITTEN = json.loads(registry.data(table.FILE))
NATIVE = native_definitions.load().definitions
MODELS = structural.models(structural.kinds())


def test_every_reference_leads_somewhere():
    named = {name for schema in WRITTEN["definitions"].values() for name in structural.references(schema)}
    assert named <= set(WRITTEN["definitions"])
    assert {definition for versions in WRITTEN["kinds"].values() for definition in versions.values()} <= set(WRITTEN["definitions"])


def test_merge_keys_are_there():
    fields = WRITTEN["definitions"]["io.k8s.api.core.v1.Container"]["properties"]
    assert fields["env"]["x-kubernetes-patch-merge-key"] == "name"
    assert fields["ports"]["x-kubernetes-list-map-keys"] == ["containerPort", "protocol"]
    assert WRITTEN["definitions"]["io.k8s.api.core.v1.ContainerPort"]["properties"]["protocol"]["default"] == "TCP"


def test_extended_definitions_have_the_fields_of_both():
    pod, main = WRITTEN["definitions"]["ExtraPodSpec"], WRITTEN["definitions"]["MainContainer"]
    native_pod, native_main = NATIVE["io.k8s.api.core.v1.PodSpec"], NATIVE["io.k8s.api.core.v1.Container"]
    assert set(pod["properties"]) == set(native_pod["properties"]) | {"mainContainer"}
    assert main["properties"] == native_main["properties"]
    assert ("containers" in native_pod["required"], "required" in pod) == (True, False)
    assert ("name" in native_main["required"], "required" in main) == (True, False)


@pytest.mark.parametrize("kind", structural.kinds(), ids=lambda kind: kind.__name__)
def test_every_kind_has_one_address(kind: type[base.Kind]):
    version, name = structural.address(kind)
    fields = WRITTEN["definitions"][kind.__name__]["properties"]
    assert (fields["apiVersion"]["enum"], fields["kind"]["enum"]) == ([version], [name])
    assert WRITTEN["kinds"][name][version] == kind.__name__


@pytest.mark.parametrize("name", sorted(MODELS))
def test_everything_is_described(name):
    """Descriptions become the field reference; a field whose text is that of its own model needs no second one."""
    schema = MODELS[name]
    bare = [key for key, field in schema["properties"].items() if not (field.get("description") or "$ref" in field)]
    assert schema.get("description", "").endswith(".")
    assert bare == []


def test_unknown_native_definitions_are_an_error():
    """The table cannot be made from a model that names a definition which no document holds."""
    with pytest.raises(KeyError, match="Probe"):
        structural.table("1", {name: schema for name, schema in NATIVE.items() if not name.endswith(".Probe")})


def test_models_are_strict():
    """The models refuse what the check refuses, so that they can stand in for it where pydantic is at hand."""
    with pytest.raises(ValueError, match="int"):
        dynamo_render.model(config.KaiSchedulerSettings).model_validate({"enabled": 1})
    with pytest.raises(ValueError, match="natsAdress"):
        dynamo_render.RenderSpec.model_validate({"natsAdress": "x"})
