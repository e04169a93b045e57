"""Loads LoRA adapters into workers, and unloads them, in tasks of its own: no worker delays a status.

The controller of models says what each worker must have; `dispatch` sends the requests. An adapter is loaded once into each place, and
again after a restart of the pod's containers or of this process. The reference sends all requests again with each look at a model.
"""

from __future__ import annotations

from math import inf
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakValueDictionary

from krm_fn.sync.loras.records import Pod, Record, Spot

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from krm_fn.kube.identity import ObjectKey
    from krm_fn.status.endpoints import Place
    from krm_fn.status.models import Load
    from krm_fn.sync.loras.api import Adapter
    from krm_fn.sync.loras.dispatch import Dispatcher


class Removal(NamedTuple):
    """How far the unloading of a deleted model is. It is over if nothing is left to try; `failed` places may then still have an adapter."""

    over: bool
    unloaded: int
    failed: int


class Loras:
    """Keeps the workers of all models as the controller wants them."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._records = dispatcher.records
        self._limits = dispatcher.limits
        self._pods: WeakValueDictionary[Place, Pod] = WeakValueDictionary()

    async def run(self) -> None:
        """Sends requests until the task is cancelled. Requests under way are then given up."""
        await self._dispatcher.run()

    def want(
        self,
        model: ObjectKey,
        adapter: Adapter,
        places: Mapping[Place, bool],
        kept: Collection[str],
        known: Mapping[Place, bool],
    ) -> None:
        """Says where the adapter of a model must be. `places` tells whether the pod is ready, `kept` are the names that other models use.

        `known` counts for a model that the loader sees for the first time: the places that the stored status names, and whether they have
        the adapter. Where they do not, they may have one of the same name from another source.
        """
        record = self._records.get(model)
        if record is None:
            record = self._records[model] = Record()
        else:
            known = {}
        if record.wanted != adapter:
            record.wanted = adapter
            for spot in record.spots.values():
                spot.renew()
                spot.trusted = False
        record.held, record.gone, record.until, record.kept = False, False, inf, frozenset(kept)
        self._place(record, places)
        for place in known.keys() & places.keys():
            spot = record.spots[place]
            spot.trusted = known[place]
            spot.maybe = {adapter.name: adapter.uri if known[place] else ""}
        self._look(record)

    def remove(self, model: ObjectKey, adapter: Adapter | None, places: Mapping[Place, bool], kept: Collection[str]) -> Removal:
        """Unloads what a deleted model may have loaded. `adapter` is what it may have in all places if the loader does not know it yet."""
        record = self._records.get(model)
        if record is None:
            record = self._records[model] = Record()
            self._place(record, places)
            for spot in record.spots.values():
                spot.maybe = {adapter.name: adapter.uri} if adapter else {}
        self._place(record, places)
        record.kept = frozenset(kept)
        if record.until == inf:
            self._retire(record)
        over = monotonic() >= record.until
        record.held = over
        self._look(record)
        return Removal(over or not record.todo, record.unloaded, len(record.todo))

    def gone(self, model: ObjectKey) -> None:
        """Unloads what a model loaded that does not exist any more, and forgets it."""
        record = self._records.get(model)
        if record is not None and not record.gone:
            record.gone = True
            self._retire(record)
            self._look(record)

    def hold(self, model: ObjectKey) -> None:
        """Sends nothing for a model until `want` is called again."""
        if model in self._records:
            self._records[model].held = True

    def forget(self, model: ObjectKey) -> None:
        """Forgets a model, and gives up its requests."""
        if model in self._records:
            self._records.pop(model).clear()

    def loads(self, model: ObjectKey) -> dict[Place, Load]:
        """What is known about the adapter of a model in each place."""
        record = self._records.get(model)
        return {place: spot.known(record.wanted) for place, spot in record.spots.items()} if record else {}

    def _place(self, record: Record, places: Mapping[Place, bool]) -> None:
        """Makes these the places of a model. A pod that becomes ready is asked at once, also after failures."""
        for place in [each for each in record.spots if each not in places]:
            record.drop(place)
        for place, ready in places.items():
            spot = record.spots.get(place)
            if spot is None:
                spot = record.spots[place] = Spot(self._pods.setdefault(place, Pod()))
            elif ready and not spot.ready:
                spot.pod.answers()
                spot.due = 0.0
            spot.ready = ready

    def _retire(self, record: Record) -> None:
        """Starts to unload a model: everywhere at once, whatever failed before."""
        record.wanted, record.until, record.unloaded, record.held = None, monotonic() + self._limits.removal, 0, False
        for spot in record.spots.values():
            spot.renew()
            spot.pod.answers()

    def _look(self, record: Record) -> None:
        for place in record.spots:
            record.look(place)
        self._dispatcher.wake()
