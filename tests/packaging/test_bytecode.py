"""The zipapp of a release: it runs from bytecode of the Python that reads it, and from its sources where it has none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from importlib.util import MAGIC_NUMBER
from pathlib import Path

import click
import pytest
import yaml
from release import archives, bytecode, single_file, zipapp_start

from tests.support import golden
from tests.testbed import programs

pytestmark = pytest.mark.slow  # compiles the program

GRAPH = golden.EXAMPLES / "agg-vllm" / "graph.yaml"
PACKAGES = (programs.ROOT / "krm_fn", *(Path(package.__path__[0]) for package in (click, yaml)))
ENTRY = f"{zipapp_start.FOLDER}/{MAGIC_NUMBER.hex()}"
COMMANDS = [("render", GRAPH), ("explain", GRAPH), ("schema", "--for", "editor"), ("--help",)]
EPOCH = 1_700_000_000
RULES = "krm_fn/render/expand.py"
"""A module of each render."""


@pytest.fixture(scope="module")
def zipapp(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packages")
    for package in PACKAGES:
        shutil.copytree(package, folder / package.name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    target = tmp_path_factory.mktemp("zipapp") / "krm-fn.pyz"
    single_file.pack(folder, target, EPOCH)
    return target


def run(*command):
    ended = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, check=False, cwd=GRAPH.parent)
    return ended.returncode, ended.stdout, ended.stderr


def repack(zipapp, target, change):
    """Write the zipapp again; `change` changes the dict of its files."""
    with zipfile.ZipFile(zipapp) as archive:
        files = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    change(files)
    members = {name: archives.Member(data, is_compressed=not name.startswith(zipapp_start.FOLDER)) for name, data in files.items()}
    target.write_bytes(archives.zipped(members, EPOCH))
    return target


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_bytecode_prints_what_the_clone_prints(zipapp, command):
    assert run(zipapp, *command) == run("-m", "krm_fn", *command)


def test_a_start_reads_no_source(zipapp, tmp_path):
    """A source that cannot be compiled stays unread."""
    broken = repack(zipapp, tmp_path / "broken.pyz", lambda files: files.update({RULES: b"no Python"}))
    assert run(broken, "render", GRAPH) == run("-m", "krm_fn", "render", GRAPH)


def test_explain_rewrites_no_module(zipapp):
    """The zipapp has the bytecode of the rewritten modules, too, because it cannot store any."""
    code = f"import sys; sys.path.insert(0, {str(zipapp)!r}); import zipapp_start; zipapp_start.use_bytecode()\n"
    code += "from krm_fn.origins import tracing_rewriter; tracing_rewriter.rewrite = None\n"
    code += f"sys.argv = ['krm-fn', 'explain', {str(GRAPH)!r}]; from krm_fn.__main__ import start; start()"
    assert run("-c", code) == run("-m", "krm_fn", "explain", GRAPH)


@pytest.mark.parametrize("change", [lambda files: files.pop(ENTRY), lambda files: files.update({"bytecode/00000000": files.pop(ENTRY)})])
def test_a_python_without_bytecode_reads_the_sources(zipapp, tmp_path, change):
    """Bytecode of another Python has another magic number."""
    other = repack(zipapp, tmp_path / "other.pyz", change)
    assert run(other, "render", GRAPH) == run("-m", "krm_fn", "render", GRAPH)


def test_the_importer_serves_its_own_archive_only(zipapp, tmp_path):
    """A module of another archive on the path is read from there, also if it has the name of one of ours."""
    other = tmp_path / "other.zip"
    other.write_bytes(archives.zipped({"krm_fn/__init__.py": archives.Member(b"__version__ = 'other'")}, EPOCH))
    code = f"import runpy, sys; sys.path.insert(0, {str(zipapp)!r}); import zipapp_start; zipapp_start.use_bytecode()\n"
    code += f"sys.path.insert(0, {str(other)!r}); import krm_fn; print(krm_fn.__version__, krm_fn.__file__)"
    assert run("-c", code) == (0, f"other {other}/krm_fn/__init__.py\n", "")


def test_bytecode_is_reproducible(tmp_path, monkeypatch):
    """Neither the folder, nor the seed of hashes, nor other files change a byte."""
    builds = []
    monkeypatch.setattr(bytecode, "VERSIONS", ())  # the others take as long again
    for seed in ("1", "2"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        folder = tmp_path / seed
        shutil.copytree(programs.ROOT / "krm_fn", folder / "krm_fn", ignore=shutil.ignore_patterns("__pycache__"))
        builds.append(bytecode.build(folder))
    assert builds[0] == builds[1] != {}


def test_a_launcher_without_a_python_is_left_out(tmp_path, monkeypatch):
    """pyenv has a program for each version that was ever installed, which ends with an error if the version is not selected."""
    launcher = tmp_path / "bin" / "python3.13"
    launcher.parent.mkdir()
    launcher.write_text("#!/bin/sh\nexit 127\n")
    launcher.chmod(0o755)
    monkeypatch.setenv("PATH", f"{launcher.parent}{os.pathsep}/bin")
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "module.py").write_text("x = 1\n")
    assert [*bytecode.build(tmp_path / "source")] == [MAGIC_NUMBER.hex()]
