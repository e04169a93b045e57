"""The native definitions: `native.json` for the check of a render, `merging.json` for patches of kustomize, and their Python types.

Only a new version of Kubernetes changes the two JSON files: `make native` makes them from the OpenAPI v3 documents of a kube-apiserver. The
types are for the type checker (`krm_fn.kubernetes.native_types`).
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from krm_fn.render.schema.table import Schema
from krm_fn.schemas import generate
from krm_fn.schemas.api import native
from krm_fn.schemas.generate import kustomize_files, structural

FILE = Path(__file__).parent / "native.json"
DOCUMENTS = (
    *("api/v1", "apis/apps/v1", "apis/autoscaling/v2", "apis/batch/v1", "apis/networking.k8s.io/v1", "apis/rbac.authorization.k8s.io/v1"),
    *("apis/admissionregistration.k8s.io/v1", "apis/apiextensions.k8s.io/v1", "apis/apiregistration.k8s.io/v1", "apis/autoscaling/v1"),
    *("apis/certificates.k8s.io/v1", "apis/coordination.k8s.io/v1", "apis/discovery.k8s.io/v1", "apis/events.k8s.io/v1"),
    *("apis/flowcontrol.apiserver.k8s.io/v1", "apis/node.k8s.io/v1", "apis/policy/v1"),
    *("apis/resource.k8s.io/v1", "apis/scheduling.k8s.io/v1", "apis/storage.k8s.io/v1"),
)
_CHECKED = 6
"""The number of documents whose definitions `krm-fn` checks. Patches merge by those of all documents."""

TYPES_FILE = "kubernetes/native_types.py"
"""The path of the generated file in the package."""

USED_TYPES = (
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

Made from krm_fn/schemas/generate/native.json by `make generate`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from krm_fn.kubernetes.types import IntOrString, Quantity
'''


class NativeDefinitions(NamedTuple):
    """The Kubernetes version of the definitions, and the definitions by name, in the form of the table."""

    kubernetes: str
    definitions: dict[str, Schema]


def load() -> NativeDefinitions:
    """The content of `native.json`. Only a clone has the file; raises FileNotFoundError in an installed package."""
    return NativeDefinitions(**json.loads(FILE.read_text("utf-8")))


def files(openapi: list[dict[str, Any]]) -> dict[Path, str]:
    """Both files with their text, made from OpenAPI v3 documents in the order of `DOCUMENTS`."""
    definitions = dict(sorted(structural.native_part(openapi[:_CHECKED]).items()))
    native_part = NativeDefinitions(openapi[0]["info"]["version"], definitions)
    return {FILE: generate.text(native_part._asdict()), FILE.with_name("merging.json"): generate.text(kustomize_files.natively(openapi))}


def types_text(definitions: Mapping[str, Schema]) -> str:
    """Returns the text of `krm_fn.kubernetes.native_types`. `definitions` are the native definitions by name."""
    by_kind = {name.rpartition(".")[2]: name for name in definitions if name.startswith((native.CORE, native.META))}
    return "\n\n".join((_HEAD, *(_class(by_kind[kind], definitions) for kind in sorted(USED_TYPES))))


def documents(get: Callable[[str], Any]) -> list[dict[str, Any]]:
    """The OpenAPI documents of an API server; `get` returns the content of a path."""
    return [get(f"/openapi/v3/{name}") for name in DOCUMENTS]


def main() -> None:
    """Write both files from the named OpenAPI documents, or from those of a temporary kube-apiserver. Works in a clone."""
    parser = argparse.ArgumentParser(prog="python -m krm_fn.schemas.generate.native_definitions", description=main.__doc__)
    parser.add_argument("documents", nargs="*", type=Path, metavar="FILE", help="/openapi/v3/" + ", /openapi/v3/".join(DOCUMENTS))
    named = parser.parse_args().documents
    generate.write(files([json.loads(path.read_text("utf-8")) for path in named] if named else _served_definitions()))


def _served_definitions() -> list[dict[str, Any]]:
    from tests.testbed import control_plane, programs  # noqa: PLC0415 - only a clone has them

    needed = control_plane.Programs(*(programs.path(name) for name in ("etcd", "kube-apiserver", "kubectl")))
    with tempfile.TemporaryDirectory() as folder, control_plane.running(Path(folder), needed) as plane:
        return documents(plane.client.get)


def _class(name: str, definitions: Mapping[str, Schema]) -> str:
    fields = (f"    {field}: {_type(schema, definitions)}" for field, schema in definitions[name]["properties"].items())
    return "\n".join((f"class {name.rpartition('.')[2]}(TypedDict, total=False):", f'    """`{name}`."""', "", *fields, ""))


def _type(schema: Schema, definitions: Mapping[str, Schema]) -> str:
    """Returns the type of a field."""
    if "$ref" in schema:
        kind = schema["$ref"].rpartition(".")[2]
        kind = _ALIKE.get(kind, kind)
        definition = definitions[schema["$ref"]]
        return kind if kind in USED_TYPES else "dict[str, Any]" if "properties" in definition else _type(definition, definitions)
    if "x-kubernetes-int-or-string" in schema:
        return _FORMATS[schema["format"]]
    if schema.get("type") == "array":
        return f"list[{_type(schema['items'], definitions)}]"
    if "additionalProperties" in schema:
        return f"dict[str, {_type(schema['additionalProperties'], definitions)}]"
    return _SCALARS.get(schema.get("type", ""), "dict[str, Any]")


if __name__ == "__main__":
    main()
