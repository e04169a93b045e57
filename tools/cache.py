"""The user's cache of finished programs: a folder per key, there completely or not at all.

Not its business: what is put there (see `golang`) or what a key is made of (see `programs`).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def root() -> Path:
    """Where programs are kept, for all clones of this user (XDG Base Directory Specification: `XDG_CACHE_HOME`)."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "dynamo-krm-fn" / "tools"


def entry(key: str) -> Path:
    """The folder of a key, whether it is there or not."""
    return root() / key


def log(key: str) -> Path:
    """The file that what happens while a folder is filled is written to."""
    return root() / f"{key}.log"


def fill(key: str, filler: Callable[[Path, int], None]) -> Path:
    """The folder of a key, filled by `filler(folder, lock)` unless it is there; two processes never fill it both.

    `lock` is a file descriptor. A program that is given it holds the lock for as long as it runs, even when this process is killed.
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
    """The lock of a key; the kernel lets go of it when its last holder ends, however that ends."""
    root().mkdir(parents=True, exist_ok=True)
    lock = os.open(root() / f"{key}.lock", os.O_CREAT | os.O_RDWR, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock
    finally:
        os.close(lock)
