"""Compares several versions of one resource: the fields in which they differ, with the value of each version.

Versions are compared with the first one, so the time grows with their number, not with its square. If a field differs as a whole in one
version and in parts in another, the row has the whole field.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path
from krm_fn.kubernetes import paths, secret_values
from krm_fn.kubernetes.types import Resource
from krm_fn.render.schema import object_changes
from krm_fn.render.schema.object_changes import FieldChange

_ORDER = "order"
PRESENT = "present"
"""The value of a row about a resource as a whole, in a version that has it."""


class MatrixRow(NamedTuple):
    """One field with its values, one for each version or cluster; None if it is absent.

    `subject` is the object that has the field; empty for settings and for fields of the graph itself. `names` is the path of the field with
    the keys of list entries, and `path` the path in one of the versions. Both are empty for the object as a whole. `label` replaces the
    path of what is not a field. Secret values are hidden, so `alike` has equal numbers for equal values.
    """

    subject: str
    label: str
    names: Path
    path: Path
    values: tuple[Any, ...]
    alike: tuple[int, ...]


def row(label: str, values: Sequence[Any], subject: str = "") -> MatrixRow:
    """Returns the row of a value that is not a field of a resource."""
    return MatrixRow(subject, label, (), (), tuple(values), alike(values))


def alike(values: Sequence[Any]) -> tuple[int, ...]:
    """Returns equal numbers for equal values, in the order of the first values.

    >>> alike(["a", None, "a"])
    (0, 1, 0)
    """
    numbers: dict[str, int] = {}
    return tuple(numbers.setdefault(repr(value), len(numbers)) for value in values)


def differences(names: Sequence[str], versions: Sequence[dict[str, Any] | None]) -> list[MatrixRow]:
    """Returns the rows of named values that differ between versions. `names` are those to compare, in the order of the rows.

    None is a version without the resource. It alone makes no difference.
    """
    rows = []
    for name in names:
        values = [version and version.get(name) for version in versions]
        if len({repr(value) for value, version in zip(values, versions, strict=True) if version is not None}) > 1:
            rows.append(row(name, values))
    return rows


def compare(versions: Sequence[Resource | None], subject: str = "") -> list[MatrixRow]:
    """Returns the rows of the fields in which the versions of a resource differ. None is a cluster without the resource."""
    first = next((number for number, version in enumerate(versions) if version is not None), None)
    if first is None:
        return []
    rows = [row("", [None if version is None else PRESENT for version in versions], subject)] if None in versions else []
    base = versions[first] or {}
    known: dict[str, dict[Path, FieldChange]] = {repr(base): {}}
    for version in versions:
        if version is not None and (key := repr(version)) not in known:
            known[key] = {_names(change): change for change in object_changes.between(base, version)}
    fields = _outermost({names: change for changes in known.values() for names, change in changes.items()})
    columns = {key: _Column(base, changes, fields) for key, changes in known.items()}
    by_version = [None if version is None else columns[repr(version)].cells(version) for version in versions]
    for index, (names, change) in enumerate(fields.items()):
        cells = [cells[index] if cells else (None, None) for cells in by_version]
        rows.append(MatrixRow(subject, "", names, change.path, tuple(shown for shown, _ in cells), alike([value for _, value in cells])))
    return rows


class _Column:
    """The values of one version. `changes` are its differences from the base, and `fields` those of the rows."""

    def __init__(self, base: Resource, changes: dict[Path, FieldChange], fields: dict[Path, FieldChange]) -> None:
        self._base, self._changes, self._fields = base, changes, fields

    def cells(self, version: Resource) -> list[tuple[Any, Any]]:
        """Returns the value of each row, as it is shown and as it is."""
        located = [self._locate(version, names, change) for names, change in self._fields.items()]
        holders = (version, self._base)
        secrets = [secret_values.paths_near(holder, [path for _, path, other in located if other is holder]) for holder in holders]
        hidden = {id(holder): holder_paths for holder, holder_paths in zip(holders, secrets, strict=True)}
        orders = [change.order for change in self._fields.values()]
        return [
            (value if is_order else secret_values.hide_secrets(value, path, hidden[id(holder)]), value)
            for (value, path, holder), is_order in zip(located, orders, strict=True)
        ]

    def _locate(self, version: Resource, names: Path, change: FieldChange) -> tuple[Any, Path, Resource]:
        """Returns the value of a field, its path, and the resource with this path. A field without a difference is that of the base."""
        if (difference := self._changes.get(names)) is not None:
            return difference.new, difference.path, version
        inner = next((other for other_names, other in self._changes.items() if other_names[: len(names)] == names), None)
        if inner is None:
            return change.old, change.old_path, self._base
        path = inner.path[: len(names)]
        return paths.at(version, path), path, version


def _names(change: FieldChange) -> Path:
    return (*change.names, _ORDER) if change.order else change.names


def _outermost(fields: dict[Path, FieldChange]) -> dict[Path, FieldChange]:
    """Returns the fields that are not inside of another one."""
    return {names: change for names, change in fields.items() if not any(names[:length] in fields for length in range(1, len(names)))}
