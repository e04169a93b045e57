"""The copy of the program that `krm-fn install` writes, and the words that start its Python.

The copy brings its own program loader and libraries, because the machine on which it runs may have none.
"""

from __future__ import annotations

import sys
from pathlib import Path

FOLDER = "krm-fn.d"
"""The folder with the interpreter, the packages and the libraries, beside the launcher."""


def interpreter() -> list[str]:
    """Returns the words that start the Python of this process as a new program.

    The interpreter of a copy starts through the loader of the copy, as in the launcher. Each other interpreter starts by its path.
    """
    files = Path(sys.executable).parents[1]
    loader = next((files / "lib").glob("ld-*"), None) if files.name == FOLDER else None
    return [str(loader), "--library-path", str(files / "lib"), sys.executable] if loader else [sys.executable]
