"""Writes docs/running.md: which generated objects ran, with which engine and release, and what never ran.

The facts are the marks `ran` of the tests (`[tool:pytest]` in setup.cfg), and tools/never_ran.yaml. pytest collects the files with a mark
and runs no test.

Usage:

    python tools/running_page.py          # write the page
    python tools/running_page.py --print  # print it
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "running.md"
NEVER = ROOT / "tools" / "never_ran.yaml"
FIELDS = ("workload", "engine", "release", "result", "by")
RELEASES = ("0.9", "1.5", "1.6")
RESULTS = ("answered", "met", "parsed")
"""What a test shows, the strongest first."""

_WORKLOADS = ("Deployment", "LeaderWorkerSet", "PodCliqueSet")
_MARKED = re.compile(r"\bmark\.ran\(")
_INTRODUCTION = """\
# What ran where

This page is for those who want to know what is proven. It lists the generated objects that ran in a test, with their engine, under the
release of the Dynamo operator that the render follows. `make generate` writes this page from the tests.

The results:

* **answered**: a client got an answer to its request through the frontend.
* **met**: all pods of a group found each other.
* **parsed**: the parser of the real engine accepted the command line.
* **never**: no test ran it.

No test has a GPU. Pods run as processes on one machine, from the objects that `krm-fn` generates, with a real API server and real
controllers. `make help` lists the targets that run these tests.
"""
_NEVER = """\
## What never ran

Tests compare the objects of these features with those of the operator, or check them with real schemas and API servers. Nothing ran:

| feature | why no test runs it |
|---|---|
"""


class Ran(NamedTuple):
    """A mark of a test, and the test: its file below the root, and the name of its function."""

    workload: str
    engine: str
    release: str
    result: str
    by: str
    file: str
    function: str


class Never(NamedTuple):
    """A feature that no test runs, and the reason. It leaves the page as soon as a test has a mark that fits `unless`."""

    feature: str
    reason: str
    unless: dict[str, str]


def main() -> int:
    """Write or print the page. Exit code 1 if a test cannot be collected, or if a mark is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--print", action="store_true", help="print the page instead of writing it")
    to_print = parser.parse_args().print
    try:
        page = text(collected(ROOT / "tests"), never())
    except ValueError as problem:
        print(problem, file=sys.stderr)
        return 1
    if to_print:
        print(page, end="")
    else:
        PAGE.write_text(page)
    return 0


def text(marks: list[Ran], nevers: list[Never]) -> str:
    """The page."""
    header = f"| workload | engine | {' | '.join(RELEASES)} | what ran | tests |"
    rows = [_row(group) for group in _groups(marks)]
    table = "\n".join([header, re.sub(r"[^|]+", "---", header), *rows])
    features = "".join(f"| {each.feature} | {each.reason} |\n" for each in nevers if not any(_fits(mark, each.unless) for mark in marks))
    return f"{_INTRODUCTION}\n## What ran\n\n{table}\n\n{_NEVER}{features}"


def _groups(marks: list[Ran]) -> list[list[Ran]]:
    """The marks with the same workload, engine and program, in the order of the page."""
    groups: dict[tuple[str, str, str], list[Ran]] = {}
    for mark in marks:
        groups.setdefault((mark.workload, mark.engine, mark.by), []).append(mark)
    return [groups[key] for key in sorted(groups, key=lambda key: (_place(key[0], _WORKLOADS), *key))]


def _row(marks: list[Ran]) -> str:
    workload = marks[0].workload + (" (Grove)" if marks[0].workload == "PodCliqueSet" else "")
    cells = [_strongest([mark.result for mark in marks if mark.release == release]) for release in RELEASES]
    tests = sorted({(mark.file, mark.function) for mark in marks})
    links = ", ".join(f"[{function}](../{file})" for file, function in tests)
    return f"| {workload} | {marks[0].engine} | {' | '.join(cells)} | {marks[0].by} | {links} |"


def _strongest(results: list[str]) -> str:
    return min(results, key=RESULTS.index, default="never")


def _place(name: str, order: tuple[str, ...]) -> int:
    return order.index(name) if name in order else len(order)


def _fits(mark: Ran, unless: dict[str, str]) -> bool:
    """True if each named field of a mark begins with the text."""
    return bool(unless) and all(getattr(mark, field).startswith(beginning) for field, beginning in unless.items())


def never() -> list[Never]:
    """The rows of tools/never_ran.yaml."""
    return [Never(row["feature"], row["reason"], row.get("unless", {})) for row in yaml.safe_load(NEVER.read_text())]


def collected(folder: Path) -> list[Ran]:
    """The marks of all tests in a folder. Raises ValueError if a test cannot be collected, or if a mark is wrong."""
    files = sorted(str(file) for file in folder.rglob("test_*.py") if _MARKED.search(file.read_text()))
    if not files:
        return []
    collector, output = _Collector(), io.StringIO()
    os.chdir(ROOT)
    with contextlib.redirect_stdout(output):
        code = pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", "-m", "ran", *files], plugins=[collector])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise ValueError(output.getvalue())
    return [ran(*row) for row in collector.rows]


class _Collector:
    """A plugin of pytest that reads the marks."""

    def __init__(self) -> None:
        self.rows: list[tuple[pytest.Mark, str, str]] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            file = os.path.relpath(item.path, ROOT)
            function = getattr(item, "originalname", item.name)
            self.rows += [(mark, file, function) for mark in item.iter_markers("ran")]


def ran(mark: pytest.Mark, file: str, function: str) -> Ran:
    """A mark as a row. Raises ValueError, which names the test, if a value is missing or unknown."""
    values = mark.kwargs
    wrong = [
        *(["values without a name"] if mark.args else []),
        *(f"{name}: {values.get(name)!r}" for name in FIELDS if not isinstance(values.get(name), str) or not values[name]),
        *(f"{name}: no such value" for name in values if name not in FIELDS),
        *([f"release: one of {', '.join(RELEASES)}"] if values.get("release") not in RELEASES else []),
        *([f"result: one of {', '.join(RESULTS)}"] if values.get("result") not in RESULTS else []),
    ]
    if wrong:
        raise ValueError(f"{file}::{function}: the mark `ran` is wrong: {'; '.join(wrong)}")
    return Ran(**values, file=file, function=function)


if __name__ == "__main__":
    sys.exit(main())
