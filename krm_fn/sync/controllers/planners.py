"""The numbers of scaling adapters in graphs with a planner, which reads them there."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from krm_fn.status import scaling
from krm_fn.status.subject import ADAPTER
from krm_fn.sync.client import JSON_PATCH, MERGE_PATCH
from krm_fn.sync.controllers import GRAPHS, Controller

if TYPE_CHECKING:
    from krm_fn.kube.identity import ObjectKey
    from krm_fn.status.features import Features
    from krm_fn.status.subject import Subject
    from krm_fn.sync.controllers import World
    from krm_fn.sync.store import Entry

AGAIN = 30.0
"""Seconds until numbers that another program takes back are written again. A GitOps tool without the right setting may do that at once."""


class Planners(Controller):
    """Writes the number of each adapter into its graph, if the graph has a planner."""

    kind = GRAPHS

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._written: dict[ObjectKey, tuple[dict[str, int], float]] = {}
        """The last numbers of each graph, and when they were written."""

    @classmethod
    def enabled(cls, features: Features) -> bool:
        """A feature of its own."""
        return features.graph_replicas

    async def reconcile(self, key: ObjectKey) -> float | None:
        """Writes the numbers into one graph."""
        entry = self.world.cache.entry(key)
        if entry is None:
            self._written.pop(key, None)
            return None
        adapters = scaling.chosen(each for each in self.world.cache.members(key) if each.key.kind == ADAPTER)
        numbers = scaling.told(entry.value, adapters)
        if not numbers:
            return None
        last, when = self._written.get(key, ({}, 0.0))
        if last == numbers and (early := when + AGAIN - monotonic()) > 0:
            return early
        body, content_type = _patch(entry, numbers)
        outcome = await self.world.writer.patch(self.kind, key, body, content_type=content_type)
        if outcome.resource is not None:
            self._written[key] = numbers, monotonic()
            self.world.learned(self.kind, outcome.resource, self)
        return outcome.pause


def _patch(entry: Entry[Subject], numbers: dict[str, int]) -> tuple[dict[str, Any] | list[dict[str, Any]], str]:
    """The patch with the numbers of services, and its content type. The server refuses it if the graph has changed.

    A merge patch cannot change one component of a list. A JSON patch can, by its index.
    """
    if entry.value.form.lists:
        paths = {"/".join(map(str, ("/spec", *each.path, "replicas"))): each.name for each in entry.value.planned}
        version = {"op": "replace", "path": "/metadata/resourceVersion", "value": entry.resource_version}
        orders = ({"op": "add", "path": path, "value": numbers[name]} for path, name in paths.items() if name in numbers)
        return [version, *orders], JSON_PATCH
    services = {name: {"replicas": replicas} for name, replicas in numbers.items()}
    metadata = {"resourceVersion": entry.resource_version, "uid": entry.uid}
    return {"metadata": metadata, "spec": {entry.value.form.parts: services}}, MERGE_PATCH


CONTROLLER = Planners
