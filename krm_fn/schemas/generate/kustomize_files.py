"""Files for kustomize: the OpenAPI schema by which patches merge, and the fields that refer to other objects by name.

kustomize reads from the schema only lists with a merge key, and kinds without a namespace (kyaml `openapi`, `yaml/walk`): maps always
merge, and a list without a key is replaced. A schema named under `openapi:` replaces kustomize's own schema, so the Kubernetes kinds are in
it too.

The references are for `configurations` of kustomize, so that prefixes and hashes change them too. A path of kustomize can pass lists, but
not maps with user-defined keys. A caller must therefore name the services of v1alpha1. In v1beta1, components are a list. There the name of
a mount without a volume is the name of a claim too, but kustomize cannot distinguish such a mount from others: a pod whose claims get other
names needs volumes. The references are those of `krm_fn.kubernetes.references` that kustomize does not know itself: in pods of all kinds,
and in routes, monitors and autoscalers. For named services, the file also has the paths of their images, so that `images` reaches them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from krm_fn.base import registry
from krm_fn.base.results import Path
from krm_fn.kubernetes.paths import EVERY
from krm_fn.kubernetes.references import kustomize_fields, name_fields
from krm_fn.kubernetes.references.name_fields import NameField, Target
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_references
from krm_fn.render.schema import table
from krm_fn.render.schema.table import Schema
from krm_fn.schemas import generate
from krm_fn.schemas.generate import structural

FILE = "schemas/generate/merging.json"
GVK = "x-kubernetes-group-version-kind"
_KEYS = ("x-kubernetes-patch-strategy", "x-kubernetes-patch-merge-key", "x-kubernetes-list-map-keys")
_NAMED = "/{name}"

_SERVICES = name_fields.path_of(f"spec.services.{EVERY}")
_CLAIMS = name_fields.path_of("spec.pvcs[].name")


class NameReference(NamedTuple):
    """A field that holds the name of another object. `target` and `kind` have a group and a kind."""

    target: Target
    kind: Target
    path: str


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
            reduced = _reduce_schema(definition, useful)
            if reduced is not None:
                useful[name] = reduced
    return {name: {**useful[name], **({GVK: addresses[name]} if name in addresses else {})} for name in sorted(useful)}


def _reduce_schema(schema: Schema, useful: dict[str, Schema]) -> Schema | None:
    """Reduces a schema to the fields that lead to lists with a merge key; None if no field does."""
    if "$ref" in schema:
        return {"$ref": f"#/definitions/{schema['$ref']}"} if schema["$ref"] in useful else None
    if schema.get("type") == "array":
        return _list(schema, useful)
    fields = {name: inner for name, field in schema.get("properties", {}).items() if (inner := _reduce_schema(field, useful)) is not None}
    entry = _reduce_schema(schema["additionalProperties"], useful) if "additionalProperties" in schema else None
    if not fields and entry is None:
        return None
    return {"type": "object", **({"properties": fields} if fields else {}), **({"additionalProperties": entry} if entry else {})}


def _list(schema: Schema, useful: dict[str, Schema]) -> Schema | None:
    """A list with a merge key; None for other lists, which patches replace as a whole."""
    if "merge" not in schema.get(_KEYS[0], "").split(","):
        return None
    return {"type": "array", **{key: schema[key] for key in _KEYS if key in schema}, "items": _reduce_schema(schema["items"], useful) or {}}


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


def references(services: Iterable[str] = ()) -> Resource:
    """The content of a file for `configurations`. `services` are the keys under `spec.services` of the graphs."""
    keys = [*services]
    every = sorted({*_of_workloads(), *_of_kinds(keys)}, key=lambda field: (field.target[::-1], field.kind[::-1], field.path))
    return {
        "nameReference": [
            {
                **({"group": target[0]} if target[0] else {"version": "v1"}),
                "kind": target[1],
                "fieldSpecs": [{"path": field.path, **_group_of(field.kind)} for field in fields],
            }
            for target, fields in groupby(every, key=lambda field: field.target)
        ],
        **({"images": [*_images(keys)]} if keys else {}),
    }


def _group_of(kind: Target) -> dict[str, str]:
    return {**({"group": kind[0]} if kind[0] else {}), "kind": kind[1]}


def _of_workloads() -> Iterator[NameReference]:
    """The references of pods, without those that kustomize knows."""
    for kind, templates in name_fields.WORKLOADS.items():
        for template in templates:
            yield from (reference for field in name_fields.OF_PODS for reference in _unknown(kind, (*template.spec, *field.path), field))


def _of_kinds(services: Sequence[str]) -> Iterator[NameReference]:
    """The references outside of the pods of workloads. The claims of a graph follow only together with the mounts in its services."""
    for kind, fields in dynamo_references.BY_KIND.items():
        for field in fields:
            paths = [field.path] if services or field.path != _CLAIMS else []
            if field.path[: len(_SERVICES)] == _SERVICES:
                paths = [(*_SERVICES[:-1], service, *field.path[len(_SERVICES) :]) for service in services]
            yield from (reference for path in paths for reference in _unknown(kind, path, field))


def _unknown(kind: Target, path: Path, field: NameField) -> Iterator[NameReference]:
    """Yields a reference for each kind that a field can name, and of which kustomize does not know this."""
    if "ephemeralContainers" not in path:  # an API server accepts them in running pods only
        for target in field.targets:
            if not kustomize_fields.is_known(kind, path, target):
                yield NameReference(target, kind, kustomize_fields.join_path(path))


def _images(services: Sequence[str]) -> Iterator[dict[str, str]]:
    """The images of v1alpha1 services that no list `containers` has. kustomize finds those in such lists itself."""
    for service in services:
        for field in ("extraPodSpec/mainContainer/image", "frontendSidecar/image"):
            yield {"path": f"{kustomize_fields.join_path((*_SERVICES[:-1], service))}/{field}", **_group_of(dynamo_references.GRAPH)}
