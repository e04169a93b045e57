"""The objects of one kind as the syncer knows them. A version of an object never replaces a newer one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from krm_fn.kube.identity import ObjectKey

V = TypeVar("V")


class StoredObject(NamedTuple, Generic[V]):
    """One object: its uid, its resourceVersion, the projection that the syncer keeps, and the watch that delivered it last."""

    uid: str
    resource_version: str
    value: V
    source: object = None


class Store(Generic[V]):
    """A cache of one kind. Reflectors fill it (`put`, `drop`), the writer refreshes it with the answers of the server (`update`).

    Within one kind, versions of objects can be compared as numbers (KEP-5504).
    """

    def __init__(self, kind: str = "") -> None:
        self.kind = kind
        self._entries: dict[ObjectKey, StoredObject[V]] = {}
        self._distrusted: set[ObjectKey] = set()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: ObjectKey) -> V | None:
        """The value of an object. None if the object does not exist."""
        entry = self._entries.get(key)
        return None if entry is None else entry.value

    def entry(self, key: ObjectKey) -> StoredObject[V] | None:
        """The value of an object with its uid and resourceVersion. None if the object does not exist."""
        return self._entries.get(key)

    def keys(self, namespace: str = "") -> list[ObjectKey]:
        """The keys of all objects, or of those in one namespace. The list is a copy."""
        return [key for key in self._entries if not namespace or key.namespace == namespace]

    def keys_from(self, source: object) -> list[ObjectKey]:
        """The keys of the objects that one watch delivered last."""
        return [key for key, entry in self._entries.items() if entry.source is source]

    def values(self) -> list[V]:
        """All values. The list is a copy."""
        return [entry.value for entry in self._entries.values()]

    def put(self, key: ObjectKey, uid: str, resource_version: str, value: V, source: object = None) -> tuple[bool, V | None]:
        """Stores a version that a watch or a list delivered. Returns whether it was taken, and the value before (None: a new object).

        A version of the same object (uid) that is not newer is not taken: the answer to our own write arrived before it. `source` is the
        watch, which may remove the object again.
        """
        before = self._entries.get(key)
        if before is not None and before.uid == uid and not self._is_newer(key, resource_version, before.resource_version):
            if before.source is not source:
                self._entries[key] = before._replace(source=source)
            return False, before.value
        self._entries[key] = StoredObject(uid, resource_version, value, source)
        self._distrusted.discard(key)
        return True, None if before is None else before.value

    def update(self, key: ObjectKey, uid: str, resource_version: str, value: V) -> bool:
        """Stores the version in the answer to our own write. Returns whether it was taken.

        Only a newer version of a known object is taken: the answer may arrive after the object was deleted, and must not bring it back.
        """
        before = self._entries.get(key)
        if before is None or before.uid != uid:
            return False
        return self.put(key, uid, resource_version, value, before.source)[0]

    def drop(self, key: ObjectKey) -> V | None:
        """Removes an object; returns its value, or None if it was not there."""
        self._distrusted.discard(key)
        entry = self._entries.pop(key, None)
        return None if entry is None else entry.value

    def newest(self) -> int:
        """The highest resourceVersion in the store, without distrusted objects; 0 if none is left."""
        trusted = (entry for key, entry in self._entries.items() if key not in self._distrusted)
        return max((_number(entry.resource_version) for entry in trusted), default=0)

    def distrust(self) -> None:
        """Lets the next version of each object replace the stored one, even if its number is lower or the same.

        For a server whose versions went back, because somebody restored etcd from a backup, or which serves another API version.
        """
        self._distrusted = set(self._entries)

    def _is_newer(self, key: ObjectKey, version: str, stored: str) -> bool:
        if key in self._distrusted:
            return True
        return int(version) > int(stored) if version.isdigit() and stored.isdigit() else version != stored


def _number(version: str) -> int:
    return int(version) if version.isdigit() else 0
