"""Objects of a store in memory, and a mapping by `ObjectKey` that needs less memory than a dict.

A large cluster has tens of thousands of objects, so a packer can pack their values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, MutableMapping
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from krm_fn.kubernetes.identity import ObjectKey

V = TypeVar("V")

_RECENT = 8
"""The most unpacked objects of a store: the workers read the graphs of different namespaces by turns."""
_UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class StoredObject(NamedTuple, Generic[V]):
    """A cached object: its uid, its resourceVersion, and the projection that the syncer caches.

    `source` is the informer that has the object, and `delivered` the resourceVersion that this informer delivered last. The answer to a
    write of our own can be newer.
    """

    uid: str
    resource_version: str
    value: V
    source: object = None
    delivered: str = ""

    @property
    def preconditions(self) -> dict[str, str]:
        """The metadata of a patch that the server refuses if the object has changed, or was created again."""
        return {"resourceVersion": self.resource_version, "uid": self.uid}


class Packing(Protocol):
    """Packs the values of a store, and returns them for the key of their object: `unpack(key, pack(value)) == value`."""

    def pack(self, value: Any) -> tuple[Any, ...]:
        """Packs a value."""

    def unpack(self, key: ObjectKey, packed: tuple[Any, ...]) -> Any:
        """Returns the value of the object with this key."""


class _Unpacked:
    """Keeps each value as it is."""

    def pack(self, value: Any) -> tuple[Any, ...]:
        """Returns the value as the only part."""
        return (value,)

    def unpack(self, _key: ObjectKey, packed: tuple[Any, ...]) -> Any:
        """Returns the only part."""
        return packed[0]


class StoredObjects(MutableMapping[ObjectKey, StoredObject[V]]):
    """The objects of one store by key. An object is made anew whenever it is read."""

    def __init__(self, packer: Packing | None = None) -> None:
        self._packer = packer or _Unpacked()
        self._packed: KeyMap[tuple[Any, ...]] = KeyMap()  # uid, resourceVersion, source, delivered, and the packed value
        self._recent: dict[ObjectKey, tuple[tuple[Any, ...], StoredObject[V]]] = {}  # all members of a graph read the graph

    def __getitem__(self, key: ObjectKey) -> StoredObject[V]:
        packed = self._packed[key]
        recent = self._recent.get(key)
        if recent is None or recent[0] is not packed:
            uid, version, source, delivered, *value = packed
            recent = packed, StoredObject(_uid(uid), str(version), self._packer.unpack(key, tuple(value)), source, str(delivered))
            self._recent.pop(key, None)
            self._recent[key] = recent
            if len(self._recent) > _RECENT:
                del self._recent[next(iter(self._recent))]
        return recent[1]

    def __setitem__(self, key: ObjectKey, entry: StoredObject[V]) -> None:
        version = _compact_version(entry.resource_version)
        delivered = version if entry.delivered == entry.resource_version else _compact_version(entry.delivered)
        self._packed[key] = (_compact_uid(entry.uid), version, entry.source, delivered, *self._packer.pack(entry.value))

    def __delitem__(self, key: ObjectKey) -> None:
        self._recent.pop(key, None)
        del self._packed[key]

    def __iter__(self) -> Iterator[ObjectKey]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)

    def __contains__(self, key: object) -> bool:
        return key in self._packed

    def keys_in(self, namespace: str) -> Iterator[ObjectKey]:
        """Yields the keys in one namespace."""
        return self._packed.keys_in(namespace)

    def keys_from(self, source: object) -> Iterator[ObjectKey]:
        """Yields the keys of the objects that one informer has."""
        return (key for key, packed in self._packed.items() if packed[2] is source)

    def versions(self) -> Iterator[tuple[ObjectKey, int]]:
        """Yields the keys and the resourceVersions; 0 for a version that is no number."""
        return ((key, packed[1] if isinstance(packed[1], int) else 0) for key, packed in self._packed.items())


def _compact_version(text: str) -> int | str:
    """Returns a resourceVersion as a number, which needs half the memory; any other text as it is."""
    return int(text) if text.isascii() and text.isdigit() and text[:1] != "0" else text


def _compact_uid(text: str) -> int | str:
    """Returns a UUID as a number, which needs half the memory; any other text as it is."""
    return int(text.replace("-", ""), 16) if _UUID.fullmatch(text) else text


def _uid(compact: int | str) -> str:
    if isinstance(compact, str):
        return compact
    digits = f"{compact:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


class KeyMap(MutableMapping[ObjectKey, V]):
    """A mapping by key. It keeps the order of insertion within a namespace, and makes the keys anew whenever they are listed."""

    def __init__(self) -> None:
        self._namespaces: dict[tuple[str, str, str], dict[str, V]] = {}
        self._length = 0

    def __getitem__(self, key: ObjectKey) -> V:
        return self._namespaces[key[:3]][key[3]]

    def __setitem__(self, key: ObjectKey, value: V) -> None:
        names = self._namespaces.setdefault(key[:3], {})
        self._length -= len(names)
        names[key[3]] = value
        self._length += len(names)

    def __delitem__(self, key: ObjectKey) -> None:
        names = self._namespaces[key[:3]]
        del names[key[3]]
        self._length -= 1
        if not names:
            del self._namespaces[key[:3]]

    def __iter__(self) -> Iterator[ObjectKey]:
        return (ObjectKey(*namespace, name) for namespace, names in self._namespaces.items() for name in names)

    def __len__(self) -> int:
        return self._length

    def keys_in(self, namespace: str) -> Iterator[ObjectKey]:
        """Yields the keys in one namespace."""
        return (ObjectKey(*scope, name) for scope, names in self._namespaces.items() if scope[2] == namespace for name in names)
