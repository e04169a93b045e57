"""Every checked-in file that is made is up to date: whoever changes a model, an engine or a code runs `make generate`."""

from __future__ import annotations

import json

import pytest

from krm_fn.base import registry
from krm_fn.render.schema import table
from krm_fn.schemas import generate as forms
from krm_fn.schemas.generate import __main__ as generate
from krm_fn.schemas.generate import kustomize_files, native_definitions, structural

MADE = {**generate.schema_files(), **generate.generated_files()}


@pytest.mark.parametrize("path", MADE, ids=lambda path: str(path.relative_to(generate.ROOT)))
def test_a_file_is_what_the_models_say(path):
    assert path.read_text("utf-8") == MADE[path]


@pytest.mark.parametrize("folder", [*generate.CRDS.values(), generate.KUSTOMIZE, generate.DOCS], ids=lambda folder: folder.name)
def test_a_folder_of_made_files_holds_no_other_file(folder):
    """A page or a definition of a removed kind would stay behind."""
    assert {*folder.iterdir()} == {path for path in MADE if path.parent == folder}


@pytest.fixture(scope="module")
def documents(control_plane):
    return native_definitions.documents(control_plane.client.get)


def test_the_native_files_are_what_the_api_server_says(documents):
    """The documents of a real kube-apiserver in the pinned version give the same files, byte by byte."""
    for path, content in native_definitions.files(documents).items():
        assert path.read_text("utf-8") == content


def test_each_document_is_needed(documents):
    """Without any one of them, a kind whose patches merge would be missing, or a kind without a namespace."""
    for left_out in range(len(documents)):
        rest = [document for place, document in enumerate(documents) if place != left_out]
        assert kustomize_files.natively(rest) != json.loads(registry.data(kustomize_files.FILE)), native_definitions.DOCUMENTS[left_out]


def test_a_render_reads_no_native_definition_that_our_kinds_do_not_use():
    """`native.json` holds more, so that a new field can use a definition that no field uses yet; a render pays for used ones only."""
    table_of_render, known = table.load().definitions, native_definitions.load().definitions
    reached: set[str] = set()
    todo = [*structural.ROOTS, *(name for name in table_of_render if name not in known)]
    while todo:
        name = todo.pop()
        todo += {*structural.references(table_of_render[name])} - reached
        reached.add(name)
    assert reached == table_of_render.keys()
    assert known.keys() - reached


def test_a_line_for_each_definition():
    """A change can be reviewed line by line."""
    known = table.load()
    lines = forms.text(known._asdict()).splitlines()
    assert json.loads("\n".join(lines)) == known._asdict()
    assert len(lines) > len(known.kinds) + len(known.definitions)
