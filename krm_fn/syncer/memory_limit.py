"""Finds the memory limit of this process's cgroup, and how much of it is used. Versions 1 and 2 of cgroups have it in files."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from krm_fn.syncer import fleet_estimate

WARN, CALM = 0.8, 0.7
"""The part of the limit above which a warning is logged, and the part below which the next crossing is logged again."""
_NO_LIMIT = 2**60
"""Version 1 writes a number of this size for no limit: the largest multiple of a page."""
_MIB = 2**20
_PERIOD = 0.5
"""Seconds between two checks. A process that reads a cluster grows by a few MiB in this time."""

_LOG = logging.getLogger(__name__)


class MemoryUse(NamedTuple):
    """The memory that counts against a limit, and the limit, in bytes. The kernel can free the file cache, so it does not count."""

    used: int
    limit: int

    @property
    def part(self) -> float:
        """The used part of the limit."""
        return self.used / self.limit


class _CgroupFiles(NamedTuple):
    """The names of the files of one version of cgroups."""

    controller: str
    folder: str
    limit: str
    usage: str
    cache: str
    """The file cache in `memory.stat`."""


_VERSIONS = (
    _CgroupFiles("", "", "memory.max", "memory.current", "inactive_file"),
    _CgroupFiles("memory", "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def read(root: Path = Path("/")) -> MemoryUse | None:
    """Reads the smallest limit that applies to this process; None if there is no limit. `root` is the folder with `proc` and `sys`."""
    uses = (use for version in _VERSIONS for folder in _folders(root, version) if (use := _use(folder, version)))
    return min(uses, key=lambda use: use.limit, default=None)


def _folders(root: Path, version: _CgroupFiles) -> Iterator[Path]:
    """Yields the folders of the process's cgroup and of all above. A container sees its own cgroup as the topmost folder."""
    top = root / "sys/fs/cgroup" / version.folder
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if version.controller in controllers.split(",") and ".." not in path:
            own = PurePosixPath(path.lstrip("/"))
            yield from (top / folder for folder in (own, *own.parents))


def _use(folder: Path, version: _CgroupFiles) -> MemoryUse | None:
    limit, usage = _number(_text(folder / version.limit)), _number(_text(folder / version.usage))
    if limit is None or usage is None or not 0 < limit < _NO_LIMIT:
        return None
    counts = dict(line.split(" ", 1) for line in _text(folder / "memory.stat").splitlines() if " " in line)
    return MemoryUse(max(usage - (_number(counts.get(version.cache, "")) or 0), 0), limit)


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8", errors="replace")
    except OSError:
        return ""


def _number(text: str) -> int | None:
    digits = text.strip()
    return int(digits) if digits.isascii() and digits.isdigit() else None


class MemoryWatch:
    """Logs a warning when the process comes near its memory limit, once for each crossing.

    The kernel ends a process at its limit without a word, often while it reads the cluster for the first time. `cached()` counts the
    objects in memory by kind. `complete()` is false until all are read. `members()` counts the processes that share the namespaces.
    `use()` returns the memory and its limit.
    """

    def __init__(
        self,
        cached: Callable[[], dict[str, int]],
        complete: Callable[[], bool],
        members: Callable[[], int] = lambda: 1,
        use: Callable[[], MemoryUse | None] = read,
    ) -> None:
        self.use = use
        self._cached = cached
        self._complete = complete
        self._members = members
        self._warned = False

    async def run(self) -> None:
        """Checks the memory until the task is cancelled."""
        while True:
            self.check()
            await asyncio.sleep(_PERIOD)

    def check(self) -> None:
        """Logs the warning if it is due."""
        use = self.use()
        if use is None or CALM <= use.part < WARN:
            return
        if use.part >= WARN and not self._warned:
            self._warn(use)
        self._warned = use.part >= WARN

    def _warn(self, use: MemoryUse) -> None:
        cached, limit = self._cached(), use.limit // _MIB
        used, number = use.used // _MIB, sum(cached.values())
        if self._complete():
            unread, least = "", ""
            enough = max(fleet_estimate.memory(cached).limit, fleet_estimate.round_limit(limit + 1))
            parts = max(fleet_estimate.parts(cached, limit) or 2, 2)
        else:
            unread, least = ", and not all are read yet", "at least "
            enough, parts = fleet_estimate.round_limit(2 * limit), 2
        fix = f"{least}{enough} MiB, or run {least}{parts * self._members()} replicas with --shards"
        text = "%d of %d MiB of memory are used by %d objects%s; the kernel ends this process at its limit. Set the limit to %s"
        _LOG.warning(text, used, limit, number, unread, fix)
