"""Prints which share of the statements of each package the tests run, from the JSON report of coverage.py: `make coverage`.

Usage:

    python tools/coverage_by_package.py build/coverage.json
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any


def main(path: str) -> None:
    """Prints a line for each package, and one for all of them."""
    print("\n".join(table(json.loads(Path(path).read_text(encoding="utf-8")))))


def table(report: dict[str, Any]) -> list[str]:
    """The lines of a table in Markdown: each package with its statements, and the share of them that ran.

    >>> files = {"krm_fn/a/b.py": {"num_statements": 3, "covered_lines": 2}, "krm_fn/a/c/d.py": {"num_statements": 1, "covered_lines": 1}}
    >>> for line in table({"files": {name: {"summary": counts} for name, counts in files.items()}}):
    ...     print(line)
    | package | statements | of these run |
    |---|---|---|
    | `krm_fn/a` | 4 | 75% |
    | all | 4 | 75% |
    """
    statements, covered = Counter[str](), Counter[str]()
    for name, file in report["files"].items():
        for package in ("/".join(Path(name).parts[:2][: len(Path(name).parts) - 1]), ""):
            statements[package] += file["summary"]["num_statements"]
            covered[package] += file["summary"]["covered_lines"]
    rows = [(f"`{package}`" if package else "all", package) for package in (*sorted(filter(None, statements)), "")]
    return [
        "| package | statements | of these run |",
        "|---|---|---|",
        *(f"| {title} | {statements[package]} | {covered[package] / max(statements[package], 1):.0%} |" for title, package in rows),
    ]


if __name__ == "__main__":
    main(sys.argv[1])
