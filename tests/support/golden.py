"""Records the output of examples and layouts: `python -m tests.support.golden` writes it again, for review as a diff."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support import markdown
from tests.testbed import programs

EXAMPLES = programs.ROOT / "examples"
PIPELINES = ("argocd", "fleet", "flux")  # held by tests/gitops, tests/layouts/test_pipelines.py and docs/fleets.md
PACKAGE = EXAMPLES / "layout-d-kpt" / "package"
RENDERED = PACKAGE.with_name("rendered")
SHIM = programs.ROOT / "tests" / "testbed" / "shim"
COMMANDS = programs.ROOT / "docs" / "commands.md"
_HELP = re.compile(r"^\$ (krm-fn[^\n]* --help)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_MAKERS = re.compile(r"(?:\w+=\S+ )*(krm-fn render|kustomize build|kubectl kustomize) ")


class Recording(NamedTuple):
    """A command from the README of a folder, to run in the root of a clone, and the file with its recorded output."""

    name: str
    command: str
    expected: Path


def folders() -> list[Path]:
    """The folders of all examples and layouts, without those of pipelines."""
    return sorted(path for path in EXAMPLES.iterdir() if path.is_dir() and path.name not in PIPELINES)


def recordings() -> list[Recording]:
    """Every command in the READMEs that prints objects to the terminal."""
    return [recording for folder in folders() for recording in of(folder)]


def of(folder: Path) -> list[Recording]:
    """The commands of one folder. The record of a layout's build has the name of its overlay."""
    text = (folder / "README.md").read_text() if (folder / "README.md").exists() else ""
    found = []
    for command in (command.typed for block in markdown.consoles(text) for command in block):
        if _MAKERS.match(command) and not set("|>") & set(command) and " -o " not in command:
            target = (programs.ROOT / command.split()[-1]).resolve()
            overlay = f"-{target.name}" if target.is_dir() and target != folder else ""
            found.append(Recording(folder.name + overlay, command, folder / f"expected{overlay}.yaml"))
    return found


def environment(*names: str) -> dict[str, str]:
    """The environment with a PATH that holds our command, a `docker` that needs no engine, and the named programs."""
    path = programs.search_path(Path(sys.executable).parent, SHIM, *(programs.path(name).parent for name in names))
    return {**os.environ, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


def output(recording: Recording, root: Path = programs.ROOT, **variables: str) -> str:
    """The stdout of a recorded command. Raises CalledProcessError with the reason in `stderr`."""
    needed = {**environment(*(name for name in ("kustomize", "kubectl") if f"{name} " in recording.command)), **variables}
    return subprocess.run(
        ["bash", "-c", recording.command], cwd=root, env=needed, capture_output=True, text=True, check=True, timeout=300
    ).stdout


def render(package: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `kpt fn render` on a package, with our command on PATH. Raises CalledProcessError."""
    command = [str(programs.path("kpt")), "fn", "render", str(package), "--allow-exec"]
    return subprocess.run(command, env={**environment(), **variables}, capture_output=True, text=True, check=True, timeout=300)


def helped(page: str) -> str:
    """The page with the current output of the program in its `--help` blocks."""
    shell = {**environment(), "COLUMNS": "80"}

    def said(block: re.Match[str]) -> str:
        ran = subprocess.run(block[1].split(), env=shell, capture_output=True, text=True, check=True, timeout=300)
        return "\n".join([f"$ {block[1]}", *map(str.rstrip, ran.stdout.splitlines()), "```"])

    return _HELP.sub(said, page)


def main() -> None:
    """Write every record; the record of kpt only if kpt is installed. Raises CalledProcessError if a command fails."""
    for recording in recordings():
        recording.expected.write_text(output(recording))
        print(recording.expected.relative_to(programs.ROOT))  # noqa: T201 - for whoever records
    COMMANDS.write_text(helped(COMMANDS.read_text()))
    print(COMMANDS.relative_to(programs.ROOT))  # noqa: T201 - for whoever records
    try:
        _record_package()
        print(RENDERED.relative_to(programs.ROOT))  # noqa: T201 - as above
    except pytest.skip.Exception as missing:
        print(missing)  # noqa: T201 - as above


def _record_package() -> None:
    with tempfile.TemporaryDirectory() as folder:
        package = shutil.copytree(PACKAGE, Path(folder) / "package")
        render(package)
        shutil.rmtree(RENDERED, ignore_errors=True)
        shutil.copytree(package, RENDERED)


if __name__ == "__main__":
    main()
