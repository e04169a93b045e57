"""The fields of a live object that belong to the applier of its file (Git), and not to controllers, autoscalers or people.

The API server records it in `metadata.managedFields` (FieldsV1 of server-side apply), and kubectl in an annotation. A tree is None if
nothing is recorded, False for a field of others, an empty object for a field that is owned with all that is in it, and otherwise has the
owned fields (`f:NAME`) and entries of lists (`k:KEYS`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from krm_fn.kubernetes import identity
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, objects
from krm_fn.render import labels

Tree = dict[str, Any] | bool | None

_APPLY = "Apply"
_MARK = ("f:metadata", "f:annotations", f"f:{labels.OWNER}")


def appliers(resources: Iterable[Resource]) -> frozenset[str]:
    """Returns the field managers that apply renders: those that applied the mark of krm-fn to one of the objects."""
    entries = (entry for resource in resources for entry in objects(resource["metadata"].get("managedFields")))
    return frozenset(f"{entry.get('manager')}" for entry in entries if _applies(entry) and _has_mark(entry.get("fieldsV1")))


def of(live: Resource, managers: frozenset[str] = frozenset()) -> Tree:
    """Returns the fields that the applier owns: one of these managers, the manager that applies the mark of krm-fn, or `kubectl apply`.

    A field that another manager owns too stays in the cluster when it leaves the file, so it is not the applier's.
    """
    entries = objects(live["metadata"].get("managedFields"))
    of_renders = [
        manager
        for manager in entries
        if _applies(manager) and (f"{manager.get('manager')}" in managers or _has_mark(manager.get("fieldsV1")))
    ]
    if of_renders:
        others = [manager for manager in entries if manager not in of_renders and manager.get("subresource") != "status"]
        return _without(
            _union([mapping(manager.get("fieldsV1")) for manager in of_renders]),
            _union([mapping(manager.get("fieldsV1")) for manager in others]),
        )
    try:
        written = json.loads(labels.annotations(live).get(identity.LAST_APPLIED, ""))
    except (TypeError, ValueError, RecursionError):
        return None
    return _of_file(written) if isinstance(written, dict) else None


def field(tree: Tree, name: str) -> Tree:
    """Returns the owned part of a field."""
    return tree.get(f"f:{name}", False) if isinstance(tree, dict) and tree else tree


def entry(tree: Tree, value: Any) -> Tree:
    """Returns the owned part of an entry of a list."""
    if not isinstance(tree, dict) or not tree:
        return tree
    keyed = ((_keys(key), inner) for key, inner in tree.items() if key.startswith("k:"))
    return next((inner for keys, inner in keyed if keys and keys.items() <= mapping(value).items()), False)


def part(tree: Tree, value: Any) -> Any:
    """Returns the owned part of a value; None if nothing is owned. Without a record, the whole value is owned."""
    if tree is False:
        return None
    if not tree:
        return value
    if isinstance(value, dict):
        return _present({name: part(field(tree, name), inner) for name, inner in value.items()}) or None
    if isinstance(value, list):
        return [owned for item in value if (owned := part(entry(tree, item), item)) is not None] or None
    return value


def _present(value: dict[str, Any]) -> dict[str, Any]:
    return {name: inner for name, inner in value.items() if inner is not None}


def _applies(manager: dict[str, Any]) -> bool:
    return manager.get("operation") == _APPLY and not manager.get("subresource")


def _has_mark(tree: Any) -> bool:
    for step in _MARK:
        tree = mapping(tree).get(step)
    return tree is not None


def _union(trees: list[dict[str, Any]]) -> dict[str, Any]:
    """All that one of the trees owns. A field that one of them owns whole is owned whole."""
    if not all(trees):
        return {}
    return {
        key: _union([mapping(tree[key]) for tree in trees if key in tree]) for key in dict.fromkeys(key for tree in trees for key in tree)
    }


def _without(tree: dict[str, Any], others: dict[str, Any]) -> Tree:
    """The tree without the fields that others own too; False if nothing is left."""
    remaining = {}
    for key, inner in tree.items():
        theirs = others.get(key)
        rest = inner if theirs is None else _without(inner, theirs) if inner and theirs else False
        if rest is not False:
            remaining[key] = rest
    return remaining or False


def _of_file(value: Any) -> dict[str, Any]:
    """The tree of the fields of a file."""
    if isinstance(value, dict):
        return {f"f:{name}": _of_file(inner) for name, inner in value.items()}
    named = objects(value)
    if named and len(named) == len(value) and all("name" in item for item in named):
        return {f"k:{json.dumps({'name': item['name']})}": _of_file(item) for item in named}
    return {}


def _keys(key: str) -> dict[str, Any]:
    try:
        return mapping(json.loads(key.removeprefix("k:")))
    except ValueError:
        return {}
