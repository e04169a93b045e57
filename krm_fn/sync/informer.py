"""Applies what the API server sends about one kind, in one namespace or in all, to a store."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from krm_fn.kube.identity import ObjectKey
from krm_fn.sync.client import GarbledError

if TYPE_CHECKING:
    from collections.abc import Callable

    from krm_fn.kube.types import Resource
    from krm_fn.sync.api_resources import ApiResource
    from krm_fn.sync.object_store import Store

V = TypeVar("V")

_LOG = logging.getLogger(__name__)


class Informer(Generic[V]):
    """The part of a store that one reflector fills. It reports each change of a value to `changed(key, before, after)`.

    If the labels of an object change, it may go from one mirror of a store to another. Only the mirror that has it now may remove it.
    """

    def __init__(
        self,
        kind: ApiResource,
        store: Store[V],
        *,
        project: Callable[[Resource], V],
        changed: Callable[[ObjectKey, V | None, V | None], None],
    ) -> None:
        self._kind = kind
        self._store = store
        self._project = project
        self._changed = changed
        self._seen: set[ObjectKey] | None = None
        self._newest = 0

    @property
    def reading(self) -> bool:
        """True while all objects are being read."""
        return self._seen is not None

    @property
    def empty(self) -> bool:
        """True if no object is known."""
        return not self._store.keys_from(self)

    def begin(self) -> None:
        """Starts to read all objects, again if an earlier reading is not complete. What that one brought stays, and nothing is removed."""
        self._seen = set()
        self._newest = self._store.newest()

    def complete(self, version: str) -> None:
        """Ends a complete reading: known objects that it did not bring do not exist any more.

        Raises GarbledError if the server's versions went back. The next reading is then right.
        """
        seen, self._seen = self._seen or set(), None
        if version.isdigit() and int(version) < self._newest:
            self._store.distrust()
            raise GarbledError(f"the resource versions of the server went back from {self._newest} to {version}")
        self._drop_all(but=seen)

    def distrust(self) -> None:
        """Lets the next reading replace all objects, also those that have not changed since."""
        self._store.distrust()

    def clear(self) -> None:
        """Removes all objects."""
        self._drop_all(but=set())

    def put(self, resource: Resource) -> None:
        """Takes an object that exists."""
        metadata = resource["metadata"]
        key = self._key(metadata)
        if self._seen is not None:
            self._seen.add(key)
        try:
            value = self._project(resource)
        except Exception:  # noqa: BLE001 - one object must not hide all others
            _LOG.exception("%s %s/%s cannot be read; please report this error", *key[1:])
            return
        taken, before = self._store.put(key, str(metadata.get("uid", "")), metadata["resourceVersion"], value, self)
        if taken and before != value:
            self._changed(key, before, value)

    def drop(self, resource: Resource) -> None:
        """Removes an object that does not exist any more, or that the selectors do not select any more."""
        key = self._key(resource["metadata"])
        entry = self._store.entry(key)
        if entry is not None and entry.source is self:
            self._drop(key)

    def _drop(self, key: ObjectKey) -> None:
        before = self._store.drop(key)
        if before is not None:
            self._changed(key, before, None)

    def _drop_all(self, but: set[ObjectKey]) -> None:
        for key in self._store.keys_from(self):
            if key not in but:
                self._drop(key)

    def _key(self, metadata: dict[str, Any]) -> ObjectKey:
        return ObjectKey(self._kind.group, self._kind.kind, str(metadata.get("namespace", "")), str(metadata.get("name", "")))
