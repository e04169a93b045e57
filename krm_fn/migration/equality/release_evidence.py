"""The evidence that a namespace runs the objects of another release of the operator: live objects that fit it, and not the present render.

An older release has no value for many fields, and makes none of many objects. So what is missing fits some release by chance: it is
explained by a release only if another live object of the same graph fits this release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from krm_fn.kubernetes import paths
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels
from krm_fn.render.manifests import ownership
from krm_fn.render.schema.object_changes import FieldChange, ObjectChange

Rendered = Mapping[ObjectKey, Resource]


class ReleaseEvidence:
    """The renders of a namespace, and what in the cluster fits the render of another release.

    `changes` are the differences between live objects and `rendered`, the present render. `live` are the keys of live objects with
    their graphs, as `kind/name`. `other_releases` renders the same resources as other releases; it is called only if
    a release is asked for.
    """

    def __init__(
        self,
        changes: Sequence[ObjectChange],
        rendered: Rendered,
        live: Mapping[ObjectKey, str],
        other_releases: Callable[[], Mapping[str, Rendered]],
    ) -> None:
        self._changes, self._rendered, self._live, self._other_releases = changes, rendered, live, other_releases

    def of_field(self, key: ObjectKey, field: FieldChange) -> str:
        """Returns the release whose render has the live value of a field; empty for none. A missing field needs further evidence."""
        for release, objects in self._other_releases().items():
            if key in objects and _fits(objects[key], field) and (field.old is not None or self._others(release, key, self._live.get(key))):
                return release
        return ""

    def of_live_object(self, key: ObjectKey) -> str:
        """Returns the release that makes a live object which the present render does not make; empty for none."""
        for release, objects in self._other_releases().items():
            if key in objects and self._others(release, key, self._live.get(key)):
                return release
        return ""

    def of_missing_object(self, key: ObjectKey) -> str:
        """Returns the release that does not make an object, which the cluster lacks; empty for none.

        If the release makes another object of the same kind for the same service, that one must be live.
        """
        resource = self._rendered.get(key, {})
        graph = next(iter(ownership.owners(resource)), "") if resource else ""
        for release, objects in self._other_releases().items():
            if key in objects:
                continue
            counterparts = {
                other for other, made in objects.items() if other not in self._rendered and _same_role(other, made, key, resource)
            }
            if not counterparts.isdisjoint(self._live) if counterparts else self._others(release, key, graph):
                return release
        return ""

    def _others(self, release: str, key: ObjectKey, graph: str | None) -> bool:
        """True if a live object of the same graph, other than the one with this key, fits a release."""
        return any(other != key and self._live.get(other) == graph for other in self._fitting[release])

    @cached_property
    def _fitting(self) -> dict[str, set[ObjectKey]]:
        """The live objects that fit each release and not the present render: by their names, or by a field."""
        fitting: dict[str, set[ObjectKey]] = {}
        for release, objects in self._other_releases().items():
            by_name = {key for key in objects if key in self._live and key not in self._rendered}
            by_field = {
                change.key
                for change in self._changes
                if change.old is not None and change.key in objects and any(_fits(objects[change.key], field) for field in change.fields)
            }
            fitting[release] = by_name | by_field
        return fitting


def _fits(resource: Resource, field: FieldChange) -> bool:
    """True if the render of a release has the live value of a field that differs, or lacks it as the live object does."""
    return bool(paths.at(resource, field.path) == field.old)


def _same_role(key: ObjectKey, resource: Resource, other_key: ObjectKey, other: Resource) -> bool:
    """True for two objects of one kind and of one service."""
    own, others = (labels.of(entry).get(labels.COMPONENT) for entry in (resource, other))
    return key[:3] == other_key[:3] and own == others and [*ownership.owners(resource)] == [*ownership.owners(other)]
