"""Programs to measure."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, NamedTuple

from tests.testbed import server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmarks.sync.fleet import Fleet

PROGRAM = "clientgo"  # its name in tools/programs.py


class Arm(NamedTuple):
    """A program that writes the status of graphs, without the flag --kubeconfig."""

    name: str
    command: tuple[str, ...]


def ours(size: Fleet) -> Arm:
    """The syncer of the working tree, as one replica runs it. It reads pods if the fleet has pods."""
    (port,) = server.free_ports(1)
    options = ("--no-events", "--no-leader-election", f"--listen=127.0.0.1:{port}", *_pods(size))
    return Arm("krm-fn sync", (sys.executable, "-m", "krm_fn", "sync", *options))


def baselines(size: Fleet, program: Path) -> list[Arm]:
    """The Go program in two forms: with the default caches of informers, and with caches of the necessary fields only."""
    command = (str(program), *_pods(size))
    return [Arm("client-go", command), Arm("client-go, stripped", (*command, "--strip"))]


@contextlib.contextmanager
def running(arm: Arm, kubeconfig: Path, log: Path) -> Iterator[server.Server]:
    """Runs a program until the block ends. Raises StartError with the end of its log if it ended before."""
    with server.running((*arm.command, f"--kubeconfig={kubeconfig}"), log) as started:
        yield started
        started.wait(lambda: True)


def _pods(size: Fleet) -> tuple[str, ...]:
    return ("--pods",) if size.pods else ()
