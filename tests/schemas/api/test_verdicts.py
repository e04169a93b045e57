"""Models, table, editor schema and CustomResourceDefinitions accept and refuse the same documents.

The one exception: JSON Schema cannot express that a key is unique in a list.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import given as drawn
from hypothesis import strategies as st

from krm_fn.render import config, expand
from krm_fn.render.convert import deprecated_fields
from krm_fn.schemas.generate import crds
from tests.platform import cel
from tests.support import build_checks, documents, golden

if TYPE_CHECKING:
    from tests.support.documents import Document

RECORDED = documents.recorded()
RULES = {f"nvidia.com/{version}": cel.rules(version) for version in crds.VERSIONS}
STRICTER = {"DYN205"}


def _is_resource(document: object) -> bool:
    """Returns if a document is a resource. A patch in JSON is a list."""
    return isinstance(document, dict)


EXAMPLES = [
    deprecated_fields.convert(document, deprecated_fields.Images({}, "default"))[0]
    for file in sorted(golden.EXAMPLES.rglob("*.yaml"))
    for document in filter(_is_resource, build_checks.read(file.read_text()))
    if documents.address(document) in documents.KINDS and document.get("metadata", {}).get("name")
]


def rules(document: Document) -> set[str]:
    """The codes of the rules that a document breaks. v0.9 refuses newer fields whatever they say, so only v1.5 judges them."""
    settings = (config.Config(), config.Config(behaviour="v1.5"))
    found = {each.code for setting in settings for each in expand.expand([document], setting).results}
    return found & RULES.get(document["apiVersion"], set())


def disagreement(document: Document) -> str:
    """The judges that differ from our own check, and how; empty if all agree."""
    found = documents.faults(document)
    lacking = not found and "DYN105" in rules(document)
    said = {"model": documents.model_fits(document), "editor": documents.editor_fits(document)}
    if found == {documents.TWINS}:
        del said["editor"]
    elif lacking:  # the one rule that editors judge too
        said["editor"] = not said["editor"]
    return ", ".join(f"the {who} says {fits}, the check {sorted(found)}" for who, fits in said.items() if fits is bool(found))


@settings(suppress_health_check=list(HealthCheck))
@drawn(document=st.sampled_from(sorted(documents.KINDS)).flatmap(documents.documents) | documents.graphs() | documents.newer_graphs())
def test_models_table_and_editor_schema_agree(document):
    assert disagreement(document) == ""


@pytest.mark.parametrize("document", documents.written(), ids=lambda document: document["kind"])
def test_they_agree_on_what_is_written_for_one_rule(document):
    assert disagreement(document) == ""


def test_examples_fit():
    assert {"DynamoGraphDeployment", "DynamoModel", "DynamoRender", "DynamoGraphDeploymentScalingAdapter"} <= {
        each["kind"] for each in EXAMPLES
    }
    assert [each for each in EXAMPLES if documents.faults(each) or disagreement(each)] == []


def test_enough_is_recorded():
    """Of each kind, the server accepted some documents and refused some for their types."""
    counted = Counter((documents.address(document), verdict.fits) for document, verdict in RECORDED)
    assert len(RECORDED) > 300
    assert min(counted[address, fits] for address in documents.SERVED for fits in (True, False)) > 9
    assert {code for _, verdict in RECORDED for code in verdict.rules} >= {"DYN100", "DYN171", "DYN472"}


def test_all_agree_with_the_word_of_an_api_server():
    """The answers were recorded under strict server-side apply. A broken rule is not a wrong type."""
    assert [document for document, verdict in RECORDED if verdict.fits is bool(documents.faults(document))] == []
    assert [document for document, _ in RECORDED if disagreement(document)] == []


def test_the_check_finds_every_rule_that_an_api_server_finds():
    """The check finds no other rule broken. A render requires an image of the main container too, which an API server does not."""
    for document, verdict in RECORDED:
        if verdict.fits:
            assert rules(document) - STRICTER == {*verdict.rules} - STRICTER, document


def test_the_api_server_says_it_again(control_plane):
    documents.serve(control_plane, "v1alpha1")
    assert changed(control_plane, "v1alpha1") == []


def test_the_api_server_of_v1beta1_says_it_again(dynamo_v1beta1):
    documents.serve(dynamo_v1beta1, "v1beta1")
    assert changed(dynamo_v1beta1, "v1beta1") == []


def changed(plane, version):
    """The documents of a version about which the API server now says something else."""
    mine = documents.judged_by(version, [document for document, _ in RECORDED])
    said = [verdict for document, verdict in RECORDED if document in mine]
    return [document for document, verdict in zip(mine, said, strict=True) if documents.server_says(plane, document) != verdict]
