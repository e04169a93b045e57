"""The program in a zip archive, as zipapp and pex make them, and in a folder that nobody can write: the output is that of the clone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipapp
from functools import cache
from pathlib import Path

import click
import pytest
import yaml

from tests.support import golden
from tests.testbed import programs

pytestmark = pytest.mark.slow  # packs the program, and starts it many times

GRAPH = golden.EXAMPLES / "older-planner" / "graph.yaml"
OTHER = golden.EXAMPLES / "agg-vllm" / "graph.yaml"
PACKAGES = (programs.ROOT / "krm_fn", *(Path(package.__path__[0]) for package in (click, yaml)))
INPUT = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- {}".format(
    GRAPH.read_text().split("---")[0].replace("\n", "\n  ").strip()
)
FEW: list[tuple[str | Path, ...]] = [(), ("crds", "--served", "v1beta1")]
COMMANDS = [
    *FEW,
    ("render", GRAPH),
    ("check", "--format", "sarif", GRAPH),
    ("diff", "--old", OTHER, GRAPH),
    ("explain", "--format", "json", GRAPH),
    ("images", GRAPH),
    *[("schema", "--for", reader) for reader in ("editor", "kustomize", "diff")],
]
PEX = "import sys; sys.path.insert(1, sys.path[0] + '/.deps/all.whl'); from krm_fn.__main__ import start; start()"
MOUNT = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'


def _packages(folder: Path) -> Path:
    """Copy the sources of the program, of click and of PyYAML's parser in Python into a folder."""
    ignored = shutil.ignore_patterns("__pycache__", "*.so")
    for package in PACKAGES:
        shutil.copytree(package, folder / package.name, ignore=ignored)
    return folder


def _zipapp(folder: Path) -> list[str]:
    source = _packages(folder / "source")
    zipapp.create_archive(source, folder / "krm-fn.pyz", main="krm_fn.__main__:start", compressed=True)
    shutil.rmtree(source)
    return [sys.executable, str(folder / "krm-fn.pyz")]


def _pex(folder: Path) -> list[str]:
    """Make an archive in which packages are in folders, each of which is on the path."""
    source = folder / "source"
    _packages(source / ".deps" / "all.whl")
    (source / "__main__.py").write_text(PEX)
    zipapp.create_archive(source, folder / "krm-fn.pex")
    shutil.rmtree(source)
    return [sys.executable, str(folder / "krm-fn.pex")]


def _unwritable(folder: Path) -> list[str]:
    """Make a folder without write permission. The user root gets a process without the rights that overrule permissions."""
    source = _packages(folder / "source")
    for path in (source, *source.rglob("*")):
        path.chmod(path.stat().st_mode & ~0o222)
    limits = [] if os.getuid() else ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
    return [*limits, sys.executable, "-c", START.format(folder=source)]


def _read_only(folder: Path) -> list[str]:
    """Make a folder on a read-only file system."""
    source = _packages(folder / "source")
    return ["unshare", "--mount", "sh", "-c", MOUNT, str(source), sys.executable, "-c", START.format(folder=source)]


START = """\
import os, sys
try:
    open("{folder}/krm_fn/new.py", "w")
except OSError as problem:
    sys.path.insert(0, "{folder}")
    from krm_fn.__main__ import start
    start()
sys.exit("the folder can be written")
"""


def _output(words: list[str], command: tuple[str | Path, ...]) -> tuple[int, str, str]:
    typed = [*words, *map(str, command)]
    ended = subprocess.run(
        typed, input="" if command else INPUT, capture_output=True, text=True, check=False, cwd=GRAPH.parent, timeout=120
    )
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.parametrize(("make", "commands"), [(_zipapp, COMMANDS), (_pex, [*FEW, ("render", GRAPH)])], ids=["zipapp", "pex"])
def test_an_archive_prints_what_the_clone_prints(make, commands, tmp_path):
    """The environment of the tests has the clone on its path, too. No module of it is imported.

    A command reads its files in the same way wherever the packages are in an archive, so the second archive runs few.
    """
    words = make(tmp_path)
    for command in commands:
        assert (command, *_output(words, command)) == (command, *_expected(command))
    shown = subprocess.run([words[0], "-v", *words[1:], "--version"], capture_output=True, text=True, check=True)
    assert f"{words[1]}/" in shown.stderr
    assert f"{programs.ROOT}/krm_fn" not in shown.stderr


@pytest.mark.parametrize("make", [_unwritable, _read_only])
def test_a_folder_that_nobody_can_write_prints_what_the_clone_prints(make, tmp_path):
    words = make(tmp_path)
    probe = ["true" if word == sys.executable else word for word in words]
    if not shutil.which(words[0]) or subprocess.run(probe, check=False, capture_output=True).returncode:
        pytest.skip(f"{words[0]} is missing or not allowed")
    for command in FEW:
        assert (command, *_output(words, command)) == (command, *_expected(command))
    assert not [*tmp_path.rglob("*.pyc")]


@cache
def _expected(command: tuple[str | Path, ...]) -> tuple[int, str, str]:
    return _output([sys.executable, "-m", "krm_fn"], command)


def test_an_archive_cannot_be_installed(tmp_path):
    """The archive has no record of its packages. It can be copied as it is."""
    ended = _output(_zipapp(tmp_path), ("install", tmp_path / "copy"))
    assert ended[0] == 1
    assert "krm-fn.pyz is an archive" in ended[2]
    assert not (tmp_path / "copy" / "krm-fn").exists()


@pytest.mark.parametrize("command", ["crds", "schema"])
def test_an_archive_without_pydantic_names_the_package(command, tmp_path):
    """An archive for all machines contains no machine code, so the commands that need pydantic say how to get it. Other commands work."""
    python, archive = _zipapp(tmp_path)
    (isolated := tmp_path / "python3").write_text(f'#!/bin/sh\nexec {python} -S "$@"\n')
    isolated.chmod(0o755)
    code, output, message = _output([str(isolated), archive], (command,))
    assert (code, output, message) == (2, "", f"error: krm-fn {command} needs more packages; run: pip install 'pydantic>=2.10'\n")
    assert _output([str(isolated), archive], ("render", GRAPH))[0] == 0
