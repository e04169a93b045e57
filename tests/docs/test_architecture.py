"""The picture of docs/architecture.md shows the wings of `krm_fn` and their imports, and its table describes each wing."""

from __future__ import annotations

import re

from tests.docs.test_wings import WINGS, imported
from tests.testbed import programs


def page():
    return (programs.ROOT / "docs/architecture.md").read_text()


def arrows():
    picture = page().partition("```mermaid\n")[2].partition("```")[0]
    for line in picture.splitlines():
        if "-->" in line:
            sources, *targets = (re.findall(r"\w+", part.split("[")[0]) for part in line.split("-->"))
            for following in targets:
                yield from ((source, target) for source in sources for target in following)
                sources = following


def reached(wing):
    """The wings to which the arrows of the picture lead from a wing."""
    targets = {target for source, target in arrows() if source == wing}
    return targets.union(*map(reached, targets))


def test_the_picture_shows_each_wing():
    picture = page().partition("```mermaid\n")[2].partition("```")[0]
    assert sorted(re.findall(r'^ +(\w+)\["', picture, flags=re.MULTILINE)) == sorted([*WINGS, "main"])


def test_each_import_between_wings_follows_the_arrows_of_the_picture():
    assert [(wing, other) for wing in WINGS for other in sorted(imported(wing) - reached(wing))] == []


def test_each_arrow_of_the_picture_is_an_import():
    assert [(source, target) for source, target in arrows() if source != "main" and target not in imported(source)] == []


def test_the_table_describes_each_wing():
    rows = re.findall(r"^\| \[`krm_fn/(\w+)`\]\(\.\./krm_fn/\w+/README\.md\) \|", page(), flags=re.MULTILINE)
    assert sorted(rows) == WINGS
