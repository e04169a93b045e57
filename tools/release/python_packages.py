"""Builds the sdist and the wheel, the wheel from the sdist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from release import archives
from release.description import Release, ReleaseError

REQUIREMENTS = Path("tools", "image", "requirements.txt")
"""The pinned packages of a clone, with hashes."""


def build(release: Release, source: Path, out: Path) -> tuple[Path, Path]:
    """Builds the sdist and the wheel of a source tree into `out`, and returns their paths. Needs PyPI for setuptools.

    Raises ReleaseError with the end of the build's output.
    """
    constraints = source.parent / "build-constraints.txt"
    constraints.write_text(_build_requirement(source))
    command = [sys.executable, "-m", "build", "--outdir", str(out), "--dependency-constraints-txt", str(constraints), str(source)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(release.epoch)}
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, umask=0o022)
    if answer.returncode:
        raise ReleaseError(f"the build of the wheel failed:\n{answer.stdout[-2000:]}{answer.stderr[-2000:]}")
    (sdist,), (wheel,) = out.glob(f"*-{release.version}.tar.gz"), out.glob(f"*-{release.version}-*.whl")
    sdist.write_bytes(archives.repacked_tar_gz(sdist.read_bytes(), release.epoch))  # setuptools writes the time of the build
    return sdist, wheel


def _build_requirement(source: Path) -> str:
    """The pinned setuptools: another version can write other metadata."""
    match = re.search(r"^setuptools==\S+", (source / REQUIREMENTS).read_text(), re.MULTILINE)
    if not match:
        raise ReleaseError(f"{REQUIREMENTS} does not pin setuptools")
    return match[0] + "\n"
