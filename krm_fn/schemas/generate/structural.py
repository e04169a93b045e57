"""Structural schemas of the models, and the native definitions that they use.

A structural schema has no alternatives and no null. It refuses unknown fields, unless the object preserves them. Follows the Kubernetes
documentation, CustomResourceDefinitions, "Specifying a structural schema".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, get_args

from pydantic import json_schema
from pydantic_core import core_schema

from krm_fn.base import registry
from krm_fn.render.schema.table import Schema
from krm_fn.schemas import api
from krm_fn.schemas.api import base, native

_APPS, _BATCH, _NETWORKING, _RBAC = (f"io.k8s.api.{group}.v1." for group in ("apps", "batch", "networking", "rbac"))
NATIVE_KINDS = {
    "v1": tuple(
        f"{native.CORE}{kind}"
        for kind in (
            *("ConfigMap", "LimitRange", "Namespace", "PersistentVolume", "PersistentVolumeClaim", "Pod", "ResourceQuota"),
            *("Secret", "Service", "ServiceAccount"),
        )
    ),
    "apps/v1": (f"{_APPS}DaemonSet", f"{_APPS}Deployment", f"{_APPS}ReplicaSet", f"{_APPS}StatefulSet"),
    "autoscaling/v2": ("io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler",),
    "batch/v1": (f"{_BATCH}CronJob", f"{_BATCH}Job"),
    "networking.k8s.io/v1": (f"{_NETWORKING}Ingress", f"{_NETWORKING}IngressClass", f"{_NETWORKING}NetworkPolicy"),
    "rbac.authorization.k8s.io/v1": tuple(f"{_RBAC}{kind}" for kind in ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")),
}
"""The definitions of Kubernetes' own kinds that `krm-fn check` checks, by apiVersion."""
ROOTS = (native.CORE + "PodTemplateSpec", "io.k8s.api.apps.v1.DeploymentSpec")
_CHECKED = (
    "x-native",
    "type",
    "format",
    "enum",
    "pattern",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "maxItems",
    "maxProperties",
    "required",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
    "x-kubernetes-patch-merge-key",
    "x-kubernetes-patch-strategy",
)
_TOLD = ("description", "x-kubernetes-validations", "x-rules-of-entries", "x-editor", "x-kubernetes-embedded-resource")
_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$"
_NUMBER = r"([0-9]+(\.[0-9]*)?|\.[0-9]+)"
_QUANTITY = rf"^[+-]?{_NUMBER}([KMGTPE]i|[numkMGTPE]|[eE][+-]?{_NUMBER})?$"
_QUANTITIES = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_ATOMS: dict[str, Schema] = {
    _QUANTITIES: {"x-kubernetes-int-or-string": True, "format": "quantity", "pattern": _QUANTITY},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"x-kubernetes-int-or-string": True, "format": "int32"},
    native.META + "Time": {"type": "string", "format": "date-time", "pattern": _TIME},
}


class Generator(json_schema.GenerateJsonSchema):
    """JSON schemas without null and without titles of fields."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> json_schema.JsonSchemaValue:
        """The schema of the value: an optional field may be left out, but null is not a value."""
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: object) -> bool:
        """A field needs no title beside its name."""
        return False


def kinds() -> list[type[base.Kind]]:
    """Returns every kind defined in a module of `krm_fn.schemas.api` or of a version below it. A new kind is one new file."""
    packages = [api, *(registry.get(api, name) for name in registry.entries(api) if hasattr(registry.get(api, name), "__path__"))]
    modules = [registry.get(package, name) for package in packages for name in registry.entries(package)]
    classes = [(module, thing) for module in modules for thing in vars(module).values() if isinstance(thing, type)]
    return [
        kind for module, kind in classes if issubclass(kind, base.Kind) and kind.__module__ == module.__name__ and kind is not base.Kind
    ]


def address(kind: type[base.Kind]) -> tuple[str, str]:
    """Returns the apiVersion and the kind of the resources of a model."""
    version, name = (get_args(kind.model_fields[field].annotation) for field in ("api_version", "kind"))
    return version[0], name[0]


def models(of: Iterable[type[base.Kind]]) -> dict[str, Schema]:
    """The JSON schemas of kinds and of all models in them, by class name. `x-native` names native parts."""
    _, document = json_schema.models_json_schema([(kind, "validation") for kind in of], schema_generator=Generator, ref_template="{model}")
    definitions: dict[str, Schema] = document["$defs"]
    return definitions


def described_definitions(native_definitions: dict[str, Schema]) -> dict[str, Schema]:
    """Dynamo's definitions by name, in the form of the table, with descriptions and rules.

    `native_definitions` are already compact (`compact`). Raises KeyError for a missing native definition.
    """
    schemas = models(kinds()).items()
    return {name: _extend_definition(_normal(schema, (*_CHECKED, *_TOLD)), schema, native_definitions) for name, schema in schemas}


def table(version: str, native_definitions: dict[str, Schema]) -> dict[str, Any]:
    """Builds the schema table for the render: `kubernetes` (the version of the native part), `kinds` and `definitions`."""
    dynamo_definitions = {name: compact(schema) for name, schema in described_definitions(native_definitions).items()}
    roots = [*ROOTS, *(name for schema in dynamo_definitions.values() for name in references(schema))]
    reachable = _reachable(dynamo_definitions, native_definitions, roots)
    definitions = dynamo_definitions | {name: native_definitions[name] for name in reachable}
    addresses: dict[str, dict[str, str]] = {}
    for kind in kinds():
        version_of, name_of = address(kind)
        addresses.setdefault(name_of, {})[version_of] = kind.__name__
    return {"kubernetes": version, "kinds": dict(sorted(addresses.items())), "definitions": dict(sorted(definitions.items()))}


def native_table(version: str, native_definitions: dict[str, Schema]) -> dict[str, Any]:
    """Builds the schema table of Kubernetes' own kinds, without the definitions of the table for the render."""
    kinds = {name.rpartition(".")[2]: {group: name} for group, names in NATIVE_KINDS.items() for name in names}
    seen = _reachable({}, native_definitions, [name for names in NATIVE_KINDS.values() for name in names])
    rest = seen - table(version, native_definitions)["definitions"].keys()
    definitions = {name: native_definitions[name] for name in rest}
    definitions[_QUANTITIES] = {**_ATOMS[_QUANTITIES], "x-any-number": True}
    return {"kubernetes": version, "kinds": dict(sorted(kinds.items())), "definitions": dict(sorted(definitions.items()))}


def native_part(documents: Iterable[dict[str, Any]]) -> dict[str, Schema]:
    """All definitions of OpenAPI v3 documents, in compact form."""
    schemas = {name: schema for document in documents for name, schema in document["components"]["schemas"].items()}
    return {name: _ATOMS.get(name) or _lenient(compact(schema), schema) for name, schema in schemas.items()}


def compact(schema: Schema) -> Schema:
    """Reduces a schema to the keywords for checks and merges, without descriptions."""
    return _normal(schema, _CHECKED)


def _normal(schema: Schema, keywords: tuple[str, ...]) -> Schema:
    """Converts a schema to the form of the table: references by name, no alternatives, and only the `keywords`."""
    reference = _reference(schema)
    if reference:
        return {"$ref": reference} | {key: schema[key] for key in _TOLD if key in schema and key in keywords}
    out: Schema = {key: schema[key] for key in keywords if key in schema}
    if "const" in schema:
        out["enum"] = [schema["const"]]
    default = schema.get("default")
    if isinstance(default, (str, int)) and (default or _TOLD[0] in keywords):
        out["default"] = default
    if "items" in schema:
        out["items"] = _normal(schema["items"], keywords)
    if "properties" in schema:
        out["properties"] = {name: _normal(field, keywords) for name, field in schema["properties"].items()}
    additional = schema.get("additionalProperties")
    if additional is True or "x-kubernetes-preserve-unknown-fields" in schema:
        out["x-kubernetes-preserve-unknown-fields"] = True
    elif additional:
        out["additionalProperties"] = _normal(additional, keywords)
    return out


def _reference(schema: Schema) -> str:
    """Returns the name of the definition in the `$ref` of a schema; empty without one."""
    reference: str = schema.get("$ref") or "".join(part["$ref"] for part in schema.get("allOf", ()))
    if not reference and "x-native" in schema and "properties" not in schema:
        reference = schema["x-native"]
    return reference.rpartition("/")[2]


def _lenient(definition: Schema, source: Schema) -> Schema:
    """A native definition whose optional enums accept an empty string: an API server sets the default before it validates.

    Optional fields keep defaults that are zero values, because an API server writes them too. For required fields, OpenAPI names the zero
    value of the type, which no user writes.
    """
    for name, field in definition.get("properties", {}).items():
        if name not in definition.get("required", ()):
            default = source["properties"][name].get("default")
            if default in ("", False, 0):
                field["default"] = default
            if "enum" in field:
                field["enum"] = list(dict.fromkeys(["", *field["enum"]]))
    return definition


def _extend_definition(schema: Schema, source: Schema, native_definitions: dict[str, Schema]) -> Schema:
    """Merges a model with the native definition that it extends (`native.extends`)."""
    name = source.get("x-native")
    if not name:
        return schema
    definition = native_definitions[name]
    required = [field for field in definition.get("required", ()) if field not in source["x-optional"]]
    fields = definition["properties"] | schema["properties"]
    extended = {"type": "object", "x-native": name, "properties": fields} | ({"required": required} if required else {})
    return extended | {key: schema[key] for key in _TOLD if key in schema}


def _reachable(dynamo_definitions: dict[str, Schema], native_definitions: dict[str, Schema], roots: list[str]) -> set[str]:
    """Returns the names of the native definitions to which the roots lead."""
    seen: set[str] = set()
    todo = [*roots]
    while todo:
        name = todo.pop()
        if name not in seen and name not in dynamo_definitions:
            seen.add(name)
            todo += references(native_definitions[name])
    return seen


def references(schema: Schema) -> Iterator[str]:
    """Returns the names of the definitions in the references of a schema of the table, in order."""
    if "$ref" in schema:
        yield schema["$ref"]
    inner = [*schema.get("properties", {}).values(), *(schema[key] for key in ("items", "additionalProperties") if key in schema)]
    for part in inner:
        yield from references(part)
