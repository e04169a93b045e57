"""A JSON Schema for editors: one document for all kinds, which selects the schema by `kind`. It accepts other kinds.

The dialect is draft 7, the newest that all editors support. It contains few rules between fields (`krm_fn.schemas.api.base.Rule.editor`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from krm_fn.render.schema import table
from krm_fn.render.schema.table import Schema
from krm_fn.schemas import generate

_SAME = (
    *("type", "description", "default", "enum", "pattern", "required", "minimum", "maximum", "minLength", "maxLength"),
    *("maxItems", "maxProperties"),
)
_BITS = {"int32": 31, "int64": 63}


def schema() -> dict[str, Any]:
    """The document."""
    kinds = table.load().kinds
    versions = sorted({version for models in kinds.values() for version in models})
    address = {"apiVersion": _likely(versions), "kind": _likely([*kinds])}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Dynamo on Kubernetes",
        "description": f"NVIDIA Dynamo's kinds and the settings of krm-fn; native parts as in Kubernetes {table.load().kubernetes}.",
        "type": "object",
        "properties": address,
        "required": [*address],
        "allOf": [part for kind, models in kinds.items() for part in _choice(kind, models)],
        "definitions": {name: _for_editors(definition) for name, definition in sorted(generate.definitions().items())},
    }


def _likely(words: list[str]) -> Schema:
    """A schema of any string, with proposals for editors."""
    return {"anyOf": [{"enum": words}, {"type": "string"}]}


def _choice(kind: str, versions: dict[str, str]) -> Iterator[Schema]:
    """Writes the conditions that select the schema of a kind. The first version is also that of a resource without a known apiVersion."""
    first, *others = versions
    yield _when({"kind": {"const": kind}} | ({"apiVersion": {"not": {"enum": others}}} if others else {}), ["kind"], versions[first])
    for version in others:
        yield _when({"kind": {"const": kind}, "apiVersion": {"const": version}}, ["kind", "apiVersion"], versions[version])


def _when(fields: Schema, required: list[str], definition: str) -> Schema:
    return {"if": {"properties": fields, "required": required}, "then": {"$ref": f"#/definitions/{definition}"}}


def _for_editors(schema: Schema) -> Schema:
    """A schema with keywords of JSON Schema only."""
    if "$ref" in schema:
        return {**schema, "$ref": f"#/definitions/{schema['$ref']}"}
    out: Schema = {key: schema[key] for key in _SAME if key in schema}
    if "x-kubernetes-int-or-string" in schema:
        out["type"] = ["integer", "string"]
    if "integer" in out.get("type", ()):
        most = 2 ** _BITS.get(schema.get("format", ""), 63)
        out |= {"minimum": out.get("minimum", -most), "maximum": out.get("maximum", most - 1)}
    if schema.get("x-kubernetes-list-type") == "set":
        out["uniqueItems"] = True
    if "x-editor" in schema:
        out["allOf"] = schema["x-editor"]
    if "items" in schema:
        out["items"] = _for_editors(schema["items"])
    if "additionalProperties" in schema:
        out["additionalProperties"] = _for_editors(schema["additionalProperties"])
    if "properties" in schema:
        out["properties"] = {name: _for_editors(field) for name, field in schema["properties"].items()}
        out["additionalProperties"] = "x-kubernetes-preserve-unknown-fields" in schema
    return out
