"""References between objects: the fields of every kind that name another object, and the fields that select pods by their labels.

`name_fields` and `selector_fields` are the tables. This module reads names with them. An API server accepts a name of a missing object, and
a selector that matches no pod. Only a reader who knows these fields finds such mistakes.
"""

from __future__ import annotations

from functools import cache

from krm_fn.base import results
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import paths
from krm_fn.kubernetes.references import name_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.base.results import Path
    from krm_fn.kubernetes.paths import PatternTree
    from krm_fn.kubernetes.references.name_fields import NameField, Target
    from krm_fn.kubernetes.types import Resource

_GROUPS = ("group", "apiGroup")
"""The fields beside a name that have the group of the named object."""


SCALED: Path = ("spec", "scaleTargetRef", "name")
"""The field of an autoscaler with the name of what it scales."""


class Reference(NamedTuple):
    """A name of an object in a field. `path` is the path of the field.

    `group` and `kind` are those of the named object. `namespace` is the namespace that the reference names; empty for the namespace of the
    object itself, and for objects without a namespace. `keys` are the keys of its data that the use needs. `is_optional` is true if the
    named object may be missing.
    """

    path: Path
    group: str
    kind: str
    namespace: str
    name: str
    keys: tuple[str, ...] = ()
    is_optional: bool = False


def of(resource: Resource, by_kind: Mapping[Target, tuple[NameField, ...]] = name_fields.BY_KIND) -> Iterator[Reference]:
    """Yields each name of another object in an object, also those in its pods. Fields of the object may have any type.

    `by_kind` are the fields outside of pods, by group and kind.
    """
    ref = results.ref(resource)
    yield from _read(resource, (), by_kind.get((ref.api_version.rpartition("/")[0], ref.kind), ()))
    for template in name_fields.TEMPLATES.get(ref.kind, paths.POD_TEMPLATES):
        for path, spec in paths.find(resource, (template.spec,)):
            yield from of_pod(spec, path)


def of_pod(spec: Any, start: Path = ()) -> Iterator[Reference]:
    """Yields each name of another object in a pod spec. `start` is the path of the spec in its object."""
    yield from _read(spec, start, name_fields.OF_PODS)


def _read(value: Any, start: Path, fields: tuple[NameField, ...]) -> Iterator[Reference]:
    for number, path, name in paths.find_all(value, _tree(fields)):
        field, parent = fields[number], paths.at(value, path[:-1])
        holder = parent if isinstance(parent, dict) else {}
        group, kind = _target(field, holder)
        if kind and isinstance(name, str) and name:
            namespace, last = _address(name, holder) if name_fields.is_namespaced(group, kind) else ("", name)
            keys = tuple(str(key) for _, key in paths.find(holder, field.keys))
            yield Reference((*start, *path), group, kind, namespace, last, keys, holder.get("optional") is True)


@cache  # the tables are constants
def _tree(fields: tuple[NameField, ...]) -> PatternTree:
    return paths.tree([field.path for field in fields])


def _address(name: str, holder: dict[str, Any]) -> tuple[str, str]:
    """Returns the namespace and the name of the named object. The namespace stands before the name, or in a field beside it."""
    namespace, _, last = name.rpartition("/")
    beside = holder.get("namespace")
    return namespace or (beside if isinstance(beside, str) else ""), last


def _target(field: NameField, holder: dict[str, Any]) -> tuple[str, str]:
    """Returns the group and the kind of the named object. In a typed reference, the fields beside the name have them.

    The kind is empty if these fields name no object, as those of a subject that is a user.
    """
    default = field.targets[0] if field.targets else ("", "")
    if not field.is_typed:
        return default
    kind = holder.get("kind")
    if not isinstance(kind, str):
        return default
    version, group = holder.get("apiVersion"), next((holder[name] for name in _GROUPS if isinstance(holder.get(name), str)), None)
    if kind in name_fields.NO_OBJECTS:
        return "", ""
    if isinstance(version, str):
        return version.rpartition("/")[0], kind
    known = next((target for target in field.targets if target[1] == kind), ("", kind))
    return (group, kind) if group is not None else known
