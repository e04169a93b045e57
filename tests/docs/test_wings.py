"""Each wing of `krm_fn` has a README: what it says about imports and files is true, and its example runs."""

from __future__ import annotations

import doctest
import functools
import re

import pytest

from tests.testbed import programs

PACKAGE = programs.ROOT / "krm_fn"
WINGS = sorted(path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__")


def page(wing):
    return (PACKAGE / wing / "README.md").read_text("utf-8")


IMPORT = re.compile(r"^ *from krm_fn(?:\.(\w+)\S*)? import (\([^)]*\)|.+)", re.MULTILINE)


@functools.cache
def imported(wing):
    """The other wings that modules of a wing import, also for the type checker."""
    lines = [match for file in (PACKAGE / wing).rglob("*.py") for match in IMPORT.findall(file.read_text("utf-8"))]
    names = {name for inner, several in lines for name in ([inner] if inner else re.findall(r"\w+", several))}
    return names & {*WINGS} - {wing}


def test_there_are_eleven_wings_and_the_entry():
    assert len(WINGS) == 11
    assert (PACKAGE / "__main__.py").exists()


@pytest.mark.parametrize("wing", WINGS)
def test_the_example_of_a_wing_runs(wing, monkeypatch):
    monkeypatch.chdir(programs.ROOT)
    result = doctest.testfile(str(PACKAGE / wing / "README.md"), module_relative=False, encoding="utf-8")
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("wing", [wing for wing in WINGS if wing not in ("base", "cli")])
def test_a_wing_imports_what_its_page_says(wing):
    (sentence,) = re.findall(r"^It imports [^.]*\.", page(wing), flags=re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", sentence)) == imported(wing)


def test_base_imports_nothing_and_cli_everything():
    assert imported("base") == set()
    assert imported("cli") == {*WINGS} - {"cli"}


@pytest.mark.parametrize("wing", WINGS)
def test_the_files_of_a_page_exist(wing):
    rows = re.findall(r"^\| (`[^|]+) \|", page(wing), flags=re.MULTILINE)
    folder, missing = PACKAGE / wing, []
    for row in rows:
        missing += [name for name in re.findall(r"`([^`]+)`", row) if not (folder / name).exists()]
    assert missing == []
    assert len(rows) > 5


@pytest.mark.parametrize("wing", WINGS)
def test_a_page_is_one_page(wing):
    assert len(page(wing).splitlines()) < 60
