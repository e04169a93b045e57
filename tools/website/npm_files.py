"""Brings files of npm packages in pinned versions: scripts that the site serves itself, so that no page asks another host.

`npm pack` downloads a package without its dependencies and runs none of its scripts. The hash of the package is pinned too.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import NamedTuple

import cache


class NpmError(Exception):
    """A package cannot be downloaded, or it is not the pinned one."""


class NpmFile(NamedTuple):
    """A file of an npm package, and its path in the site."""

    package: str
    version: str
    sha512: str  # of the package, as npm's `integrity` writes it
    member: str
    target: str


FILES = (
    # Draws the diagrams that pages write as text.
    NpmFile(
        "mermaid",
        "12.3.0",
        "4113TdXeLAsMruJ79OpFL5O8+LTFXhQqZ260rF3tgUmiNAtRm4Uume04I+65PRN6yZ69J4f8rVYWW8zRk65UYw==",
        "dist/mermaid.min.js",
        "assets/mermaid.min.js",
    ),
    # Runs the worker of the search in a copy of the site that is opened from a disk. Browsers start no worker there.
    NpmFile(
        "iframe-worker",
        "1.0.4",
        "roeaaI+Lg1LJNfgpCjoRe/+WzEjy9+Z08LoEvu85MCPbBjwm+qXz8Ag5U05lHa6V1CysZyGzE0SOkAtSUA5q7Q==",
        "shim/index.js",
        "assets/iframe-worker.js",
    ),
)


def bring(folder: Path) -> None:
    """Copies all files into a folder of the site. Raises NpmError."""
    for file in FILES:
        key = f"{file.package}-{file.version}-{hashlib.sha256(file.sha512.encode()).hexdigest()[:12]}"
        packed = cache.fill(key, functools.partial(_download, file))
        target = folder / file.target
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(packed / Path(file.member).name, target)


def _download(file: NpmFile, folder: Path, _lock: int) -> None:
    """Downloads a package, compares its hash, and writes the file into the folder."""
    npm = shutil.which("npm")
    if npm is None:
        raise NpmError("npm is not on the PATH; Debian's package npm has it")
    command = [npm, "pack", "--silent", "--ignore-scripts", "--pack-destination", str(folder), f"{file.package}@{file.version}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    archives = [*folder.glob("*.tgz")]
    if done.returncode or len(archives) != 1:
        raise NpmError(f"npm pack {file.package}@{file.version} failed: {done.stderr[-1000:]}")
    content = archives[0].read_bytes()
    actual = base64.b64encode(hashlib.sha512(content).digest()).decode()
    if actual != file.sha512:
        raise NpmError(f"{file.package}@{file.version} has the hash {actual}, not the pinned one")
    with tarfile.open(archives[0]) as archive:
        member = archive.extractfile(f"package/{file.member}")
        if member is None:
            raise NpmError(f"{file.package}@{file.version} has no file {file.member}")
        (folder / Path(file.member).name).write_bytes(member.read())
    archives[0].unlink()
