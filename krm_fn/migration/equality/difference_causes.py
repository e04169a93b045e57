"""The cause of a difference between a live object and a rendered one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Literal

from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, objects
from krm_fn.migration.equality import known_deviations
from krm_fn.migration.equality.known_deviations import DifferingField
from krm_fn.migration.equality.release_evidence import ReleaseEvidence
from krm_fn.render.schema.object_changes import FieldChange, ObjectChange
from krm_fn.review.live import field_ownership

Kind = Literal["deviation", "rollout", "edit", "controller", "release", "refused", "pending", "unknown"]
_OF_PEOPLE = ("kubectl", "k9s", "lens", "headlamp", "mozilla", "dashboard", "helm", "argocd", "kustomize-controller", "node-fetch")
_RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"
_OF_OPERATORS = ("manager", "dynamo")
"""Field managers: those of people and their tools, and those of the operator, whose program has the name `manager`."""


class Cause(NamedTuple):
    """A cause: its kind, and the name of the deviation, the field manager, the release, or the code of the error about the graph.

    `pending`: the operator has not acted on the last change of the graph yet, so nothing else is known. The name is that of the graph.
    """

    kind: Kind
    name: str = ""


class GraphStates(NamedTuple):
    """The Dynamo resources of a namespace, as kind and name: those of each object, and the codes of those with errors.

    `pending`: the operator has not seen the last change of the resource.
    """

    owners: Mapping[ObjectKey, Collection[tuple[str, str]]]
    refused: Mapping[tuple[str, str], str]
    pending: Collection[tuple[str, str]]


class CauseFinder:
    """Finds causes. `live` are the objects of the export, `rolling` the fields that the operator still rolls out, by object.

    `releases` is asked only for a difference without another cause.
    """

    def __init__(
        self, live: Mapping[ObjectKey, Resource], rolling: Mapping[ObjectKey, Sequence[str]], graphs: GraphStates, releases: ReleaseEvidence
    ) -> None:
        self._live, self._rolling, self._graphs, self._releases = live, rolling, graphs, releases

    def of_field(self, change: ObjectChange, field: FieldChange, name: str) -> Cause:
        """Returns the cause of a field that differs. `name` is its path with the names of list entries."""
        kind = next((kind for kind, _ in self._graphs.owners.get(change.key, ())), "")
        if deviation := known_deviations.of_field(DifferingField(change.key, field, kind)):
            return Cause("deviation", deviation)
        if any(name.endswith(rolled) for rolled in self._rolling.get(change.key, ())):
            return Cause("rollout")
        if field.path[-1] == _RESTARTED_AT:
            return Cause("edit", "kubectl rollout restart")
        for manager in _managers(self._live.get(change.key, {}), field.old_path) if field.old is not None else ():
            if manager.lower().startswith(_OF_PEOPLE):
                return Cause("edit", manager)
            if not manager.lower().startswith(_OF_OPERATORS):
                return Cause("controller", manager)
        return self._of_release(change.key, lambda: self._releases.of_field(change.key, field))

    def of_live_object(self, key: ObjectKey) -> Cause:
        """Returns the cause of a live object that the render does not make."""
        if deviation := known_deviations.of_live_object(key):
            return Cause("deviation", deviation)
        if codes := [self._graphs.refused[owner] for owner in self._graphs.owners.get(key, ()) if owner in self._graphs.refused]:
            return Cause("refused", codes[0])
        return self._of_release(key, lambda: self._releases.of_live_object(key))

    def of_rendered_object(self, key: ObjectKey) -> Cause:
        """Returns the cause of a rendered object that the cluster does not have."""
        return self._of_release(key, lambda: self._releases.of_missing_object(key))

    def _of_release(self, key: ObjectKey, release: Callable[[], str]) -> Cause:
        """Returns a release as the cause. If the operator has not acted on the graph, no release is asked for."""
        if pending := [name for kind, name in self._graphs.owners.get(key, ()) if (kind, name) in self._graphs.pending]:
            return Cause("pending", pending[0])
        name = release()
        return Cause("release", name) if name else Cause("unknown")


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
