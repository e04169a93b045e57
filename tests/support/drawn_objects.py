"""Draws native objects from Kubernetes' schema: valid ones, as far as the tables of `valid_values` know, with a few optional fields.

`Drawing` has the rules for all definitions. The number of a case is the seed, so that a case is the same on each machine.
"""

from __future__ import annotations

import copy
import random
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from krm_fn.render.schema import table
from krm_fn.schemas.generate import native_definitions
from tests.support import valid_values

if TYPE_CHECKING:
    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.schema.table import Schema

NAMESPACE = "admission"
_DEPTH = 9


class Kind(NamedTuple):
    """A kind whose objects are drawn: its address, its definition, and the part of the object that has most of the fields."""

    api_version: str
    kind: str
    definition: str
    focus: tuple[str, ...] = ("spec",)
    namespaced: bool = True


_CORE, _RBAC = "io.k8s.api.core.v1.", "rbac.authorization.k8s.io/v1"
KINDS = (
    Kind("apps/v1", "Deployment", "io.k8s.api.apps.v1.Deployment", ("spec", "template")),
    Kind("apps/v1", "StatefulSet", "io.k8s.api.apps.v1.StatefulSet"),
    Kind("apps/v1", "DaemonSet", "io.k8s.api.apps.v1.DaemonSet"),
    Kind("apps/v1", "ReplicaSet", "io.k8s.api.apps.v1.ReplicaSet"),
    Kind("v1", "Service", _CORE + "Service"),
    Kind("v1", "PersistentVolumeClaim", _CORE + "PersistentVolumeClaim"),
    Kind("networking.k8s.io/v1", "Ingress", "io.k8s.api.networking.v1.Ingress"),
    Kind("v1", "ConfigMap", _CORE + "ConfigMap", ()),
    Kind("v1", "Secret", _CORE + "Secret", ()),
    Kind("v1", "ServiceAccount", _CORE + "ServiceAccount", ()),
    Kind(_RBAC, "Role", "io.k8s.api.rbac.v1.Role", ()),
    Kind(_RBAC, "RoleBinding", "io.k8s.api.rbac.v1.RoleBinding", ()),
    Kind("batch/v1", "Job", "io.k8s.api.batch.v1.Job"),
    Kind("autoscaling/v2", "HorizontalPodAutoscaler", "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler"),
)
BY_NAME = {kind.kind: kind for kind in KINDS}


@cache
def definitions() -> dict[str, Schema]:
    """Kubernetes' and Dynamo's definitions by name."""
    return {**native_definitions.load().definitions, **table.load().definitions}


def short(name: str) -> str:
    """The last part of a definition's name."""
    return name.rpartition(".")[2]


def valid(kind: Kind, rng: random.Random) -> Resource:
    """A valid object of a kind, as far as the tables know."""
    drawn: Resource = Drawing(rng).object(kind.definition, _DEPTH)
    drawn |= {"apiVersion": kind.api_version, "kind": kind.kind}
    drawn["metadata"] = {**drawn.get("metadata", {}), "name": drawn.get("metadata", {}).get("name") or "drawn", "namespace": NAMESPACE}
    valid_values.connect(drawn, rng)
    return drawn


class Drawing:
    """Draws values of definitions with one source of random numbers."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._definitions = definitions()

    def value(self, schema: Schema, owner: str, field: str, depth: int) -> Any:
        """A value of a field. `owner` is the short name of the definition that has the field."""
        table = valid_values.of(owner, field)
        if table is not None:
            return copy.deepcopy(self._rng.choice(table))
        if "$ref" in schema:
            inner = self._definitions[schema["$ref"]]
            return self.object(schema["$ref"], depth) if "properties" in inner else self.value(inner, short(schema["$ref"]), field, depth)
        return self._simple(schema, owner, field, depth)

    def _simple(self, schema: Schema, owner: str, field: str, depth: int) -> Any:
        expected = schema.get("type")
        if schema.get("enum"):
            return self._rng.choice([word for word in schema["enum"] if word])
        if expected == "array":
            return self._list(schema, owner, field, depth)
        if "additionalProperties" in schema:
            entry = schema["additionalProperties"]
            return {key: self.value(entry, owner, field + "{}", depth - 1) for key in self._rng.sample(valid_values.keys(field), 1)}
        if expected == "boolean":
            return self._rng.random() < 0.5
        if expected in ("integer", "number"):
            return self._rng.choice((1, 1, 2, 5))
        if schema.get("format") == "quantity":
            return self._rng.choice(("1", "2Gi", "500m"))
        if schema.get("format") == "int32":
            return self._rng.choice((1, "25%"))
        return self._rng.choice(("a", "b", "c-d")) if expected == "string" else {}

    def _list(self, schema: Schema, owner: str, field: str, depth: int) -> list[Any]:
        length = self._rng.choice((1, 1, 2))
        entries = [self.value(schema["items"], owner, field + "[]", depth - 1) for _ in range(length)]
        keys = schema.get("x-kubernetes-list-map-keys") or valid_values.UNIQUE.get(field, ())
        seen: dict[str, Any] = {}
        for entry in entries:
            seen.setdefault(repr([entry.get(key) for key in keys] if isinstance(entry, dict) and keys else entry), entry)
        return list(seen.values())

    def object(self, name: str, depth: int) -> dict[str, Any]:
        """An object of a definition: its required fields, one field of each union, and a few optional fields."""
        schema, owner = self._definitions[name], short(name)
        fields = {field: inner for field, inner in schema["properties"].items() if (owner, field) not in valid_values.NOT_DRAWN}
        chosen = [*schema.get("required", ()), *valid_values.REQUIRED.get(owner, ())]
        alternatives = [[field for field in union if field in fields] for union in valid_values.UNIONS.get(owner, ())]
        chosen += [self._rng.choice(union) for union in alternatives if union]
        rest = [field for field in fields if field not in chosen and not any(field in union for union in alternatives)]
        rest = [field for field in rest if (owner, field) not in valid_values.ADDED_ONLY and field not in ("apiVersion", "kind", "status")]
        if rest and depth > 0:
            chosen += self._rng.sample(rest, min(len(rest), self._rng.choice((0, 1, 1, 2, 3))))
        return {field: self.value(fields[field], owner, field, depth - 1) for field in dict.fromkeys(chosen) if field in fields}
