"""What is checked in is what the models and an API server say: whoever changes either runs `make generate`."""

from __future__ import annotations

import json

import pytest

from krm_fn import generate as forms
from krm_fn.generate import __main__ as generate
from krm_fn.generate import kustomize_merge
from krm_fn.schema import table

MADE = generate.made()


@pytest.mark.parametrize("path", MADE, ids=lambda path: str(path.relative_to(generate.ROOT)))
def test_a_file_is_what_the_models_say(path):
    assert path.read_text("utf-8") == MADE[path]


@pytest.mark.parametrize("folder", [generate.CRDS, generate.KUSTOMIZE, generate.DOCS], ids=lambda folder: folder.name)
def test_nothing_else_lies_there(folder):
    """A page or a definition of a kind that is gone."""
    assert {*folder.iterdir()} == {path for path in MADE if path.parent == folder}


@pytest.fixture(scope="module")
def documents(control_plane):
    return generate.documents(control_plane.client.get)


def test_the_tables_are_what_the_api_server_says(documents):
    """The documents of a real kube-apiserver in the pinned version give the same files, byte by byte."""
    for path, content in generate.tables(documents).items():
        assert path.read_text("utf-8") == content


def test_each_document_is_needed(documents):
    """Without any one of them, a kind that patches merge would be missing, or one that belongs to no namespace."""
    for left_out in range(len(documents)):
        rest = [document for place, document in enumerate(documents) if place != left_out]
        assert kustomize_merge.natively(rest) != json.loads(kustomize_merge.FILE.read_text("utf-8")), generate.DOCUMENTS[left_out]


def test_a_line_for_each_definition():
    """So that a change can be reviewed."""
    known = table.load()
    lines = forms.text(known._asdict()).splitlines()
    assert json.loads("\n".join(lines)) == known._asdict()
    assert len(lines) > len(known.kinds) + len(known.definitions)
