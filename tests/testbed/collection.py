"""A plugin of pytest that makes the collection cheaper. Each worker of pytest-xdist collects all of the 25,000 tests."""

from __future__ import annotations

import multiprocessing
import os
import py_compile
import sys
from fnmatch import fnmatch
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.assertion import rewrite
from _pytest.doctest import DoctestModule

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Search doctests only in files that have some. Otherwise each worker imports and searches all of the 1,400 modules."""
    found = yield
    return [each for each in found if not isinstance(each, DoctestModule) or b">>>" in file_path.read_bytes()]


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist starts the workers
def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the modules once, in as many processes as there will be workers.

    In a new clone, each worker would compile all modules and rewrite their asserts: half of the time of a collection.
    """
    config = session.config
    workers = config.getoption("numprocesses", 0)
    if not workers or hasattr(config, "workerinput") or sys.dont_write_bytecode or sys.platform != "linux":
        return
    stale = [path for path in _modules(config) if not _is_compiled(path, _bytecode(path, config))]
    if len(stale) > workers:
        with multiprocessing.get_context("fork").Pool(workers, _prepare, [config]) as pool:
            pool.map(_compile, stale, chunksize=8)


def _modules(config: pytest.Config) -> Iterator[Path]:
    """The modules in the folders that pytest collects, without those that it ignores."""
    ignored = {config.invocation_params.dir / each for each in config.getoption("ignore") or ()}
    for argument in config.args:
        for folder, names, files in os.walk(config.invocation_params.dir / argument):
            names[:] = [name for name in names if Path(folder, name) not in ignored]
            yield from (Path(folder, file) for file in files if file.endswith(".py"))


def _bytecode(path: Path, config: pytest.Config) -> Path:
    """The file that pytest reads in place of a module with tests, or that Python reads in place of another module."""
    if path.name == "conftest.py" or any(fnmatch(path.name, pattern) for pattern in config.getini("python_files")):
        return rewrite.get_cache_dir(path) / (path.stem + rewrite.PYC_TAIL)
    return Path(util.cache_from_source(str(path)))


def _is_compiled(path: Path, bytecode: Path) -> bool:
    return bytecode.exists() and bytecode.stat().st_mtime >= path.stat().st_mtime


_config: list[pytest.Config] = []
"""The configuration, in a process of the pool: it cannot be sent to one."""


def _prepare(config: pytest.Config) -> None:
    _config[:] = [config]


def _compile(path: Path) -> None:
    """Writes the bytecode of a module. Errors appear when a worker imports the module."""
    bytecode = _bytecode(path, _config[0])
    try:
        if not bytecode.name.endswith(rewrite.PYC_TAIL):
            py_compile.compile(str(path), doraise=True)
            return
        rewrite.try_makedirs(bytecode.parent)
        stat, code = rewrite._rewrite_test(path, _config[0])
        rewrite._write_pyc(_config[0].stash[rewrite.assertstate_key], code, stat, bytecode)
    except (SyntaxError, ValueError, OSError, py_compile.PyCompileError):
        return
