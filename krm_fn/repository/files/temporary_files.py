"""Temporary files beside the files that they replace. A process that is killed leaves them, and the next one removes them.

Each process holds a lock on its own temporary files, and the system releases it when the process ends. So the next process knows which
ones no process uses. Without locks, as on Windows, nothing is removed. No name ends in `.yaml`, so `kubectl apply -R` reads none.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_PREFIX, _SUFFIX = ".krm-fn-", ".new"
_NAME = re.compile(r"\.krm-fn-[a-z0-9_]{8}\.new")
_MEMBER = re.compile(r"[0-9]+\.new")
_ATTEMPTS = 100
"""Temporary files that another process may remove before they have their lock."""


@contextlib.contextmanager
def folder(parent: Path) -> Iterator[Callable[[int], Path]]:
    """Makes a temporary folder in `parent`, and removes it at the end. Yields a function from a number to a path in it. Raises OSError."""
    _remove_abandoned(parent)
    for _ in range(_ATTEMPTS):
        with (
            tempfile.TemporaryDirectory(prefix=_PREFIX, suffix=_SUFFIX, dir=parent, ignore_cleanup_errors=True) as name,
            _hold_lock(Path(name)) as held,
        ):
            if held is not False:
                yield lambda number: Path(name, f"{number}{_SUFFIX}")
                return
    raise FileExistsError(0, "another process removes the temporary folders", str(parent))


def replace(target: Path, content: bytes) -> None:
    """Replaces the content of a file at once, and keeps its mode. Raises OSError."""
    _remove_abandoned(target.parent)
    for _ in range(_ATTEMPTS):
        descriptor, name = tempfile.mkstemp(prefix=_PREFIX, suffix=_SUFFIX, dir=target.parent)
        temporary = Path(name)
        with os.fdopen(descriptor, "wb") as file, _hold_lock(temporary) as held:
            try:
                file.write(content)
                file.flush()
                if held is not False:
                    temporary.chmod(target.stat().st_mode)
                    temporary.replace(target)
                    return
            finally:
                temporary.unlink(missing_ok=True)
    raise FileExistsError(0, "another process removes the temporary files", str(target.parent))


def _remove_abandoned(parent: Path) -> None:
    """Removes the temporary files that ended processes of this user left in a folder. Others, and those that cannot be removed, stay."""
    for path in sorted(parent.glob(f"{_PREFIX}*{_SUFFIX}")) if sys.platform != "win32" else ():
        with contextlib.suppress(OSError):
            status = path.lstat()
            if not _NAME.fullmatch(path.name) or status.st_uid != os.getuid():
                continue
            if not (stat.S_ISREG(status.st_mode) or (stat.S_ISDIR(status.st_mode) and _has_members_only(path))):
                continue
            with _hold_lock(path) as held:
                if held:
                    _remove(path)


def _has_members_only(path: Path) -> bool:
    return all(_MEMBER.fullmatch(member.name) and stat.S_ISREG(member.lstat().st_mode) for member in path.iterdir())


def _remove(path: Path) -> None:
    if not path.is_dir():
        path.unlink()
        return
    for member in path.iterdir():
        member.unlink()
    path.rmdir()


@contextlib.contextmanager
def _hold_lock(path: Path) -> Iterator[bool | None]:
    """Holds the lock of a file or a folder, and yields True.

    Yields False if another process has the lock or removed the path, and None if there are no locks.
    """
    if sys.platform == "win32":
        yield None
        return
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        descriptor = -1
    try:
        yield descriptor >= 0 and _has_lock(descriptor, path)
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _has_lock(descriptor: int, path: Path) -> bool | None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return None
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False
