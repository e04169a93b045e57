"""OpenAPI schema for patches of kustomize: lists with a merge key, and kinds without a namespace.

kustomize reads nothing else from it (kyaml `openapi`, `yaml/walk`): maps always merge, and a list without a key is replaced. A schema named
under `openapi:` replaces kustomize's own schema, so the Kubernetes kinds are in it too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from krm_fn import generate, registry
from krm_fn.generate import structural
from krm_fn.schema import table
from krm_fn.schema.table import Schema

FILE = "generate/merging.json"
GVK = "x-kubernetes-group-version-kind"
_KEYS = ("x-kubernetes-patch-strategy", "x-kubernetes-patch-merge-key", "x-kubernetes-list-map-keys")
_NAMED = "/{name}"


def schema() -> dict[str, Any]:
    """The whole schema in OpenAPI v2: Kubernetes' kinds from `merging.json`, and Dynamo's kinds."""
    native = json.loads(registry.data(FILE))
    known = generate.definitions()
    addresses = {
        definition: [{**_group(version), "kind": kind}]
        for kind, versions in table.load().kinds.items()
        for version, definition in versions.items()
    }
    return {
        "swagger": "2.0",
        "info": {"title": "Kubernetes and Dynamo, as patches merge", "version": table.load().kubernetes},
        "paths": native["paths"],
        "definitions": native["definitions"] | _merging(known, addresses),
    }


def natively(documents: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The native part, from the OpenAPI v3 documents of an API server: `paths` of kinds without a namespace, and `definitions`."""
    every = list(documents)
    schemas = {name: schema for document in every for name, schema in document["components"]["schemas"].items()}
    addresses = {name: schema[GVK] for name, schema in schemas.items() if len(schema.get(GVK, ())) == 1}
    paths = {path: operations for document in every for path, operations in document["paths"].items()}
    return {"paths": _global(paths), "definitions": _merging(structural.native_part(every), addresses)}


def _merging(known: dict[str, Schema], addresses: dict[str, list[dict[str, str]]]) -> dict[str, Schema]:
    """Returns the definitions that contain or refer to a list with a merge key, reduced to the fields that lead to it."""
    useful: dict[str, Schema] = {}
    before = -1
    while before < len(useful):
        before = len(useful)
        for name, definition in known.items():
            reduced = _reduced(definition, useful)
            if reduced is not None:
                useful[name] = reduced
    return {name: {**useful[name], **({GVK: addresses[name]} if name in addresses else {})} for name in sorted(useful)}


def _reduced(schema: Schema, useful: dict[str, Schema]) -> Schema | None:
    """Reduces a schema to the fields that lead to lists with a merge key; None if no field does."""
    if "$ref" in schema:
        return {"$ref": f"#/definitions/{schema['$ref']}"} if schema["$ref"] in useful else None
    if schema.get("type") == "array":
        return _list(schema, useful)
    fields = {name: inner for name, field in schema.get("properties", {}).items() if (inner := _reduced(field, useful)) is not None}
    entry = _reduced(schema["additionalProperties"], useful) if "additionalProperties" in schema else None
    if not fields and entry is None:
        return None
    return {"type": "object", **({"properties": fields} if fields else {}), **({"additionalProperties": entry} if entry else {})}


def _list(schema: Schema, useful: dict[str, Schema]) -> Schema | None:
    """A list with a merge key; None for other lists, which patches replace as a whole."""
    if "merge" not in schema.get(_KEYS[0], "").split(","):
        return None
    return {"type": "array", **{key: schema[key] for key in _KEYS if key in schema}, "items": _reduced(schema["items"], useful) or {}}


def _global(paths: dict[str, Any]) -> dict[str, Any]:
    """The paths of kinds without a namespace."""
    named = {
        path: operations["get"][GVK]
        for path, operations in sorted(paths.items())
        if path.endswith(_NAMED) and GVK in operations.get("get", {})
    }
    return {
        path: {"get": {GVK: address, "responses": {}}}
        for path, address in named.items()
        if "{namespace}" not in path and "/watch/" not in path
    }


def _group(api_version: str) -> dict[str, str]:
    group, _, version = api_version.rpartition("/")
    return {"group": group, "version": version}
