"""Changes between two states of objects: the fields that differ. Entries of lists are matched by their merge keys.

Keys come from the schemas of Kubernetes and Dynamo. In other lists, the names of the entries are the keys if all names differ.
"""

from __future__ import annotations

import difflib
from functools import cache

from krm_fn.base import results
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import paths
from krm_fn.render.schema import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from krm_fn.base.results import Path
    from krm_fn.kubernetes.identity import ObjectKey
    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.schema.table import Schema

_POD = "io.k8s.api.core.v1.PodSpec"
_KEYS = "x-kubernetes-list-map-keys"
_LONGEST = 2000
"""The longest lists without keys of which the common entries are searched; the search takes quadratic time."""


class FieldChange(NamedTuple):
    """One field that differs. `path` is its path in the new object, or the path that a removed field would have there.

    `old` is None for an added field, and `new` is None for a removed field. `old_path` is the path in the old object, or the path that an
    added field would have there. `names` is the path with the key of a list entry in place of its index, for lists whose entries have keys.
    If only the order of a list changed, `order` is true, and `old` and `new` are the keys of its entries in their order.
    """

    path: Path
    old: Any
    new: Any
    old_path: Path = ()
    names: Path = ()
    order: bool = False


class ObjectChange(NamedTuple):
    """One object in both states. `old` is None for a new object, and `new` is None for an object that the new state does not have.

    `fields` is empty for an object that is the same in both states, is new, or was removed.
    """

    key: ObjectKey
    old: Resource | None
    new: Resource | None
    fields: tuple[FieldChange, ...] = ()


def between(old: Resource, new: Resource) -> tuple[FieldChange, ...]:
    """Returns the fields that differ between two states of one resource.

    The order of entries with keys counts in Dynamo's resources and in objects with pods, because it can change pods.
    """
    if _is_same(old, new):
        return ()
    address = results.ref(new)
    definition = table.load().kinds.get(address.kind, {}).get(address.api_version)
    schema = _reference({"$ref": definition}) if definition else _with_pods()
    ordered = definition is not None or any(next(paths.find(new, [template.spec]), None) for template in paths.POD_TEMPLATES)
    return tuple(_Walk(ordered=ordered).values(old, new, schema, _Location()))


def between_states(old: dict[ObjectKey, Resource], new: dict[ObjectKey, Resource]) -> tuple[ObjectChange, ...]:
    """Returns the changes of all objects of both states: first those of the new state in its order, then the removed ones."""
    changes = [ObjectChange(key, old.get(key), value, between(old[key], value) if key in old else ()) for key, value in new.items()]
    return (*changes, *(ObjectChange(key, value, None) for key, value in old.items() if key not in new))


def in_parts(old: Any, new: Any) -> tuple[FieldChange, ...]:
    """Returns the fields that differ between two parts of a resource, for example two pod templates. The order of all lists counts."""
    return tuple(_Walk(ordered=True).values(old, new, {}, _Location()))


def of_parts(old: Any, new: Any, at: Path = ()) -> tuple[Path, ...]:
    """Returns the paths of the fields that differ between two parts of a resource. `at` is the path of the parts."""
    return tuple((*at, *change.path) for change in in_parts(old, new))


@cache
def _with_pods() -> Schema:
    """Returns a schema in which only the pods of all workload objects are known."""
    root: Schema = {}
    for template in paths.POD_TEMPLATES:
        at = root
        for step in template.spec:
            at = at.setdefault("items", {}) if step == paths.EVERY else at.setdefault("properties", {}).setdefault(step, {})
        at["$ref"] = _POD
    return root


def _reference(schema: Schema) -> Schema:
    """Returns the schema to which a reference leads."""
    while "$ref" in schema:
        schema = table.load().definitions[schema["$ref"]]
    return schema


class _Location:
    """The path of a value: in the old resource, in the new one, and with the keys of list entries."""

    __slots__ = ("names", "new", "old")

    def __init__(self, old: Path = (), new: Path = (), names: Path = ()) -> None:
        self.old, self.new, self.names = old, new, names

    def __truediv__(self, step: str | int) -> _Location:
        """Returns the path of a field, or of an entry with the same index in both states."""
        return self.entry(step, step, step)

    def entry(self, old: str | int, new: str | int, name: str | int) -> _Location:
        """Returns the path of an entry of a list."""
        return _Location((*self.old, old), (*self.new, new), (*self.names, name))

    def change(self, old: Any, new: Any, *, order: bool = False) -> FieldChange:
        """Returns the change of the value at this path."""
        return FieldChange(self.new, old, new, self.old, self.names, order)


def _is_same(old: Any, new: Any) -> bool:
    """True for values without a change. Python calls `1`, `1.0` and `true` equal, but their texts differ."""
    return old is new or (old == new and repr(old) == repr(new))


class _Walk:
    """One comparison. If `ordered` is true, the order of all lists counts, otherwise only that of lists without keys."""

    def __init__(self, *, ordered: bool) -> None:
        self._ordered = ordered

    def values(self, old: Any, new: Any, schema: Schema, at: _Location) -> Iterator[FieldChange]:
        """Yields the changes of any value."""
        schema = _reference(schema)
        if isinstance(old, dict) and isinstance(new, dict):
            yield from self._objects(old, new, schema, at)
        elif isinstance(old, list) and isinstance(new, list):
            yield from self._lists(old, new, schema, at)
        elif old != new or type(old) is not type(new):
            yield at.change(old, new)

    def _objects(self, old: Resource, new: Resource, schema: Schema, at: _Location) -> Iterator[FieldChange]:
        fields, others = schema.get("properties", {}), schema.get("additionalProperties")
        inner = others if isinstance(others, dict) else {}
        for key in dict.fromkeys((*new, *old)):
            old_value, new_value = old.get(key), new.get(key)
            if not _is_same(old_value, new_value):
                yield from self.values(old_value, new_value, fields.get(key, inner), at / key)

    def _lists(self, old: list[Any], new: list[Any], schema: Schema, at: _Location) -> Iterator[FieldChange]:
        items = schema.get("items", {})
        old_indexes, new_indexes = (_indexes(entries, schema.get(_KEYS, ())) for entries in (old, new))
        if old_indexes is None or new_indexes is None:
            yield from self._sequences(old, new, items, at)
            return
        for key, index in new_indexes.items():
            if key in old_indexes:
                yield from self.values(old[old_indexes[key]], new[index], items, at.entry(old_indexes[key], index, key))
            else:
                yield at.entry(min(index, len(old)), index, key).change(None, new[index])
        for key, index in old_indexes.items():
            if key not in new_indexes:
                yield at.entry(index, min(index, len(new)), key).change(old[index], None)
        old_order = [key for key in old_indexes if key in new_indexes]
        new_order = [key for key in new_indexes if key in old_indexes]
        if self._ordered and old_order != new_order:
            yield at.change(old_order, new_order, order=True)

    def _sequences(self, old: list[Any], new: list[Any], items: Schema, at: _Location) -> Iterator[FieldChange]:
        """Yields the changes of lists without keys: entries that are added, removed or replaced."""
        for from_old, to_old, from_new, to_new in _blocks([repr(entry) for entry in old], [repr(entry) for entry in new]):
            both = min(to_old - from_old, to_new - from_new)
            for step in range(both):
                here = at.entry(from_old + step, from_new + step, from_new + step)
                yield from self.values(old[from_old + step], new[from_new + step], items, here)
            for index in range(from_new + both, to_new):
                yield at.entry(min(from_old + both, len(old)), index, index).change(None, new[index])
            for index in range(from_old + both, to_old):
                yield at.entry(index, min(from_new + both, len(new)), index).change(old[index], None)


def _blocks(old: list[str], new: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yields the parts of two lists that differ: their first and last indexes in the old list and in the new list."""
    if max(len(old), len(new)) > _LONGEST:
        yield 0, len(old), 0, len(new)
        return
    for kind, *block in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            yield block[0], block[1], block[2], block[3]


def _indexes(entries: list[Any], keys: Sequence[str]) -> dict[str, int] | None:
    """Returns the index of each entry by its key; None if the entries have no unique keys.

    The first key is enough if it differs in all entries.
    """
    for wanted in (keys[:1], keys) if keys else (("name",),):
        indexes = {}
        for index, entry in enumerate(entries):
            values = [entry.get(key) for key in wanted] if isinstance(entry, dict) else []
            if values and isinstance(values[0], str | int):
                indexes["/".join(str(value) for value in values if value is not None)] = index
        if len(indexes) == len(entries):
            return indexes
    return None
