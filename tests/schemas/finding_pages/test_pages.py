"""The pages in the docs are those of the texts, and their examples do what they say.

Examples and texts are those of v1beta1, unless only v1alpha1 has the field or the mistake.
"""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path

import error_pages
import pytest
import yaml

from krm_fn.base.yaml import reader
from krm_fn.render import dynamo_api, expand
from krm_fn.render.convert import versions
from krm_fn.repository.files import sources
from krm_fn.review import altered_values, native_objects, refused_by_nodes
from krm_fn.review.arguments import argument_findings
from krm_fn.schemas import finding_pages

GRAPH = "apiVersion: nvidia.com/{}\nkind: DynamoGraphDeployment\nmetadata: {{name: chat, namespace: demo}}\nspec:\n{}"
PARTS = {
    dynamo_api.ALPHA1: ("services", "  services: {Frontend: {componentType: frontend}}\n"),
    dynamo_api.BETA1: ("components", "  components: [{name: Frontend, type: frontend}]\n"),
}
"""The field with the parts of a graph in each version, and one such part for examples without it."""
FIELDS = {"services", "components", "pvcs", "restart", "env", "envs", "backendFramework", "dynamoComponent", "priorityClassName"}
"""The fields of the `spec` of a graph with which an example can begin."""
OLDER_GRAPH = re.compile(r"apiVersion: nvidia\.com/v1alpha1\nkind: Dynamo(Graph|Component)Deployment$", re.MULTILINE)
OLDER_WORDS = re.compile(
    r"extraPod(Spec|Metadata)|mainContainer|(sub)?[cC]omponentType|envFromSecret|mountPoint|useAsCompilationCache|scalingAdapter\.enabled"
    r"|\b(envs|pvcs|spec\.services)\b"
)
EXAMPLES = [
    (code, which, text)
    for code, page in finding_pages.pages().items()
    for which, text in (("wrong", page.wrong), ("right", page.right))
    if text
]


@pytest.mark.xdist_group("error-pages")
def test_the_pages_are_those_of_the_texts():
    """`make generate` writes them."""
    assert {path: path.read_text() for path in error_pages.FOLDER.iterdir()} == error_pages.made()


@pytest.mark.parametrize("code", finding_pages.pages())
def test_a_page_says_in_sentences_what_it_means_and_how_to_fix_it(code):
    page = finding_pages.pages()[code]
    for text in (page.means, page.fix):
        assert text[0].isupper() or text[0] == "`"
        assert text.endswith(".")
    assert finding_pages.markdown(code).startswith(f"# {code} {finding_pages.name(code)}: {page.title}\n\n")
    assert not page.wrong or page.wrong != page.right


def test_each_page_has_a_name():
    assert finding_pages.pages()["DYN021"] == finding_pages.page("DYN021")
    assert [*finding_pages.pages()] == [*finding_pages.CONSTANTS]
    assert {finding_pages.find(finding_pages.name(code)): finding_pages.find(code.lower()) for code in finding_pages.CONSTANTS} == {
        code: code for code in finding_pages.CONSTANTS
    }
    with pytest.raises(KeyError):
        finding_pages.page("DYN055")


def test_a_title_needs_no_other_page(monkeypatch):
    parsed = []
    read = reader.read

    def recorded(text):
        parsed.append(text.partition(":")[0])
        return read(text)

    monkeypatch.setattr(reader, "read", recorded)
    finding_pages.page.cache_clear()
    assert finding_pages.page("DYN021").title == "Wrong type"
    assert parsed == ["DYN021"]


def test_many_pages_have_an_example():
    assert len({code for code, which, _ in EXAMPLES if which == "wrong"}) > len(finding_pages.pages()) / 2


@pytest.mark.parametrize(("code", "which", "text"), EXAMPLES, ids=[f"{code}-{which}" for code, which, _ in EXAMPLES])
def test_the_wrong_example_has_the_finding_and_the_right_one_has_not(code, which, text, tmp_path, monkeypatch):
    """The message of the page is that of the wrong example."""
    monkeypatch.chdir(tmp_path)
    found = findings(whole(text, finding_pages.page(code).version))
    messages = [result.message for result in found if result.code == code]
    assert (finding_pages.page(code).message in messages) if which == "wrong" else messages == [], found


OLDER = [code for code, page in finding_pages.pages().items() if page.version == dynamo_api.ALPHA1]


@pytest.mark.parametrize("code", [code for code in OLDER if finding_pages.page(code).wrong])
def test_an_example_is_in_v1alpha1_only_if_v1beta1_has_no_such_finding(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    documents = yaml.safe_load_all(whole(finding_pages.page(code).wrong, dynamo_api.ALPHA1))
    converted = [versions.to(dynamo_api.BETA1, document) for document in documents]
    for document in converted:  # without the fields of v1alpha1 that a conversion preserves in annotations
        document["metadata"].pop("annotations", None)
    assert code not in {result.code for result in findings(yaml.safe_dump_all(converted))}


@pytest.mark.parametrize("code", finding_pages.pages())
def test_a_page_says_which_version_its_graphs_have(code):
    page = finding_pages.page(code)
    assert page.version in PARTS
    for text in filter(None, (page.wrong, page.right)):
        assert bool(OLDER_GRAPH.search(whole(text, page.version))) <= (page.version == dynamo_api.ALPHA1)
    is_named = "fields of `nvidia.com/v1alpha1`:" in finding_pages.markdown(code)
    assert is_named is (page.version == dynamo_api.ALPHA1 and bool(page.wrong or page.right))


NEWER = [code for code in finding_pages.CONSTANTS if code not in (*OLDER, "DYN409")]  # 409: a preserved field of v1alpha1


@pytest.mark.parametrize("code", NEWER)
def test_a_text_names_fields_of_v1alpha1_only_beside_its_name(code):
    """A reader of a v1beta1 graph can copy the names of all other fields."""
    page = finding_pages.page(code)
    for text in (page.title, page.message, page.means, page.fix):
        assert not OLDER_WORDS.search(text) or "v1alpha1" in text, text


def findings(text):
    """What `krm-fn check` finds in a file."""
    Path("example.yaml").write_text(text)
    loaded = sources.load(["example.yaml"])
    natively = native_objects.check(loaded.values, loaded.config)
    planned: list[expand.PlannedResource] = []
    expanded = expand.expand(loaded.values, loaded.config, planned.append)
    found = [*loaded.results, *expanded.results, *natively, *altered_values.check(loaded.values)]
    return [*found, *refused_by_nodes.check(loaded.values), *argument_findings.check(planned)]


def whole(text, version):
    """The example inside a complete resource of a version."""
    if text.split(":")[0] not in FIELDS:
        return text
    field, one_part = PARTS[version]
    return GRAPH.format(version, textwrap.indent(text, "  ") + ("" if f"{field}:" in text else one_part))


def test_changes_have_no_examples_of_one_state():
    """A change needs two states, so the page has no example."""
    assert [code for code, _, _ in EXAMPLES if "DYN400" <= code < "DYN409"] == []


def test_examples_are_yaml_that_a_reader_can_take_over():
    for code, which, text in EXAMPLES:
        if (which, code) not in (("wrong", "DYN004"), ("wrong", "DYN007"), ("wrong", "DYN008"), ("wrong", "DYN009")):
            assert list(yaml.safe_load_all(text)), code


@pytest.mark.parametrize(
    ("reason", "module", "reported"),
    [
        ("an argument", "error(codes.NO_INPUT, text)", {"NO_INPUT"}),
        ("a part of a result", "def rule():\n    return codes.NO_INPUT, text", {"NO_INPUT"}),
        ("a variable", "_CODE = codes.NO_INPUT\nerror(_CODE, text)", {"NO_INPUT"}),
        ("two variables", "_NULL, _CODE = codes.NULL_FIELD, codes.NO_INPUT\nerror(_CODE, text) if code == _NULL else None", {"NO_INPUT"}),
        ("a variable for other modules", "MOVED = codes.NO_INPUT", {"NO_INPUT"}),
        ("the key of a message", "MESSAGES = {codes.NO_INPUT: text}", {"NO_INPUT"}),
        ("a comparison", "result.code == codes.NO_INPUT", set()),
        ("a list of codes", "_KNOWN = (codes.NO_INPUT, codes.NULL_FIELD)\nresult.code in _KNOWN", set()),
        ("a list of variables", "_CODE = codes.NO_INPUT\n_KNOWN = (_CODE, codes.NULL_FIELD)", set()),
        ("an argument by code", "check(severities={codes.NO_INPUT: severity})", set()),
        ("a word of a message", 'f"ignore {codes.NO_INPUT}"', set()),
    ],
)
def test_a_page_links_to_the_modules_that_report_its_code(reason, module, reported):
    assert error_pages.reported(ast.parse(module)) == reported


@pytest.mark.xdist_group("error-pages")
def test_every_page_links_to_a_module():
    """A link leads to a file of the clone."""
    pages = {path: text for path, text in error_pages.made().items() if path.name.startswith("DYN")}
    links = {path: re.findall(r"\]\((\.\./\.\./krm_fn/[^)]+)\)", text.rpartition("\nRule: ")[2]) for path, text in pages.items()}
    assert [path for path, targets in links.items() if not targets or not all((path.parent / target).is_file() for target in targets)] == []
