"""Hypothesis strategies for resources of any shape that the schema allows, with names and texts that often meet."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from krm_fn.render.schema import table

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

    from krm_fn.kubernetes.types import Resource

_DEPTH = 12
_WORDS = ("a", "b", "main", "sidecar-frontend", "worker", "decode", "nvidia.com/gpu", "1", "0", "4Gi", "/a", "/b", "", "ä\n")
_FREE = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(_WORDS),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(("sla", "isl", "planner", "deployment", "a")), inner, max_size=3)
    ),
    max_leaves=5,
)
_OFTEN = {
    "Component": ("componentType", "subComponentType", "extraPodSpec", "envs", "volumeMounts", "resources", "frontendSidecar"),
    "ComponentV1beta1": ("type", "podTemplate", "frontendSidecar", "compilationCache", "experimental"),
    "GraphSpec": ("services", "pvcs"),
    "GraphSpecV1beta1": ("components",),
    "ExtraPodSpec": ("mainContainer", "containers", "volumes"),
    "io.k8s.api.core.v1.PodSpec": ("containers", "volumes"),
    "MainContainer": ("env", "resources", "volumeMounts", "envFrom", "livenessProbe", "image", "name"),
    "io.k8s.api.core.v1.Container": ("env", "resources", "volumeMounts", "envFrom", "livenessProbe", "image"),
    "RequestSpec": ("profilingConfig", "deploymentOverrides"),
    "RequestSpecV1beta1": ("sla", "workload", "overrides", "features", "image"),
}
"""Fields that a conversion moves. They are drawn more often than others, by definition."""


@st.composite
def resources(draw: DrawFn, kind: str, version: str) -> Resource:
    """A resource of a kind and version, without mistakes of types."""
    definition = table.load().kinds[kind][f"nvidia.com/{version}"]
    fields = table.load().definitions[definition]["properties"]
    parts = {part: draw(_value(fields[part], definition, _DEPTH)) for part in ("spec", "status") if part in fields}
    kept = {part: value for part, value in parts.items() if part == "spec" or draw(st.booleans())}
    return {"apiVersion": f"nvidia.com/{version}", "kind": kind, "metadata": {"name": "g", "namespace": "n"}, **kept}


def _value(schema: dict[str, Any], name: str, depth: int) -> SearchStrategy[Any]:
    """Values of a schema. `name` is the definition that contains it."""
    while "$ref" in schema:
        name = schema["$ref"]
        schema = table.load().definitions[name]
    if "properties" in schema:
        return _objects(name, depth) if schema is table.load().definitions[name] else _object(schema, name, depth)
    return _simple(schema, name, depth)


def _simple(schema: dict[str, Any], name: str, depth: int) -> SearchStrategy[Any]:
    wanted = schema.get("type")
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if wanted == "object" and "additionalProperties" in schema:
        inner = _value(schema["additionalProperties"], name, depth - 1) if depth > 0 else st.nothing()
        return st.dictionaries(st.sampled_from([word for word in _WORDS if word]), inner, max_size=2 if depth > 0 else 0)
    if wanted == "array":
        return _lists(schema, name, depth)
    if wanted == "string":
        return _texts(schema.get("pattern", ""), schema.get("minLength", 0))
    if wanted == "boolean":
        return st.booleans()
    if wanted in ("integer", "number"):
        return st.integers(max(schema.get("minimum", 0), 0), min(schema.get("maximum", 3), 9))
    if schema.get("x-kubernetes-int-or-string") or name.endswith("Quantity"):
        return st.sampled_from((0, 4, "0", "1", "1000m", "4Gi"))
    return _FREE if wanted is None else _FREE.filter(lambda value: isinstance(value, dict))


@cache
def _texts(pattern: str, least: int) -> SearchStrategy[str]:
    fitting = [word for word in _WORDS if len(word) >= least and re.search(pattern, word)]
    return st.sampled_from(fitting) if fitting else st.from_regex(pattern, fullmatch=True)


def _lists(schema: dict[str, Any], name: str, depth: int) -> SearchStrategy[list[Any]]:
    keys = schema.get("x-kubernetes-list-map-keys", ())
    if depth <= 0:
        return st.builds(list)
    unique = (lambda entry: tuple(repr(entry.get(key)) for key in keys)) if keys else None
    return st.lists(_value(schema["items"], name, depth - 1), max_size=3, unique_by=unique)


@cache
def _objects(name: str, depth: int) -> SearchStrategy[Any]:
    return _object(table.load().definitions[name], name, depth)


@st.composite
def _object(draw: DrawFn, schema: dict[str, Any], name: str, depth: int) -> dict[str, Any]:
    """An object with its required fields and a few others."""
    fields, required = schema["properties"], [*schema.get("required", ())]
    rest = [field for field in fields if field not in required]
    chosen = [field for field in _OFTEN.get(name, ()) if draw(st.booleans())]
    if rest and depth > 0:
        chosen += draw(st.lists(st.sampled_from(rest), max_size=2))
    return {field: draw(_value(fields[field], name, depth - 1)) for field in dict.fromkeys((*required, *chosen))}
