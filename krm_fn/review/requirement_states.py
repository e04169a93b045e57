"""Compares the required objects of a render with an export of a cluster: what is there, what is missing, and which keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, objects
from krm_fn.render import dynamo_api
from krm_fn.review.required_objects import NAMESPACE, ObjectUse

State = Literal["present", "missing", "lacks keys", "unknown", ""]
"""Empty: there is no export. Unknown: the export has no object of the kind."""
_DATA = ("data", "stringData", "binaryData")
_DEFINITION = "CustomResourceDefinition"
KEEP_SEARCHES = (
    "keep the definition of requests of Dynamo 1.7: that of krm-fn crds takes v1beta2 away, and stored requests of v1beta2 with it"
)
"""What to do in a cluster whose definition of requests serves v1beta2. krm-fn's definition has no views, and a write removes them."""


class RequiredObject(NamedTuple):
    """An object with all its uses. `keys` are those that any use needs, `missing_keys` those that the export lacks."""

    key: ObjectKey
    keys: tuple[str, ...]
    uses: tuple[ObjectUse, ...]
    state: State = ""
    missing_keys: tuple[str, ...] = ()

    @property
    def is_missing(self) -> bool:
        """True if the cluster lacks the object, or a key of it."""
        return self.state in ("missing", "lacks keys")


class ExportedKeys(NamedTuple):
    """The objects of an export with the names of their keys, and their namespaces. The values of Secrets are never read."""

    keys: dict[ObjectKey, frozenset[str]]
    kinds: frozenset[tuple[str, str]]
    served: frozenset[tuple[str, str]]
    """The API version and the kind of what the definitions of the export serve."""


def read(export: Iterable[Resource]) -> ExportedKeys:
    """Indexes an export."""
    keys: dict[ObjectKey, frozenset[str]] = {}
    served: set[tuple[str, str]] = set()
    for resource in export:
        keys[identity.key(resource)] = frozenset(name for field in _DATA for name in mapping(resource.get(field)))
        if resource.get("kind") == _DEFINITION:
            served.update(_served_kinds(mapping(resource.get("spec"))))
    kinds = frozenset((key.group, key.kind) for key in keys)
    namespaces = {key.namespace for key in keys if key.namespace}
    keys |= {ObjectKey("", NAMESPACE, "", namespace): frozenset() for namespace in namespaces}
    return ExportedKeys(keys, kinds, frozenset(served))


def _served_kinds(spec: dict[str, Any]) -> Iterable[tuple[str, str]]:
    kind = str(mapping(spec.get("names")).get("kind"))
    return [(f"{spec.get('group')}/{version.get('name')}", kind) for version in objects(spec.get("versions")) if version.get("served")]


def group_requirements(requirements: Sequence[ObjectUse], export: ExportedKeys | None = None) -> list[RequiredObject]:
    """Groups requirements by object, sorted by kind, namespace and name. With an export, each object has its state."""
    uses: dict[ObjectKey, list[ObjectUse]] = {}
    for requirement in requirements:
        uses.setdefault(requirement.key, []).append(requirement)
    required = [
        RequiredObject(key, tuple(sorted({name for use in uses[key] for name in use.keys})), tuple(uses[key]))
        for key in sorted(uses, key=lambda key: (key.kind, key.group, key.namespace, key.name))
    ]
    return [_with_state(entry, export) for entry in required] if export else required


def has_searches(served: Iterable[tuple[str, str]]) -> bool:
    """Returns true if requests are served in v1beta2. `served` has API versions with kinds."""
    return (dynamo_api.V1BETA2, dynamo_api.REQUEST) in served


def definition_state(api_version: str, kind: str, export: ExportedKeys | None) -> State:
    """Returns the state of the definition of a kind."""
    if export is None:
        return ""
    if not export.served:
        return "unknown"
    return "present" if (api_version, kind) in export.served else "missing"


def _with_state(required: RequiredObject, export: ExportedKeys) -> RequiredObject:
    key = required.key
    if key not in export.keys:
        return required._replace(state="missing" if (key.group, key.kind) in export.kinds else "unknown")
    missing = tuple(name for name in required.keys if name not in export.keys[key])
    return required._replace(state="lacks keys" if missing else "present", missing_keys=missing)
