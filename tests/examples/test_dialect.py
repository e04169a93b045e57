"""Examples and pages show graphs in v1beta1, except those that are about the older version."""

from __future__ import annotations

import re

import pytest

from tests.support import golden, markdown
from tests.testbed import programs

FIELDS = "extraPodSpec|extraPodMetadata|mainContainer|componentType|envFromSecret|mountPoint|useAsCompilationCache|envs|pvcs|services"
OLDER = re.compile(rf"^ *(?:- )?(?:{FIELDS}):|^apiVersion: nvidia\.com/v1alpha1\nkind: Dynamo(?:Graph|Component)Deployment$", re.MULTILINE)
"""A field that only v1alpha1 has, or a graph of it. An indented block, such as a patch in a Kustomization, counts for its fields."""

OLDER_EXAMPLES = {
    "flux": "the walk-through of the vendor, as it stands",
    "older-forms": "deprecated fields",
    "older-planner": "a planner of Dynamo 0.8",
    "operator-1-3": "the operator 1.3 reads v1alpha1",
    "v1beta1-both-versions": "a comparison",
}
OLDER_PAGES = {
    "docs/releases.md": "a graph that moves from 0.9 to 1.5",
    "docs/requests.md": "the graph that the profiler of 0.9 writes",
    "docs/v1beta1.md": "a comparison",
}
PAGES = sorted([*(programs.ROOT / "docs").glob("*.md"), *programs.ROOT.glob("*.md"), *golden.EXAMPLES.glob("*/README.md")])


def name(file):
    return str(file.relative_to(programs.ROOT))


def older_files(example):
    """The files of an example, among them its expected output, that have the older version."""
    return [name(file) for file in sorted(example.rglob("*.yaml")) if OLDER.search(file.read_text())]


@pytest.mark.parametrize("example", sorted(path for path in golden.EXAMPLES.iterdir() if path.is_dir()), ids=lambda path: path.name)
def test_an_example_has_the_newer_version_unless_it_is_about_the_older_one(example):
    assert bool(older_files(example)) is (example.name in OLDER_EXAMPLES)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_page_shows_the_newer_version_unless_it_is_about_the_older_one(page):
    """The snippets of a page in YAML. Outputs of commands are not among them."""
    snippets = [text for _, text in markdown.fenced(page.read_text(), "yaml") if OLDER.search(text)]
    assert bool(snippets) is (name(page) in OLDER_PAGES)
