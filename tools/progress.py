"""Runs a command that takes long: shows its progress, and keeps its output in a log file until it succeeds."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import IO, TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

# Installs exactly the pinned wheels of a file with hashes.
PIP = (
    *(sys.executable, "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--root-user-action=ignore"),
    *("--no-deps", "--only-binary=:all:", "--require-hashes"),
)

_EVERY = 20.0  # seconds between two progress lines without a terminal


class BuildError(Exception):
    """A command failed. The message ends with the last lines of its output."""


class Watch(NamedTuple):
    """A running command: its title, its log file, and its lock."""

    title: str
    log: Path
    lock: int


def run(command: list[str], folder: Path, watch: Watch, **variables: str) -> None:
    """Run a command with these environment variables, and show its progress. Raises BuildError. Stops the command on an interrupt."""
    with watch.log.open("w") as log:
        environment = os.environ | variables
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=(watch.lock,)
        )
        try:
            code = _wait(process, watch, sys.stderr)
        except BaseException:
            process.terminate()
            process.wait()
            raise
    if code:
        said = watch.log.read_text().splitlines()[-20:]
        raise BuildError("\n".join([f"{watch.title}: exit code {code}, all of its output is in {watch.log}", *said]))
    watch.log.unlink()


def _wait(process: subprocess.Popen[bytes], watch: Watch, to: IO[str]) -> int:
    """Wait for the exit code. Shows the progress in one line on a terminal, or in a new line every `_EVERY` seconds."""
    started = said = time.monotonic()
    while True:
        try:
            code = process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            now = time.monotonic()
            line = f"{watch.title}: {now - started:3.0f} s, {_progress(watch.log)}"
            if to.isatty():
                print(f"\r{line[:110]}\x1b[K", end="", file=to, flush=True)
            elif now - said >= _EVERY:
                print(line[:110], file=to, flush=True)
                said = now
        else:
            print("\r\x1b[K" if to.isatty() else "", end="", file=to, flush=True)
            return code


def _progress(log: Path) -> str:
    """The number of output lines and the last line: `go build -v` prints each compiled package, pip each package that it downloads."""
    lines = log.read_text(errors="replace").splitlines()
    return f"{len(lines)} steps, {lines[-1].strip()}" if lines else "starting"
