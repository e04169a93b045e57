"""The outputs of requests, each read once: a large output takes a moment, and a request is looked at often."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from krm_fn.profiling import output

if TYPE_CHECKING:
    from krm_fn.kube.identity import ObjectKey
    from krm_fn.profiling.output import Output, Published
    from krm_fn.sync.store import Entry

_REMEMBERED = 64
"""The outputs that are remembered. A request that is ready is looked at only if something changes."""

Version = tuple[str, str, bool]


class Outputs:
    """Reads outputs in a thread, so that a large one does not delay the statuses of others."""

    def __init__(self) -> None:
        self._read: dict[ObjectKey, tuple[Version, Output]] = {}

    async def get(self, entry: Entry[Published] | None, *, mocker: bool) -> Output | None:
        """The output in a ConfigMap; None if the ConfigMap does not exist. The same version gives the same object."""
        if entry is None:
            return None
        key, version = entry.value.key, (entry.uid, entry.resource_version, mocker)
        known = self._read.pop(key, None)
        if known is None or known[0] != version:
            known = version, await asyncio.to_thread(output.read, entry.value, mocker=mocker)
        self._read[key] = known  # the last used is last
        while len(self._read) > _REMEMBERED:
            del self._read[next(iter(self._read))]
        return known[1]
