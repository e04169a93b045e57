"""Writes Kubernetes values as Go's encoding/json writes the structs that hold them: byte for byte the text that Go programs hash.

Go writes the fields of a struct in the order of their declaration. `tools/field_order.py` makes `go_fields.json` and
`go_kinds.json` with that order.
"""

from __future__ import annotations

import json
from functools import cache

from krm_fn.base import registry
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import quantity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

Structs = dict[str, dict[str, str]]
"""For each struct the Go types of its fields in their order, with marks: `?` omitempty, `*` pointer, `[]` list, `{}` map.

A field of the type `JSON` holds any JSON. An API server stores the keys of its objects in their order.
"""

_MARKS = {"*": "*", "[": "[]", "{": "{}"}
_ZEROS = {"string": "", "bool": False, "int32": 0, "int64": 0, "IntOrString": 0, "Quantity": "0"}
_ESCAPES = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})


class GoField(NamedTuple):
    """A field of a struct: its name, true if omitempty leaves it out, its mark (see `Structs`), and the type behind the mark."""

    name: str
    omitted: bool
    mark: str
    kind: str


_Entry = tuple[str, bool, bool, str, str]
"""The name of a field, true if a missing value is left out, and the other parts of the field: reading a plain tuple takes less time."""


@cache
def pod_template() -> Structs:
    """Returns the structs of a pod template. The first call reads their file."""
    structs: Structs = json.loads(registry.data("kubernetes/go_fields.json"))
    return structs


@cache
def kinds() -> Structs:
    """Returns the structs of all kinds of Kubernetes, without status; their names begin with the group, if that is not the core group."""
    return {**pod_template(), **json.loads(registry.data("kubernetes/go_kinds.json"))}


class Encoder:
    """Writes values of the given structs. Fields that a struct does not have are left out, as in a Go program that read the value."""

    def __init__(self, structs: Structs) -> None:
        """Takes the fields of all structs. Each struct that `structs` refers to must be in it."""
        self._structs = structs
        self._fields: dict[str, list[_Entry]] = {}

    def text(self, value: Mapping[str, Any], struct: str) -> str:
        """Writes the JSON text of a value, without blanks. The value must be valid by its schema."""
        return json.dumps(self._struct(value, struct), ensure_ascii=False, separators=(",", ":")).translate(_ESCAPES)

    def _struct(self, value: Mapping[str, Any], struct: str) -> dict[str, Any]:
        encoded = {}
        for name, is_optional, omitted, mark, kind in self._fields.get(struct) or self._read(struct):
            field_value = value.get(name)
            if field_value is None and is_optional:
                continue
            content = self._field(mark, kind, field_value)
            empty = content is None if mark == "*" else not content  # behind a pointer only nil is empty
            if not (omitted and empty):
                encoded[name] = content
        return encoded

    def _read(self, struct: str) -> list[_Entry]:
        """Reads the fields of a struct, and keeps them."""
        entries = self._fields[struct] = [
            (name, omitted and bool(mark or kind not in self._structs), omitted, mark, kind)
            for name, omitted, mark, kind in fields(self._structs[struct])
        ]
        return entries

    def _field(self, mark: str, kind: str, value: Any) -> Any:
        """Returns the value as Go holds it: None for a nil pointer, list or map; the zero of its type for a missing value."""
        if value is None and (mark or kind == "Time"):
            return None
        if mark == "[]":
            return [self._single(kind, entry) for entry in value]
        if mark == "{}":
            return {key: self._single(kind, value[key]) for key in sorted(value)}
        return self._single(kind, value)

    def _single(self, kind: str, value: Any) -> Any:
        if kind in self._structs:
            return self._struct(value or {}, kind)
        if kind == "JSON":
            return _in_order(value)
        if value is None:
            return _ZEROS[kind]
        if kind == "Quantity":
            return quantity.canonical(value)
        return int(value) if isinstance(value, float) else value


def _in_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _in_order(value[key]) for key in sorted(value)}
    return [_in_order(entry) for entry in value] if isinstance(value, list) else value


def fields(struct: Mapping[str, str]) -> list[GoField]:
    """Reads the types of the fields of one struct of `Structs`."""
    parsed = []
    for name, written in struct.items():
        kind = written.removeprefix("?")
        mark = _MARKS.get(kind[0], "")
        parsed.append(GoField(name, kind != written, mark, kind.removeprefix(mark)))
    return parsed
