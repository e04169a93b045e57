"""Changes between two states of native objects: which objects differ, and in which fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from krm_fn.kube.identity import ObjectKey
    from krm_fn.kube.types import Resource
    from krm_fn.results import Path


class FieldChange(NamedTuple):
    """One field that differs. `path` is its place in the new object, or in the old one if the field was removed.

    `old` is None for an added field, and `new` is None for a removed field.
    """

    path: Path
    old: Any
    new: Any


class Change(NamedTuple):
    """One object in both states. `old` is None for a new object, and `new` is None for an object that the new state does not have.

    `fields` is empty for an object that is the same in both states, is new, or was removed.
    """

    key: ObjectKey
    old: Resource | None
    new: Resource | None
    fields: tuple[FieldChange, ...] = ()
