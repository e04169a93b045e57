"""Records pods and LeaderWorkerSets at each event, and finds the moments at which a generation of workers has only one role."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.testbed import background, server, watch_client

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

Object = dict[str, Any]

PODS, SETS = "/api/v1/pods", "/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets"
ROLES = ("Prefill", "Decode")
_GENERATION, _COMPONENT = "nvidia.com/dynamo-worker-hash", "nvidia.com/dynamo-component"
_MEMBER = "leaderworkerset.sigs.k8s.io/worker-index"


class Event(NamedTuple):
    """An event of a watch, with the time at which it came, in seconds."""

    at: float
    type: str
    object: Object


class Moment(NamedTuple):
    """The time from one event to the next: how long it is, in seconds, and the replicas of each generation by role."""

    seconds: float
    generations: dict[str, dict[str, int]]

    def alone(self) -> list[str]:
        """The generations of which one role has replicas and the other has none."""
        return [name for name, roles in self.generations.items() if len({bool(roles.get(role)) for role in ROLES}) > 1]

    def is_served(self) -> bool:
        """True if a generation has replicas of both roles."""
        return any(all(roles.get(role) for role in ROLES) for roles in self.generations.values())

    def total(self, role: str) -> int:
        """The replicas of a role, of all generations."""
        return sum(roles.get(role, 0) for roles in self.generations.values())


class Recorder:
    """The events of all pods and of all LeaderWorkerSets of a server, after one for each object that exists."""

    def __init__(self) -> None:
        self._events: dict[str, list[Event]] = {PODS: [], SETS: []}
        self._current: set[str] = set()

    def moments(self, path: str, namespace: str, start: float) -> list[Moment]:
        """The moments of one namespace from a time on. A pod counts while it is ready and not being deleted."""
        return list(_moments((event for event in self._events[path] if event.object["metadata"]["namespace"] == namespace), start))

    def is_current(self) -> bool:
        """True if the objects that existed at the beginning are all recorded."""
        return self._current == {*self._events}

    async def work(self, kubeconfig: Path) -> None:
        """Records until the task is cancelled."""
        async with watch_client.open_session(kubeconfig) as session:
            await asyncio.gather(*(self._follow(session, path) for path in self._events))

    async def _follow(self, session: watch_client.Session, path: str) -> None:
        async for kind, resource in session.changes(path):
            if kind == "BOOKMARK":
                self._current.add(path)
            else:
                self._events[path].append(Event(time.monotonic(), kind, resource))
        raise RuntimeError(f"the watch of {path} ended")


@contextlib.contextmanager
def recording(kubeconfig: Path) -> Iterator[Recorder]:
    """Records while the context runs."""
    recorder = Recorder()
    with background.running(recorder.work(kubeconfig), "recorder"):
        server.eventually(recorder.is_current)
        yield recorder


def alone_in_two_states(moments: Iterable[Moment]) -> list[str]:
    """The generations that have one role alone in two states that follow each other. Moments with equal replicas are one state."""
    states = [next(equal) for _, equal in itertools.groupby(moments, lambda moment: moment.generations)]
    return [name for one, other in itertools.pairwise(states) for name in {*one.alone()}.intersection(other.alone())]


def summary(runs: Sequence[Sequence[Moment]]) -> str:
    """A line about the moments of some changes: how many leave a generation alone, or no generation with both roles, and for how long."""
    newest = [_newest(run[-1]) for run in runs]
    counted = {
        "an old generation alone": [[bool({*moment.alone()} - {new}) for moment in run] for run, new in zip(runs, newest, strict=True)],
        "the new one alone": [[new in moment.alone() for moment in run] for run, new in zip(runs, newest, strict=True)],
        "none with both roles": [[not moment.is_served() for moment in run] for run in runs],
    }
    parts = []
    for words, flags in counted.items():
        spans = [span for run, marks in zip(runs, flags, strict=True) for span in _spans(run, marks)]
        count = sum(map(sum, flags))
        parts.append(f"{words} in {count} moments, {max(spans, default=0):.1f} s at most, {sum(spans) / len(runs):.1f} s per change")
    return f"{len(runs)} changes, {sum(map(len, runs))} moments; {'; '.join(parts)}"


def _newest(moment: Moment) -> str:
    """The generation that has replicas at the end."""
    (name,) = (name for name, roles in moment.generations.items() if any(roles.values()))
    return name


def _spans(run: Sequence[Moment], marks: Sequence[bool]) -> Iterator[float]:
    """Yields the seconds of each series of marked moments."""
    for marked, pairs in itertools.groupby(zip(run, marks, strict=True), lambda pair: pair[1]):
        if marked:
            yield sum(moment.seconds for moment, _ in pairs)


def _moments(events: Iterable[Event], start: float) -> Iterator[Moment]:
    """Yields the state after each event of a namespace."""
    replicas: dict[str, tuple[str, str, int]] = {}
    for event, following in itertools.pairwise([*events, Event(time.monotonic(), "", {})]):
        metadata = event.object["metadata"]
        marks = metadata.get("labels") or {}
        count = 0 if event.type == "DELETED" else _replicas(event.object)
        if marks.get(_COMPONENT) in ROLES:
            replicas[metadata["uid"]] = (marks[_GENERATION], marks[_COMPONENT], count)
        if event.at >= start:
            yield Moment(following.at - event.at, _by_generation(replicas.values()))


def _replicas(resource: Object) -> int:
    """The replicas that a LeaderWorkerSet shall have, or 1 for a pod that serves: one of several in a group does not."""
    if "replicas" in resource["spec"]:
        return int(resource["spec"]["replicas"])
    ready = any(condition["type"] == "Ready" and condition["status"] == "True" for condition in resource["status"].get("conditions", ()))
    leads = resource["metadata"]["labels"].get(_MEMBER, "0") == "0"
    return int(ready and leads and not resource["metadata"].get("deletionTimestamp"))


def _by_generation(replicas: Iterable[tuple[str, str, int]]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for generation, role, count in replicas:
        found[generation][role] += count
    return {generation: dict(roles) for generation, roles in found.items()}
