"""Changes between two states of native objects: which objects differ, and in which fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from krm_fn.kube.identity import ObjectKey
    from krm_fn.kube.types import Resource
    from krm_fn.results import Path


class FieldChange(NamedTuple):
    """One field that differs. `path` is its place in the new object, or where a removed field would be there.

    `old` is None for an added field, and `new` is None for a removed field. `before` is the place in the old object, or where an added
    field would be there. `names` is the path with the key of a list entry in place of its index, for lists whose entries have keys. If
    only the order of a list changed, `order` is true, and `old` and `new` are the keys of its entries in their order.
    """

    path: Path
    old: Any
    new: Any
    before: Path = ()
    names: Path = ()
    order: bool = False


class Change(NamedTuple):
    """One object in both states. `old` is None for a new object, and `new` is None for an object that the new state does not have.

    `fields` is empty for an object that is the same in both states, is new, or was removed.
    """

    key: ObjectKey
    old: Resource | None
    new: Resource | None
    fields: tuple[FieldChange, ...] = ()
