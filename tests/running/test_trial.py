"""`make try`: what it prints works, and after Ctrl-C nothing is left."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.testbed import programs, server


def left(folder: str) -> list[str]:
    """The processes and mounts that name a folder."""
    commands = [command_line(file) for file in Path("/proc").glob("[0-9]*/cmdline")]
    return [each for each in [*commands, *Path("/proc/mounts").read_text().splitlines()] if folder in each]


def command_line(file: Path) -> str:
    """The command line of a process; empty if it has ended meanwhile."""
    try:
        return file.read_bytes().decode(errors="replace")
    except OSError:
        return ""


# In this namespace, root is an ordinary user, who owns the same files and has no other rights.
WITHOUT_ROOT = ("unshare", "--user", "--map-user=1000", "--map-group=1000", "--")


@pytest.mark.ran(
    workload="Deployment", engine="mock engine", release="1.6", result="answered", by="NVIDIA's mock engine on the real runtime"
)
@pytest.mark.parametrize("user", [(), WITHOUT_ROOT], ids=["root", "another user"])
def test_graph_of_the_page_answers_and_leaves_nothing(bed, user):
    """The printed commands are typed as they are. The end of the terminal is a SIGINT to one process."""
    command = [*user, sys.executable, "-m", "tests.running.trial"]
    environment = os.environ | {"PYTHONPATH": f"{programs.ROOT}:{programs.ROOT / 'tools'}"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, cwd=programs.ROOT
    ) as trial:
        assert trial.stdout
        said = ""
        while "Ctrl-C ends it" not in said:
            line = trial.stdout.readline()
            assert line, said
            said += line
        typed = re.findall(r"^  (curl .*)$|(export KUBECONFIG=\S+)$", said, re.MULTILINE)
        (ask, _), (_, export) = typed
        answer = subprocess.run(["sh", "-c", ask], capture_output=True, text=True, check=True, timeout=60).stdout
        assert '"finish_reason":"length"' in answer
        look = ["sh", "-c", f"{export}; kubectl get dgd --namespace prod --no-headers"]
        listed = subprocess.run(look, env=bed.plane.environment, capture_output=True, text=True, check=True, timeout=60).stdout
        assert listed.split()[:2] == ["chat", "True"]
        folder = str(Path(export.partition("=")[2]).parents[1])
        assert left(folder)
        trial.send_signal(signal.SIGINT)
        assert trial.wait(180) == 0
        assert trial.stdout.read().strip() == "stopped, nothing is left"
    server.eventually(lambda: not left(folder))
    assert not Path(folder).exists()
