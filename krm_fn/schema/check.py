"""Checks a resource against its schema and yields every violation with its path, as an API server would.

Types are strict, unknown fields are errors, and null means absent. `status` is not checked, because only a controller writes it.
`krm_fn.validation` has the rules that a schema cannot express.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.schema import table, values, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.results import Path, Ref, Result, Severity
    from krm_fn.schema.table import Schema

CONFIG = "DynamoRender"


def resource(written: Resource, *, unknown: Severity = "error") -> Iterator[Result]:
    """Yields every violation of a resource, in the order of its fields. Kinds without a schema have none.

    `unknown` is the severity of native fields, and of enum values of native fields, that the table's Kubernetes version does not have.
    """
    kind, version = written.get("kind"), written.get("apiVersion")
    versions = table.load().kinds.get(kind) if isinstance(kind, str) else None
    if versions is None or not isinstance(version, str) or version not in versions:
        return _address(written, versions)
    return _findings(written, versions[version], unknown)


def config(function_config: Resource) -> Iterator[Result]:
    """Yields every violation of a functionConfig of the kind DynamoRender."""
    (definition,) = table.load().kinds[CONFIG].values()
    return _findings(function_config, definition, "error")


def value(written: Any, definition: str) -> list[Result]:
    """Returns every violation of a value by a definition of the table. Paths begin at the value."""
    walk = _Walk(results.ref({}), "error")
    walk.value(written, {"$ref": definition}, (), definition)
    return walk.found


def without_nulls(written: Resource) -> Resource:
    """Returns the resource without null fields: the resource itself if it has none, otherwise a copy that shares all unchanged parts.

    An API server drops them too (apiextensions-apiserver, PruneNonNullableNullsWithoutDefaults).
    """
    pruned: Resource = _pruned(written) if _holds_null(written) else written
    return pruned


def _holds_null(value: Any) -> bool:
    """True if a field or entry is null at any depth. Most resources have no null, and this is faster than a copy."""
    rest = [value]
    while rest:
        holder = rest.pop()
        for inner in holder.values() if type(holder) is dict else holder:
            if inner is None:
                return True
            if type(inner) is dict or type(inner) is list:
                rest.append(inner)
    return False


def _pruned(value: Any) -> Any:
    if isinstance(value, dict):
        fields = {key: _pruned(inner) for key, inner in value.items() if inner is not None}
        same = len(fields) == len(value) and all(fields[key] is value[key] for key in fields)
        return value if same else fields
    if isinstance(value, list):
        items = [_pruned(item) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return value


def _address(written: Resource, versions: dict[str, str] | None) -> Iterator[Result]:
    """Yields an error for a Dynamo kind of an unknown version, and for a misspelt Dynamo kind."""
    kind, version = written.get("kind"), written.get("apiVersion")
    if versions is not None:
        text = f"{words.shown(version)} is not a known version of {kind}; write {' or '.join(versions)}"
        yield results.error("DYN020", text, results.ref(written), ("apiVersion",), current=version, proposed=next(iter(versions)))
    elif isinstance(version, str) and version.startswith("nvidia.com/") and isinstance(kind, str):
        from krm_fn.schema import later, suggestions  # noqa: PLC0415 - only a finding needs them

        if kind in later.KINDS:
            yield results.error("DYN020", later.KINDS[kind], results.ref(written), ("kind",), current=kind)
        meant = suggestions.nearest(kind, tuple(table.load().kinds), cutoff=0.9)
        if meant:
            text = f"{words.shown(kind)} is not a kind of Dynamo; write {meant}"
            yield results.error("DYN020", text, results.ref(written), ("kind",), current=kind, proposed=meant)


def _findings(written: Resource, definition: str, unknown: Severity) -> Iterator[Result]:
    walk = _Walk(results.ref(written), unknown)
    walk.fields({key: value for key, value in written.items() if key != "status"}, table.load().definitions[definition], (), definition)
    return iter(walk.found)


def _mark(entry: Any, keys: Sequence[str], item: Schema) -> tuple[Any, ...] | None:
    """Returns the key of a list entry; None for an entry that is invalid in other ways."""
    fields = item.get("properties", {})
    found = tuple(_key(entry.get(key), fields[key]) for key in keys) if keys and isinstance(entry, dict) else (entry,)
    return found if all(isinstance(part, str | int) for part in found) else None


def _key(written: Any, field: Schema) -> Any:
    return field.get("default", "") if written is None else written


_STRING = {"type": "string"}  # most fields have this schema and most values are strings, so the loops skip them


class _Walk:
    """One pass over one resource. `name` is always the name of the definition of a value, or of the object that contains it."""

    def __init__(self, ref: Ref, unknown: Severity) -> None:
        self.found: list[Result] = []
        self._ref = ref
        self._unknown: Severity = unknown
        self._definitions = table.load().definitions

    def value(self, value: Any, schema: Schema, path: Path, name: str) -> None:
        """Checks any value."""
        reference = schema.get("$ref")
        if reference:
            name, schema = reference, self._definitions[reference]
        wanted = schema.get("type")
        if wanted == "object" and isinstance(value, dict):
            (self.fields if "properties" in schema else self.entries)(value, schema, path, name)
        elif wanted == "array" and isinstance(value, list):
            self.items(value, schema, path, name)
        else:
            for found in values.find(value, schema, path, self._definitions):
                if found.code == "DYN024" and self._is_native(name):
                    self._add(self._unknown, found._replace(message=self._or_newer(found.message)), path, value)
                else:
                    self._add("error", found, path, value)

    def fields(self, value: Resource, schema: Schema, path: Path, name: str) -> None:
        """Checks an object whose fields have names."""
        fields, required = schema["properties"], schema.get("required", ())
        for key, inner in value.items():
            field = fields.get(key)
            if type(inner) is str and field == _STRING:
                continue
            if field is None:
                if "x-kubernetes-preserve-unknown-fields" not in schema:
                    self._add_unknown(key, (*path, key), name, value)
            elif inner is not None:
                self.value(inner, field, (*path, key), name)
            elif key not in required and key != "creationTimestamp":
                self._add_null((*path, key))
        for key in required:
            if value.get(key) is None:
                lack = values.Violation("DYN022", f"{key} is required, but {'null' if key in value else 'missing'}; write it")
                self._add("error", lack, (*path, key))

    def entries(self, value: Resource, schema: Schema, path: Path, name: str) -> None:
        """Checks a map from the user's keys to values of one type. An object without `additionalProperties` may have any fields."""
        if "maxProperties" in schema:
            self._limit(sum(inner is not None for inner in value.values()), schema["maxProperties"], path)
        entry = schema.get("additionalProperties")
        if entry is None:
            return
        for key, inner in value.items():
            if inner is None:
                self._add_null((*path, key))
            elif type(inner) is not str or entry != _STRING:
                self.value(inner, entry, (*path, key), name)

    def items(self, value: list[Any], schema: Schema, path: Path, name: str) -> None:
        """Checks a list."""
        if "maxItems" in schema:
            self._limit(len(value), schema["maxItems"], path)
        item = schema["items"]
        for index, inner in enumerate(value):
            if type(inner) is not str or item != _STRING:
                self.value(inner, item, (*path, index), name)
        if schema.get("x-kubernetes-list-type") in ("map", "set"):
            self.twins(value, schema, path)

    def twins(self, value: list[Any], schema: Schema, path: Path) -> None:
        """Checks a list in which an API server accepts each key, or each value, only once."""
        keys = schema.get("x-kubernetes-list-map-keys", ())
        item: Schema = self._definitions.get(schema["items"].get("$ref", "")) or schema["items"]
        first: dict[Any, int] = {}
        for index, entry in enumerate(value):
            mark = _mark(entry, keys, item)
            if mark is not None and first.setdefault(mark, index) != index:
                text = f"is in entry {first[mark]} too; keep one of the two"
                where = (*path, index, keys[0]) if len(keys) == 1 else (*path, index)
                self._add("error", values.Violation("DYN080", f"{words.shown(mark[-1] if len(mark) == 1 else list(mark))} {text}"), where)

    def _is_native(self, name: str) -> bool:
        return name.startswith("io.k8s.") or "x-native" in self._definitions[name]

    def _limit(self, length: int, most: int, path: Path) -> None:
        if length > most:
            text = f"the field has {length} entries, but at most {most} are allowed; remove {length - most}"
            self._add("error", values.Violation("DYN026", text), path)

    def _or_newer(self, message: str) -> str:
        """Adds the fix for native fields: this version of the schema may be older than the user's Kubernetes."""
        return f"{message}, or set unknownFields: warn if your Kubernetes knows it" if self._unknown == "error" else message

    def _add_unknown(self, key: str, path: Path, name: str, holder: Resource) -> None:
        from krm_fn.schema import other_version, suggestions  # noqa: PLC0415 - only a finding needs them

        mend = other_version.both(name, key, holder) or suggestions.mend(name, key)
        if self._is_native(name):
            text = self._or_newer(f"unknown field in Kubernetes {table.load().kubernetes}; {mend}")
            self._add(self._unknown, values.Violation("DYN029", text), path)
        else:
            self._add("error", values.Violation("DYN023", f"unknown field; {mend}"), path)

    def _add_null(self, path: Path) -> None:
        text = "the field is null, which means absent, and is not in the output; remove the line"
        self._add("warning", values.Violation("DYN028", text), path)

    def _add(self, severity: Severity, found: values.Violation, path: Path, current: Any = None) -> None:
        scalar = None if isinstance(current, (dict, list)) or values.is_private(path) else current
        self.found.append(results.Result(severity, found.code, found.message, self._ref, path, scalar, found.proposed))
