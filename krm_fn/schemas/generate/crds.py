"""CustomResourceDefinitions, generated from the models.

The schemas are structural. Native parts have types and no descriptions. The rules need Kubernetes 1.30 or newer. Follows the Kubernetes
documentation, "Extend the Kubernetes API with CustomResourceDefinitions".
"""

from __future__ import annotations

from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels
from krm_fn.render.schema.table import Schema
from krm_fn.schemas import generate
from krm_fn.schemas.api import base
from krm_fn.schemas.generate import structural

VERSIONS = ("v1alpha1", "v1beta1")
_GROUP = "nvidia.com"
# Without it, an apply would keep the webhook of an operator, which is gone. With it, an API server refuses the apply: replace works.
_NO_CONVERSION: Resource = {"strategy": "None"}
_AGE: Resource = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
_SCALE: Resource = {
    "specReplicasPath": ".spec.replicas",
    "statusReplicasPath": ".status.replicas",
    "labelSelectorPath": ".status.selector",
}
_ALTERNATIVES = [{"type": "integer"}, {"type": "string"}]
_NOT_STRUCTURAL = ("x-native", "x-editor", "x-rules-of-entries", "x-kubernetes-patch-merge-key", "x-kubernetes-patch-strategy")
_INT32 = {"minimum": -(2**31), "maximum": 2**31 - 1}

_MAP_KEYS = "x-kubernetes-list-map-keys"
_OPEN: dict[str, object] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def definitions(version: str = VERSIONS[0]) -> list[Resource]:
    """A definition for each served kind, sorted by name. GitOps tools keep the definitions when Git no longer has them.

    Each definition serves and stores `version`, or the only version that its kind has. It lists the other version without serving it,
    so that an API server, which never forgets a stored version, accepts the exchange of the two. Two served versions would need a
    conversion webhook: without one, an API server drops the fields that the stored version does not have.
    """
    known = generate.definitions()
    schemas: dict[str, dict[str, tuple[Schema, base.Served]]] = {}
    for kind in structural.kinds():
        if kind.served:
            api_version, name = structural.address(kind)
            schemas.setdefault(name, {})[api_version.rpartition("/")[2]] = (known[kind.__name__], kind.served)
    return [_definition(name, versions, version, known) for name, versions in sorted(schemas.items())]


def _definition(name: str, versions: dict[str, tuple[Schema, base.Served]], wanted: str, known: dict[str, Schema]) -> Resource:
    served = wanted if wanted in versions else next(iter(versions))
    schema, how = versions[served]
    plural = f"{name.lower()}s"
    names = {"kind": name, "listKind": f"{name}List", "plural": plural, "singular": name.lower(), "shortNames": [*how.short_names]}
    listed = [_version(served, how, root(schema, known)), *(_unserved_version(other) for other in versions if other != served)]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{_GROUP}", "annotations": {**labels.RETAIN, "helm.sh/resource-policy": "keep"}},
        "spec": {"group": _GROUP, "names": names, "scope": "Namespaced", "conversion": _NO_CONVERSION, "versions": listed},
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


def _unserved_version(name: str) -> Resource:
    """A version that is only listed. Its open schema lets an API server read the managed fields of objects written in it."""
    return {"name": name, "served": False, "storage": False, "schema": {"openAPIV3Schema": _OPEN}}


def _columns(how: base.Served) -> list[Resource]:
    """The default columns, the age, and the columns of `-o wide`."""
    shown = [{"name": column.title, "type": column.type, "jsonPath": column.path} for column in how.columns if not column.wide]
    wide = [{"name": column.title, "type": column.type, "jsonPath": column.path, "priority": 1} for column in how.columns if column.wide]
    return [*shown, _AGE, *wide]


def root(schema: Schema, known: dict[str, Schema]) -> Schema:
    """The schema of a whole resource, with every reference to a `known` definition replaced by the definition.

    The API server itself checks apiVersion, kind and metadata.
    """
    root = inline_references(schema, known)
    address = {key: {"description": root["properties"][key]["description"], "type": "string"} for key in ("apiVersion", "kind")}
    rules = [*root.pop("x-kubernetes-validations", ()), *([base.spec_required()] if "spec" in root.pop("required") else ())]
    properties = root["properties"] | address | {"metadata": {"type": "object"}}
    return root | ({"x-kubernetes-validations": rules} if rules else {}) | {"properties": properties}


def inline_references(schema: Schema, known: dict[str, Schema]) -> Schema:
    """A schema without references and without the keywords for patches and editors."""
    if "$ref" in schema:
        return inline_references(known[schema["$ref"]], known) | {key: text for key, text in schema.items() if key != "$ref"}
    if "x-kubernetes-int-or-string" in schema:
        return _int_or_string(schema)
    dropped = _NOT_STRUCTURAL if "x-kubernetes-list-type" in schema else (*_NOT_STRUCTURAL, _MAP_KEYS)
    out = {key: word for key, word in schema.items() if key not in dropped}
    for key in ("items", "additionalProperties"):
        if key in schema:
            out[key] = inline_references(schema[key], known)
    if "properties" in schema:
        out["properties"] = {name: inline_references(field, known) for name, field in schema["properties"].items()}
    for path, rule in schema.get("x-rules-of-entries", {}).items():
        entries = out
        for step in path.split("."):
            entries = entries["properties"][step]
        entries["items"]["x-kubernetes-validations"] = [rule]
    for key in out.get(_MAP_KEYS, ()):
        if key not in out["items"].get("required", ()):
            out["items"]["properties"][key].setdefault("default", "")  # an API server requires a default for an optional key
    return out


def _int_or_string(schema: Schema) -> Schema:
    value_rule = {"pattern": schema["pattern"]} if "pattern" in schema else _INT32
    return {"anyOf": _ALTERNATIVES, "x-kubernetes-int-or-string": True, **value_rule}
