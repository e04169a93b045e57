"""The store of one kind, and the informer that applies the lists and watch events of the API server to it.

A version of an object never replaces a newer one in the store.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from typing import Any, Generic, TypeVar

from krm_fn.cluster.api_resources import ApiResource
from krm_fn.cluster.client import GarbledError
from krm_fn.cluster.object_store import Packing, StoredObject, StoredObjects
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource

V = TypeVar("V")

_LOG = logging.getLogger(__name__)


class Store(Generic[V]):
    """The cached objects of one kind (client-go: Store). Informers fill it (`put`, `drop`); the answers to writes update it (`update`).

    Within one kind, versions of objects can be compared as numbers (KEP-5504). `packer` packs the values; by default they stay as they are.
    """

    def __init__(self, kind: str = "", packer: Packing | None = None) -> None:
        self.kind = kind
        self._entries: StoredObjects[V] = StoredObjects(packer)
        self._distrusted: set[ObjectKey] = set()

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def get(self, key: ObjectKey) -> V | None:
        """Returns the value of an object; None if the object does not exist."""
        entry = self._entries.get(key)
        return None if entry is None else entry.value

    def entry(self, key: ObjectKey) -> StoredObject[V] | None:
        """Returns the value of an object with its uid and resourceVersion; None if the object does not exist."""
        return self._entries.get(key)

    def keys(self, namespace: str = "") -> list[ObjectKey]:
        """Lists the keys of all objects, or of those in one namespace. The list is a copy."""
        return list(self._entries.keys_in(namespace) if namespace else self._entries)

    def keys_from(self, source: object) -> list[ObjectKey]:
        """Lists the keys of the objects that one informer has."""
        return list(self._entries.keys_from(source))

    def values(self) -> list[V]:
        """Lists all values. The list is a copy."""
        return [entry.value for entry in self._entries.values()]

    def put(self, key: ObjectKey, uid: str, resource_version: str, value: V, source: object = None) -> tuple[bool, V | None]:
        """Stores a version from a list or a watch. Returns True if it replaced the stored one, and the value before (None: a new object).

        A version of the same object (uid) that is not newer replaces nothing: the answer to our own write arrived before it. `source` is
        the informer, which may remove the object again, unless another one has delivered a newer version.
        """
        before = self._entries.get(key)
        if before is not None and before.uid == uid and not self._is_newer(key, resource_version, before.resource_version):
            if resource_version == before.resource_version or not self._is_newer(key, before.delivered, resource_version):
                self._entries[key] = before._replace(source=source, delivered=resource_version)
            return False, before.value
        self._entries[key] = StoredObject(uid, resource_version, value, source, resource_version)
        self._distrusted.discard(key)
        return True, None if before is None else before.value

    def update(self, key: ObjectKey, uid: str, resource_version: str, value: V) -> bool:
        """Stores the version in the answer to our own write. Returns True if it replaced the stored one.

        Only a newer version of a cached object is stored: the answer may arrive after the object was deleted, and must not bring it back.
        """
        before = self._entries.get(key)
        if before is None or before.uid != uid or not self._is_newer(key, resource_version, before.resource_version):
            return False
        self._entries[key] = before._replace(resource_version=resource_version, value=value)
        self._distrusted.discard(key)
        return True

    def drop(self, key: ObjectKey) -> V | None:
        """Removes an object; returns its value, or None if the store does not have it."""
        self._distrusted.discard(key)
        entry = self._entries.pop(key, None)
        return None if entry is None else entry.value

    def newest(self) -> int:
        """Returns the highest resourceVersion in the store, without distrusted objects; 0 if none is left."""
        return max((version for key, version in self._entries.versions() if key not in self._distrusted), default=0)

    def distrust(self) -> None:
        """Makes the next version of each object replace the stored one, even if its number is lower or the same.

        For a server whose versions went back, because an administrator restored etcd from a backup, or which serves another API version.
        """
        self._distrusted = set(self._entries)

    def _is_newer(self, key: ObjectKey, version: str, stored: str) -> bool:
        if key in self._distrusted:
            return True
        return int(version) > int(stored) if version.isdigit() and stored.isdigit() else version != stored


class Informer(Generic[V]):
    """Applies the objects of one reflector to a store. Calls `on_change(key, before, after)` for each change of a value.

    Objects in namespaces for which `owns(namespace)` is false, because another process serves them, never reach the store.

    If the labels of an object change, another informer of the same store may deliver it, before or after this one knows. Only the informer
    that delivered the newest version may remove it.
    """

    def __init__(
        self,
        kind: ApiResource,
        store: Store[V],
        *,
        project: Callable[[Resource], V],
        on_change: Callable[[ObjectKey, V | None, V | None], None],
        owns: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self._kind = kind
        self._owns = owns
        self._store = store
        self._project = project
        self._on_change = on_change
        self._unlisted: set[ObjectKey] | None = None
        self._newest = 0

    @property
    def listing(self) -> bool:
        """True during a list of all objects."""
        return self._unlisted is not None

    @property
    def empty(self) -> bool:
        """True if the store has no object of this informer."""
        return not self._store.keys_from(self)

    def begin(self) -> None:
        """Begins a list of all objects. The objects of an earlier, incomplete list stay in the store."""
        self._unlisted = set(self._store.keys_from(self))
        self._newest = self._store.newest()

    def complete(self, version: str) -> None:
        """Ends a complete list. Removes the objects that are not in it, because they do not exist any more.

        Raises GarbledError if the resource versions of the server went back. The next list then replaces all objects.
        """
        unlisted, self._unlisted = self._unlisted or set(), None
        if version.isdigit() and int(version) < self._newest:
            self._store.distrust()
            raise GarbledError(f"the resource versions of the server went back from {self._newest} to {version}")
        for key in unlisted:
            self._drop_own(key)

    def distrust(self) -> None:
        """Makes the next list replace all objects, also those that have not changed since."""
        self._store.distrust()

    def clear(self, namespaces: Collection[str] | None = None) -> None:
        """Removes all objects, or those in some namespaces."""
        for key in self._store.keys_from(self):
            if namespaces is None or key.namespace in namespaces:
                self._drop_own(key)

    def put(self, resource: Resource) -> None:
        """Stores an object that exists."""
        metadata = resource["metadata"]
        key = self._key(metadata)
        if not self._owns(key.namespace):
            return
        if self._unlisted is not None:
            self._unlisted.discard(key)
        try:
            value = self._project(resource)
        except Exception:  # noqa: BLE001 - one object must not hide all others
            _LOG.exception("%s %s/%s cannot be read; please report this error", *key[1:])
            return
        stored, before = self._store.put(key, str(metadata.get("uid", "")), metadata["resourceVersion"], value, self)
        if stored and before != value:
            self._on_change(key, before, value)

    def drop(self, resource: Resource) -> None:
        """Removes an object that does not exist any more, or that the selectors do not select any more."""
        self._drop_own(self._key(resource["metadata"]))

    def _drop_own(self, key: ObjectKey) -> None:
        """Removes an object if this informer has it."""
        entry = self._store.entry(key)
        if entry is not None and entry.source is self:
            self._store.drop(key)
            self._on_change(key, entry.value, None)

    def _key(self, metadata: dict[str, Any]) -> ObjectKey:
        return ObjectKey(self._kind.group, self._kind.kind, str(metadata.get("namespace", "")), str(metadata.get("name", "")))
