"""Programs to measure."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, NamedTuple

from tests.testbed import server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROGRAM = "clientgo"  # its name in tools/programs.py


class Arm(NamedTuple):
    """A program that writes the status of graphs."""

    name: str
    command: tuple[str, ...]


def ours(kubeconfig: Path) -> Arm:
    """The syncer of the working tree, as one replica runs it."""
    (port,) = server.free_ports(1)
    options = (f"--kubeconfig={kubeconfig}", "--no-events", "--no-leader-election", f"--listen=127.0.0.1:{port}")
    return Arm("krm-fn sync", (sys.executable, "-m", "krm_fn", "sync", *options))


def baselines(kubeconfig: Path, program: Path) -> list[Arm]:
    """The Go program in two forms: with the default caches of informers, and with caches of the necessary fields only."""
    command = (str(program), f"--kubeconfig={kubeconfig}")
    return [Arm("client-go", command), Arm("client-go, stripped", (*command, "--strip"))]


@contextlib.contextmanager
def running(arm: Arm, log: Path) -> Iterator[server.Server]:
    """Runs a program until the block ends. Raises StartError with the end of its log if it ended before."""
    with server.running(arm.command, log) as started:
        yield started
        started.wait(lambda: True)
