"""Runs the commands as a user does: inside this process, or as a program if a test needs a real process."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from click.testing import CliRunner

from krm_fn import cli
from tests.testbed import programs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

GRAPH = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata:
  name: chat
  namespace: team
spec:
  services:
    Frontend:
      componentType: frontend
      extraPodSpec:
        mainContainer: {image: "registry.example/front:1.5.0"}
    Worker:
      componentType: worker
      replicas: 2
      extraPodSpec:
        mainContainer: {image: "registry.example/dynamo:1.5.0"}
"""
MISSPELT = GRAPH.replace("replicas", "replica")


class Done(NamedTuple):
    code: int
    out: str
    err: str


def run(*arguments: str | Path, stdin: str | bytes = "", notes: bool = False) -> Done:
    """A verb within this process. Whatever is raised, but for the exit, is raised here too.

    The notes of `check` about API versions are left out without `notes`, because almost every test has a graph in v1alpha1.
    """
    words = [str(argument) for argument in arguments]
    if words[:1] == ["check"] and not notes:
        words[1:1] = ["--ignore", "DYN481,DYN482"]
    done = CliRunner().invoke(cli.group, words, input=stdin, prog_name=cli.PROGRAM)
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Done(done.exit_code, done.stdout, done.stderr)


def program(*arguments: str | Path, stdin: str = "", folder: Path | None = None, through: str = "", **environment: str) -> Done:
    """The real program in a process of its own, its output piped through another one where that is given."""
    command = [sys.executable, "-m", "krm_fn", *(str(argument) for argument in arguments)]
    if through:
        command = ["sh", "-c", f"{shlex.join(command)} | {through}"]
    settings = {"PATH": os.environ["PATH"], "PYTHONPATH": str(programs.ROOT), **environment}
    done = subprocess.run(command, input=stdin.encode(), capture_output=True, check=False, timeout=300, cwd=folder, env=settings)
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def status(*resources: Any, arguments: Sequence[str] = ()) -> str:
    """What `krm-fn status` prints about resources, without any finding."""
    done = run("status", *arguments, "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(resources)}))
    assert (done.code, done.err) == (0, "")
    return done.out
