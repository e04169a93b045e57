"""What the loader of adapters knows: for each model the places of its base model, and what the worker in each place has."""

from __future__ import annotations

from math import inf
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from krm_fn.status.models import Load
from krm_fn.sync.loras.api import Adapter

if TYPE_CHECKING:
    import asyncio

    from krm_fn.status.endpoints import Place
    from krm_fn.sync.loras.api import Failure
    from krm_fn.sync.loras.limits import Limits

LASTING = 3
"""From this number of refusals in a row on, waiting does not help."""


class Pod:
    """What all models share about one place: one request at a time, and a pause after requests without an answer."""

    __slots__ = ("__weakref__", "busy", "failures", "problem", "until")

    def __init__(self) -> None:
        self.busy = False
        self.failures = 0
        self.until = 0.0
        self.problem = ""

    def answers(self) -> None:
        """Notes that the worker answers, or that it may do so now."""
        self.failures, self.until, self.problem = 0, 0.0, ""


class Step(NamedTuple):
    """The next request: `load` or `unload`."""

    action: str
    adapter: Adapter


class Spot:
    """One model in one place.

    `has` is the adapter that the worker confirmed. `maybe` has all adapters that it may have, their URIs by name: a request without an
    answer may have loaded one. `trusted` is true after a restart of this process while only the stored status says that it has the adapter.
    """

    __slots__ = ("due", "failures", "has", "maybe", "pod", "problem", "ready", "refusals", "task", "tried", "trusted")

    def __init__(self, pod: Pod) -> None:
        self.pod = pod
        self.has: Adapter | None = None
        self.maybe: dict[str, str] = {}
        self.trusted = False
        self.ready = False
        self.task: asyncio.Task[str] | None = None
        self.renew()

    def renew(self) -> None:
        """Forgets earlier answers, because something else is wanted now."""
        self.tried, self.problem, self.failures, self.refusals, self.due = False, "", 0, 0, 0.0

    def step(self, wanted: Adapter | None, kept: frozenset[str]) -> Step | None:
        """The next request; None if the place is as it should be. `kept` are the names that other models use.

        A worker that has an adapter does not load another one of the same name, so the old one is unloaded first.
        """
        if wanted and self.maybe.get(wanted.name, wanted.uri) != wanted.uri:
            return Step("unload", Adapter(wanted.name, self.maybe[wanted.name]))
        if wanted and self.has != wanted:
            return Step("load", wanted)
        for name, uri in self.maybe.items():
            if name not in kept and not (wanted and wanted.name == name):
                return Step("unload", Adapter(name, uri))
        return None

    def known(self, wanted: Adapter | None) -> Load:
        """What is known about the adapter that is wanted."""
        if not self.tried and self.pod.until > monotonic():
            return Load(tried=True, problem=self.pod.problem)
        loaded = self.trusted or (wanted is not None and self.has == wanted)
        return Load(loaded, self.tried, self.problem, self.refusals >= LASTING)

    def begin(self, step: Step) -> None:
        """Notes a request before it is sent. If no answer comes, the worker may have done it or not."""
        if step.action == "load":
            self.maybe[step.adapter.name] = step.adapter.uri
        elif self.has and self.has.name == step.adapter.name:
            self.has = None

    def succeeded(self, step: Step) -> None:
        """Notes the success of a request."""
        self.renew()
        self.tried, self.trusted = True, False
        self.pod.answers()
        if step.action == "load":
            self.has = step.adapter
        else:
            self.maybe.pop(step.adapter.name, None)

    def failed(self, failure: Failure, limits: Limits) -> None:
        """Notes a failure. A worker that refuses is asked again by this model later; one that does not answer, by no model before that."""
        self.tried, self.trusted, self.problem = True, False, str(failure)
        self.failures += 1
        if failure.answered:
            self.refusals += 1
            self.pod.answers()
            self.due = monotonic() + limits.delay(self.failures)
        else:
            self.refusals = 0
            self.pod.failures += 1
            self.pod.problem = self.problem
            self.due = self.pod.until = monotonic() + limits.delay(self.pod.failures)


class Record:
    """One model. `wanted` is None once it is deleted, and `until` the time at which unloading then ends.

    `todo` are the places that are not as they should be. `began` is the time of the first request of the present batch. `silent` is true
    if the last request had no answer.
    """

    __slots__ = ("began", "gone", "held", "kept", "running", "silent", "spots", "todo", "unloaded", "until", "wanted", "won")

    def __init__(self) -> None:
        self.wanted: Adapter | None = None
        self.kept: frozenset[str] = frozenset()
        self.spots: dict[Place, Spot] = {}
        self.todo: dict[Place, None] = {}
        self.held = False
        self.gone = False
        self.until = inf
        self.unloaded = 0
        self.running = 0
        self.began = 0.0
        self.won = False
        self.silent = False

    def look(self, place: Place) -> None:
        """Updates `todo` for one place."""
        if self.spots[place].step(self.wanted, self.kept):
            self.todo.setdefault(place)
        else:
            self.todo.pop(place, None)

    def drop(self, place: Place) -> None:
        """Forgets a place. A request that is under way there is given up: another pod may have its address by now."""
        spot = self.spots.pop(place)
        self.todo.pop(place, None)
        if spot.task:
            spot.task.cancel()

    def room(self, now: float, limits: Limits) -> bool:
        """True if one more request of this model may begin now."""
        late = self.running and self._late(now, limits)
        return not self.held and not late and self.running < limits.requests_of_model

    def begin(self, now: float) -> None:
        """Notes that a request begins."""
        if not self.running:
            self.began, self.won = now, False
        self.running += 1

    def succeeded(self, spot: Spot, step: Step) -> None:
        """Notes the success of a request."""
        spot.succeeded(step)
        self.won, self.silent = True, False
        self.unloaded += step.action == "unload"

    def failed(self, spot: Spot, failure: Failure, limits: Limits) -> None:
        """Notes the failure of a request."""
        spot.failed(failure, limits)
        self.silent = not failure.answered

    def end(self, now: float, limits: Limits) -> None:
        """Notes the end of a request. If a whole batch brought nothing, the status must not wait for the places that come later."""
        self.running -= 1
        if not self.running and not self.won and self._late(now, limits):
            for spot in map(self.spots.__getitem__, self.todo):
                if not spot.tried:
                    spot.tried, spot.problem = True, "not asked yet, because other pods of the base model do not answer"

    def clear(self) -> None:
        """Gives up all requests."""
        for place in list(self.spots):
            self.drop(place)

    def _late(self, now: float, limits: Limits) -> bool:
        """True if a request that begins now could end after the batch."""
        return now - self.began > limits.batch - limits.request
