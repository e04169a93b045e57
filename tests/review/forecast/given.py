"""Changes for tests of the forecast."""

from __future__ import annotations

from typing import Any

from krm_fn.kubernetes import identity
from krm_fn.render.schema.object_changes import FieldChange, ObjectChange

HOME = "inference"


def change(old: dict[str, Any] | None, new: dict[str, Any] | None) -> ObjectChange:
    """A change of one object. The fields of a real comparison are finer; a forecast needs to know only whether there are any."""
    key = identity.key(new or old or {}, HOME)
    return ObjectChange(key, old, new, () if old is None or new is None or old == new else (FieldChange((), old, new),))
