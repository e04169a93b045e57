"""A server that tests share ends with the last test of its group, and runs until then."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.testbed import programs, scheduler

pytestmark = pytest.mark.slow  # starts a run of tests
HOOKS = "pytest_collection_modifyitems, pytest_fixture_setup, pytest_runtest_teardown, pytest_xdist_make_scheduler"
TESTS = f"""
from pathlib import Path
import pytest
from tests.conftest import {HOOKS}
EVENTS = Path(__file__).with_name("events")

def note(event):
    with EVENTS.open("a") as file:
        print(event, file=file)

@pytest.fixture(scope="session")
def control_plane():
    note("server starts")
    yield
    note("server ends")

@pytest.fixture(scope="session")
def users(control_plane):
    yield
    note("users end")
"""
ROWS = """
import conftest

def test_first(users):
    conftest.note("first")

def test_alone():
    conftest.note("alone")

def test_last(control_plane):
    conftest.note("last")
"""
EVENTS = [
    # options, what happens
    (["-n", "1", "--dist", "loadgroup"], ["server starts", "first", "last", "users end", "server ends", "alone"]),
    (["-n", "1", "--dist", "loadfile"], ["server starts", "first", "alone", "last", "users end", "server ends"]),
    ([], ["server starts", "first", "alone", "last", "users end", "server ends"]),
]


@pytest.mark.parametrize(("options", "events"), EVENTS, ids=["groups", "files", "one process"])
def test_a_server_ends_with_its_group(tmp_path, options, events):
    """What depends on the server ends before it. Without groups, nobody knows which test needs it next, so it runs until the end."""
    (tmp_path / "conftest.py").write_text(TESTS)
    (tmp_path / "test_rows.py").write_text(ROWS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), "-c", "/dev/null", *options]
    environment = {"PYTHONPATH": f"{programs.ROOT}:{tmp_path}", "PATH": "/usr/bin:/bin"}
    done = subprocess.run([*command, str(tmp_path)], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "events").read_text().splitlines() == events


GROUPS = [
    # name of a test, its group
    ("tests/a.py::test_b@control_plane", "control_plane"),
    ("tests/a.py::test_b[me@example.org]", ""),
    ("tests/a.py::test_b[me@example.org]@fragile", "fragile"),
    ("tests/a.py::test_b", ""),
]


@pytest.mark.parametrize(("name", "group"), GROUPS)
def test_the_group_stands_behind_the_name(name, group):
    assert scheduler.group_of(name) == group
