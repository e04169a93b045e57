"""Removes invalid and null fields from a resource so that the other rules can run, and drops findings that follow from such fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from krm_fn.base import codes, results
from krm_fn.base.results import Path, Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.kubernetes.types import Resource

_SERVICE = len(("spec", "services", "name"))
_DUPLICATE = codes.DUPLICATE_LIST_ENTRY  # both entries are readable; if the key were removed, other rules would report the entry


def error_paths(findings: Iterable[Result]) -> list[Path]:
    """Returns the paths of the fields that have an error."""
    return [finding.path for finding in results.errors_of(findings)]


def without_errors(value: Any, findings: Iterable[Result]) -> Any:
    """Copies a resource without the invalid fields."""
    return without(value, [finding.path for finding in findings if finding.severity == "error" and finding.code != _DUPLICATE])


def without_reported_nulls(value: Any, findings: Iterable[Result]) -> Any:
    """Copies a resource without the fields that were reported as null. Returns the resource itself if there are none."""
    return without(value, [finding.path for finding in findings if finding.code == codes.NULL_FIELD])


def without(value: Any, paths: Iterable[Path]) -> Any:
    """Copies a value without the fields at these paths. Returns the value itself if the paths name no field of it.

    An invalid object in a list becomes empty, so that the other entries keep their indices. A list of strings with an invalid entry
    becomes empty.
    """
    removed, inner = _split_paths(paths)
    if not (removed or inner) or not isinstance(value, dict | list):
        return value
    if isinstance(value, list):
        if removed and not any(isinstance(entry, dict) for index, entry in enumerate(value) if index not in removed):
            return []
        return [{} if index in removed else without(entry, inner.get(index, ())) for index, entry in enumerate(value)]
    return {key: without(entry, inner.get(key, ())) for key, entry in value.items() if key not in removed}


def independent(findings: Iterable[Result], invalid: Iterable[Path]) -> Iterator[Result]:
    """Yields the findings that do not follow from the invalid fields.

    A finding follows from an invalid field if its field is that field, is inside it or contains it. A finding about a whole service
    always stays, because it concerns the service's name.
    """
    paths = set(invalid)
    parents = {path[:length] for path in paths for length in range(len(path)) if not length <= _SERVICE < len(path)}
    for finding in findings:
        inside = any(finding.path[:length] in paths for length in range(len(finding.path) + 1))
        if not inside and finding.path not in parents:
            yield finding


def without_nulls(resource: Resource) -> Resource:
    """Returns the resource without null fields: the resource itself if it has none, otherwise a copy that shares all unchanged parts.

    An API server drops them too (apiextensions-apiserver, PruneNonNullableNullsWithoutDefaults).
    """
    pruned: Resource = _prune(resource) if _has_null(resource) else resource
    return pruned


def _split_paths(paths: Iterable[Path]) -> tuple[set[str | int], dict[str | int, list[Path]]]:
    """Splits paths into fields of this level, and paths of lower levels by their first step."""
    fields: set[str | int] = set()
    inner: dict[str | int, list[Path]] = {}
    for path in paths:
        if len(path) == 1:
            fields.add(path[0])
        elif path:
            inner.setdefault(path[0], []).append(path[1:])
    return fields, inner


def _has_null(value: Any) -> bool:
    """True if a field or entry is null at any depth. Most resources have no null, and this is faster than a copy."""
    rest = [value]
    while rest:
        parent = rest.pop()
        for inner in parent.values() if type(parent) is dict else parent:
            if inner is None:
                return True
            if type(inner) is dict or type(inner) is list:
                rest.append(inner)
    return False


def _prune(value: Any) -> Any:
    if isinstance(value, dict):
        fields = {key: _prune(inner) for key, inner in value.items() if inner is not None}
        same = len(fields) == len(value) and all(fields[key] is value[key] for key in fields)
        return value if same else fields
    if isinstance(value, list):
        items = [_prune(item) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return value
