"""The code and the examples of an earlier version, from git, and renders of many files by one version in one process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import yaml

from tests.testbed import programs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

RELEASES = programs.ROOT / "tools" / "release" / "releases.yaml"

# Runs commands in one process, because a new process for each of 100 renders takes a minute. It only needs `python -m krm_fn`.
_COMMANDS = """
import contextlib, io, json, runpy, sys
results = []
for words in json.load(sys.stdin):
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2)]
    sys.argv, code = ["krm-fn", *words], 0
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        try:
            runpy.run_module("krm_fn", run_name="__main__", alter_sys=True)
        except SystemExit as end:
            code = end.code or 0
    for stream in streams:
        stream.flush()
    results.append([code, *(stream.buffer.getvalue().decode() for stream in streams)])
json.dump(results, sys.stdout)
"""


class CommandResult(NamedTuple):
    """The exit code and the output of a command."""

    code: int
    out: str
    messages: str

    def pods(self) -> dict[tuple[str, str, str], Any]:
        """The pod templates of the workloads by kind, namespace and name."""
        objects = [one for one in yaml.load_all(self.out, yaml.CSafeLoader) if one]
        templates = {(one["kind"], one["metadata"]["namespace"], one["metadata"]["name"]): _template(one) for one in objects}
        return {name: template for name, template in templates.items() if template}


def _template(workload: dict[str, Any]) -> Any:
    """The part of a workload whose change replaces its pods."""
    spec = workload.get("spec") or {}
    if workload["kind"] == "PodCliqueSet":
        return [{**clique, "spec": {**clique["spec"], "replicas": None}} for clique in spec["template"]["cliques"]]
    return {"Deployment": spec.get("template"), "Job": spec.get("template"), "LeaderWorkerSet": spec.get("leaderWorkerTemplate")}.get(
        workload["kind"]
    )


def commit(version: str) -> str:
    """The commit of a version. Skips the test in a clone without its history."""
    (release,) = [one for one in yaml.safe_load(RELEASES.read_text()) if one["version"] == version]
    name: str = release["commit"]
    known = subprocess.run(["git", "cat-file", "-e", f"{name}^{{commit}}"], cwd=programs.ROOT, check=False, capture_output=True)
    if known.returncode:
        pytest.skip(f"this clone has no commit {name} of {version}: git fetch --unshallow")
    return name


def unpack(version: str, folder: Path) -> Path:
    """Writes the code and the examples of a version into a folder."""
    command = ["git", "archive", commit(version), "krm_fn", "examples", "functions.yaml", "docs"]
    archive = subprocess.run(command, cwd=programs.ROOT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    return folder


def run(code: Path, commands: Sequence[Sequence[str | Path]]) -> list[CommandResult]:
    """Runs commands with the code in a folder. The modules of this clone are not imported unless it is that folder."""
    given = json.dumps([[str(word) for word in words] for words in commands])
    words = [sys.executable, "-P", "-c", _COMMANDS]
    environment = os.environ | {"PYTHONPATH": str(code)}
    ended = subprocess.run(words, input=given, check=False, capture_output=True, text=True, env=environment, cwd=code, timeout=300)
    assert ended.returncode == 0, ended.stderr
    return [CommandResult(*result) for result in json.loads(ended.stdout)]


def launcher(code: Path, path: Path) -> Path:
    """Writes a program `krm-fn` that runs the code in a folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\nPYTHONPATH={code} exec {sys.executable} -P -m krm_fn "$@"\n')
    path.chmod(0o755)
    return path
