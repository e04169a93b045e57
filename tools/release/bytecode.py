"""Compiles the modules of the zipapp for several versions of Python. `zipapp_start.py` in the zipapp reads them.

Usage, by the Python that will run the modules:

    python3.13 -X no_debug_ranges tools/release/bytecode.py FOLDER > FILE
"""

from __future__ import annotations

import importlib.util
import marshal
import shutil
import subprocess
import sys
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import CodeType

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
_RENDER = {"base", "kubernetes", "render"}
"""The packages of a render, whose modules `explain` can rewrite."""
_WITHOUT_COLUMNS = ("-X", "no_debug_ranges")
"""Bytecode without the columns of expressions, which tracebacks underline, is a third smaller."""


def build(folder: Path) -> dict[str, bytes]:
    """Compiles the modules in a folder for this Python, and for the `VERSIONS` on the PATH, by the magic number of each.

    Raises CalledProcessError if a Python ends with an error. A module that a version cannot compile is left out.
    """
    own = "{}.{}".format(*sys.version_info)
    others = (shutil.which(f"python{version}") for version in VERSIONS if version != own)
    pythons = [sys.executable, *(python for python in others if python and _runs(python))]
    return dict(_compile_by(python, folder) for python in pythons)


def _runs(python: str) -> bool:
    """False for a launcher, such as that of pyenv, whose version is not installed."""
    return not subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode


def _compile_by(python: str, folder: Path) -> tuple[str, bytes]:
    """The magic number of a Python, and its bytecode. The environment is the same for all builds, so that the bytes are the same."""
    command = [python, "-E", "-s", *_WITHOUT_COLUMNS, __file__, str(folder)]
    output = subprocess.run(command, capture_output=True, check=True).stdout
    magic, _, data = output.partition(b"\n")
    return magic.decode(), data


def compile_modules(sources: Mapping[str, tuple[str, bytes]], files: Mapping[str, bytes]) -> bytes:
    """Returns the code of modules, by their names, with the path and the source of each, and further files.

    The first object is a marshalled dict from the name of a module, or the path of a file, to the begin and the end of its part. The parts
    follow, each compressed.
    """
    parts = {path: zlib.compress(data, 9) for path, data in sorted(files.items())}
    for name, (path, source) in sorted(sources.items()):
        try:
            code = compile(source, path, "exec", dont_inherit=True)
        except SyntaxError:
            continue  # of a package with modules for other versions
        parts[name] = zlib.compress(_marshal_reproducibly(code), 9)
    size = 0
    while size != (size := len(_index(parts, size))):  # the numbers in the index depend on its own size
        pass
    return _index(parts, size) + b"".join(parts.values())


def _marshal_reproducibly(code: CodeType) -> bytes:
    """The bytes of a code object. `marshal` marks objects with several references, of which a fresh copy has the same number each time."""
    return marshal.dumps(marshal.loads(marshal.dumps(code)))  # noqa: S302


def _index(parts: Mapping[str, bytes], start: int) -> bytes:
    bounds = {}
    for name, part in parts.items():
        bounds[name] = start, start + len(part)
        start += len(part)
    return marshal.dumps(bounds)


def rewritten_files(folder: Path) -> dict[str, bytes]:
    """Returns the files in which the program in a folder keeps the modules that it rewrites for `explain`, by their paths."""
    if not (folder / "krm_fn" / "origins").is_dir():
        return {}
    sys.path.insert(0, str(folder))
    from krm_fn.origins import tracing_loader  # noqa: PLC0415 - that of the folder

    named = ((name.partition(".")[2], *source) for name, source in sorted(modules(folder)) if name.startswith("krm_fn."))
    of_render = (entry for entry in named if entry[0].partition(".")[0] in _RENDER)
    return dict(tracing_loader.stored_file(name, path, source) for name, path, source in of_render if tracing_loader.is_rewritten(name))


def modules(folder: Path) -> Iterator[tuple[str, tuple[str, bytes]]]:
    """Yields the name of each module in a folder, with its path and its source."""
    for path in folder.rglob("*.py"):
        parts = path.relative_to(folder).with_suffix("").parts
        if parts[0].isidentifier() and parts[0] != "bin":
            named = parts[:-1] if parts[-1] == "__init__" else parts
            yield ".".join(named), (path.relative_to(folder).as_posix(), path.read_bytes())


if __name__ == "__main__":
    FOLDER = Path(sys.argv[1])
    sys.stdout.buffer.write(
        importlib.util.MAGIC_NUMBER.hex().encode() + b"\n" + compile_modules(dict(modules(FOLDER)), rewritten_files(FOLDER))
    )
