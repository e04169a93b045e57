"""Rewritten modules are stored as Python stores bytecode, and never used for another source."""

from __future__ import annotations

import os
import stat
import sys
import zipfile
import zipimport
from importlib.machinery import SourceFileLoader

import pytest

from krm_fn.origins import rewritten_bytecode, tracing_loader, tracing_rewriter
from tests.support.cases import cases


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = tmp_path / "toy.py"
    path.write_text("PORT = 8000\n")
    return path


@pytest.fixture
def rewritten(monkeypatch):
    """The modules that were rewritten, in their order."""
    names, rewrite = [], tracing_rewriter.rewrite

    def counted(text, module, *, constants):
        names.append(module)
        return rewrite(text, module, constants=constants)

    monkeypatch.setattr(tracing_rewriter, "rewrite", counted)
    return names


def port(path, *, constants=True):
    """The value of the constant in the loaded module."""
    code = rewritten_bytecode.load("toy", str(path), SourceFileLoader("krm_fn.toy", str(path)), constants=constants)
    exec(code, values := {**tracing_loader._RUNTIME})  # noqa: S102 - the text of a test
    return values["PORT"]


def stored(path):
    return sorted(path.parent.glob("__pycache__/*"))


def test_a_module_is_rewritten_once(source, rewritten):
    """The file has the name of Python's own bytecode with another optimization, so tools that clean up know it."""
    assert [port(source), port(source)] == [8000, 8000]
    assert rewritten == ["toy"]
    assert [file.name for file in stored(source)] == [f"toy.{sys.implementation.cache_tag}.opt-rewritten.pyc"]


def _edit(path, _):
    """Keep the size and the time: an archive can give all files one time."""
    times = path.stat()
    path.write_text("PORT = 9000\n")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def _damage(path, _):
    (file,) = stored(path)
    file.write_bytes(file.read_bytes()[:-9])


def _replace_rewriter(_, monkeypatch):
    monkeypatch.setattr(rewritten_bytecode, "_rewriter", lambda: b"the next version")


ROWS = [
    ("a changed source, of the same size and time", _edit, 9000),
    ("a damaged file", _damage, 8000),
    ("another rewriter", _replace_rewriter, 8000),
]


@cases(("change", "expected"), ROWS)
def test_stored_bytecode_is_only_that_of_its_source(change, expected, source, rewritten, monkeypatch):
    port(source)
    change(source, monkeypatch)
    assert port(source) == expected
    assert len(rewritten) == 2


def test_a_module_without_marks_is_another(source, rewritten):
    assert type(port(source)) is not int
    assert type(port(source, constants=False)) is int
    assert len(rewritten) == 2


def test_nothing_is_written_where_python_writes_nothing(source, rewritten, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert [port(source), port(source)] == [8000, 8000]
    assert (stored(source), len(rewritten)) == ([], 2)


def test_a_folder_that_cannot_be_written_is_no_error(source, rewritten):
    """A file in place of the folder stands for it, because root may write into any folder."""
    (source.parent / "__pycache__").write_text("")
    assert [port(source), port(source)] == [8000, 8000]
    assert len(rewritten) == 2


def test_others_cannot_write_the_stored_file(source):
    umask = os.umask(0)
    try:
        port(source)
    finally:
        os.umask(umask)
    assert not stored(source)[0].stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def test_an_archive_stays_as_it_is(tmp_path):
    with zipfile.ZipFile(tmp_path / "toy.zip", "w") as archive:
        archive.writestr("krm_fn/toy.py", "PORT = 8000\n")
    before = (tmp_path / "toy.zip").read_bytes()
    loader = zipimport.zipimporter(f"{tmp_path}/toy.zip/krm_fn")
    rewritten_bytecode.load("toy", f"{tmp_path}/toy.zip/krm_fn/toy.py", loader, constants=True)
    assert (tmp_path / "toy.zip").read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["toy.zip"]
