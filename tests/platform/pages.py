"""Runs the `sh` blocks of pages, which need a cluster, by the heading above them.

`console` blocks need no cluster (see `tests.support.markdown`).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support import markdown
from tests.testbed import programs

if TYPE_CHECKING:
    from tests.testbed.control_plane import ControlPlane

DOCS = programs.ROOT / "docs"
_LEFT_OUT = shutil.ignore_patterns("__pycache__")


def steps(page: str) -> dict[str, list[str]]:
    """The scripts of a page by heading, in their order."""
    found: dict[str, list[str]] = {}
    for part in re.split(r"^#+ ", page, flags=re.MULTILINE)[1:]:
        scripts = [script for _, script in markdown.fenced(part, "sh")]
        if scripts:
            found[part.partition("\n")[0]] = scripts
    return found


def clone(folder: Path, page: str) -> Path:
    """A folder with the platform, the examples, and the files that the page shows."""
    for name in ("platform", "examples"):
        shutil.copytree(programs.ROOT / name, folder / name, ignore=_LEFT_OUT)
    shutil.copy(programs.ROOT / "kustomization.yaml", folder)
    for name, content in markdown.files(page).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


def run(script: str, folder: Path, plane: ControlPlane) -> str:
    """The output of a script. Raises AssertionError with the output if a command fails."""
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment(plane),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, f"{script}\nexit code {ran.returncode}\n{ran.stdout}"
    return ran.stdout


def environment(plane: ControlPlane) -> dict[str, str]:
    """Environment variables for the cluster, kubectl, kustomize and our command.

    kubectl caches the kinds of this cluster, as it does for the readers of a page.
    """
    path = programs.search_path(Path(sys.executable).parent, plane.kubectl_program.parent, programs.path("kustomize").parent)
    return {**plane.environment, "PATH": path, "KUBECACHEDIR": str(plane.folder / "kubectl-cache")}
