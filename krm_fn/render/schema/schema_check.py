"""Checks resources against their schemas and returns every violation with its path, as an API server would.

Types are strict, unknown fields are errors, and null means absent. `status` is not checked, because only a controller writes it. Rules
that a schema cannot express are in `krm_fn.render.rules`.

Reading order: `resource` selects the schema; `_Checker` walks through objects and lists; `violations` checks one scalar. The fix in a
message comes from `fixes` (wrong types) or from `unknown_fields`; only a finding imports them.
"""

from __future__ import annotations

import re
from functools import lru_cache

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.render import dynamo_api
from krm_fn.render.schema import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from krm_fn.base.edits import Edit
    from krm_fn.base.results import Path, Ref, Result, Severity
    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.schema.table import Schema, SchemaNode

CONFIG = "DynamoRender"

_ACCEPTED: dict[type, tuple[str, ...]] = {
    str: ("string", "quantity", "int-or-string"),
    bool: ("boolean",),
    int: ("integer", "number", "quantity", "int-or-string"),
    float: ("number",),
}
"""The types of a schema that accept a Python type."""
_TEXTS = _ACCEPTED[str]
_FORMATS = {
    "quantity": ("a quantity", "a number with a unit, for example 16Gi or 500m"),
    "date-time": ("a time", "it like 2026-01-31T12:00:00Z"),
    "duration": ("a duration", "a number with a unit, for example 15m or 1h30m"),
}
_NODES = ("multinode", "nodeCount")
_ANY_NUMBER = "x-any-number"
"""Marks a quantity of Kubernetes' own kinds, which may be a decimal number. In definitions of other kinds it may not."""
_BITS = {"int32": 31}
_SUFFIXES = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "n", "u", "m", "k", "M", "G", "T", "P", "E")


class Violation(NamedTuple):
    """A schema violation: code, message with the fix after a semicolon, the value to write instead if it is certain, or another edit."""

    code: str
    message: str
    proposed: Any = None
    edit: Edit | None = None


def resource(written: Resource, *, unknown: Severity = "error") -> list[Result]:
    """Returns every violation of a resource, in the order of its fields. Kinds without a schema have none.

    `unknown` is the severity of native fields, and of enum values of native fields, that the table's Kubernetes version does not have.
    """
    kind, version = written.get("kind"), written.get("apiVersion")
    versions = table.load().kinds.get(kind) if isinstance(kind, str) else None
    if versions is None or not isinstance(version, str) or version not in versions:
        return list(_unknown_kind(written, versions))
    return _check_resource(written, table.node(versions[version]), unknown)


def group(written: Resource) -> list[Result]:
    """Returns the error about a kind of Dynamo that is not in Dynamo's API group. Its version stays, if the kind has it."""
    from krm_fn.render.schema import fixes  # noqa: PLC0415 - only a finding needs it

    kind, version = str(written.get("kind")), str(written.get("apiVersion"))
    versions = table.load().kinds[kind]
    right = f"{dynamo_api.GROUP}/{version.rpartition('/')[2]}"
    proposed = (
        right
        if right in versions and _version_of(written, versions) in ("", None, right)
        else _version_of(written, versions) or next(iter(versions))
    )
    text = f"{fixes.show_scalar(version)} is not a version of {kind}, so nothing renders the resource; write {proposed}"
    return [results.error(codes.UNKNOWN_KIND_OR_VERSION, text, results.ref(written), ("apiVersion",), current=version, proposed=proposed)]


def config(function_config: Resource) -> list[Result]:
    """Returns every violation of a functionConfig of the kind DynamoRender."""
    (definition,) = table.load().kinds[CONFIG].values()
    return _check_resource(function_config, table.node(definition), "error")


def native(written: Resource, *, unknown: Severity = "error") -> list[Result]:
    """Returns every violation of an object of one of Kubernetes' own kinds. Kinds and versions without a schema have none.

    `unknown` is the severity of fields and enum values that the table's Kubernetes version does not have.
    """
    definition = table.load_native().kinds.get(written.get("kind", ""), {}).get(written.get("apiVersion", ""))
    return _check_resource(written, table.native_node(definition), unknown) if definition else []


def value(written: Any, definition: str) -> list[Result]:
    """Returns every violation of a value by a definition of the table. Paths begin at the value."""
    checker = _Checker(results.ref({}), "error", table.node(definition), written)
    checker.value(written, table.node(definition), ())
    return checker.findings


def _check_resource(written: Resource, node: SchemaNode, unknown: Severity) -> list[Result]:
    checker = _Checker(results.ref(written), unknown, node, written)
    checked = {**written}
    checked.pop("status", None)
    checker.fields(checked, node, ())
    return checker.findings


def _unknown_kind(written: Resource, versions: dict[str, str] | None) -> Iterator[Result]:
    """Yields an error for a Dynamo kind of an unknown version, and for a misspelt Dynamo kind."""
    from krm_fn.render.schema import fixes, unknown_fields  # noqa: PLC0415 - only a finding needs them

    kind, version = written.get("kind"), written.get("apiVersion")
    if dynamo_api.is_search(written):  # `krm_fn.render.rules.search_rules` checks it
        return
    if versions is not None:
        of_fields = _version_of(written, versions)
        text = f"{fixes.show_scalar(version)} is not a known version of {kind}; write {of_fields or ' or '.join(versions)}"
        near = of_fields or unknown_fields.nearest(f"{version}", tuple(versions), cutoff=0.9) or next(iter(versions))
        yield results.error(codes.UNKNOWN_KIND_OR_VERSION, text, results.ref(written), ("apiVersion",), current=version, proposed=near)
    elif isinstance(version, str) and version.startswith("nvidia.com/") and isinstance(kind, str):
        if kind in unknown_fields.LATER_KINDS:
            yield results.error(
                codes.UNKNOWN_KIND_OR_VERSION, unknown_fields.LATER_KINDS[kind], results.ref(written), ("kind",), current=kind
            )
        nearest = unknown_fields.nearest(kind, tuple(table.load().kinds), cutoff=0.9) or _whole_kind(kind)
        if nearest:
            text = f"{fixes.show_scalar(kind)} is not a kind of Dynamo; write {nearest}"
            yield results.error(codes.UNKNOWN_KIND_OR_VERSION, text, results.ref(written), ("kind",), current=kind, proposed=nearest)


def _version_of(written: Resource, versions: dict[str, str]) -> str:
    """Returns the only version of a kind that has all fields of the spec; empty without one."""
    spec = written.get("spec")
    if not isinstance(spec, dict) or not spec:
        return ""
    nodes = ((version, table.node(name).field("spec")) for version, name in versions.items())
    having = [version for version, node in nodes if node and all(key in node.schema.get("properties", ()) for key in spec)]
    return having[0] if len(having) == 1 else ""


def _whole_kind(kind: str) -> str:
    """Returns the kind of which a text is the beginning, such as `DynamoGraphDeploy`; empty for another text."""
    whole = (dynamo_api.GRAPH, dynamo_api.COMPONENT)
    return next((known for known in whole if known.startswith(kind) and len(kind) > len("DynamoComponent")), "")


_SEVERAL_FIELDS = 3


class _Checker:
    """One pass over one resource, or over a value. `root` is its node."""

    def __init__(self, ref: Ref, unknown: Severity, root: SchemaNode, resource: Any) -> None:
        self.findings: list[Result] = []
        self._root, self._resource = root, resource
        self._ref = ref
        self._unknown: Severity = unknown

    def value(self, value: Any, node: SchemaNode, path: Path) -> None:
        """Checks any value."""
        if node.is_object and isinstance(value, dict):
            if "properties" in node.schema:
                self.fields(value, node, path)
            elif "maxProperties" in node.schema or node.entry:
                self.entries(value, node, path)
        elif node.item and isinstance(value, list):
            self.items(value, node, node.item, path)
        elif type(value) not in node.free_types:
            for violation in violations(value, node.schema, path, node.definitions):
                if violation.code == codes.WRONG_TYPE and isinstance(value, (dict, list)) and node.schema.get("type") == "string":
                    self._add("error", self._at_right_level(violation, path), path, value)
                elif violation.code == codes.UNKNOWN_VALUE and node.is_native:
                    self._add(self._unknown, violation._replace(message=self._or_newer(violation.message)), path, value)
                else:
                    self._add("error", violation, path, value)

    def _at_right_level(self, violation: Violation, path: Path) -> Violation:
        """Returns the violation of an object or a list, with the field above that has its name: it has too many blanks before it."""
        from krm_fn.render.schema import misplaced_fields  # noqa: PLC0415 - only a finding needs it

        level = misplaced_fields.level_of(self._root, path) if path and isinstance(path[-1], str) else ()
        problem = violation.message.rpartition("; ")[0]
        message = f"{problem}; it belongs in {results.field(level)}"
        return violation._replace(message=message, proposed=None, edit=None) if level else violation

    def fields(self, value: Resource, node: SchemaNode, path: Path) -> None:
        """Checks an object whose fields have names."""
        fields, required = node.fields, node.schema.get("required", ())
        for key, inner in value.items():
            field = fields.get(key) or node.field(key)
            if field is None:
                if "x-kubernetes-preserve-unknown-fields" not in node.schema:
                    self._add_unknown(key, (*path, key), node, value)
            elif inner is None:
                if key not in required and key != "creationTimestamp":
                    self._add_null((*path, key))
            elif type(inner) not in field.free_types:
                self.value(inner, field, (*path, key))
        for key in required:
            if value.get(key) is None:
                missing = Violation(codes.MISSING_FIELD, f"{key} is required, but {'null' if key in value else 'missing'}; write it")
                self._add("error", missing, (*path, key))

    def entries(self, value: Resource, node: SchemaNode, path: Path) -> None:
        """Checks a map from the user's keys to values of one type. An object without `additionalProperties` may have any fields."""
        if "maxProperties" in node.schema:
            self._limit(sum(inner is not None for inner in value.values()), node.schema["maxProperties"], path)
        entry = node.entry
        if entry is None:
            return
        for key, inner in value.items():
            if inner is None:
                self._add_null((*path, key))
            elif type(inner) not in entry.free_types:
                self.value(inner, entry, (*path, key))

    def items(self, value: list[Any], node: SchemaNode, item: SchemaNode, path: Path) -> None:
        """Checks a list. `item` is the node of its entries."""
        if "maxItems" in node.schema:
            self._limit(len(value), node.schema["maxItems"], path)
        for index, inner in enumerate(value):
            if type(inner) not in item.free_types:
                self.value(inner, item, (*path, index))
        if len(value) > 1 and ("x-kubernetes-list-type" in node.schema or "x-kubernetes-list-map-keys" in node.schema):
            self.duplicates(value, node, item, path)

    def duplicates(self, value: list[Any], node: SchemaNode, item: SchemaNode, path: Path) -> None:
        """Checks a list in which an API server accepts each key, or each value, only once, or of whose entries the last one wins."""
        unique = node.schema.get("x-kubernetes-list-type", "")
        if unique not in ("map", "set", ""):
            return
        keys = node.schema.get("x-kubernetes-list-map-keys", ())
        first: dict[Any, int] = {}
        for index, entry in enumerate(value):
            identity = _identity(entry, keys, item.schema)
            if identity is not None and first.setdefault(identity, index) != index:
                from krm_fn.render.schema import fixes  # noqa: PLC0415 - only a finding needs it

                shown = fixes.show_scalar(identity[-1] if len(identity) == 1 else list(identity))
                where = (*path, index, keys[0]) if len(keys) == 1 else (*path, index)
                if unique:
                    fix = "give this entry another name, or " if _are_two(entry, value[first[identity]], keys) else ""
                    self._add(
                        "error",
                        Violation(codes.DUPLICATE_LIST_ENTRY, f"{shown} is in entry {first[identity]} too; {fix}keep one of the two"),
                        where,
                    )
                else:
                    text = f"{shown} is in entry {first[identity]} too, and the last entry wins; remove the others"
                    self._add("warning", Violation(codes.VARIABLE_WRITTEN_TWICE, text), where)

    def _limit(self, length: int, most: int, path: Path) -> None:
        if length > most:
            text = f"the field has {length} entries, but at most {most} are allowed; remove {length - most}"
            self._add("error", Violation(codes.WRONG_LENGTH, text), path)

    def _or_newer(self, message: str) -> str:
        """Adds the fix for native fields: this version of the schema may be older than the user's Kubernetes."""
        return f"{message}, or set unknownFields: warn if your Kubernetes knows it" if self._unknown == "error" else message

    def _add_unknown(self, key: str, path: Path, node: SchemaNode, parent: Resource) -> None:
        from krm_fn.base import edits  # noqa: PLC0415 - only a finding needs it
        from krm_fn.render.schema import misplaced_fields, unknown_fields  # noqa: PLC0415

        fix = unknown_fields.fix(node.name, key, parent, misplaced_fields.level_of(self._root, path))
        to = misplaced_fields.target(fix.destination, self._root, self._resource, path) if fix.destination else ()
        edit = edits.Edit(edits.Move(to)) if to else edits.of_unknown_field(fix.text)
        if node.is_native:
            text = self._or_newer(f"unknown field in Kubernetes {table.load().kubernetes}; {fix.text}")
            self._add(self._unknown, Violation(codes.UNKNOWN_KUBERNETES_FIELD, text, edit=edit), path)
        else:
            self._add("error", Violation(codes.UNKNOWN_FIELD, f"unknown field; {fix.text}", edit=edit), path)

    def _add_null(self, path: Path) -> None:
        from krm_fn.base import edits  # noqa: PLC0415 - only a finding needs it

        text = "the field is null, which means absent, and is not in the output; remove the line"
        self._add("warning", Violation(codes.NULL_FIELD, text, edit=edits.Edit(edits.Removal(), is_safe=True)), path)

    def _add(self, severity: Severity, violation: Violation, path: Path, current: Any = None) -> None:
        from krm_fn.kubernetes import secret_values  # noqa: PLC0415 - only a finding needs it

        scalar = None if isinstance(current, (dict, list)) or secret_values.may_be_at(path) else current
        finding = results.Result(severity, violation.code, violation.message, self._ref, path, scalar, violation.proposed)
        self.findings.append(finding._replace(edit=violation.edit))


def _are_two(entry: Any, other: Any, keys: Sequence[str]) -> bool:
    """True for two entries that have a name and several other fields, and differ: both are meant, such as two containers."""
    return tuple(keys) == ("name",) and entry != other and min(len(entry), len(other)) >= _SEVERAL_FIELDS


def _identity(entry: Any, keys: Sequence[str], item: Schema) -> tuple[Any, ...] | None:
    """Returns what must be unique about a list entry: its keys, or its value. None for an entry that is invalid in other ways."""
    if not keys or not isinstance(entry, dict):
        return (entry,) if isinstance(entry, str | int) else None
    identity = []
    for key in keys:
        part = entry.get(key)
        if part is None:
            part = item.get("properties", {})[key].get("default", "")
        if not isinstance(part, str | int):
            return None
        identity.append(part)
    return tuple(identity)


def violations(value: Any, schema: Schema, path: Path, definitions: dict[str, Schema]) -> Iterator[Violation]:
    """Yields every violation of one value: its type, then its enum values, bounds and format. `schema` is not a reference.

    Objects and lists are passed only if the schema requires another type. `path` and `definitions` are only for the messages. A message
    never quotes a value below a private field.
    """
    expected = schema.get("type") or ("quantity" if schema["format"] == "quantity" else "int-or-string")
    if type(value) is float and _ANY_NUMBER in schema:
        return
    if expected not in _ACCEPTED.get(type(value), ()) or (type(value) is float and value - value != 0):  # infinities and NaN are not JSON
        yield _wrong_type(value, expected, schema, path, definitions)
    elif isinstance(value, str):
        if "enum" in schema and value not in schema["enum"]:
            yield _not_allowed(value, schema["enum"], path)
        if len(value) < schema.get("minLength", 0):
            yield Violation(codes.WRONG_LENGTH, "the value must not be empty; write a text")
        if len(value) > schema.get("maxLength", len(value)):
            yield Violation(
                codes.WRONG_LENGTH, f"the value has {len(value)} characters, but at most {schema['maxLength']} are allowed; shorten it"
            )
        if "pattern" in schema and not _has_format(value, schema):
            meant = ""
            what, fix = _FORMATS.get(schema.get("format", ""), ("in the required form", f"it so that it matches {schema['pattern']}"))
            if schema.get("format") == "quantity":
                from krm_fn.kubernetes import quantity  # noqa: PLC0415 - only a finding needs it

                meant = quantity.meant(value)
                fix = meant or ("a whole number" if path and f"{path[-1]}".endswith("gpu") else fix)
            yield Violation(codes.WRONG_FORMAT, f"{_quote_value(value, path)} is not {what}; write {fix}", meant or None)
    elif not isinstance(value, bool):
        yield from _of_number(value, schema, path)


def _wrong_type(value: Any, expected: str, schema: Schema, path: Path, definitions: dict[str, Schema]) -> Violation:
    """Returns the violation of a value of a wrong type. The message does not show a private value, which the edit needs."""
    from krm_fn.base import edits  # noqa: PLC0415 - only a finding needs it
    from krm_fn.kubernetes import secret_values  # noqa: PLC0415
    from krm_fn.render.schema import fixes  # noqa: PLC0415

    message, right = fixes.wrong_type(value, expected, schema, path, definitions)
    proposed = None if isinstance(right, edits.Items) or secret_values.may_be_at(path) else right
    if expected in _TEXTS and isinstance(value, bool | int | float):
        return Violation(codes.WRONG_TYPE, message, proposed, edits.Edit(edits.Quotes()))
    if isinstance(right, (dict, list, edits.Items)):
        return Violation(codes.WRONG_TYPE, message, proposed, edits.Edit(right))
    return Violation(codes.WRONG_TYPE, message, proposed, edits.of_unknown_field("remove it") if message.endswith("; remove it") else None)


def _of_number(value: float, schema: Schema, path: Path) -> Iterator[Violation]:
    least, most, bits = schema.get("minimum"), schema.get("maximum"), _BITS.get(schema.get("format", ""), 63)
    if least is not None and value < least:
        fix = "remove multinode for one node, or " if path[-2:] == _NODES else ""
        text = f"{_quote_value(value, path)} is less than the minimum {least}; {fix}write {least} or more"
        yield Violation(codes.NUMBER_OUT_OF_RANGE, text, edit=None if fix else _bound(least))
    if most is not None and value > most:
        yield Violation(
            codes.NUMBER_OUT_OF_RANGE,
            f"{_quote_value(value, path)} is more than the maximum {most}; write {most} or less",
            edit=_bound(most),
        )
    elif isinstance(value, int) and not -(2**bits) <= value < 2**bits:
        yield Violation(
            codes.NUMBER_OUT_OF_RANGE,
            f"{_quote_value(value, path)} does not fit into {bits + 1} bits; write a number between {-(2**bits)} and {2**bits - 1}",
        )


def _bound(number: float) -> Edit:
    """Returns the edit that writes the nearest number which the field allows. Only the author knows whether it is the one that is meant."""
    from krm_fn.base import edits  # noqa: PLC0415 - only a finding needs it

    return edits.Edit(number, is_safe=False)


def _not_allowed(value: str, enum: list[str], path: Path) -> Violation:
    """Returns the violation of a value that is not in the enum of its schema. An empty enum value is not proposed."""
    from krm_fn.render.schema import unknown_fields  # noqa: PLC0415 - only a finding needs it

    allowed = [word for word in enum if word]
    problem = f"{_quote_value(value, path)} is not one of {', '.join(allowed)}"
    if value in unknown_fields.OTHER_VALUES:
        return Violation(codes.UNKNOWN_VALUE, f"{problem}; {unknown_fields.OTHER_VALUES[value]}")
    nearest = unknown_fields.nearest(value, tuple(allowed)) or (allowed[0] if len(allowed) == 1 else "")
    return Violation(codes.UNKNOWN_VALUE, f"{problem}; write {nearest or 'one of them'}", nearest or None)


def _quote_value(value: Any, path: Path) -> str:
    from krm_fn.render.schema import fixes  # noqa: PLC0415 - only a finding needs it

    return fixes.quote_value(value, path)


def _has_format(value: str, schema: Schema) -> bool:
    if schema.get("format") == "quantity":  # without the pattern, because to compile it takes longer than to check a small graph
        return is_quantity(value)
    return re.search(schema["pattern"], value) is not None and not value.endswith("\n")


@lru_cache(maxsize=1024)  # a graph writes few amounts, and many times
def is_quantity(text: str) -> bool:
    """True if a string is a Kubernetes quantity (apimachinery `pkg/api/resource`, ParseQuantity)."""
    unsigned = text[1:] if text.startswith(("+", "-")) else text
    suffix = unsigned.lstrip("0123456789.")
    number = unsigned.removesuffix(suffix)
    if number.isascii() and number.isdecimal() and suffix in _SUFFIXES:
        return True
    exponent = suffix[2:] if suffix[1:2] in ("+", "-") else suffix[1:]
    return _is_decimal(number) and (suffix in _SUFFIXES or (suffix[0] in "eE" and _is_decimal(exponent)))


def _is_decimal(text: str) -> bool:
    return text.isascii() and text.replace(".", "", 1).isdecimal()
