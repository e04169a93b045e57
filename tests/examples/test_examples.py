"""Tests every folder of examples/: its README is right, and its render has the properties that every render must have."""

from __future__ import annotations

import copy
import random
import re

import pytest
import yaml

from krm_fn.render import apply_order, config, expand, function_config
from tests.support import build_checks, golden, markdown, workload_templates
from tests.testbed import programs

EXAMPLES = [folder for folder in golden.folders() if not folder.name.startswith("layout-")]
LAYOUTS = [folder for folder in golden.folders() if folder.name.startswith("layout-")]
EACH = pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)


def recording(folder):
    (only,) = golden.of(folder)
    return only


def source(folder):
    """The file that the command of the README renders."""
    return programs.ROOT / recording(folder).command.split()[-1]


def given(folder):
    return build_checks.read(source(folder).read_text())


def expected(folder):
    return build_checks.read((folder / "expected.yaml").read_text())


def settings(folder):
    file = folder / "config.yaml"
    read, found = function_config.read(yaml.safe_load(file.read_text()) if file.exists() else None)
    assert found == []
    return read


def told(folder):
    """The codes of the findings in the README; the example must have exactly these."""
    return re.findall(r": (?:warning|info) (DYN\d{3}) ", (folder / "README.md").read_text())


def codes(expanded):
    return [found.code for found in expanded.results]


def leaving(expanded):
    """The resources that the command prints: all without the local-config annotation."""
    return [each for each in expanded.resources if build_checks.notes(each).get("config.kubernetes.io/local-config") != "true"]


def identities(objects):
    return {(each["apiVersion"], each["kind"], each["metadata"].get("namespace"), each["metadata"]["name"]): each for each in objects}


def test_examples_and_layouts_are_found():
    assert EXAMPLES
    assert LAYOUTS
    assert [folder.name for folder in golden.folders() if not (folder / "README.md").exists()] == []
    assert [folder.name for folder in EXAMPLES if len(golden.of(folder)) != 1] == []


def test_readme_lists_every_folder_that_has_a_case():
    """Each folder under examples/ has a command that prints objects, or is the kpt package."""
    assert [folder.name for folder in golden.folders() if not golden.of(folder)] == [golden.PACKAGE.parent.name]


@EACH
def test_the_command_of_the_readme_gives_what_is_recorded(folder):
    assert golden.output(recording(folder)) == recording(folder).expected.read_text()


@pytest.mark.slow
@EACH
def test_rendering_the_output_again_changes_nothing(folder):
    again = recording(folder)._replace(command=recording(folder).command.replace(source(folder).name, "expected.yaml"))
    assert golden.output(again) == (folder / "expected.yaml").read_text()


@pytest.mark.slow
@EACH
def test_neither_hash_seeds_nor_files_change(folder):
    """The recorded output was made with another seed."""
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    for seed in ("0", "1"):
        assert golden.output(recording(folder), PYTHONHASHSEED=seed) == recording(folder).expected.read_text()
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before


@EACH
def test_the_input_is_left_alone(folder):
    resources = given(folder)
    before = copy.deepcopy(resources)
    expanded = expand.expand(resources, settings(folder))
    assert codes(expanded) == told(folder)
    assert resources == before


@EACH
def test_the_core_agrees_with_the_command(folder):
    """The command adds only reading, writing and the apply order."""
    expanded = expand.expand(given(folder), settings(folder))
    assert apply_order.sort(leaving(expanded)) == expected(folder)


@EACH
@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_the_input_does_not_matter(folder, seed):
    """Holds for the user's resources alone, and mixed with the output of an earlier render."""
    before = given(folder)
    earlier = [each for key, each in identities(expected(folder)).items() if key not in identities(before)]
    for resources in (before, before + earlier[::2], before + earlier):
        shuffled = random.Random(seed).sample(resources, len(resources))  # noqa: S311 - any order will do
        expanded = expand.expand(shuffled, settings(folder))
        assert codes(expanded) == told(folder)
        assert identities(leaving(expanded)) == identities(expected(folder))


@EACH
def test_the_output_is_fit_for_a_cluster(folder):
    build_checks.assert_fit(expected(folder))
    build_checks.assert_nothing_lies(expected(folder))


@EACH
def test_every_container_has_an_image_and_limits(folder):
    """Except the containers that the function adds without resources, as the operator does: one that waits, and one that shares GPUs."""
    for template in (template for each in expected(folder) for template in workload_templates.templates(each)):
        for container in (*template["spec"].get("initContainers", ()), *template["spec"]["containers"]):
            assert container["image"]
            assert container["name"] in ("wait-for-leader-mp", "gms-server") or {"cpu", "memory"} <= container["resources"]["limits"].keys()


@EACH
def test_the_table_of_the_readme_names_every_object(folder):
    assert named(folder / "README.md") == sorted(f"{each['kind']} {each['metadata']['name']}" for each in expected(folder))


def test_the_table_of_the_front_page_names_every_object():
    """The graph of the front page has at most twenty lines, and renders to the objects in the table."""
    page = (programs.ROOT / "README.md").read_text()
    graph = markdown.files(page)["graph.yaml"]
    assert len(graph.splitlines()) <= 20
    expanded = expand.expand(build_checks.read(graph), config.Config(namespace="prod"))
    assert expanded.results == []
    assert named(programs.ROOT / "README.md") == sorted(f"{each['kind']} {each['metadata']['name']}" for each in expanded.resources)
    build_checks.assert_fit(expanded.resources)


def named(page):
    """Every `Kind name` in the first column of the tables of a page."""
    rows = [line.split("|")[1] for line in page.read_text().splitlines() if line.startswith("| `")]
    return sorted(name for row in rows for name in re.findall(r"`([A-Z]\w+ [-a-z0-9]+)`", row))
