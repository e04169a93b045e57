"""The picture and the table of docs/architecture.md show the packages of `krm_fn`."""

from __future__ import annotations

import re

from tests.testbed import programs

PACKAGES = {path.name.removesuffix(".py") for path in (programs.ROOT / "krm_fn").iterdir()}


def page():
    return (programs.ROOT / "docs/architecture.md").read_text()


def test_every_node_of_the_picture_is_a_package():
    picture = page().partition("```mermaid\n")[2].partition("```")[0]
    nodes = {name.strip() for label in re.findall(r'\["([^:"]+):', picture) for name in label.split(",")}
    assert nodes <= PACKAGES
    assert len(nodes) > 12


def test_every_row_of_the_table_is_a_package():
    rows = re.findall(r"^\| `krm_fn/([a-z_]+)(?:\.py)?` \|", page(), flags=re.MULTILINE)
    assert set(rows) <= PACKAGES
    assert len(rows) > 12


def test_every_import_in_the_picture_starts_and_ends_at_a_node():
    picture = page().partition("```mermaid\n")[2].partition("```")[0]
    nodes = set(re.findall(r"^ +([a-z_]+)\[", picture, flags=re.MULTILINE))
    arrows = [line.split("-->") for line in picture.splitlines() if "-->" in line]
    assert {name.strip() for arrow in arrows for part in arrow for name in part.split("&")} <= nodes
    assert len(arrows) > 10
