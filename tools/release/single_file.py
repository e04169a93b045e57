"""Builds the zipapp: the program and its pure Python packages in one executable file, for any machine with Python 3.11 or newer.

It has bytecode for the versions of Python that build it, which so need not compile its modules at each start. It has no pydantic, which is
machine code. So it lacks the commands that write schemas: `schema` and `crds`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import progress
from image import sbom
from release import archives, bytecode, python_packages, zipapp_start
from release.archives import Member
from release.description import Release, ReleaseError

SHEBANG = b"#!/usr/bin/env python3\n"
_MAIN = b"""\
import sys

if sys.version_info < (3, 11):  # the python3 of macOS is older
    sys.exit("krm-fn needs Python 3.11 or newer, and %s is %s.%s" % (sys.executable, sys.version_info[0], sys.version_info[1]))

import zipapp_start

zipapp_start.use_bytecode()

from krm_fn.__main__ import start

start()
"""
_PACKAGES = ("click", "pyyaml")
_LEFT_OUT = {".so", ".pyd", ".pyc", ".exe"}
_RECORDS = {"RECORD", "WHEEL", "INSTALLER", "REQUESTED", "direct_url.json"}
"""Files beside the metadata of a package that differ between machines."""


def build(release: Release, source: Path, wheel: Path, out: Path) -> tuple[Path, Path]:
    """Writes `krm-fn-VERSION.pyz` and its bill of materials into `out`, and returns their paths.

    Needs PyPI. Raises ReleaseError with the end of pip's output.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pinned = folder / "requirements.txt"
        pinned.write_text(_pinned(source))
        packages = folder / "packages"
        _install(packages, *progress.PIP, "-r", str(pinned))
        _install(packages, *(word for word in progress.PIP if word != "--require-hashes"), str(wheel))
        target = out / f"krm-fn-{release.version}.pyz"
        pack(packages, target, release.epoch)
        components = {part["name"]: part for part in map(sbom.distribution, metadata.distributions(path=[str(packages)]))}
    bill = out / f"{target.name}.cdx.json"
    bill.write_text(json.dumps(sbom.bill(components, []), indent=2) + "\n")
    return target, bill


def pack(packages: Path, target: Path, epoch: int) -> None:
    """Writes the zipapp of a folder with packages. `epoch` is the time of all its members, in seconds since 1970."""
    files = {path: Member(member.data) for path, member in archives.members(packages, filter(_is_portable, packages.rglob("*"))).items()}
    for magic, data in bytecode.build(packages).items():
        files[f"{zipapp_start.FOLDER}/{magic}"] = Member(data, is_compressed=False)
    start = Path(zipapp_start.__file__)
    files |= {"__main__.py": Member(_MAIN), start.name: Member(start.read_bytes())}
    target.write_bytes(SHEBANG + archives.zipped(files, epoch))
    target.chmod(0o755)


def _is_portable(path: Path) -> bool:
    """True for files that are the same on all machines."""
    parts = path.parts
    is_record = path.parent.name.endswith(".dist-info") and path.name in _RECORDS
    return path.is_file() and path.suffix not in _LEFT_OUT and "bin" not in parts[-2:-1] and not is_record


def _pinned(source: Path) -> str:
    """The requirements of the packages in the zipapp, with their hashes."""
    entries = (source / python_packages.REQUIREMENTS).read_text().replace("\\\n", " ").splitlines()
    return "\n".join(entry for entry in entries if entry.partition("==")[0] in _PACKAGES) + "\n"


def _install(folder: Path, *pip: str) -> None:
    answer = subprocess.run([*pip, "--quiet", "--no-compile", "--target", str(folder)], capture_output=True, text=True, check=False)
    if answer.returncode:
        raise ReleaseError(f"{sys.executable} -m pip: {answer.stderr[-2000:]}")
