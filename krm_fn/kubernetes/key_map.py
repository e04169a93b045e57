"""A mapping by `ObjectKey` that needs less memory than a dict: it holds group, kind and namespace once for all objects of a namespace."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import TypeVar

from krm_fn.kubernetes.identity import ObjectKey

V = TypeVar("V")


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
