"""Packs cached values, because a large cluster has tens of thousands of them, and most differ only in names.

A packed value is a tuple without the key of its object. `unpack(key, pack(value)) == value` for every value.
"""

from __future__ import annotations

import pickle
import zlib
from functools import lru_cache
from sys import intern
from typing import Any

from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.syncer.status.cached_object import CachedObject
from krm_fn.syncer.status.replica_status import ReplicaStatus

_NO_KEY = ObjectKey("", "", "", "")
_SHARED = 1024
"""Replica statuses that are in memory once, if they differ only in names. A fleet has a few dozen."""
_WINDOW, _MEMORY = -13, 6
"""The sizes of zlib's window and of its tables, as powers of two. A status has one or two KiB; a negative window leaves the header out."""


class Packer:
    """Packs the values of one store. The first compressed value is the dictionary of the others, which have the same fields."""

    def __init__(self) -> None:
        self._dictionary = b""

    def pack(self, value: Any) -> tuple[Any, ...]:
        """Packs a value."""
        if isinstance(value, ReplicaStatus):
            return _pack_status(value)
        if isinstance(value, CachedObject):
            return (self._compress(pickle.dumps(tuple(value[1:]), pickle.HIGHEST_PROTOCOL)),)
        return (value,)

    def unpack(self, key: ObjectKey, packed: tuple[Any, ...]) -> Any:
        """Returns the value of the object with this key."""
        first = packed[0]
        if isinstance(first, ReplicaStatus):
            return _unpack_status(key, first, packed[1:])
        if isinstance(first, bytes):
            return CachedObject(key, *pickle.loads(self._decompress(first)))  # noqa: S301 - bytes of this process
        return first

    def _compress(self, text: bytes) -> bytes:
        self._dictionary = self._dictionary or text
        compressor = zlib.compressobj(1, zlib.DEFLATED, _WINDOW, _MEMORY, zlib.Z_DEFAULT_STRATEGY, self._dictionary)
        return compressor.compress(text) + compressor.flush()

    def _decompress(self, data: bytes) -> bytes:
        return zlib.decompressobj(_WINDOW, self._dictionary).decompress(data)


def _pack_status(status: ReplicaStatus) -> tuple[Any, ...]:
    """Splits a replica status into a part that most objects share, and the texts in which they differ."""
    runtime = status.templates[0].runtime if len(status.templates) == 1 else ""
    templates = (status.templates[0]._replace(runtime=""),) if runtime else status.templates
    shared = status._replace(key=_NO_KEY, family="", member="", owner="", since="", selector="", templates=templates)
    texts = [status.family, status.member, status.owner, status.since, runtime, *(status.selector.split(",") if status.selector else ())]
    while texts and not (texts[-1] or status.selector):
        texts.pop()
    return (_once(shared), *map(intern, texts[:3]), *texts[3:])


def _unpack_status(key: ObjectKey, shared: ReplicaStatus, texts: tuple[str, ...]) -> ReplicaStatus:
    family, member, owner, since, runtime = (*texts[:5], "", "", "", "", "")[:5]
    templates = (shared.templates[0]._replace(runtime=runtime),) if runtime else shared.templates
    selector = ",".join(texts[5:])
    return shared._replace(key=key, family=family, member=member, owner=owner, since=since, selector=selector, templates=templates)


@lru_cache(maxsize=_SHARED)
def _once(status: ReplicaStatus) -> ReplicaStatus:
    return status
