"""Measures the JSON documents of one program of one release: their fields, and the values that the program's own readers accept.

The declared types of a class are the candidates. A reader gets documents with one field, and its answers count: `field_types.py` compares
both and writes the type of the table.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import json
import re
import types
import typing
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Union, get_args, get_origin

from engines import json_readers
from engines.stand_ins import StandIn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from engines.json_readers import Reader

_PROBES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, 7, -1, 0.5, 1.0, -0.5, 1e30, "", "1", "-1", "0.5", "true", "yes", "word", "zz-word"),
    *([], [1], ["word"], [True], [[1]], [{}], {}, {"zz_a": 1}, {"zz_a": "word"}, {"zz_a": {}}, {"zz_a": [1]}),
)
_UNKNOWN = "zz_unknown"
_NO_DOCUMENT = 7
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_DEPTH = 4
"""The deepest document within a document whose fields are measured."""
_NO_FIELD = frozenset({"unexpected_keyword_argument", "extra_forbidden", "dataclass_init_false"})
_COLLECTIONS = (list, tuple, set, frozenset, Sequence)
_KINDS = {bool: "bool", int: "int", float: "float", str: "str", types.NoneType: "null", None: "null"}


class _Field(NamedTuple):
    """A declared field: the names that a document may use for it, and its type."""

    names: tuple[str, ...]
    annotation: Any


def measure(readers: Mapping[str, Reader]) -> dict[str, Any]:
    """The documents of the readers, and the fields of each document."""
    configs: dict[str, Any] = {}
    for reader in readers.values():
        if reader.fields is not None and reader.name not in configs:
            _Measurement(reader, configs).document(reader.name, reader.fields, ())
    return configs


class _Measurement:
    """The measurement of the documents of one reader; adds each document to `configs`."""

    def __init__(self, reader: Reader, configs: dict[str, Any]) -> None:
        self.reader = reader
        self.configs = configs

    def document(self, name: str, cls: type, path: tuple[str, ...]) -> None:
        """Measures the fields of a class at a path of the document."""
        fields: dict[str, Any] = {}
        self.configs[name] = {"facts": {}, "fields": fields}
        declared = list(_fields(cls))
        legacy = [_Field((word,), Any) for word in _words(_decorators(cls, "model_validators")) - {n for f in declared for n in f.names}]
        unknown = self.fate(path, _UNKNOWN, 1)
        for field in (*declared, *legacy):
            for one in field.names:
                if entry := self.field(name, one, field.annotation, path, cls):
                    fields[one] = entry
        self.configs[name]["facts"] = self.facts(cls, path, unknown, fields)

    def facts(self, cls: type, path: tuple[str, ...], unknown: str, fields: dict[str, Any]) -> dict[str, Any]:
        """How the reader treats the document as a whole."""
        config = getattr(cls, "model_config", None) or getattr(cls, "__pydantic_config__", None) or {}
        dashed = next((field for field in fields if "_" in field), None)
        value = next((probe for probe in fields[dashed]["accepted"] if probe is not None), None) if dashed else None
        facts = {
            "unknown": "refused" if unknown != "accepted" else "read" if config.get("extra") == "allow" else "ignored",
            "units": not path and not self.reader.is_after and self.names_fields and not self.is_no_json('{"zz_unknown": 1k}'),
            "dashes": bool(dashed and unknown != "accepted" and self.fate(path, dashed.replace("_", "-"), value) == "accepted"),
            "needs": self.needs(fields) if self.reader.is_whole and not path else {},
        }
        return {key: value for key, value in facts.items() if value}

    def field(self, config: str, name: str, annotation: Any, path: tuple[str, ...], cls: type) -> dict[str, Any]:
        """One field: its declared type, and the probes that the reader accepts. Empty if the reader does not know the name."""
        nested = f"{config}.{name}"
        declared = self.declared(annotation, nested, (*path, name))
        known = [] if path else [*self.reader.choices.get(name, ())]
        declared = {"choices": known} if known else declared
        extra = [*_choices(declared), *_words(_decorators(cls, "field_validators"))]
        candidates = [*_unique((*_PROBES, *_variants(extra)))]
        fates = [self.fate(path, name, probe) for probe in candidates]
        if all(fate != "accepted" for fate in fates) and ("unknown" in fates or not self.names_fields):
            self.configs.pop(nested, None)
            return {}
        return {
            "declared": declared,
            "accepted": [probe for probe, fate in zip(candidates, fates, strict=True) if fate == "accepted"],
            "refused": [probe for probe, fate in zip(candidates, fates, strict=True) if fate != "accepted"],
            "required": self.is_required(path, name),
        }

    @property
    def names_fields(self) -> bool:
        """True if the reader says which field it refuses."""
        return all(refusal.path is not None for refusal in self.reader.refusals('{"zz_unknown": 1, "zz_a": 1}'))

    def fate(self, path: tuple[str, ...], name: str, value: Any) -> str:
        """What the reader does with one field: "accepted", "refused", or "unknown" for a name that it does not have."""
        full = (*path, name)
        refusals = self.reader.refusals(json.dumps(_nested(full, value)))
        own = [refusal for refusal in refusals if refusal.path is None or refusal.path[: len(full)] == full]
        if any(refusal.kind in _NO_FIELD and refusal.path == full for refusal in own):
            return "unknown"
        return "refused" if own else "accepted"

    def is_required(self, path: tuple[str, ...], name: str) -> bool:
        document = _nested(path, {}) if path else {}
        return any(refusal.path == (*path, name) and refusal.kind == "missing" for refusal in self.reader.refusals(json.dumps(document)))

    def is_no_json(self, text: str) -> bool:
        return any(refusal.kind in ("json_invalid", "JSONDecodeError") for refusal in self.reader.refusals(text))

    def needs(self, fields: dict[str, Any]) -> dict[str, list[str]]:
        """The fields that need another one, by their names: the reader refuses all their values alone, and with each other field."""
        needed = {name: self.needed(name, field, fields) for name, field in fields.items()}
        return {name: [other] for name, other in needed.items() if other}

    def needed(self, name: str, field: dict[str, Any], fields: dict[str, Any]) -> str:
        """The only field whose values make those of another one right, and which the refusal names; empty without one."""
        values = [value for value in field["accepted"] if value not in (None, "")]
        refusals = [[*self.together({name: value})] for value in values]
        if not values or not all(refusals):
            return ""
        helps = {other for other in fields if other != name and self.helps(name, values[-1], other, fields[other])}
        named = {other for other in helps if all(any(other in message for message in messages) for messages in refusals)}
        return next(iter(helps)) if len(helps) == 1 and helps == named else ""

    def together(self, document: dict[str, Any]) -> list[str]:
        """The messages of refusals that are about several fields."""
        return [refusal.message for refusal in self.reader.refusals(json.dumps(document)) if not refusal.path]

    def helps(self, name: str, value: Any, other: str, field: dict[str, Any]) -> bool:
        added = [value for value in field["accepted"] if value is not None]
        return any(not self.together({name: value, other: one}) for one in added)

    def declared(self, annotation: Any, name: str, path: tuple[str, ...]) -> Any:
        """The declared type of a field, as `krm_fn/review/arguments/config_types.py` reads types; empty for any value."""
        members = _members(annotation)
        if len(members) > 1:
            return self.union(members, name, path)
        annotation = members[0]
        origin = get_origin(annotation) or annotation
        inner = get_args(annotation)
        if origin in _KINDS:
            return _KINDS[origin]
        if origin is Literal:
            return {"choices": _flat(annotation)}
        if not inspect.isclass(origin) or issubclass(origin, StandIn) or isinstance(origin, type(StandIn)):
            return ""
        if json_readers.has_fields(origin):
            if len(path) > _DEPTH or self.fate(path[:-1], path[-1], _NO_DOCUMENT) == "accepted":
                return ""
            self.document(name, origin, path)
            return {"config": name}
        if issubclass(origin, enum.Enum):
            return {"members": [*dict.fromkeys([*(member.value for member in origin), *origin.__members__])]}
        if issubclass(origin, _COLLECTIONS):
            return {"list": self.declared(inner[0], name, path) if len({*inner} - {Ellipsis}) == 1 and not _has_config(inner[0]) else ""}
        if issubclass(origin, Mapping):
            return {"map": self.declared(inner[1], name, path) if len(inner) == 2 and not _has_config(inner[1]) else ""}
        return ""

    def union(self, members: tuple[Any, ...], name: str, path: tuple[str, ...]) -> Any:
        others = [member for member in members if member is not type(None)]
        if len(others) > 1 and any(map(_has_config, others)):
            return ""
        types_ = [self.declared(member, name, path) for member in members]
        return "" if "" in types_ else {"any_of": types_}


def _fields(cls: type) -> Iterator[_Field]:
    """The declared fields of a class."""
    own = getattr(cls, "__pydantic_fields__", None)
    if own is not None:
        for name, info in own.items():
            alias = info.validation_alias
            names = [choice for choice in getattr(alias, "choices", [alias]) if isinstance(choice, str)]
            yield _Field((*dict.fromkeys([name, *names, *([info.alias] if info.alias else [])]),), info.annotation)
        return
    try:
        hints = typing.get_type_hints(cls)
    except (NameError, TypeError, AttributeError):
        hints = {}
    if hasattr(cls, "__struct_fields__"):
        for name, encoded in zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True):  # type: ignore[attr-defined]
            yield _Field((encoded,), hints.get(name, Any))
    else:
        for field in dataclasses.fields(cls):
            yield _Field((field.name,), hints.get(field.name, Any))


def _decorators(cls: type, kind: str) -> list[Any]:
    """The functions that change values before the types of a class are compared."""
    decorators = getattr(getattr(cls, "__pydantic_decorators__", None), kind, {})
    return [entry.func for entry in decorators.values() if entry.info.mode != "after"]


def _words(functions: Iterable[Any]) -> set[str]:
    """The texts in the code of functions that can be names or values."""
    words: set[str] = set()
    pending = [getattr(getattr(function, "__func__", function), "__code__", None) for function in functions]
    while pending:
        value = pending.pop()
        if isinstance(value, types.CodeType):
            pending += value.co_consts[1:]
        elif isinstance(value, tuple | frozenset):
            pending += value
        elif isinstance(value, str) and _IDENTIFIER.fullmatch(value):
            words.add(value)
    return words


def _choices(declared: Any) -> list[Any]:
    if not isinstance(declared, dict):
        return []
    inner = [*declared.get("any_of", ()), *(declared[key] for key in ("list", "map") if key in declared)]
    return [*declared.get("choices", ()), *declared.get("members", ()), *(choice for one in inner for choice in _choices(one))]


def _variants(values: Iterable[Any]) -> Iterator[Any]:
    """Values, with other spellings of them."""
    listed = [*values]
    yield from listed
    for value in listed:
        if isinstance(value, str):
            yield from (value.upper(), value.lower(), value.replace("_", "-"), value.replace("-", "_"))


def _unique(values: Iterable[Any]) -> Iterator[Any]:
    seen = set()
    for value in values:
        if (text := json.dumps(value)) not in seen:
            seen.add(text)
            yield value


def _nested(path: tuple[str, ...], value: Any) -> Any:
    for name in reversed(path):
        value = {name: value}
    return value


def _flat(annotation: Any) -> list[Any]:
    """The values of a Literal, also of those within it."""
    return [value for member in get_args(annotation) for value in (_flat(member) if get_origin(member) is Literal else [member])]


def _members(annotation: Any) -> tuple[Any, ...]:
    if get_origin(annotation) is typing.Annotated:
        return _members(get_args(annotation)[0])
    return get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)


def _has_config(annotation: Any) -> bool:
    return any(json_readers.has_fields(member) for member in (annotation, *_members(annotation), *get_args(annotation)))
