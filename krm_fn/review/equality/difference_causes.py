"""The cause of a difference between a live object and a rendered one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Literal

from krm_fn.kube import paths
from krm_fn.kube.identity import ObjectKey
from krm_fn.kube.types import Resource
from krm_fn.kube.values import mapping, objects
from krm_fn.records import NamedTuple
from krm_fn.results import Path
from krm_fn.review.equality import known_deviations
from krm_fn.review.equality.known_deviations import DifferingField
from krm_fn.review.live import field_ownership
from krm_fn.schema.object_changes import FieldChange, ObjectChange

Kind = Literal["deviation", "rollout", "edit", "controller", "release", "refused", "unknown"]
_OF_PEOPLE = ("kubectl", "k9s", "lens", "headlamp", "mozilla", "dashboard", "helm", "argocd", "kustomize-controller", "node-fetch")
_OF_OPERATORS = ("manager", "dynamo")
"""Field managers: those of people and their tools, and those of the operator, whose program has the name `manager`."""


class Cause(NamedTuple):
    """A cause: its kind, and the name of the deviation, the field manager, the release, or the code of the error about the graph."""

    kind: Kind
    name: str = ""


class CauseFinder:
    """Finds causes. `live` are the objects of the export, `rolling` the fields that the operator still rolls out, by object.

    `owners` are the Dynamo resources of objects, as kind and name, and `refused` the codes of errors about Dynamo resources.
    `other_releases` renders the same resources as other releases; it is called only for a difference without another cause.
    """

    def __init__(
        self,
        live: Mapping[ObjectKey, Resource],
        rolling: Mapping[ObjectKey, Sequence[str]],
        owners: Mapping[ObjectKey, Collection[tuple[str, str]]],
        refused: Mapping[tuple[str, str], str],
        other_releases: Callable[[], Mapping[str, Mapping[ObjectKey, Resource]]],
    ) -> None:
        self._live, self._rolling, self._owners, self._refused = live, rolling, owners, refused
        self._other_releases = other_releases

    def of_field(self, change: ObjectChange, field: FieldChange, name: str) -> Cause:
        """Returns the cause of a field that differs. `name` is its path with the names of list entries."""
        kind = next((kind for kind, _ in self._owners.get(change.key, ())), "")
        if deviation := known_deviations.of_field(DifferingField(change.key, field, kind)):
            return Cause("deviation", deviation)
        if any(name.endswith(rolled) for rolled in self._rolling.get(change.key, ())):
            return Cause("rollout")
        for manager in _managers(self._live.get(change.key, {}), field.old_path) if field.old is not None else ():
            if manager.lower().startswith(_OF_PEOPLE):
                return Cause("edit", manager)
            if not manager.lower().startswith(_OF_OPERATORS):
                return Cause("controller", manager)
        return self._of_release(change.key, lambda resource: paths.at(resource, field.path) == field.old)

    def of_live_object(self, key: ObjectKey) -> Cause:
        """Returns the cause of a live object that the render does not make."""
        if deviation := known_deviations.of_live_object(key):
            return Cause("deviation", deviation)
        if codes := [self._refused[owner] for owner in self._owners.get(key, ()) if owner in self._refused]:
            return Cause("refused", codes[0])
        return self._of_release(key, lambda _: True)

    def of_rendered_object(self, key: ObjectKey) -> Cause:
        """Returns the cause of a rendered object that the cluster does not have."""
        absent = [release for release, rendered in self._other_releases().items() if key not in rendered]
        return Cause("release", absent[0]) if absent else Cause("unknown")

    def _of_release(self, key: ObjectKey, is_same: Callable[[Resource], bool]) -> Cause:
        for release, rendered in self._other_releases().items():
            if key in rendered and is_same(rendered[key]):
                return Cause("release", release)
        return Cause("unknown")


def _managers(live: Resource, path: Path) -> Iterator[str]:
    """Yields the field managers that own a field of a live object, from `metadata.managedFields`. The last one wrote last."""
    for entry in reversed(objects(mapping(live.get("metadata")).get("managedFields"))):
        tree: Any = entry.get("fieldsV1")
        value: Any = live
        for step in path:
            if isinstance(step, int):
                value = value[step] if isinstance(value, list) and step < len(value) else None
                tree = field_ownership.entry(tree, value)
            else:
                tree, value = field_ownership.field(tree, step), mapping(value).get(step)
        if isinstance(tree, dict) and entry.get("subresource") != "status" and isinstance(entry.get("fieldsV1"), dict):
            yield f"{entry.get('manager')}"
