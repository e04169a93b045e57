"""`functions.yaml` and `metadata.yaml`: what catalogs read, about this version, with a schema that judges as the function does.

That both are what the models say is held in tests/schemas/generate/test_generate.py.
"""

from __future__ import annotations

from configparser import ConfigParser

import jsonschema
import yaml

import krm_fn
from krm_fn.base import results
from krm_fn.render import function_config
from krm_fn.render.schema import schema_check
from krm_fn.schemas.generate import catalog
from tests.support import golden, markdown
from tests.support.cases import cases
from tests.testbed import programs

ROOT = programs.ROOT
FUNCTION = yaml.safe_load((ROOT / "functions.yaml").read_text())
PACKAGE = yaml.safe_load((ROOT / "metadata.yaml").read_text())
(VERSION,) = FUNCTION["spec"]["versions"]
SCHEMA = VERSION["schema"]["openAPIV3Schema"]


def closed(optional=(), **properties):
    return {"type": "object", "additionalProperties": False, "properties": properties, "required": sorted({*properties} - {*optional})}


TEXT, YES_NO, TEXTS = {"type": "string", "minLength": 1}, {"type": "boolean"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}
CONTAINER = closed(image=TEXT, requireNetwork=YES_NO, requireStorageMount=YES_NO)
EACH_VERSION = closed(
    name=TEXT,
    schema=closed(openAPIV3Schema={"type": "object", "required": ["type", "properties"]}),
    idempotent=YES_NO,
    runtime=closed(container=CONTAINER),
    usage=TEXT,
    examples=TEXTS,
    license={"const": "Apache 2.0"},  # as the specification spells it
)
DEFINITION = closed(
    apiVersion={"const": "config.kubernetes.io/v1alpha1"},
    kind={"const": "KRMFunctionDefinition"},
    metadata=closed(name=TEXT),
    spec=closed(
        group=TEXT,
        names=closed(kind=TEXT),
        description=TEXT,
        publisher=TEXT,
        home=TEXT,
        tags=TEXTS,
        versions={"type": "array", "items": EACH_VERSION, "minItems": 1},
    ),
)


def test_the_definition_has_the_shape_of_the_specification():
    jsonschema.validate(FUNCTION, DEFINITION)


def test_it_defines_the_configuration_that_the_function_reads():
    spec = FUNCTION["spec"]
    assert f"{spec['group']}/{VERSION['name']}" == function_config.API_VERSION
    assert spec["names"]["kind"] == function_config.KIND


def test_the_image_is_of_this_version_and_needs_nothing():
    container = VERSION["runtime"]["container"]
    assert container == {"image": f"{PACKAGE['image']}:{krm_fn.__version__}", "requireNetwork": False, "requireStorageMount": False}


def local(address):
    """The path in a clone of a URL of this version."""
    kind, version, path = address.removeprefix(f"{catalog.HOME}/").split("/", 2)
    assert (kind in ("blob", "tree"), version) == (True, f"v{krm_fn.__version__}")
    return ROOT / path


def test_every_address_leads_to_a_file_of_a_clone():
    pages = [VERSION["usage"], *VERSION["examples"]]
    assert [page for page in pages if not local(page).is_file()] == []
    folders = [PACKAGE["sourceURL"], *PACKAGE["examplePackageURLs"]]
    assert [folder for folder in folders if not local(folder).is_dir()] == []


def test_every_example_is_listed_in_both():
    there = {path.parent for path in golden.EXAMPLES.glob("*/README.md")}
    assert {local(page).parent for page in VERSION["examples"]} == there
    assert {local(folder) for folder in PACKAGE["examplePackageURLs"]} == there


def test_the_package_says_what_the_definition_says():
    """The fields that kpt's catalog requires."""
    assert PACKAGE.keys() == {"image", "description", "tags", "sourceURL", "examplePackageURLs", "emails", "license"}
    assert (PACKAGE["description"], PACKAGE["tags"]) == (FUNCTION["spec"]["description"], FUNCTION["spec"]["tags"])
    project = ConfigParser()
    project.read(ROOT / "setup.cfg")
    assert PACKAGE["license"] == project["metadata"]["license"]


def render(**spec):
    return {"apiVersion": function_config.API_VERSION, "kind": function_config.KIND, "metadata": {"name": "render"}, "spec": spec}


JUDGED = [
    ("nothing", {}, True),
    ("a text", {"natsAddress": "nats://nats:4222"}, True),
    ("a text that is a number", {"natsAddress": 4222}, False),
    ("a known word", {"orchestrator": "grove"}, True),
    ("an unknown word", {"orchestrator": "swarm"}, False),
    ("a boolean", {"retainVolumes": False}, True),
    ("a boolean in quotes", {"retainVolumes": "false"}, False),
    ("a duration", {"grove": {"terminationDelay": "1h30m"}}, True),
    ("a duration without a unit", {"grove": {"terminationDelay": "90"}}, False),
    ("a list", {"imagePullSecrets": [{"registry": "nvcr.io", "name": "ngc"}]}, True),
    ("an entry that lacks a field", {"imagePullSecrets": [{"registry": "nvcr.io"}]}, False),
    ("a list that is a mapping", {"imagePullSecrets": {}}, False),
]


@cases(("spec", "good"), JUDGED)
def test_the_schema_judges_as_the_function_does(spec, good):
    assert jsonschema.Draft202012Validator(SCHEMA).is_valid(render(**spec)) is good
    assert results.has_errors(list(schema_check.config(render(**spec)))) is not good


def configurations():
    """Every DynamoRender in the examples and in docs/configuration.md."""
    texts = [path.read_text() for path in golden.EXAMPLES.rglob("*.yaml") if f"kind: {function_config.KIND}" in path.read_text()]
    texts += [block for _, block in markdown.fenced(local(VERSION["usage"]).read_text(), "yaml")]
    documents = [document for text in texts for document in yaml.safe_load_all(text)]
    return [document for document in documents if document and document.get("kind") == function_config.KIND]


def test_every_configuration_in_the_examples_fits_the_schema():
    assert len(configurations()) > 5
    for each in configurations():
        jsonschema.validate(each, SCHEMA)
