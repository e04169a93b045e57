"""Writes Kubernetes values as Go's encoding/json writes the structs that hold them: byte for byte the text that Go programs hash.

Go writes the fields of a struct in the order of their declaration. `tools/field_order.py` makes `go_fields.json` with that order.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from krm_fn.kube import quantity
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

Structs = dict[str, dict[str, str]]
"""For each struct the Go types of its fields in their order, with marks: `?` omitempty, `*` pointer, `[]` list, `{}` map."""

_FILE = __file__.removesuffix("json.py") + "fields.json"
_MARKS = ("*", "[]", "{}")
_ZEROS = {"string": "", "bool": False, "int32": 0, "int64": 0, "IntOrString": 0, "Quantity": "0"}
_ESCAPES = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})


class Field(NamedTuple):
    """A field of a struct: its name, True if omitempty leaves it out, its mark (see `Structs`), and the type behind the mark."""

    name: str
    omitted: bool
    mark: str
    kind: str


@cache
def pod_template() -> Structs:
    """Returns the structs of a pod template. The first call reads their file."""
    with open(_FILE, encoding="utf-8") as file:  # noqa: PTH123 - pathlib costs the function more than the reading
        structs: Structs = json.load(file)
    return structs


class Encoder:
    """Writes values of the given structs. Fields that a struct does not have are left out, as in a Go program that read the value."""

    def __init__(self, structs: Structs) -> None:
        """Each struct that `structs` refers to must be in it."""
        self._structs = structs
        self._fields: dict[str, tuple[Field, ...]] = {}

    def text(self, value: Mapping[str, Any], struct: str) -> str:
        """The JSON text of a value, without blanks. The value must be valid by its schema."""
        return json.dumps(self._struct(value, struct), ensure_ascii=False, separators=(",", ":")).translate(_ESCAPES)

    def _struct(self, value: Mapping[str, Any], struct: str) -> dict[str, Any]:
        if struct not in self._fields:
            self._fields[struct] = tuple(read(name, written) for name, written in self._structs[struct].items())
        made = {}
        for field in self._fields[struct]:
            written = self._field(field, value.get(field.name))
            if not (field.omitted and _is_empty(field, written)):
                made[field.name] = written
        return made

    def _field(self, field: Field, value: Any) -> Any:
        """The value as Go holds it: None for a nil pointer, list or map; the zero of its type for a missing value."""
        if value is None and (field.mark or field.kind == "Time"):
            return None
        if field.mark == "[]":
            return [self._single(field.kind, entry) for entry in value]
        if field.mark == "{}":
            return {key: self._single(field.kind, value[key]) for key in sorted(value)}
        return self._single(field.kind, value)

    def _single(self, kind: str, value: Any) -> Any:
        if kind in self._structs:
            return self._struct(value or {}, kind)
        if value is None:
            return _ZEROS[kind]
        if kind == "Quantity":
            return quantity.canonical(value)
        return int(value) if isinstance(value, float) else value


def read(name: str, written: str) -> Field:
    """Reads the type of one field of `Structs`."""
    kind = written.removeprefix("?")
    mark = next((mark for mark in _MARKS if kind.startswith(mark)), "")
    return Field(name, kind != written, mark, kind.removeprefix(mark))


def _is_empty(field: Field, value: Any) -> bool:
    """True if omitempty leaves the value out: behind a pointer only nil is empty."""
    return value is None if field.mark == "*" else not value
