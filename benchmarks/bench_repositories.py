"""Measures the commands that read whole repositories, for growing numbers of graphs: CPU time and memory should grow linearly.

python benchmarks/bench_repositories.py [--most GRAPHS] [--command NAME]...

The CPU time is that of the command with all programs that it runs, and the memory that of the largest of these processes. The changed
state has another number of replicas in one file.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

sys.path[:0] = [str(Path(__file__).resolve().parent.parent), str(Path(__file__).resolve().parent.parent / "tools")]

import programs  # noqa: E402 - the two folders above

from benchmarks import repository_files  # noqa: E402

COUNTS = (120, 240, 500, 1000)
CHANGED = "apps/team-003/base/graphs-0.yaml"
COMMANDS = {
    "check": ("check",),
    "check --old": ("check", "--old", "HEAD"),
    "diff, one file": ("diff", "--old", "HEAD"),
    "diff --all, one file": ("diff", "--old", "HEAD", "--all"),
    "upgrade": ("upgrade", "--to", "1.6"),
    "explain": ("explain", "."),
    "explain --unused": ("explain", "--unused", "."),
}
MEMORY = 400
"""The target for the peak memory, in MiB."""
QUICK = 3
"""The target for a diff of one changed file, in seconds of CPU."""
MIB = 1024  # ru_maxrss counts KiB


class Measured(NamedTuple):
    """CPU seconds, and peak memory in MiB."""

    seconds: float
    memory: float


def measure(command: Sequence[str], folder: Path) -> Measured:
    """Measures one run of a command with all its children. Findings are no failure. Raises CalledProcessError for another failure."""
    words = [sys.executable, "-m", "krm_fn", *command]
    child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):
        raise subprocess.CalledProcessError(child.returncode, words)
    return Measured(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / MIB)


def fit(rows: dict[int, Measured]) -> str:
    """Returns the line through the CPU times: its slope, its start, and how well it fits (1 is a line)."""
    counts, seconds = list(rows), [row.seconds for row in rows.values()]
    slope, start = statistics.linear_regression(counts, seconds)
    return f"{slope * 1000:.1f} ms a graph + {start:.1f} s, correlation {statistics.correlation(counts, seconds):.4f}"


def main() -> None:
    """Prints a table for each command, and the line through its times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=COUNTS[-1])
    parser.add_argument("--command", action="append", choices=tuple(COMMANDS))
    given = parser.parse_args()
    kustomize = programs.find(next(program for program in programs.ALL if program.name == "kustomize"))
    if isinstance(kustomize, programs.Missing):
        sys.exit(f"kustomize is missing: {kustomize.reason}")
    os.environ["PATH"] = f"{kustomize.path.parent}{os.pathsep}{os.environ['PATH']}"
    os.environ["PYTHONPATH"] = str(Path(__file__).resolve().parent.parent)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as scratch:
        folders = {count: repository_files.write(Path(scratch, f"{count}"), count) for count in COUNTS if count <= given.most}
        for folder in folders.values():
            changed = folder / CHANGED
            changed.write_text(changed.read_text("utf-8").replace("replicas: 2", "replicas: 3"), "utf-8")
        for name in given.command or COMMANDS:
            rows = {}
            for count, folder in folders.items():
                rows[count] = row = measure(COMMANDS[name], folder)
                print(f"{f'{name}, {count} graphs':36} {row.seconds:8.2f} s of CPU {row.memory:6.0f} MiB", flush=True)
            target = f" (target {QUICK} s)" if name == "diff, one file" else ""
            print(f"{'':36} {fit(rows)}{target} (target {MEMORY} MiB)\n", flush=True)


if __name__ == "__main__":
    main()
