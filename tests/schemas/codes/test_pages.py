"""The pages in the docs are those of the texts, and their examples do what they say."""

from __future__ import annotations

import textwrap
from pathlib import Path

import error_pages
import pytest
import yaml

from krm_fn.base.yaml import reader
from krm_fn.render import expand
from krm_fn.render.rules import updates
from krm_fn.repository.files import sources
from krm_fn.review import altered_values, native_objects, refused_by_nodes
from krm_fn.review.arguments import argument_findings
from krm_fn.schemas import codes

GRAPH = "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata: {name: chat, namespace: demo}\nspec:\n"
NO_SERVICES = "  services: {Frontend: {componentType: frontend}}\n"
EXAMPLES = [
    (code, which, text) for code, page in codes.pages().items() for which, text in (("wrong", page.wrong), ("right", page.right)) if text
]


def test_the_pages_are_those_of_the_texts():
    """`make generate` writes them."""
    assert {path: path.read_text() for path in error_pages.FOLDER.iterdir()} == error_pages.made()


@pytest.mark.parametrize("code", codes.pages())
def test_a_page_says_in_sentences_what_it_means_and_how_to_fix_it(code):
    page = codes.pages()[code]
    for text in (page.means, page.fix):
        assert text[0].isupper() or text[0] == "`"
        assert text.endswith(".")
    assert codes.markdown(code).startswith(f"# {code}: {codes.pages()[code].title}\n\n")
    assert not page.wrong or page.wrong != page.right


def test_each_page_has_a_name():
    assert codes.pages()["DYN021"] == codes.page("DYN021")
    assert list(codes.pages()) == codes.names()
    with pytest.raises(KeyError):
        codes.page("DYN055")


def test_a_title_needs_no_other_page(monkeypatch):
    parsed = []
    read = reader.read

    def recorded(text):
        parsed.append(text.partition(":")[0])
        return read(text)

    monkeypatch.setattr(reader, "read", recorded)
    codes.page.cache_clear()
    assert codes.page("DYN021").title == "Wrong type"
    assert parsed == ["DYN021"]


def test_many_pages_have_an_example():
    assert len({code for code, which, _ in EXAMPLES if which == "wrong"}) > len(codes.pages()) / 2


@pytest.mark.parametrize(("code", "which", "text"), EXAMPLES, ids=[f"{code}-{which}" for code, which, _ in EXAMPLES])
def test_the_wrong_example_has_the_finding_and_the_right_one_has_not(code, which, text, tmp_path, monkeypatch):
    """The message of the page is that of the wrong example."""
    monkeypatch.chdir(tmp_path)
    Path("example.yaml").write_text(whole(text))
    loaded = sources.load(["example.yaml"])
    natively = native_objects.check(loaded.values, loaded.config)
    planned: list[expand.PlannedResource] = []
    expanded = expand.expand(loaded.values, loaded.config, planned.append)
    found = [*loaded.results, *expanded.results, *natively, *altered_values.check(loaded.values)]
    found += [*refused_by_nodes.check(loaded.values), *argument_findings.check(planned)]
    messages = [result.message for result in found if result.code == code]
    assert (codes.page(code).message in messages) if which == "wrong" else messages == [], found


def whole(text):
    """The example inside a complete resource."""
    fields = {"services", "pvcs", "restart", "envs", "backendFramework", "dynamoComponent"}
    if text.split(":")[0] not in fields:
        return text
    services = "" if "services:" in text else NO_SERVICES
    return GRAPH + textwrap.indent(text, "  ") + services


def test_changes_have_no_examples_of_one_state():
    """A change needs two states, so the page has no example."""
    assert [code for code, _, _ in EXAMPLES if "DYN400" <= code < "DYN409"] == []
    assert updates.SERVICES in codes.pages()


def test_examples_are_yaml_that_a_reader_can_take_over():
    for code, which, text in EXAMPLES:
        if (which, code) not in (("wrong", "DYN004"), ("wrong", "DYN007"), ("wrong", "DYN008"), ("wrong", "DYN009")):
            assert list(yaml.safe_load_all(text)), code
