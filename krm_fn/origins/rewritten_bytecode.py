"""Keeps the bytecode of rewritten modules where Python keeps that of ordinary ones: in `__pycache__`, beside the sources.

So it comes from a folder that only those can write who can change the program itself, or from the one of `PYTHONPYCACHEPREFIX`. As Python
does, this module writes nothing with `PYTHONDONTWRITEBYTECODE`, and a folder that cannot be written makes a start slower, and no error.
"""

from __future__ import annotations

import marshal
import sys
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.util import MAGIC_NUMBER, cache_from_source, source_hash
from types import CodeType
from typing import Any

from krm_fn.origins import tracing_rewriter

_PACKAGE = __name__.partition(".")[0]
_CHECKED = (0b11).to_bytes(4, "little")
"""The flags of bytecode that is compared with the hash of its source (PEP 552)."""


def load(module: str, path: str, loader: Any, *, constants: bool) -> CodeType:
    """Returns the code of a module after `tracing_rewriter.rewrite`, by its name in the package and the path of its source.

    `loader` is the ordinary loader of the module. Nothing is stored if it is that of an archive, which can have the files of its build.
    """
    source: bytes = loader.get_source(f"{_PACKAGE}.{module}").encode()
    header, file = _header(source, constants=constants), file_of(path)
    stored = _read(loader, file, header)
    if stored:
        return stored
    code = _compile(source, module, path, constants=constants)
    if isinstance(loader, SourceFileLoader) and file and not sys.dont_write_bytecode:
        loader.set_data(file, header + marshal.dumps(code), _mode=0o644)  # ignores a folder that cannot be written
    return code


def file_of(path: str) -> str:
    """Returns the path of the file that stores the rewritten module of a source; empty if this Python stores no bytecode."""
    return cache_from_source(path, optimization="rewritten") if sys.implementation.cache_tag else ""


def content(source: bytes, module: str, path: str, *, constants: bool) -> bytes:
    """Returns the content of that file, for a build that writes it beforehand: the same bytes in each process."""
    code = _compile(source, module, path, constants=constants)
    return _header(source, constants=constants) + marshal.dumps(marshal.loads(marshal.dumps(code)))  # noqa: S302 - marks depend on references


def _header(source: bytes, *, constants: bool) -> bytes:
    return MAGIC_NUMBER + _CHECKED + source_hash(b"%d" % constants + _rewriter() + source)


def _compile(source: bytes, module: str, path: str, *, constants: bool) -> CodeType:
    return compile(tracing_rewriter.rewrite(source, module, constants=constants), path, "exec", dont_inherit=True)


def _read(loader: Any, file: str, header: bytes) -> CodeType | None:
    """The code in a file; None if the file is missing, damaged, or of another source."""
    try:
        data: bytes = loader.get_data(file)
        return marshal.loads(memoryview(data)[len(header) :]) if data.startswith(header) else None  # noqa: S302 - as Python reads imports
    except (OSError, EOFError, ValueError, TypeError):
        return None


@cache
def _rewriter() -> bytes:
    """The source of the module that rewrites, so that its next version rewrites again."""
    loader: Any = tracing_rewriter.__loader__
    text: str = loader.get_source(tracing_rewriter.__name__)
    return text.encode()
