"""The words of messages about wrong types: how a message shows a value, and the fix. Proposes the right value if it is certain."""

from __future__ import annotations

import json
import re

from krm_fn.base import edits
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import secret_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.base.results import Path
    from krm_fn.render.schema.table import Schema

TYPES = {
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "quantity": "a quantity",
    "int-or-string": "an integer or a string",
}
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9./-]{0,99}|[0-9]{1,10}[A-Za-z]{1,2}", re.ASCII)
"""Texts that YAML reads as texts without quotes."""
KEY_AND_VALUE = re.compile(r"([A-Za-z][A-Za-z0-9]*):(\S+)", re.ASCII)
"""A key and its value without a blank behind the colon, which YAML reads as one text."""
_FILE_MODES = ("defaultMode", "mode")
"""The fields with the permissions of files."""
_OCTAL = re.compile(r"0?o?([0-7]{3})", re.ASCII)
"""Permissions as people write them: Kubernetes, kustomize and kubectl read 0400 without quotes as the octal number, 256."""
_QUANTITY = "resource.Quantity"
_INT_OR_STRING = "intstr.IntOrString"
_AMOUNT = re.compile(r"[0-9]{1,10}[A-Za-z]{1,2}", re.ASCII)
_TEXTS_OF_FILES = ("data", "stringData")
"""The fields of ConfigMaps and Secrets with the texts of files."""
_SHELL = {*"\"'\\`$|&;<>"}
"""Characters of a command line whose words blanks alone do not separate."""
_ONE_ENTRY = "put a dash before its first line"
_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")


class WrongType(NamedTuple):
    """A value of a wrong type: the message with its fix, and the value to write instead if it is certain, otherwise None."""

    message: str
    right: Any


def wrong_type(value: Any, expected: str, schema: Schema, path: Path, definitions: dict[str, Schema]) -> WrongType:
    """Describes a value of the wrong type. `expected` is a key of `TYPES`. The message about a private field does not quote the value."""
    actual, (fix, right) = describe_value(value), _fix(value, expected, schema, path, definitions)
    if secret_values.may_be_at(path):
        actual, fix = kind(value), _without_value(value, expected, schema, path, definitions)
        if isinstance(value, str) and expected == "array" and not _SHELL.isdisjoint(value):
            right = None
    return WrongType(f"the field takes {TYPES[expected]}, not {actual}; {fix}", right)


def quote_value(value: Any, path: Path) -> str:
    """Returns the value for a message, or `the value` if it is private."""
    return "the value" if secret_values.may_be_at(path) else show_scalar(value)


def show_scalar(value: Any) -> str:
    """Returns a scalar in YAML, shortened."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:56]}…{text[-1]}"


def describe_value(value: Any) -> str:
    """Describes a value in words.

    >>> describe_value("2"), describe_value(True), describe_value([1])
    ('the string "2"', 'the boolean true', 'a list')
    """
    if value is None or isinstance(value, (dict, list)):
        return kind(value)
    return f"the {kind(value).partition(' ')[2]} {show_scalar(value)}"


def kind(value: Any) -> str:
    """Names the JSON type of a value, with its article."""
    if value is None:
        return "null"
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    return "a string" if isinstance(value, str) else "a boolean" if isinstance(value, bool) else "a number"


def _fix(value: Any, expected: str, schema: Schema, path: Path, definitions: dict[str, Schema]) -> tuple[str, Any]:
    """Returns the text of the fix, and the right value if it is certain, otherwise None."""
    if value is None:
        return "remove the entry", None
    if expected == "array":
        return _as_list(value, _item(schema, definitions))
    if expected == "object":
        return _as_object(value, schema, definitions, path)
    if expected in ("string", "quantity") or (expected == "int-or-string" and not isinstance(value, float)):
        return _as_text(value, path)
    if expected == "boolean":
        return _as_boolean(value)
    if path[-1:] and path[-1] in _FILE_MODES and isinstance(value, str) and (mode := _OCTAL.fullmatch(value.strip())):
        return f"write 0{mode[1]} without quotes, which YAML reads as octal, or the decimal number {int(mode[1], 8)}", int(mode[1], 8)
    return _as_number(value, expected)


def _without_value(value: Any, expected: str, schema: Schema, path: Path, definitions: dict[str, Schema]) -> str:
    """Returns the text of the fix for a value that may be a secret. The text does not quote the value."""
    if value is None:
        return "remove the entry"
    if expected == "array":
        return _list_without_value(value, _item(schema, definitions))
    if expected == "object":
        return "write lines of name: value below it"
    if expected == "boolean":
        return "write true or false, without quotes"
    if expected in ("integer", "number"):
        return "write a number without quotes"
    if not isinstance(value, dict):
        return "put the value in quotes"
    name = f"{next(iter(value), '')}".partition("=")[0]
    if path[-1:] and isinstance(path[-1], int) and len(value) == 1 and name.startswith("-"):
        return f"write two entries without the colon, - {name}, and below it its value in quotes"
    if path[:1] and path[0] in _TEXTS_OF_FILES and len(path) > 1:
        return f"write {path[-1]}: | with the lines of its text below it"
    return "put the whole entry in quotes"


def _list_without_value(value: Any, item: Schema) -> str:
    """Returns the text of the fix for a value in place of a list. `item` is the schema of the entries."""
    if isinstance(value, dict) and _is_entry(value, item):
        return _ONE_ENTRY
    if isinstance(value, dict) and (entries := _named_entries(value, item)):
        first = entries[0]
        lines = "".join(f", and below it {field}: with its value" for field in [*first][1:])
        return f"write - name: {first['name']}{lines}{_and_others(entries)}"
    words = isinstance(value, str) and item.get("type") == "string"
    return f"write a list, with {'each word as an entry of its own' if words else 'a dash before each entry'}"


def _as_text(value: Any, path: Path) -> tuple[str, Any]:
    listed = not path or isinstance(path[-1], int)
    key = "- " if listed else f"{path[-1]}: "
    if isinstance(value, bool):
        others = "on, yes and y as true" if value else "off, no and n as false"
        return f"quote it: {key}{json.dumps(show_scalar(value))}, or quote the original text, because YAML reads {others}", None
    if isinstance(value, (int, float)):
        return f"quote it: {key}{json.dumps(show_scalar(value))}", show_scalar(value)
    if isinstance(value, dict) and len(value) == 1 and listed:
        ((name, inner),) = value.items()
        if name.startswith("-") and isinstance(inner, (str, int, float)) and not isinstance(inner, bool):
            word = inner if isinstance(inner, str) else show_scalar(inner)
            return f"write two entries without the colon, - {name} and - {json.dumps(word)}", edits.Items((name, word))
        whole = f"{name}: {inner}" if isinstance(inner, str) else f"{name}: {show_scalar(inner)}"
        return f"quote the whole entry, because YAML reads a colon and a blank as an object: - {show_scalar(whole)}", None
    if isinstance(value, dict) and path[-1:] == ("image",) and (image := _image(value)):
        return f"write {key}{image}", image
    if isinstance(value, dict) and len(value) == 1 and isinstance(inner := next(iter(value.values())), str):
        return f"write {key}{inner if _PLAIN.fullmatch(inner) else show_scalar(inner)}", inner
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        return f"remove the brackets or the dash: {key}{show_scalar(value[0])}", value[0]
    return "write a single text in quotes", None


def _image(parts: dict[str, Any]) -> str:
    """Returns the image that a map of its parts means, as Helm charts write it; empty without a repository.

    >>> _image({"registry": "nvcr.io", "repository": "nvidia/x", "tag": "1.6.1"}), _image({"tag": "1.6.1"})
    ('nvcr.io/nvidia/x:1.6.1', '')
    """
    registry, repository = (parts.get(name) or "" for name in ("registry", "repository"))
    tag, digest = parts.get("tag"), parts.get("digest")
    if not isinstance(repository, str) or not repository:
        return ""
    name = f"{registry}/{repository}" if registry else repository
    return f"{name}{f':{tag}' if tag else ''}{f'@{digest}' if digest else ''}"


def _as_boolean(value: Any) -> tuple[str, Any]:
    text = value.lower() if isinstance(value, str) else str(value)
    if text in _TRUE or text in _FALSE:
        return f"write {show_scalar(text in _TRUE)}{' without quotes' if isinstance(value, str) else ''}", text in _TRUE
    return "write true or false, without quotes", None


def _as_number(value: Any, expected: str) -> tuple[str, Any]:
    text = str(value).strip() if isinstance(value, (str, float)) else ""
    if re.fullmatch(r"[+-]?[0-9]{1,19}(\.0*)?", text):
        number = int(text.partition(".")[0])
        return f"write {number} without {'quotes' if isinstance(value, str) else 'a decimal point'}", number
    if expected == "number" and re.fullmatch(r"[+-]?[0-9]{1,19}\.[0-9]{1,19}", text):
        return f"write {text} without quotes", float(text)
    if expected == "integer" and (unit := re.fullmatch(r"([0-9]{1,19})\s*[A-Za-z]{1,10}", text)):
        return f"write {unit[1]}, without a unit", int(unit[1])
    return "write a number" if expected == "number" else "write a whole number", None


def _item(schema: Schema, definitions: dict[str, Schema]) -> Schema:
    """Returns the schema of the entries of a list."""
    item: Schema = schema["items"]
    return definitions.get(item.get("$ref", ""), item)


def _is_entry(value: dict[str, Any], item: Schema) -> bool:
    """True for an object with the fields of an entry of a list: the entry has no dash."""
    return item.get("type") == "object" and all(key in item.get("properties", ()) for key in value)


def _as_list(value: Any, item: Schema) -> tuple[str, Any]:
    if item.get("type") == "string" and isinstance(value, str):
        words = value.split()
        return (
            (f"write [{show_scalar(value)}]", [value]) if len(words) < 2 else ("write a list, with each word as an entry of its own", words)
        )
    if isinstance(value, dict) and item.get("type") == "object":
        if _is_entry(value, item):
            return _ONE_ENTRY, [value]
        if entries := _named_entries(value, item):
            lines = "".join(f", and below it {field}: {_in_yaml(entry)}" for field, entry in [*entries[0].items()][1:])
            inner = "" if lines else ", and its other lines below it"
            return f"write - name: {entries[0]['name']}{lines or inner}{_and_others(entries)}", entries if lines else None
        return f"write a list of entries like - {item.get('required', ['name'])[0]}: …", None
    return "write a list, with a dash before each entry", None


def _named_entries(value: dict[str, Any], item: Schema) -> list[dict[str, Any]]:
    """Returns the entries of a list that a map from names means: their names, and the field that each scalar is the value of.

    That field is the only one that an entry requires beside its name, or else `value`. Empty without a certain list.

    >>> _named_entries({"A": "x"}, {"required": ["name"], "properties": {"name": {"type": "string"}, "value": {"type": "string"}}})
    [{'name': 'A', 'value': 'x'}]
    """
    properties: Schema = item.get("properties", {})
    if "name" not in properties:
        return []
    if all(isinstance(inner, dict) for inner in value.values()):
        return [{"name": name} for name in value]
    required = [field for field in item.get("required", ()) if field != "name"] or [field for field in ("value",) if field in properties]
    kinds: dict[str, tuple[type, ...]] = {"string": (str, int, float), "integer": (int,)}
    types = kinds.get(properties[required[0]].get("type", ""), ()) if len(required) == 1 else ()
    if not types or not all(isinstance(inner, types) and not isinstance(inner, bool) for inner in value.values()):
        return []
    return [{"name": name, required[0]: str(inner) if str in types else inner} for name, inner in value.items()]


def _and_others(entries: list[dict[str, Any]]) -> str:
    return "" if len(entries) == 1 else f"; write {entries[1]['name']} {'' if len(entries) == 2 else 'and the others '}in the same way"


def _in_yaml(value: Any) -> str:
    return value if isinstance(value, str) and _PLAIN.fullmatch(value) else show_scalar(value)


def _as_object(value: Any, schema: Schema, definitions: dict[str, Schema], path: Path) -> tuple[str, Any]:
    if value == []:
        return "write {}", {}
    properties = schema.get("properties", {})
    if isinstance(value, list):
        lists = [name for name, field in properties.items() if field.get("type") == "array"]
        if lists and len(lists) == len(properties) and all(isinstance(entry, str) for entry in value):
            return f"write {lists[0]}: [{', '.join(map(_in_yaml, value[:6]))}{', …' * (len(value) > 6)}] below it", {lists[0]: value}
        return _as_map(value, schema, definitions)
    if isinstance(value, bool) and [*properties] == ["enabled"]:
        return f"write enabled: {show_scalar(value)} below it", {"enabled": value}
    if not properties and "additionalProperties" not in schema and isinstance(value, bool):
        return ("write {}", {}) if value else ("remove it", None)
    known = list(properties)
    texts = [name for name in known if definitions.get(properties[name].get("$ref", ""), properties[name]).get("type") == "string"]
    field = "name" if "name" in texts else texts[0] if len(texts) == 1 else ""
    if not isinstance(value, bool) and isinstance(value, (int, str)) and (port := _field_of_port(value, schema)):
        return f"write {port}: {value} below it", {port: value}
    sizes = [name for name in known if properties[name].get("$ref", "").endswith(_QUANTITY)]
    if len(sizes) == 1 and isinstance(value, str) and _AMOUNT.fullmatch(value):
        field = sizes[0]
    if isinstance(value, str) and (pair := KEY_AND_VALUE.fullmatch(value)) and pair[1] in properties:
        return f"write a blank behind the colon: {pair[1]}: {pair[2]}", None
    if field and isinstance(value, str) and _PLAIN.fullmatch(value):
        is_entry = bool(path) and isinstance(path[-1], int)
        return f"write - {field}: {value}" if is_entry else f"write {field}: {value} below it", {field: value}
    return f"write its fields below it, for example {', '.join(known[:4])}" if known else "write lines of name: value below it", None


def _field_of_port(value: Any, schema: Schema) -> str:
    """Returns the field of an object that a number or the name of a port means; empty without a certain one.

    It is the only required field, if it takes both, or for a number the only field that takes one.
    """
    properties, required = schema.get("properties", {}), schema.get("required", ())
    if len(required) == 1 and properties.get(required[0], {}).get("$ref", "").endswith(_INT_OR_STRING):
        return str(required[0])
    numbers = [name for name, field in properties.items() if field.get("type") == "integer"]
    return numbers[0] if isinstance(value, int) and len(numbers) == 1 else ""


def _as_map(value: list[Any], schema: Schema, definitions: dict[str, Schema]) -> tuple[str, Any]:
    """Returns the fix for a list in place of a map: the names of its entries are the keys."""
    written = schema.get("additionalProperties")
    reference = written.get("$ref", "") if isinstance(written, dict) else ""
    entry = definitions.get(reference, written) if isinstance(written, dict) else {}
    names = [inner.get("name") for inner in value if isinstance(inner, dict) and isinstance(inner.get("name"), str)]
    if entry.get("type") == "object" and len({*names}) == len(value):
        others = f", and the other {len(names) - 1} in the same way" if len(names) > 1 else ""
        return f"write {names[0]}: in place of - name: {names[0]}, with its other lines below it{others}", None
    texts = dict(pair for inner in value for pair in _pairs(inner))
    if (entry.get("type") == "string" or reference.endswith(_QUANTITY)) and len(texts) == len(value):
        shown_texts = ", ".join(f"{name}: {_in_yaml(text)}" for name, text in [*texts.items()][:2])
        return f"write {shown_texts}{', …' * (len(texts) > 2)}, without dashes", texts
    return "write each entry as name: …, without dashes", None


def _pairs(entry: Any) -> list[tuple[str, str]]:
    """Returns the name and the text that an entry of a list means as one of a map; empty if it means none.

    >>> _pairs("app=llm"), _pairs({"app": "llm"}), _pairs({"name": "app", "value": "llm"}), _pairs("app")
    ([('app', 'llm')], [('app', 'llm')], [('app', 'llm')], [])
    """
    if isinstance(entry, str):
        name, _, text = entry.partition("=")
        return [(name, text)] if name and text else []
    if not isinstance(entry, dict) or not all(isinstance(inner, str) for inner in entry.values()):
        return []
    if len(entry) == 2 and "value" in entry and (key := entry.get("name") or entry.get("key")):
        return [(key, entry["value"])]
    return [*entry.items()] if len(entry) == 1 else []
