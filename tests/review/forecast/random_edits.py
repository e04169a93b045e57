"""Random edits of an object by the schema of its kind: one field is changed, removed, added, or written in another way."""

from __future__ import annotations

import copy
import random
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.testbed import api

Object = dict[str, Any]
Path = tuple[str | int, ...]

_FIXED = ("apiVersion", "kind", "status", "name", "namespace", "uid", "resourceVersion", "generation", "managedFields", "ownerReferences")
_METADATA = ("labels", "annotations", "finalizers")
_TEXTS = ("second", "example.com/second", "10.0.77.9", "2Gi", "http", "/second", "25%")
_AMOUNTS = ("3Gi", "1024Mi", "2", "2000m")
_NUMBERS = (0, 1, 2, 3, 30, 8000)
_DEEPEST = 4


class Schemas:
    """The schemas of all kinds, from the OpenAPI documents of an API server."""

    def __init__(self, client: api.Client) -> None:
        self._client = client
        self._documents: dict[str, Object] = {}

    def of(self, resource: Object) -> Object:
        """Returns the schema of the kind of a resource."""
        api_version = resource["apiVersion"]
        group, _, version = api_version.rpartition("/")
        for schema in self._document(api_version).values():
            kinds = schema.get("x-kubernetes-group-version-kind", ())
            if {"group": group, "version": version, "kind": resource["kind"]} in kinds:
                return self.resolved(resource, schema)
        raise LookupError(f"no schema of {api_version} {resource['kind']}")

    def resolved(self, resource: Object, schema: Object) -> Object:
        """Returns a schema without references at its top."""
        while "$ref" in schema or "allOf" in schema:
            name = (schema.get("allOf") or [schema])[0].get("$ref", "").rpartition("/")[2]
            schema = {**self._document(resource["apiVersion"])[name]}
        return schema

    def _document(self, api_version: str) -> Object:
        if api_version not in self._documents:
            root = f"apis/{api_version}" if "/" in api_version else f"api/{api_version}"
            self._documents[api_version] = self._client.get(f"/openapi/v3/{root}")["components"]["schemas"]
        return self._documents[api_version]


class RandomEdit(NamedTuple):
    """One edit of an object: the path of the field, the action, and the object after it."""

    path: Path
    action: str
    new: Object


class Editor:
    """Makes edits of one object. The same seed makes the same edits."""

    def __init__(self, schemas: Schemas, old: Object, seed: int) -> None:
        self._schemas, self._old = schemas, old
        self._draw = random.Random(f"{old['kind']} {old['metadata']['name']} {seed}")  # noqa: S311 - test data

    def edits(self) -> Iterator[RandomEdit]:
        """Yields edits without end. Many of them are not valid."""
        holders = list(self._holders(self._old, self._schemas.of(self._old), ()))
        while True:
            path, holder, schema = self._draw.choice(holders)
            names = [name for name in (*schema.get("properties", {}), *holder) if self._may((*path, name))]
            if not names:
                continue
            name = self._draw.choice(names)
            field = self._field(schema, name)
            action = self._draw.choice(("change", "remove", "rewrite") if name in holder else ("add", "add", "empty"))
            value = self._value(action, holder.get(name), field)
            if value is not None or action == "remove":
                yield RandomEdit((*path, name), action, self._written((*path, name), value))

    @staticmethod
    def _may(path: Path) -> bool:
        if path[0] == "metadata":
            return len(path) > 1 and path[1] in _METADATA
        return path[-1] != "status" and not (len(path) == 1 and path[0] in _FIXED)

    def _holders(self, value: Any, schema: Object, path: Path) -> Iterator[tuple[Path, Object, Object]]:
        """Yields all objects inside a value, with their schemas."""
        schema = self._schemas.resolved(self._old, schema)
        if isinstance(value, dict):
            yield path, value, schema
            for name, inner in value.items():
                yield from self._holders(inner, self._field(schema, name), (*path, name))
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                yield from self._holders(inner, schema.get("items", {}), (*path, index))

    def _field(self, schema: Object, name: str) -> Object:
        field = schema.get("properties", {}).get(name) or schema.get("additionalProperties") or {}
        return self._schemas.resolved(self._old, field if isinstance(field, dict) else {})

    def _value(self, action: str, old: Any, schema: Object) -> Any:
        """Returns the new value of a field; None if the action does not fit."""
        if action == "remove":
            return None
        if action == "empty":
            return {"array": [], "object": {}, "string": "", "boolean": False, "integer": 0}.get(schema.get("type", ""))
        if action == "rewrite":
            return self._rewritten(old)
        return self._generated(schema, 0, old)

    @staticmethod
    def _rewritten(old: Any) -> Any:
        """Returns an equal value in another form, or the reverse order of a list."""
        if isinstance(old, str) and old.endswith("Gi") and old[:-2].isdigit():
            return f"{int(old[:-2]) * 1024}Mi"
        if isinstance(old, str) and old.isdigit():
            return f"{old}000m"
        return old[::-1] if isinstance(old, list) and len(old) > 1 else None

    def _generated(self, schema: Object, depth: int, old: Any = None) -> Any:
        schema = self._schemas.resolved(self._old, schema)
        kind = schema.get("type")
        if "enum" in schema:
            return self._draw.choice(schema["enum"])
        if kind == "boolean":
            return not old
        if kind == "integer":
            return self._draw.choice(_NUMBERS)
        if kind == "string":
            return self._draw.choice(_TEXTS)
        if "oneOf" in schema or not kind:
            return self._draw.choice((*_AMOUNTS, *_TEXTS))
        if depth > _DEEPEST:
            return None
        if kind == "array":
            entry = self._generated(schema.get("items", {}), depth + 1)
            return [*(old or []), entry] if self._draw.random() < 0.5 else [entry]
        return self._object(schema, depth, old)

    def _object(self, schema: Object, depth: int, old: Any) -> Object:
        fields = schema.get("properties", {})
        if not fields:
            return {**(old or {}), self._draw.choice(("a", "z")): self._generated(schema.get("additionalProperties") or {}, depth + 1)}
        others = [name for name in fields if name not in schema.get("required", ())]
        names = [*schema.get("required", ()), *(self._draw.sample(others, 1) if others else [])]
        return {**(old or {}), **{name: self._generated(fields[name], depth + 1) for name in names if name in fields}}

    def _written(self, path: Path, value: Any) -> Object:
        new = copy.deepcopy(self._old)
        holder: Any = new
        for step in path[:-1]:
            holder = holder[step]
        if value is None:
            holder.pop(path[-1], None)
        else:
            holder[path[-1]] = value
        return new
