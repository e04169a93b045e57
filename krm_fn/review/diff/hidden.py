"""Hides the values of Secrets in a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from krm_fn.schema.object_changes import FieldChange, ObjectChange

HIDDEN = "(hidden)"
"""Stands for a value that is not shown."""

_DATA = ("data", "stringData")
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""kubectl writes whole objects, and so the values of Secrets, into this annotation."""


def in_secrets(change: ObjectChange) -> ObjectChange:
    """The change with hidden values, if it is one of a Secret."""
    if (change.key.group, change.key.kind) != ("", "Secret"):
        return change
    return change._replace(fields=tuple(_hidden(field) if _is_secret(field) else field for field in change.fields))


def _is_secret(field: FieldChange) -> bool:
    """True for the data, for the annotation of kubectl, and for fields that hold it."""
    return field.path[:1] in ((), *((name,) for name in _DATA)) or (
        field.path[:1] == ("metadata",) and (_LAST_APPLIED in field.path or _LAST_APPLIED in f"{field.old} {field.new}")
    )


def _hidden(field: FieldChange) -> FieldChange:
    return field._replace(old=None if field.old is None else HIDDEN, new=None if field.new is None else HIDDEN)
