"""Restarts in order: the id of the restart goes into the pod templates of one service after the other."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from krm_fn.kube import labels
from krm_fn.status import observe, restart, stamps
from krm_fn.sync import logs
from krm_fn.sync.client import JSON_PATCH, MERGE_PATCH
from krm_fn.sync.controllers import GRAPHS, Controller, workload_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krm_fn.kube.identity import ObjectKey
    from krm_fn.results import Path
    from krm_fn.status.features import Features
    from krm_fn.status.stamps import Stamp
    from krm_fn.status.subject import Subject
    from krm_fn.sync.controllers import World
    from krm_fn.sync.store import Entry
    from krm_fn.sync.writer import Outcome


class Restarts(Controller):
    """Stamps the templates that are due. The status of the graph says which service is next, so this controller needs no order.

    A program that applies whole objects may remove a stamp. Another stamp would replace the pods again, and again, so a template is stamped
    once for each restart and generation of the graph.
    """

    kind = GRAPHS

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._stamped: dict[ObjectKey, tuple[tuple[str, int], set[tuple[str, Path]]]] = {}
        """For each graph its restart and generation, and the templates that were stamped for it, by uid and path."""
        self._once = logs.Once()

    @classmethod
    def enabled(cls, features: Features) -> bool:
        """A feature of its own."""
        return features.restarts

    async def reconcile(self, key: ObjectKey) -> float | None:
        """Stamps the templates of one graph that are due."""
        entry = self.world.cache.entry(key)
        if entry is None:
            self._stamped.pop(key, None)
            return None
        found: Subject = entry.value
        children, pause = self.world.cache.children, None
        due = stamps.due(found, children, restart.progress(found, children))
        for owner, group in groupby(sorted(due, key=lambda each: each.key), key=lambda each: each.key):
            outcome = await self._stamp(key, entry, owner, list(group))
            pause = (outcome.pause if outcome else None) or pause
        return pause

    async def _stamp(self, key: ObjectKey, entry: Entry[Subject], owner: ObjectKey, due: Sequence[Stamp]) -> Outcome | None:
        """Stamps templates of one object."""
        live = self.world.cache.entry(owner)
        if live is None:
            return None
        done = self._done(key, (due[0].id, entry.value.generation))
        places = {(live.uid, each.template.path) for each in due}
        named = f"{owner.kind} {owner.name}"
        if places <= done:
            self._warn(entry, "RestartUndone", f"Another program removed restart {due[0].id} from {named}")
            return None
        kind = workload_kind(observe.get(owner.kind))
        body, content_type = patch(due, live)
        outcome = await self.world.writer.patch(kind, owner, body, content_type=content_type)
        if outcome.resource is not None:
            done |= places
            self.report(entry, "Restarted", f"Restart {due[0].id} replaces the pods of {named}")
            self.world.learned(kind, outcome.resource, self)
        elif outcome.message:
            self._warn(entry, "UpdateFailed", f"Failed to restart {named}: {outcome.message}")
        return outcome

    def _done(self, key: ObjectKey, which: tuple[str, int]) -> set[tuple[str, Path]]:
        """The templates of a graph that were stamped for a restart."""
        if self._stamped.get(key, (None,))[0] != which:
            self._stamped[key] = which, set()
        return self._stamped[key][1]

    def _warn(self, about: Entry[Subject], reason: str, message: str) -> None:
        """Reports a lasting problem once."""
        if self._once.first((about.value.key, message)):
            self.report(about, reason, message, warning=True)


def patch(due: Sequence[Stamp], live: Entry[Any]) -> tuple[dict[str, Any] | list[dict[str, Any]], str]:
    """The patch that stamps templates of one object, and its content type.

    A merge patch cannot change one element of a list. A JSON patch can, by its index, so the server must refuse it if the object changed.
    """
    if any(isinstance(step, int) for each in due for step in each.template.path):
        version = {"op": "replace", "path": "/metadata/resourceVersion", "value": live.resource_version}
        return [version, *map(_operation, due)], JSON_PATCH
    body: dict[str, Any] = {"metadata": {"uid": live.uid}}
    for each in due:
        place = body
        for step in each.template.path:
            place = place.setdefault(str(step), {})
        place["annotations"] = {labels.RESTART_AT: each.id}
    return body, MERGE_PATCH


def _operation(stamp: Stamp) -> dict[str, Any]:
    path = "".join(f"/{step}" for step in (*stamp.template.path, "annotations"))
    if not stamp.template.annotated:
        return {"op": "add", "path": path, "value": {labels.RESTART_AT: stamp.id}}
    return {"op": "add", "path": f"{path}/{labels.RESTART_AT.replace('/', '~1')}", "value": stamp.id}


CONTROLLER = Restarts
