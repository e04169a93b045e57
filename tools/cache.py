"""The user's cache of finished programs: one folder for each key, complete or absent."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def root() -> Path:
    """The cache folder, shared by all clones of this user (XDG Base Directory Specification: `XDG_CACHE_HOME`)."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "dynamo-krm-fn" / "tools"


def entry(key: str) -> Path:
    """The folder of a key; it may not exist yet."""
    return root() / key


def found(key: str) -> Path | None:
    """The folder of a key if it exists."""
    folder = entry(key)
    return folder if folder.exists() else None


def log(key: str) -> Path:
    """The log file of the command that fills the folder of a key."""
    return root() / f"{key}.log"


def fill(key: str, filler: Callable[[Path, int], None]) -> Path:
    """The folder of a key. If it does not exist, `filler(folder, lock)` fills it; a lock keeps other processes from filling it too.

    `lock` is a file descriptor. A child process that inherits it holds the lock until it ends, also if this process is killed.
    """
    with _locked(key) as lock:
        if not entry(key).exists():
            partial = root() / f"{key}.partial"
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            filler(partial, lock)
            partial.rename(entry(key))
    return entry(key)


@contextlib.contextmanager
def _locked(key: str) -> Iterator[int]:
    """Lock a key. The kernel releases the lock when its last holder ends for any reason."""
    root().mkdir(parents=True, exist_ok=True)
    lock = os.open(root() / f"{key}.lock", os.O_CREAT | os.O_RDWR, 0o644)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"{key}: another process is making it; waiting", file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock
    finally:
        os.close(lock)
