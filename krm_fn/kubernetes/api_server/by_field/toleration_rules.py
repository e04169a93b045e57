"""Rules of an API server about tolerations."""

from __future__ import annotations

import re

from krm_fn.kubernetes import values
from krm_fn.kubernetes.api_server import Rejection, name_formats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from krm_fn.kubernetes.api_server.by_field import Context

    Fields = Mapping[str, Any]

_INTEGER = re.compile(r"0|-?[1-9][0-9]*")


def validate(spec: Fields, _context: Context) -> Iterator[Rejection]:
    """Yields the rejections of `tolerations`."""
    for rejection in validate_list(spec["tolerations"] or ()):
        yield rejection.below("tolerations")


def validate_list(tolerations: Sequence[Fields]) -> Iterator[Rejection]:
    """Yields the rejections of a list of tolerations (ValidateTolerations). Paths begin with the index."""
    for index, toleration in enumerate(tolerations):
        for rejection in _toleration(toleration):
            yield rejection.below(index)


def _toleration(toleration: Fields) -> Iterator[Rejection]:
    """Checks one toleration. A feature gate decides about the operators Gt and Lt, so only their values are checked."""
    key, operator, value = toleration.get("key"), toleration.get("operator"), toleration.get("value") or ""
    if key and not name_formats.is_qualified(key):
        yield Rejection("DYN203", ("key",), name_formats.BAD_KEY)
    if not key and operator != "Exists":
        yield Rejection("DYN227", ("operator",), "the operator of a toleration without a key must be Exists; write Exists, or add a key")
    if operator == "Exists" and value:
        yield Rejection("DYN227", ("value",), "the operator Exists cannot have a value; remove the value, or write the operator Equal")
    if operator in ("Gt", "Lt") and not (_INTEGER.fullmatch(value) and values.int64(value) is not None):
        yield Rejection("DYN227", ("value",), f"the operator {operator} needs a whole number, not {value!r}; write one, for example 100")
    if operator in ("Equal", "", None) and not name_formats.is_label_value(value):
        yield Rejection("DYN227", ("value",), f"the value {value!r} is not the value of a taint; use at most 63 letters, digits, - _ and .")
    if toleration.get("tolerationSeconds") is not None and toleration.get("effect") != "NoExecute":
        message = "tolerationSeconds is allowed only with the effect NoExecute; remove it, or write that effect"
        yield Rejection("DYN227", ("tolerationSeconds",), message)
