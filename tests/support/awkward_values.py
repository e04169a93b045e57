"""Changes one field of a drawn object to an awkward value: a limit, an empty text, a wrong format, a second member of a union.

`change` walks from the top of the object to a random field, present or absent, and changes it there.
"""

from __future__ import annotations

import copy
import random
from typing import TYPE_CHECKING, Any

from tests.support import drawn_objects, valid_values

if TYPE_CHECKING:
    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.schema.table import Schema
    from tests.support.drawn_objects import Kind

_LONG = "a" * 63
TEXTS = (
    *("", "A", "a b", "-a", "a-", "a_b", "a.b", "a..b", ".", "..", "ä", "a\nb", " a", "1", "0", "-1", "true", "*", "*.a.b", "*.*.a"),
    *(_LONG, _LONG + "a", "a" * 253, "a" * 254, "a" * 15, "a" * 16, "a--b", "1a", "80", "65536"),
    *("/", "/a", "a/", "a/b", "../a", "/a/../b", "a/../b", "..a", "/a//b", "//a", "a:b", "a=b", "A_B", "$(A)", "a.b/c", "a.b/C_d", "/c"),
    *("10.0.0.1", "10.0.0.256", "010.0.0.1", "::1", "fe80::1%eth0", "127.0.0.1", "169.254.1.1", "224.0.0.1", "0.0.0.0", "10.0.0.0/8"),  # noqa: S104
    *("192.0.2.1/24", "a.b/c/d", "kubernetes.io/a", "requests.a.b/c", "hugepages-2Mi", "example.org/a", "None", "Cluster", "Local"),
    *("http://a", "https://a.b/c?d#e", "a.b.", "%", "%41", "a%2fb", "foregroundDeletion", "system:a", "metadata.name", "spec.nodeName"),
)
NUMBERS = (-1, 0, 1, 2, 3, 10, 70, 100, 101, 127, 255, 256, 511, 512, 600, 599, 1800, 1801, 3600, 3601, 65535, 65536, 70000, 86400, 86401)
HUGE = (2**31 - 1, 2**31, -(2**31), 2**32, 2**32 + 1, 2**63 - 1, 2**63)
AMOUNTS = (
    "0",
    "-1",
    "1",
    "1m",
    "1.5",
    "100n",
    "1e3",
    "1E",
    "1Ki",
    "0.5",
    "999999999999Ti",
    "abc",
    "",
    "1 Gi",
    "1G i",
    "2",
    "1001m",
    0,
    -2,
    1.5,
)
KEYS = (
    "",
    "A",
    "a b",
    "a/b",
    "a.b/c",
    "a/b/c",
    "/a",
    "a/",
    "-a",
    "_a",
    ".",
    "..",
    "..a",
    "a=b",
    _LONG + "a",
    "ä",
    "A.b/c",
    "cpu",
    "storage",
)
OTHERS: tuple[Any, ...] = ("a", 1, True, [], {}, ["a"], {"a": "b"}, 1.5)
_WORDS = (
    *("ClusterIP", "NodePort", "LoadBalancer", "ExternalName", "ClientIP", "Block", "Filesystem", "ReadOnlyMany", "ReadWriteOncePod"),
    *("Always", "Never", "OnFailure", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Equal", "Recreate", "RollingUpdate", "Indexed"),
    *("NonIndexed", "Ignore", "Count", "FailIndex", "FailJob", "Failed", "Prefix", "Exact", "Memory", "HugePages-1Gi", "Localhost"),
    *("Unconfined", "RuntimeDefault", "Bidirectional", "Enabled", "IfPossible", "ScheduleAnyway", "NoExecute", "windows", "Socket"),
    *("Utilization", "Value", "AverageValue", "Resource", "Pods", "Object", "kubernetes.io/tls", "kubernetes.io/dockerconfigjson"),
    *("kubernetes.io/basic-auth", "kubernetes.io/ssh-auth", "kubernetes.io/service-account-token", "kubernetes.io/dockercfg", "User"),
    *("Group", "ServiceAccount", "Role", "rbac.authorization.k8s.io", "SCTP", "UDP", "True", "SIGTERM", "SIGKILL", "PreferClose"),
)


class Change:
    """One random change of an object. `path` says which field it changed."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._drawing = drawn_objects.Drawing(rng)
        self._definitions = drawn_objects.definitions()
        self.path: tuple[Any, ...] = ()

    def change(self, value: Resource, definition: str) -> None:
        """Changes one field of an object of a definition."""
        self._object(value, self._definitions[definition], drawn_objects.short(definition), 6)

    def _object(self, value: Resource, schema: Schema, owner: str, depth: int) -> None:
        fields = [
            field for field in schema["properties"] if (owner, field) not in valid_values.NOT_DRAWN and field not in ("apiVersion", "kind")
        ]
        present = [field for field in fields if field in value and field != "status"]
        if self._rng.random() < 0.01:
            self.path += ("unknownField",)
            value["unknownField"] = "a"
        elif present and self._rng.random() < 0.7:
            self._present(value, self._rng.choice(present), schema, owner, depth)
        else:
            field = self._rng.choice([field for field in fields if field not in value and field != "status"] or ["unknownField"])
            self.path += (field,)
            value[field] = self._drawing.value(schema["properties"].get(field, {"type": "string"}), owner, field, 3)
            if field in schema["properties"] and self._rng.random() < 0.5:
                self._value(value, field, schema["properties"][field], (owner, field), depth)

    def _present(self, value: Resource, field: str, schema: Schema, owner: str, depth: int) -> None:
        self.path += (field,)
        if self._rng.random() < 0.04:
            del value[field]
            return
        self._value(value, field, schema["properties"][field], (owner, field), depth)

    def _value(self, holder: Any, step: Any, schema: Schema, field: tuple[str, str], depth: int) -> None:
        owner = field[0]
        while "$ref" in schema:
            owner = drawn_objects.short(schema["$ref"])
            schema = self._definitions[schema["$ref"]]
        value, inner = holder[step], depth - 1
        if self._rng.random() < 0.015:
            holder[step] = copy.deepcopy(self._rng.choice(OTHERS))
        elif "properties" in schema and isinstance(value, dict):
            if self._rng.random() < 0.03:
                holder[step] = {}
            else:
                self._object(value, schema, owner, inner)
        elif schema.get("type") == "array" and isinstance(value, list):
            self._list(holder, step, schema, field, inner)
        elif "additionalProperties" in schema and isinstance(value, dict):
            self._map(value, schema, field, inner)
        else:
            holder[step] = self._scalar(schema)

    def _list(self, holder: Any, step: Any, schema: Schema, field: tuple[str, str], depth: int) -> None:
        entries, chance = holder[step], self._rng.random()
        if chance < 0.06:
            holder[step] = []
        elif not entries or chance < 0.12:
            entries.append(self._drawing.value(schema["items"], field[0], field[1] + "[]", 3))
        elif chance < 0.22:
            entries.append(copy.deepcopy(self._rng.choice(entries)))
            if self._rng.random() < 0.6:
                self._value(entries, len(entries) - 1, schema["items"], field, depth)
        elif chance < 0.24:
            entries.extend(copy.deepcopy(entries[0]) for _ in range(40))
        else:
            index = self._rng.randrange(len(entries))
            self.path += (index,)
            self._value(entries, index, schema["items"], field, depth)

    def _map(self, value: dict[str, Any], schema: Schema, field: tuple[str, str], depth: int) -> None:
        if not value or self._rng.random() < 0.5:
            key = self._rng.choice(KEYS)
            self.path += (key,)
            value[key] = self._drawing.value(schema["additionalProperties"], field[0], field[1] + "{}", 2)
            return
        key = self._rng.choice(list(value))
        self.path += (key,)
        self._value(value, key, schema["additionalProperties"], field, depth)

    def _scalar(self, schema: Schema) -> Any:
        rng, expected = self._rng, schema.get("type")
        if schema.get("enum"):
            return rng.choice([*schema["enum"], *schema["enum"], rng.choice(_WORDS), ""])
        if expected == "string":
            return rng.choice(TEXTS) if rng.random() < 0.7 else rng.choice(_WORDS)
        if expected in ("integer", "number"):
            return rng.choice(NUMBERS) if rng.random() < 0.9 else rng.choice(HUGE)
        if schema.get("format") == "quantity":
            return rng.choice(AMOUNTS)
        if schema.get("format") == "int32":
            return rng.choice((*NUMBERS, *TEXTS, "10%", "101%", "-1%", "0%", "a%", *HUGE))
        return rng.random() < 0.5 if expected == "boolean" else copy.deepcopy(rng.choice(OTHERS))


def case(kind: Kind, number: int) -> tuple[Resource, tuple[Any, ...]]:
    """The object of a case, and the path of the changed field; every fourth case is valid, as far as the tables know."""
    rng = random.Random(f"{kind.kind} {number}")  # noqa: S311 - cases, not secrets
    drawn = drawn_objects.valid(kind, rng)
    if number % 4 == 0:
        return drawn, ()
    change = Change(rng)
    focus: Any = drawn
    schema = kind.definition
    if rng.random() < 0.85:
        focus, schema = _focus(drawn, kind, change)
    change.change(focus, schema)
    return drawn, change.path


def _focus(drawn: Resource, kind: Kind, change: Change) -> tuple[Any, str]:
    """The part of the object with most of the fields, and its definition."""
    value, name = drawn, kind.definition
    for step in kind.focus:
        schema = drawn_objects.definitions()[name]["properties"][step]
        value, name = value[step], schema["$ref"]
        change.path += (step,)
    return value, name
