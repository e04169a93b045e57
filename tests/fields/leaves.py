"""The fields of a kind in the schema: a tree, and valid values for each field.

The path of a field has `*` for any key of a map and `[]` for any entry of a list.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from krm_fn.render.schema import table

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY, ENTRY = "*", "[]"
_numbers = itertools.cycle(range(1, 50000))
_TEXTS = ("1.5.0", "leaf.example/a", "/leaf/a", "15m", "10", "3Gi", "2026-03-01T12:00:00Z", "hf://leaf/a", "s3://leaf/a", "9.9.9", "20m")
_NAMED: dict[str, tuple[Any, ...]] = {
    "checkpoint": ({"enabled": True},),
    "fieldPath": ("metadata.name", "metadata.uid"),
    "gpuType": ("leaf.example/a", "leaf.example/b"),
    "minAvailable": (1, 2),
    "mountPath": ("/leaf/a", "/leaf/b"),
    "mountPoint": ("/leaf/a", "/leaf/b"),
    "pvcMountPath": ("/leaf/a", "/leaf/b"),
    "resource": ("limits.cpu", "limits.memory"),
    "runtimeVersionOverride": ("1.1.0", "0.5.0"),
    "terminationMessagePath": ("/leaf/a", "/leaf/b"),
    "volumeAccessMode": ("ReadWriteMany", "ReadWriteOnce"),
}
"""Values for fields whose format only rules know, by name."""
_CORE = "io.k8s.api.core.v1."
_COMPANIONS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    f"{_CORE}Container": ({"image": "registry.example/leaf:1"}, ()),
    f"{_CORE}EphemeralContainer": ({"image": "registry.example/leaf:1"}, ()),
    f"{_CORE}EnvFromSource": ({"secretRef": {"name": "leaf"}}, ("configMapRef",)),
    f"{_CORE}ConfigMapEnvSource": ({"name": "leaf"}, ()),
    f"{_CORE}SecretEnvSource": ({"name": "leaf"}, ()),
    f"{_CORE}ConfigMapKeySelector": ({"name": "leaf"}, ()),
    f"{_CORE}SecretKeySelector": ({"name": "leaf"}, ()),
    f"{_CORE}ObjectFieldSelector": ({"fieldPath": "metadata.name"}, ()),
    f"{_CORE}ResourceFieldSelector": ({"resource": "limits.cpu"}, ()),
    f"{_CORE}PodResourceClaim": ({"resourceClaimTemplateName": "leaf"}, ("resourceClaimName",)),
    f"{_CORE}Probe": ({"exec": {"command": ["leaf"]}}, ("grpc", "httpGet", "tcpSocket")),
    f"{_CORE}ResourceClaim": ({"name": "gpus"}, ()),
    f"{_CORE}Toleration": ({"key": "leaf", "effect": "NoExecute"}, ()),
    f"{_CORE}VolumeMount": ({"name": "data"}, ()),
    "ResourceItem": ({"gpu": "1"}, ()),
    "VolumeMount": ({"mountPoint": "/leaf"}, ()),
}
"""Fields that an object needs by rules that are not in its schema, by definition, and the fields that replace them."""


class Node(NamedTuple):
    """A field. `name` is the definition that contains it; `required` is true if its object must have it."""

    path: tuple[str, ...]
    schema: dict[str, Any]
    name: str
    required: bool

    @property
    def is_native(self) -> bool:
        """True for a field whose type is Kubernetes' own."""
        return self.name.startswith("io.k8s.")


def root(kind: str, version: str, part: str) -> Node:
    """A part of a kind, for example `spec`."""
    name = table.load().kinds[kind][version]
    return _node((part,), table.load().definitions[name]["properties"][part], name, required=True)


def parts(kind: str, version: str) -> list[str]:
    """The fields at the top of a kind."""
    return list(table.load().definitions[table.load().kinds[kind][version]]["properties"])


def _node(path: tuple[str, ...], schema: dict[str, Any], name: str, *, required: bool) -> Node:
    while "$ref" in schema:
        name = schema["$ref"]
        schema = table.load().definitions[name]
    return Node(path, schema, name, required)


def children(node: Node) -> list[Node]:
    """The fields of an object, the values of a map, or the entries of a list; none for a leaf."""
    schema = node.schema
    if "properties" in schema:
        required = schema.get("required", ())
        return [_node((*node.path, key), inner, node.name, required=key in required) for key, inner in schema["properties"].items()]
    if "additionalProperties" in schema:
        return [_node((*node.path, KEY), schema["additionalProperties"], node.name, required=False)]
    if "items" in schema:
        return [_node((*node.path, ENTRY), schema["items"], node.name, required=False)]
    return []


def leaves(node: Node) -> Iterator[Node]:
    """All leaves of a field."""
    below = children(node)
    for child in below:
        yield from leaves(child)
    if not below:
        yield node


def values(node: Node) -> list[Any]:
    """A few valid values of a leaf, each unlike the others."""
    schema, wanted = node.schema, node.schema.get("type")
    if "enum" in schema:
        return list(schema["enum"])
    if node.path[-1] in _NAMED:
        return list(_NAMED[node.path[-1]])
    if wanted == "string":
        return _texts(schema)
    if wanted == "boolean":
        return [True, False]
    if wanted in ("integer", "number"):
        return _amounts(schema)
    if schema.get("format") == "quantity":
        return [str(next(_numbers) + 100), str(next(_numbers) + 100)]
    if schema.get("x-kubernetes-int-or-string"):
        return [next(_numbers) + 1000, next(_numbers) + 1000]
    return [{"leaf": unique()}, {"leaf": unique()}] if "x-kubernetes-preserve-unknown-fields" in schema else [{}]


def is_choice(node: Node) -> bool:
    """True for a leaf with a few values that the schema names."""
    return "enum" in node.schema or node.schema.get("type") == "boolean"


def key(of: str) -> str:
    """A key for a new entry of a map."""
    return "memory" if of in ("limits", "requests", "overhead") else "leaf.example/key"


def unique() -> str:
    """A text that nothing else contains."""
    return f"leaf{next(_numbers)}"


def _texts(schema: dict[str, Any]) -> list[str]:
    texts = [text for text in (unique(), unique(), *_TEXTS) if re.search(schema.get("pattern", ""), text)]
    return texts[:2]


def _amounts(schema: dict[str, Any]) -> list[int]:
    least, most = schema.get("minimum", 0), schema.get("maximum", 65000)
    number = next(_numbers) + 1000
    return [number, 1] if least <= 1 and number <= most else sorted({int(least), int(most), int(min(least + 1, most))})


def minimal(node: Node, besides: str = "") -> Any:
    """The smallest value of a field: an object with its required fields, without the field `besides`."""
    below = children(node)
    if not below:
        return values(node)[0]
    if "properties" in node.schema:
        companions, instead = _COMPANIONS.get(node.name, ({}, ()))
        fields = {child.path[-1]: minimal(child) for child in below if child.required} | ({} if besides in instead else companions)
        return {name: value for name, value in fields.items() if name != besides}
    return {} if "additionalProperties" in node.schema else []


def full(node: Node) -> Any:
    """A value of a field in which every leaf is set."""
    below = children(node)
    if not below:
        return values(node)[0]
    if "properties" in node.schema:
        return {child.path[-1]: full(child) for child in below}
    return {key(node.path[-1]): full(below[0])} if "additionalProperties" in node.schema else [full(below[0])]
