"""Confines a process to the files below a root: no other file is read, none is written, and no socket is connected.

`allowed_paths` refuses paths of agents before a command runs, and commands follow no link out of a folder. This is the guard behind both:
an audit hook (PEP 578) sees each file that Python opens, also one that a link reaches.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import krm_fn
from krm_fn.repository.files import enclosing_folders

_REASON = "it is outside of the root of krm-fn mcp"
_NO_WRITES = "krm-fn mcp writes no files"
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGED_PATHS = {
    **dict.fromkeys(("os.chmod", "os.chown", "os.mkdir", "os.remove", "os.rmdir", "os.truncate"), (0,)),
    **dict.fromkeys(("os.link", "os.symlink"), (1,)),
    "os.rename": (0, 1),
}
"""The arguments of each event that are paths of what changes."""

_NO_DESCRIPTOR = -1
_LISTS = frozenset(("os.listdir", "os.scandir"))
_NETWORK = frozenset(("socket.bind", "socket.connect", "socket.getaddrinfo", "socket.sendto"))


def confine(root: Path, temporary: Path) -> None:
    """Confines this process, for the rest of its life. Files below `temporary` can be read and written.

    A refused call raises PermissionError, which the commands report as any file that cannot be read. Programs that a command starts, such
    as kustomize, are not confined: they get private copies.
    """
    enclosing_folders.set_ceiling(root)
    program = {Path(krm_fn.__file__).parent, Path(sys.prefix), Path(sys.base_prefix), Path(os.__file__).parent}
    readable = _real([root, temporary, *program])
    sys.addaudithook(_hook(readable, _real([temporary])))


def _real(folders: Iterable[Path]) -> tuple[str, ...]:
    return tuple(os.path.realpath(folder) for folder in folders)


def _hook(readable: tuple[str, ...], writable: tuple[str, ...]) -> Callable[[str, tuple[Any, ...]], None]:
    def check(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            if mode is None and not _is_absolute(path):
                return  # os.open below the descriptor of a folder that was checked
            if _is_writing(mode, flags):
                _require(path, writable, _NO_WRITES)
            else:
                _require(path, readable, _REASON)
        elif event in _LISTS:
            _require(arguments[0], readable, _REASON)
        elif event in _CHANGED_PATHS:
            for path in (arguments[number] for number in _CHANGED_PATHS[event]):
                if _is_absolute(path) or arguments[-1] == _NO_DESCRIPTOR or event == "os.truncate":
                    _require(Path(os.fsdecode(path)).parent, writable, _NO_WRITES)
        elif event in _NETWORK:
            raise PermissionError(errno.EACCES, "krm-fn mcp uses no network")

    return check


def _is_absolute(path: Any) -> bool:
    return isinstance(path, str | bytes | os.PathLike) and os.path.isabs(path)  # noqa: PTH117


def _is_writing(mode: str | None, flags: int) -> bool:
    return bool(flags & _WRITING) if mode is None else bool(set(mode) & set("wax+"))


def _require(path: Any, folders: tuple[str, ...], reason: str) -> None:
    """Raises PermissionError for a path outside of the folders. A descriptor, and the null device, are allowed."""
    if not isinstance(path, str | bytes | os.PathLike):
        return
    name = os.fsdecode(path)
    real = os.path.realpath(name)
    if real != os.devnull and not any(real == folder or real.startswith(f"{folder}{os.sep}") for folder in folders):
        raise PermissionError(errno.EACCES, reason, name)
