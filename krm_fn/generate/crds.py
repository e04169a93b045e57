"""CustomResourceDefinitions, made from the models.

The schemas are structural. Native parts have types and no descriptions. The rules need Kubernetes 1.30 or newer. Follows the Kubernetes
documentation, "Extend the Kubernetes API with CustomResourceDefinitions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import generate
from krm_fn.api import base
from krm_fn.generate import structural
from krm_fn.kube import labels

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.schema.table import Schema

_AGE: Resource = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
_SCALE: Resource = {
    "specReplicasPath": ".spec.replicas",
    "statusReplicasPath": ".status.replicas",
    "labelSelectorPath": ".status.selector",
}
_ALTERNATIVES = [{"type": "integer"}, {"type": "string"}]
_NOT_STRUCTURAL = ("x-native", "x-editor", "x-kubernetes-patch-merge-key", "x-kubernetes-patch-strategy")
_INT32 = {"minimum": -(2**31), "maximum": 2**31 - 1}


def definitions(version: str = "v1alpha1") -> list[Resource]:
    """A definition for each served kind, sorted by name. GitOps tools keep the definitions when they leave Git.

    Each definition serves `version`, or the only version that its kind has.
    """
    known = generate.definitions()
    served = {}
    for kind in structural.kinds():
        api_version, name = structural.address(kind)
        if kind.served and (name not in served or api_version.endswith(f"/{version}")):
            served[name] = (kind.__name__, kind.served)
    return [_definition(model, how, known) for _, (model, how) in sorted(served.items())]


def _definition(name: str, how: base.Served, known: dict[str, Schema]) -> Resource:
    fields = known[name]["properties"]
    (api_version,), (kind,) = fields["apiVersion"]["enum"], fields["kind"]["enum"]
    group, version = api_version.split("/")
    plural = f"{kind.lower()}s"
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower(), "shortNames": [*how.short_names]}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}", "annotations": {**labels.RETAIN, "helm.sh/resource-policy": "keep"}},
        "spec": {"group": group, "names": names, "scope": "Namespaced", "versions": [_version(version, how, root(known[name], known))]},
    }


def _version(name: str, how: base.Served, schema: Schema) -> Resource:
    subresources: Resource = ({"status": {}} if how.status else {}) | ({"scale": _SCALE} if how.scale else {})
    return {
        "name": name,
        "served": True,
        "storage": True,
        "additionalPrinterColumns": _columns(how),
        **({"subresources": subresources} if subresources else {}),
        "schema": {"openAPIV3Schema": schema},
    }


def _columns(how: base.Served) -> list[Resource]:
    """The default columns, the age, and the columns of `-o wide`."""
    shown = [{"name": column.title, "type": column.type, "jsonPath": column.path} for column in how.columns if not column.wide]
    wide = [{"name": column.title, "type": column.type, "jsonPath": column.path, "priority": 1} for column in how.columns if column.wide]
    return [*shown, _AGE, *wide]


def root(schema: Schema, known: dict[str, Schema]) -> Schema:
    """The schema of a whole resource, with every reference to a `known` definition replaced by the definition.

    The API server itself checks apiVersion, kind and metadata.
    """
    root = inlined(schema, known)
    address = {key: {"description": root["properties"][key]["description"], "type": "string"} for key in ("apiVersion", "kind")}
    rules = [*root.pop("x-kubernetes-validations", ()), *([base.spec_required()] if "spec" in root.pop("required") else ())]
    properties = root["properties"] | address | {"metadata": {"type": "object"}}
    return root | ({"x-kubernetes-validations": rules} if rules else {}) | {"properties": properties}


def inlined(schema: Schema, known: dict[str, Schema]) -> Schema:
    """A schema without references and without the keywords for patches and editors."""
    if "$ref" in schema:
        return inlined(known[schema["$ref"]], known) | {key: text for key, text in schema.items() if key != "$ref"}
    if "x-kubernetes-int-or-string" in schema:
        return _int_or_string(schema)
    out = {key: word for key, word in schema.items() if key not in _NOT_STRUCTURAL}
    for key in ("items", "additionalProperties"):
        if key in schema:
            out[key] = inlined(schema[key], known)
    if "properties" in schema:
        out["properties"] = {name: inlined(field, known) for name, field in schema["properties"].items()}
    for key in schema.get("x-kubernetes-list-map-keys", ()):
        if key not in out["items"].get("required", ()):
            out["items"]["properties"][key].setdefault("default", "")  # an API server requires a default for an optional key
    return out


def _int_or_string(schema: Schema) -> Schema:
    own = {"pattern": schema["pattern"]} if "pattern" in schema else _INT32
    return {"anyOf": _ALTERNATIVES, "x-kubernetes-int-or-string": True, **own}
