"""Reasons for which an API server rejects an object, and the messages that the rules of all kinds share."""

from __future__ import annotations

from krm_fn.base import codes
from krm_fn.base.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from krm_fn.base.edits import Edit
    from krm_fn.base.results import Path

LARGEST = 2**31 - 1
"""The largest number of a field with 32 bits."""


class Rejection(NamedTuple):
    """One reason why an API server rejects a pod. `path` begins at the checked object.

    `proposed` is the right value, if any, and `edit` another edit that makes the object valid.
    """

    code: str
    path: Path
    message: str
    proposed: Any = None
    edit: Edit | None = None

    def below(self, *steps: str | int) -> Rejection:
        """Returns the same rejection with these steps before its path."""
        return self._replace(path=(*steps, *self.path))


def required_field(path: Path, what: str = "the field") -> Rejection:
    """Returns the rejection of an object without a field."""
    return Rejection(codes.MISSING_NATIVE_FIELD, path, f"{what} is required; write it")


def bad_name(name: str, path: Path, form: str = "lower-case letters, digits, dashes and dots") -> Rejection:
    """Returns the rejection of a name or key that does not have the form that Kubernetes requires."""
    return Rejection(codes.INVALID_NATIVE_NAME, path, f"{name!r} is not a valid name here; use {form}")


def unknown(value: Any, allowed: Collection[str], path: Path) -> Rejection:
    """Returns the rejection of a value that is not one of those that the field can have."""
    from krm_fn.base import spelling  # noqa: PLC0415 - only a rejection needs it

    words = [word for word in allowed if word]
    listed = f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]
    near = spelling.nearest(value, words) if isinstance(value, str) else ""
    return Rejection(codes.UNKNOWN_NATIVE_VALUE, path, f"{value!r} is not allowed here; write {near or listed}", near or None)


def out_of_range(number: Any, path: Path, low: int = 0, high: int = LARGEST) -> Rejection:
    """Returns the rejection of a number or an amount."""
    limits = f"at least {low}" if high == LARGEST else f"between {low} and {high}"
    return Rejection(codes.NATIVE_NUMBER_OUT_OF_RANGE, path, f"{number} is out of range; write a number that is {limits}")


def conflict(path: Path, problem: str, fix: str) -> Rejection:
    """Returns the rejection of a field that cannot stand beside another field."""
    return Rejection(codes.NATIVE_FIELDS_NOT_ALLOWED_TOGETHER, path, f"{problem}; {fix}")


def twice(value: Any, path: Path) -> Rejection:
    """Returns the rejection of an entry of a list that has the key of another entry."""
    return Rejection(codes.DUPLICATE_NATIVE_ENTRY, path, f"{value} is listed twice; keep one entry")


def malformed_text(value: str, path: Path, what: str) -> Rejection:
    """Returns the rejection of a text that is not what the field needs. `what` is that, with its article."""
    return Rejection(codes.MALFORMED_NATIVE_VALUE, path, f"{value!r} is not {what}; write one")


def too_large(path: Path, size: int, limit: int) -> Rejection:
    """Returns the rejection of data with too many bytes."""
    return Rejection(codes.NATIVE_OBJECT_TOO_LARGE, path, f"the data has {size} bytes, but at most {limit} are allowed; shorten it")
