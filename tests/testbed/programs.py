"""Paths of the real programs, found by `tools/install.py`; a test whose program is missing is skipped or fails."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tests.testbed import tier

ROOT = Path(__file__).resolve().parents[2]
with_servers = True
"""False in a run of the tests without the mark `server`."""


def path(name: str) -> Path:
    """The path of a program. If it is missing, the test is skipped or fails: see `verdict`. A test that its tier leaves out is skipped."""
    if reason := tier.reason_against(name):
        pytest.skip(reason)
    if name == "kube-apiserver" and not with_servers:
        pytest.fail("this test needs the mark `server`", pytrace=False)
    entry = where()[name]
    if "path" not in entry:
        missing(name, entry)
    return Path(entry["path"])


def search_path(*folders: Path) -> str:
    """PATH with these folders before all others."""
    return os.pathsep.join([*map(str, folders), os.environ["PATH"]])


def missing(name: str, entry: dict[str, Any]) -> NoReturn:
    """Skip the test or let it fail: see `verdict`."""
    fails, reason = verdict(name, entry, required=os.environ.get("KRM_FN_TOOLS") == "required", ci=os.environ.get("CI") == "true")
    if fails:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def verdict(name: str, entry: dict[str, Any], *, required: bool, ci: bool) -> tuple[bool, str]:
    """True if the test must fail for a missing program, or False to skip it; and the reason.

    `make test-all` requires every program that `make tools` can build or install. CI requires all programs.
    """
    return ci or (required and entry["provided"]), f"{name} is missing: {entry['missing']}"


@functools.cache
def where() -> dict[str, dict[str, Any]]:
    """Every program by name, from `tools/install.py --where --json`."""
    command = [sys.executable, str(ROOT / "tools" / "install.py"), "--where", "--json"]
    found: dict[str, dict[str, Any]] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return found
