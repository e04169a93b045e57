"""The names of types in the tables, by the probes of `measured_flags.py` that the type accepts."""

from __future__ import annotations

_INT = frozenset({"7", "-7", "1", "0"})
_FLOAT = _INT | {"1.5", "1e3"}
_JSON = _INT | {"1.5", "1e3", "true", "false", "{}", "[]", '{"a": 1}'}
_BOOL = frozenset({"1", "0", "true", "false"})
_OBJECT = frozenset({"{}", '{"a": 1}'})
_SIZE = _INT | {"1k", "1K", "2M", "1.5k"}
_NONE = frozenset({"", "None"})

_TEXT = _SIZE | _JSON | {"1.5G", "auto", "none", "None", "word", "a=1", "{x}", "{x"}

# `krm_fn/review/arguments/value_types.py` says what each accepts.
_NAMES = {
    _INT: "int",
    _INT | _NONE: "optional_int",
    frozenset({"7", "1"}): "positive_int",
    frozenset({"7", "1", "0"}): "natural_int",
    _TEXT: "nonempty_text",
    _FLOAT: "float",
    _FLOAT | _NONE: "optional_float",
    _FLOAT - {"-7"}: "natural_float",
    _JSON: "json",
    _JSON | _NONE: "optional_json",
    _INT | {"None"}: "int_or_none",
    _FLOAT | {"None"}: "float_or_none",
    _OBJECT: "json_object",
    _OBJECT | _NONE: "optional_json_object",
    _OBJECT | {""}: "empty_or_json_object",
    (_TEXT | {""}) - {"{x}"}: "text_or_json_object",
    (_TEXT | {""}) - {"{x}", "{x"}: "file_or_json_object",
    _BOOL | {"{}"}: "bool_or_config",
    _BOOL: "bool",
    _BOOL | {""}: "bool",
    frozenset({"{}"}): "config",
    _NONE | {"{}"}: "optional_config",
    _SIZE: "size",
    _SIZE | _NONE: "optional_size",
    _SIZE | {"auto"}: "size_or_auto",
    (_SIZE | {"1.5G"}) - {"1K"}: "decimal_size",
}


def name(accepted: list[str]) -> str:
    """The name of the type that accepts exactly these probes. Raises KeyError for a type without a name."""
    return _NAMES[frozenset(accepted)]
