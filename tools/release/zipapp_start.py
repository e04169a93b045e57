"""Imports the modules of a zipapp from bytecode that `bytecode.py` wrote when it was built. This module is in the zipapp.

`zipimport` compiles each module at each start, twice in Python 3.11. It reads bytecode beside a source for one version of Python only, and
each entry of an archive costs time at each start. So the zipapp has one entry for each version, and this module reads the part of a module
from it. Any other version of Python reads the sources.
"""

from __future__ import annotations

import _imp
import marshal
import os
import sys
import zipimport
import zlib
from importlib.util import MAGIC_NUMBER
from types import CodeType

FOLDER = "bytecode"
"""The folder in the archive. The name of each file in it is the magic number of its bytecode, in hexadecimal digits."""
ARCHIVE = sys.path[0]
_parts: dict[str, tuple[int, int]] = {}
_bytecode = memoryview(b"")


class BytecodeImporter(zipimport.zipimporter):
    """An importer of this archive. Everything but bytecode, such as sources and data, is that of `zipimporter`."""

    def get_code(self, fullname: str) -> CodeType:
        """Returns the code of a module. Raises ZipImportError for a module that the archive lacks."""
        if fullname not in _parts:
            return super().get_code(fullname)
        code: CodeType = marshal.loads(_part(fullname))  # noqa: S302 - of the archive that runs
        _imp._fix_co_filename(code, self.get_filename(fullname))  # type: ignore[attr-defined]  # noqa: SLF001 - as importlib: readers of sources need it
        return code

    def get_filename(self, fullname: str) -> str:
        """Returns the path of a module in the archive. `zipimporter` would compile the module for it."""
        if fullname not in _parts:
            return super().get_filename(fullname)
        path = f"{self.archive}{os.sep}{fullname.replace('.', os.sep)}"
        return f"{path}{os.sep}__init__.py" if self.is_package(fullname) else f"{path}.py"

    def get_data(self, pathname: str) -> bytes:
        """Returns the content of a file in the archive, or of one that only this Python reads. Raises OSError for a missing file."""
        path = pathname.removeprefix(ARCHIVE + os.sep).replace(os.sep, "/")
        return _part(path) if path in _parts else super().get_data(pathname)


def _part(name: str) -> bytes:
    start, end = _parts[name]
    return zlib.decompress(_bytecode[start:end])


def use_bytecode() -> None:
    """Imports the modules of this archive from bytecode, if it has bytecode of the Python that runs."""
    global _parts, _bytecode
    try:
        data = zipimport.zipimporter(ARCHIVE).get_data(f"{ARCHIVE}{os.sep}{FOLDER}{os.sep}{MAGIC_NUMBER.hex()}")
    except OSError:
        return
    _parts, _bytecode = marshal.loads(data), memoryview(data)  # noqa: S302
    sys.path_hooks.insert(0, _importer_of)
    sys.path_importer_cache.pop(ARCHIVE, None)


def _importer_of(path: str) -> BytecodeImporter:
    """The importer of a path in this archive. Raises ImportError for any other path, as Python expects it of a hook."""
    if path != ARCHIVE and not path.startswith(ARCHIVE + os.sep):
        raise ImportError(path)
    return BytecodeImporter(path)
