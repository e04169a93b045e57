"""Copies the program with its runtime into a folder, for `krm-fn install`. The copy runs on machines without Python.

The runtime is the interpreter, the standard library, packages, shared libraries and a launcher. The process itself lists the libraries that
it uses, so a copy can be copied again. The copy includes the C library and the program loader, so it does not depend on those of the other
machine. The kernel accepts no relative path of a loader, so the launcher is a shell script that names the loader.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import importlib.util
import os
import py_compile
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import krm_fn
from krm_fn.repository import installation

LAUNCHER = "krm-fn"

# Parts of the standard library for building, testing, drawing and other servers, and duplicates. The rest is small.
_EXCLUDED = (
    *("__phello__", "config-*", "distutils", "ensurepip", "idlelib", "lib2to3", "pydoc_data", "sitecustomize.py"),
    *("site-packages", "dist-packages", "test", "tests", "idle_test", "turtle.py", "turtledemo", "unittest", "venv"),
    *("doctest.py", "pydoc.py", "multiprocessing", "_multiprocessing*", "xmlrpc"),
    *("curses", "_curses*", "dbm", "_dbm*", "_gdbm*", "readline*", "sqlite3", "_sqlite3*", "tkinter", "_tkinter*", "nis.*"),
    *("_test*", "_xx*", "xx*", "*.opt-1.pyc", "*.opt-2.pyc", "*.a"),
)
_UNUSED = ("pydantic/v1/", "pydantic/mypy.py")
"""What packages have for other programs: the interface of an older version, and a plugin of a type checker."""
_UNCHECKED = b"\x01\x00\x00\x00"  # PEP 552: hash-based, not compared with the source

_LAUNCH = """\
#!/bin/sh
# krm-fn {version}, with the Python beside it; its folder can be moved.
here=$0
[ ! -h "$here" ] || here=$(readlink -f "$here")
case $here in */*) here=${{here%/*}} ;; *) here=. ;; esac
exec "$here/{files}/lib/{loader}" --library-path "$here/{files}/lib" "$here/{files}/bin/python3" -I -S -m krm_fn "$@"
"""


def write(folder: Path, extras: Sequence[str] = ()) -> None:
    """Writes the launcher and its files into an existing folder, and replaces an earlier copy. Follows no link in the folder.

    `extras` are the extras of setup.cfg whose packages are copied, too. Raises OSError if the copy cannot be written, and LookupError if a
    part of it cannot be found. An earlier copy stays until the new copy is complete.
    """
    if sys.platform != "linux":
        raise LookupError(f"only Linux programs can be copied, and this is {sys.platform}; run the command in the image")
    package = Path(krm_fn.__file__).parent
    if not package.is_dir():
        archive = next(path for path in package.parents if path.exists())
        raise LookupError(
            f"{archive} is an archive; copy the archive itself, or install {krm_fn.PACKAGE} with pip and run this command again"
        )
    files, launcher = folder / installation.FOLDER, folder / LAUNCHER
    if files.is_symlink() or (files.exists() and not (files / "bin" / "python3").exists()):
        raise FileExistsError(errno.EEXIST, "the path exists and was not made by krm-fn; move it away", str(files))
    if launcher.is_dir() and not launcher.is_symlink():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(launcher))
    with tempfile.TemporaryDirectory(prefix=f".{installation.FOLDER}-", dir=folder) as name:
        temporary = Path(name)
        loader = _fill(temporary / "new", extras)
        script = temporary / LAUNCHER
        script.write_text(_LAUNCH.format(version=krm_fn.__version__, files=installation.FOLDER, loader=loader))
        script.chmod(0o755)
        if files.exists():
            files.rename(temporary / "old")
        (temporary / "new").rename(files)
        script.replace(launcher)


def _fill(root: Path, extras: Sequence[str]) -> str:
    """Copies all files; returns the name of the program loader among them."""
    standard = Path(os.__file__).parent
    library = root / "lib" / standard.name
    shutil.copytree(standard, library, ignore=shutil.ignore_patterns(*_EXCLUDED))
    for distribution in distributions(extras=extras):
        _copy_packages(distribution, library)
    shutil.copytree(Path(krm_fn.__file__).parent, library / "krm_fn", dirs_exist_ok=True)
    (root / "bin").mkdir()
    shutil.copy2(os.path.realpath(getattr(sys, "_base_executable", sys.executable)), root / "bin" / "python3")
    loader = _copy_libraries(root / "lib", library)
    _compile(library)
    return loader


def distributions(name: str = krm_fn.PACKAGE, extras: Sequence[str] = ()) -> list[metadata.Distribution]:
    """Lists a distribution and its installed requirements, without those of other extras and of other platforms.

    Raises LookupError if the packages of an extra are not installed.
    """
    installed: dict[str, metadata.Distribution] = {}
    pending = [name, *(package for extra in extras for package in _packages(name, extra))]
    while pending:
        package = re.sub(r"[-_.]+", "-", pending.pop()).lower()
        with contextlib.suppress(metadata.PackageNotFoundError):
            if package not in installed:
                installed[package] = metadata.distribution(package)
                requirements = [line for line in installed[package].requires or () if "extra ==" not in line]
                pending.extend(map(_package, requirements))
    return list(installed.values())


def _packages(name: str, extra: str) -> list[str]:
    """Lists the packages of an extra. Raises LookupError if one of them is not installed."""
    condition = re.compile(f"extra == ['\"]{extra}['\"]")
    requirements = [line.partition(";")[0].strip() for line in metadata.distribution(name).requires or () if condition.search(line)]
    names = [_package(line) for line in requirements]
    if not names or not all(any(metadata.Distribution.discover(name=package)) for package in names):
        packages = " ".join(f"'{requirement}'" for requirement in requirements)
        raise LookupError(f"packages of the extra {extra} are missing; run: pip install {packages}")
    return names


def _package(requirement: str) -> str:
    """Returns the name of the package in a requirement."""
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0]


def _copy_packages(distribution: metadata.Distribution, library: Path) -> None:
    """Copies the files that pip recorded, except scripts and other files outside the folder of the packages.

    Of this program it copies the metadata only: in a source folder the list also has tests and documents. `_fill` copies the modules.
    """
    if distribution.files is None:
        raise LookupError(f"the installation of {distribution.name} has no list of its files; install it with pip")
    for file in distribution.files:
        source = Path(str(file.locate()))
        is_needed = distribution.name != krm_fn.PACKAGE or file.parts[0].endswith("-info")
        is_needed = is_needed and not file.as_posix().startswith(_UNUSED)
        if is_needed and ".." not in file.parts and file.suffix != ".pth" and source.exists():
            (library / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, library / file)


def _copy_libraries(target: Path, library: Path) -> str:
    """Copies the shared libraries of the interpreter and of all extension modules; returns the name of the program loader."""
    for extension in sorted(library.rglob("*.so")):
        with contextlib.suppress(OSError):  # this module cannot be libraries here either
            ctypes.CDLL(str(extension))
    libraries = [
        path for path in _shared_libraries() if ".so." in path.name and not path.is_relative_to(library)
    ]  # extension modules end in .so
    for path in libraries:
        shutil.copy2(path, target / path.name)
    return next(path.name for path in libraries if path.name.startswith("ld-"))


def _shared_libraries() -> Iterator[Path]:
    """Yields the paths of the shared libraries of this process (dl_iterate_phdr(3))."""
    names: list[str] = []

    def add(information: Any, _size: int, _data: None) -> int:
        names.append(os.fsdecode(information[1] or b""))  # the second field of struct dl_phdr_info
        return 0

    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_char_p), ctypes.c_size_t, ctypes.c_void_p)
    ctypes.CDLL(None).dl_iterate_phdr(callback(add), None)
    return (path for path in map(Path, names) if path.is_absolute())


def _compile(library: Path) -> None:
    """Compiles sources to files that Python never checks again, because the copy may be read-only and its files get new dates."""
    for source in library.rglob("*.py"):
        compiled = Path(importlib.util.cache_from_source(str(source)))
        if not compiled.exists() or compiled.read_bytes()[4:8] != _UNCHECKED:
            py_compile.compile(str(source), str(compiled), quiet=2, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
