"""Tests the pages of the docs: commands in console blocks print the output on the page, links have a target, tables are complete."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
import yaml

from krm_fn.render import config, function_config, labels
from tests.support import golden, markdown
from tests.testbed import programs

ROOT = programs.ROOT
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), golden.EXAMPLES / "README.md", *golden.EXAMPLES.glob("*/README.md")])
ALL_PAGES = ROOT / "docs" / "all-pages.md"
CONSOLES = [page for page in PAGES if markdown.consoles(page.read_text())]
TOOLS = ("kustomize", "kpt", "kubectl")
AUTHOR = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in (("NAME", "A"), ("EMAIL", "a@example.com"))}
"""The settings of git that a reader has already."""


def name(page):
    return str(page.relative_to(ROOT))


@pytest.fixture
def clone(tmp_path):
    """A copy of the examples, without files of earlier commands."""
    shutil.copytree(golden.EXAMPLES, tmp_path / "examples")
    return tmp_path


def test_pages_are_found():
    assert {"README.md", "CHANGELOG.md", "docs/layouts.md", "examples/agg-vllm/README.md"} <= {name(page) for page in PAGES}
    assert ROOT / "README.md" in CONSOLES


SLOW = [pytest.param(page, marks=() if name(page) == "README.md" else pytest.mark.slow, id=name(page)) for page in CONSOLES]


@pytest.mark.parametrize("page", SLOW)
def test_commands_print_what_the_page_says(page, clone):
    """All commands of a page run in one folder. After a command that fails, the page shows `echo $?`."""
    text = page.read_text()
    started = [tool for tool in TOOLS if re.search(rf"^\$ (\w+=\S+ )*{tool} ", text, re.MULTILINE)]
    environment = {**golden.environment(*started), **AUTHOR, "COLUMNS": "80", "LC_ALL": "C.UTF-8"}
    for file, content in markdown.files(text).items():
        (clone / file).parent.mkdir(parents=True, exist_ok=True)
        (clone / file).write_text(content)
    for block in markdown.consoles(text):
        code = 0
        for command, following in zip(block, [*block[1:], None], strict=True):
            answer = markdown.run(command.typed, clone, environment, code)
            place = f"{name(page)}:{command.line}: {command.typed}"
            assert markdown.matches(command.output, answer.output), f"{place}\n{answer.output}"
            code = answer.code
            assert code == 0 or (following and following.typed == "echo $?"), f"{place}: exit code {code}\n{answer.output}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text()):
        if not target.startswith(("http://", "https://")):
            path, _, heading = target.partition("#")
            assert (page.parent / path).exists(), target
            if heading:
                assert heading in anchors((page.parent / path) if path else page), target


def anchors(page):
    """The anchors that GitHub makes of the headings of a page."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_list_of_all_pages_leads_everywhere():
    listed = {(ALL_PAGES.parent / target).resolve() for target in re.findall(r"\]\(([^)#]+)", ALL_PAGES.read_text())}
    listed.add(ALL_PAGES)
    assert [name(page) for page in PAGES if page.parent in (ROOT, ROOT / "docs") and page not in listed] == []


def test_the_front_page_leads_to_the_layouts():
    text = (ROOT / "README.md").read_text()
    layouts = [folder / "README.md" for folder in golden.folders() if folder.name.startswith("layout-")]
    assert [name(page) for page in layouts if f"({name(page)})" not in text] == []


def test_the_list_of_all_pages_has_the_sections_of_the_site():
    """The page lists the pages of each section of the navigation under the same heading, in the same order."""
    parts = re.split(r"^## ", ALL_PAGES.read_text(), flags=re.MULTILINE)[1:]
    listed = {
        title: [name((ALL_PAGES.parent / target).resolve()) for target in re.findall(r"^\| \[.*?\]\((\S+\.md)\)", part, re.MULTILINE)]
        for title, _, part in (part.partition("\n") for part in parts)
    }
    navigation = yaml.safe_load((ROOT / "tools" / "website" / "navigation.yaml").read_text())["navigation"]
    assert listed == {title: [*navigated(value)] for entry in navigation[1:] for title, value in entry.items()}


def navigated(value):
    """The pages of an entry of the navigation. The list has the first page of a subsection for all of them."""
    if isinstance(value, str):
        yield from [value] * ("*" not in value)
        return
    for entry in value:
        yield from navigated(entry if isinstance(entry, str) else next(iter(entry.values())))


def test_the_page_of_commands_lists_every_verb_and_shows_its_help():
    said = subprocess.run(["krm-fn", "--help"], env=golden.environment(), capture_output=True, text=True, check=True).stdout
    verbs = re.findall(r"^  (\w+) ", said.partition("Options:")[2], re.MULTILINE)
    commands = golden.COMMANDS.read_text()
    assert verbs
    assert [verb for verb in verbs if f"| `krm-fn {verb}" not in commands] == []
    assert [verb for verb in verbs if f"$ krm-fn {verb} --help" not in commands] == []
    assert "\\b" not in commands


def test_make_targets_of_the_front_page_exist():
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    asked = re.findall(r"^make (\w+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert asked
    assert {*asked} <= {*targets}


def reference():
    """The commented configuration with all keys."""
    section = (ROOT / "docs" / "configuration.md").read_text().partition("## All keys\n")[2]
    (first, *_) = markdown.fenced(section, "yaml")
    return yaml.safe_load(first[1])


def test_the_reference_configuration_says_the_defaults():
    assert function_config.read(reference()) == (config.Config(), [])


def test_the_reference_configuration_has_every_key():
    assert reference()["spec"] == plain(config.Config())


def plain(settings):
    """Settings as plain YAML values."""
    if hasattr(settings, "_fields"):
        return {config.key(field): plain(getattr(settings, field)) for field in settings._fields}
    return list(settings) if isinstance(settings, tuple) else settings


def test_the_page_of_annotations_knows_every_key():
    page = (ROOT / "docs" / "annotations.md").read_text()
    own = ("nvidia.com/", labels.PREFIX)
    keys = {value for value in vars(labels).values() if isinstance(value, str) and value.startswith(own) and value not in own}
    keys |= {labels.MANAGED_BY, *labels.RETAIN}
    assert sorted(key for key in keys if f"`{key}" not in page) == []


def test_the_page_of_annotations_knows_no_other_key():
    """The page has no key that the code does not read or write."""
    page = (ROOT / "docs" / "annotations.md").read_text()
    code = (ROOT / "krm_fn" / "render" / "labels.py").read_text().replace('PREFIX + "', f'"{labels.PREFIX}')
    mentioned = re.findall(r"`((?:nvidia\.com|dynamo\.krm-fn\.io)/[-\w]+\.?)", page)
    assert [key for key in mentioned if f'"{key}"' not in code] == []
