"""Models: their status, and the LoRA adapters that must be loaded into the pods of their base model."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from krm_fn.kube import labels
from krm_fn.schema import adapters
from krm_fn.status import endpoints, fields, model, models
from krm_fn.status.models import Known, events, serving
from krm_fn.sync import times
from krm_fn.sync.controllers import COMPONENTS, GRAPHS, Controller, Follow, dynamo, dynamo_kind, workloads
from krm_fn.sync.kinds import Kind
from krm_fn.sync.loras.api import Adapter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_fn.kube.identity import ObjectKey
    from krm_fn.status.features import Features
    from krm_fn.status.models import Model
    from krm_fn.sync.controllers import World
    from krm_fn.sync.loras import Loras
    from krm_fn.sync.store import Entry
    from krm_fn.sync.writer import Outcome

MODELS = dynamo_kind(models.KIND)
SLICES = Kind(endpoints.GROUP, "v1", "endpointslices", endpoints.KIND, labels.BASE_MODEL_HASH)
FINALIZER = "nvidia.com/finalizer"
"""The reference's finalizer: the adapter of a deleted model is unloaded before the model is gone."""
GRACE = 5.0
"""Seconds after which an endpoint without its pod counts as wrong: an EndpointSlice may come before the pod."""


class Models(Controller):
    """Keeps the status of models. With the feature `loras` it also says where each adapter must be loaded; `Loras` does it."""

    kind = MODELS
    counted = True

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._unplaced: dict[ObjectKey, float] = {}
        """The models with an endpoint without its pod, and the monotonic time since when."""

    @classmethod
    def enabled(cls, features: Features) -> bool:
        """A feature of its own."""
        return features.models

    @classmethod
    def follows(cls, features: Features) -> Iterable[Follow]:
        """Models, EndpointSlices, the graphs and components that serve base models, and pods."""
        own = (Follow(MODELS, models.read), Follow(SLICES, endpoints.read))
        return (*own, dynamo(GRAPHS), dynamo(COMPONENTS), *workloads(features))

    def state(self, value: Model) -> str:
        """`ready` or `not_ready`, by the reference's condition."""
        return "ready" if fields.condition(value.status, models.SERVES).get("status") == "True" else "not_ready"

    async def reconcile(self, key: ObjectKey) -> float | None:
        """Says where the adapter of one model must be loaded, and writes the status of the model."""
        entry, loras = self.world.cache.entry(key), self.world.loras
        if entry is None:
            self._unplaced.pop(key, None)
            if loras:
                loras.gone(key)
            return None
        if entry.value.deleted:
            return await self._release(entry, loras) if loras else None
        refused = await self._hold(entry) if loras else None
        entry = self.world.cache.entry(key)
        if entry is None or entry.value.deleted:
            return 0
        own: Model = entry.value
        known = self._load(own, loras) if loras else Known()
        cache = self.world.cache
        desired = model.status(own, cache.base_models, cache.children, times.now(), self.world.features, known)
        outcome = await self.publish(key, entry, desired)
        if outcome is not None and outcome.result == "written":
            for each in events.events(own, desired):
                self.report(entry, each.reason, each.note, warning=each.warning)
        return (outcome.pause if outcome else None) or refused or (None if known.settled else GRACE)

    async def _hold(self, entry: Entry[Model]) -> float | None:
        """Adds the finalizer to an adapter. Returns the pause if the server refuses it; the adapter is loaded all the same."""
        own = entry.value
        if FINALIZER in own.finalizers or not serving.loadable(own, self.world.cache.base_models):
            return None
        return (await self._finalizers(entry, [*own.finalizers, FINALIZER])).pause

    def _load(self, own: Model, loras: Loras) -> Known:
        """Says where the adapter must be. Returns what is known about it there."""
        if not serving.loadable(own, self.world.cache.base_models):
            loras.hold(own.key)
            return Known()
        every = self._listed(own)
        listed = {each.place: each for each in every if each.place}
        places = {place: each.ready for place, each in listed.items()}
        stored = models.stored(own)
        known = {place: stored[each.url, each.pod] for place, each in listed.items() if (each.url, each.pod) in stored}
        loras.want(own.key, Adapter(own.name, own.uri or ""), places, self._others(own), known)
        return Known(loras.loads(own.key), self._settled(own.key, complete=len(listed) == len(every)))

    def _settled(self, key: ObjectKey, *, complete: bool) -> bool:
        """True if each endpoint has its pod, or if one had none for long enough."""
        if complete:
            self._unplaced.pop(key, None)
            return True
        return monotonic() - self._unplaced.setdefault(key, monotonic()) >= GRACE

    async def _release(self, entry: Entry[Model], loras: Loras) -> float | None:
        """Unloads the adapter of a deleted model, and then removes the finalizer. Other finalizers stay.

        The spec may be invalid by now, but something may have been loaded before.
        """
        own = entry.value
        if FINALIZER not in own.finalizers:
            loras.gone(own.key)
            return None
        removal = None
        if own.lora:
            usable = own.name and not adapters.wrong_name(own.name)
            places = {each.place: each.ready for each in self._listed(own) if each.place}
            if self.world.cache.base_models.alike(own)[0]:  # these pods may be those of the other base model
                places = {place: ready for place, ready in places.items() if place in loras.loads(own.key)}
            removal = loras.remove(own.key, Adapter(own.name, own.uri or "") if usable else None, places, self._others(own))
            if not removal.over:
                return None
        outcome = await self._finalizers(entry, [each for each in own.finalizers if each != FINALIZER])
        if outcome.result in {"written", "gone"}:
            loras.forget(own.key)
            if removal and removal.failed:
                note = f"Failed to unload LoRA from some endpoints: {removal.failed} task(s) failed"
                self.report(entry, "LoRAUnloadFailed", note, warning=True)
            elif removal and removal.unloaded:
                self.report(entry, "LoRAUnloaded", f"Unloaded LoRA from {removal.unloaded} endpoint(s)")
        return outcome.pause

    async def _finalizers(self, entry: Entry[Model], finalizers: list[str]) -> Outcome:
        """Writes the finalizers of a model. Raises Retry."""
        metadata = {"resourceVersion": entry.resource_version, "uid": entry.uid, "finalizers": finalizers}
        outcome = await self.world.writer.patch(self.kind, entry.value.key, {"metadata": metadata})
        if outcome.resource is not None:
            self.world.learned(self.kind, outcome.resource, self)
        return outcome

    def _listed(self, own: Model) -> list[endpoints.Endpoint]:
        return endpoints.listed(self.world.cache.base_models.slices(own), self.world.cache.children)

    def _others(self, own: Model) -> set[str]:
        """The names of other adapters for the same base model. What has such a name is not unloaded."""
        return {each.name for each in self.world.cache.base_models.rivals(own)}


CONTROLLER = Models
