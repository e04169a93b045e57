"""Every code has one title, one meaning and one range, is used somewhere, and those of graphs can be brought about."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import krm_fn
from krm_fn import codes
from tests.support import faults

SOURCES = sorted(Path(krm_fn.__file__).parent.rglob("*.py"))
ABOUT = ("codes.py", "pages")  # these speak of codes and find nothing
USED = {code for file in SOURCES if not {*file.parts} & {*ABOUT} for code in re.findall(r'"(DYN[0-9]{3})"', file.read_text())}
TEXT = Path(codes.__file__).read_text()


def test_there_are_sources_to_look_at():
    assert len(SOURCES) > 50
    assert len(USED) > 100


def test_every_code_that_is_used_has_a_title_and_none_else_has():
    assert set(codes.TITLES) == USED


def test_every_code_is_listed_once_in_its_order():
    listed = re.findall(r'^    "(DYN[0-9]{3})":', TEXT, re.MULTILINE)
    assert listed == sorted(set(listed))
    assert listed == list(codes.TITLES)


def test_every_code_stands_below_the_comment_of_its_range():
    """The ranges are said twice: in the comments between the titles, and in the module's own sentence."""
    first = last = 0
    for line in TEXT.splitlines():
        if found := re.fullmatch(r"    # ([0-9]{3})-([0-9]{3}): .+", line):
            assert int(found[1]) > last or int(found[2]) <= last
            first, last = int(found[1]), int(found[2])
        elif found := re.match(r'    "DYN([0-9]{3})":', line):
            assert first <= int(found[1]) <= last


def test_titles_are_short_capitalised_and_told_apart():
    titles = list(codes.TITLES.values())
    assert len(set(titles)) == len(titles)
    assert all((title[0].isupper() or title.startswith("functionConfig")) and len(title) <= 90 and title[-1].isalnum() for title in titles)


TESTS = "".join(file.read_text() for file in Path(__file__).parents[1].rglob("test_*.py") if file != Path(__file__))
BY_RULES = {code for case in faults.ALL for code, _ in case.found}


@pytest.mark.parametrize("code", codes.TITLES)
def test_every_finding_is_brought_about_by_some_test(code):
    """Those about graphs by the table of faults, which is run elsewhere; the others where they are named."""
    assert code in BY_RULES or code in TESTS


@pytest.mark.parametrize("code", [code for code in codes.TITLES if "DYN100" <= code < "DYN170" or "DYN200" <= code < "DYN400"])
def test_every_finding_about_graphs_stands_in_the_table(code):
    assert code in BY_RULES


def test_rules_have_twins_that_do_not_fire():
    assert sum(not case.found for case in faults.ALL) > 60
