"""The types of native objects for the type checker, made from the native definitions (`native.json`): `krm_fn.kube.native_types`."""

from __future__ import annotations

from collections.abc import Mapping

from krm_fn.api import native
from krm_fn.schema.table import Schema

FILE = "kube/native_types.py"
"""The path of the generated file in the package."""

USED = (
    *("ConfigMapKeySelector", "ConfigMapVolumeSource", "Container", "ContainerPort", "EmptyDirVolumeSource", "EnvFromSource", "EnvVar"),
    *("EnvVarSource", "EphemeralVolumeSource", "ExecAction", "GRPCAction", "HTTPGetAction", "LocalObjectReference", "ObjectFieldSelector"),
    *("PersistentVolumeClaimSpec", "PersistentVolumeClaimTemplate", "PersistentVolumeClaimVolumeSource", "PodDNSConfig"),
    *("PodResourceClaim", "PodSecurityContext", "PodSpec", "PodTemplateSpec", "Probe", "ResourceClaim", "ResourceFieldSelector"),
    *("ResourceRequirements", "SecretKeySelector", "SecretVolumeSource", "TCPSocketAction", "Toleration", "Volume", "VolumeMount"),
    "ObjectMeta",
)
"""Definitions that the code reads or generates. A field with another definition has the type `dict[str, Any]`."""

_ALIKE = {"EphemeralContainer": "Container", "VolumeResourceRequirements": "ResourceRequirements"}
"""Definitions that the code reads as another one, because the fields that it reads are the same."""

_SCALARS = {"string": "str", "integer": "int", "boolean": "bool", "number": "float"}
_FORMATS = {"quantity": "Quantity", "int32": "IntOrString"}
"""The types of values that are a number or a text, by their format."""

_HEAD = '''"""The types of native objects, for the type checker. At run time every object is a plain dict.

Made from krm_fn/generate/native.json by `make generate`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from krm_fn.kube.types import IntOrString, Quantity
'''


def text(definitions: Mapping[str, Schema]) -> str:
    """Returns the text of the module. `definitions` are the native definitions by name."""
    by_kind = {name.rpartition(".")[2]: name for name in definitions if name.startswith((native.CORE, native.META))}
    return "\n\n".join((_HEAD, *(_class(by_kind[kind], definitions) for kind in sorted(USED))))


def _class(name: str, definitions: Mapping[str, Schema]) -> str:
    fields = (f"    {field}: {_type(schema, definitions)}" for field, schema in definitions[name]["properties"].items())
    return "\n".join((f"class {name.rpartition('.')[2]}(TypedDict, total=False):", f'    """`{name}`."""', "", *fields, ""))


def _type(schema: Schema, definitions: Mapping[str, Schema]) -> str:
    """Returns the type of a field."""
    if "$ref" in schema:
        kind = schema["$ref"].rpartition(".")[2]
        kind = _ALIKE.get(kind, kind)
        definition = definitions[schema["$ref"]]
        return kind if kind in USED else "dict[str, Any]" if "properties" in definition else _type(definition, definitions)
    if "x-kubernetes-int-or-string" in schema:
        return _FORMATS[schema["format"]]
    if schema.get("type") == "array":
        return f"list[{_type(schema['items'], definitions)}]"
    if "additionalProperties" in schema:
        return f"dict[str, {_type(schema['additionalProperties'], definitions)}]"
    return _SCALARS.get(schema.get("type", ""), "dict[str, Any]")
