"""Requests: their status, and the deployment of their graphs."""

from __future__ import annotations

import logging
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from krm_fn.kube import labels, names
from krm_fn.kube.identity import ObjectKey
from krm_fn.status import fields, job, request, requests
from krm_fn.status.requests import Seen, deployment, transitions
from krm_fn.status.subject import Subject
from krm_fn.sync import logs, times
from krm_fn.sync.controllers import GRAPHS, REQUESTS, UNMANAGED, Controller, Follow, dynamo
from krm_fn.sync.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krm_fn.status.features import Features
    from krm_fn.status.job import Job
    from krm_fn.status.requests import Request
    from krm_fn.sync.controllers import Change, World
    from krm_fn.sync.store import Entry

JOBS = Kind(job.GROUP, "v1", "jobs", job.KIND, labels.REQUEST)
OUTPUTS = Kind("", "v1", "configmaps", "ConfigMap", f"{labels.REQUEST_NAME},!{labels.REQUEST_NAMESPACE}")
"""The second label is on ConfigMaps that belong to a deployed graph."""
PODS = Kind("", "v1", "pods", "Pod", f"{labels.REQUEST},!{labels.GRAPH},!{labels.BASE_MODEL_HASH}")
"""Pods of profiling Jobs. Pods of graphs and of base models have another projection."""
_UNKNOWN = "unknown"
_AGAIN = 60.0
"""Seconds until a Job without the label of requests is looked for again: the syncer does not watch it."""
_GRAPH_ARRIVES = 30.0
"""Seconds in which the watch must bring a graph that was created. Until then it counts as existing."""

OUTPUT_ARRIVES = 10.0
"""Seconds in which the watch must bring the output of a complete Job. The copier writes it before the Job ends."""

_LOG = logging.getLogger(__name__)


class _Look(NamedTuple):
    """What the status of a request depends on, and the seconds until it must be looked at again; None if only a change requires it."""

    seen: Seen
    pause: float | None = None


class Requests(Controller):
    """Keeps the status of requests with the annotation `profile-hash`. Other requests are left to whoever manages them."""

    kind = REQUESTS
    counted = True

    def __init__(self, world: World) -> None:
        from krm_fn.sync.requests.deployer import Deployer  # noqa: PLC0415 - the core needs neither the expansion nor the output
        from krm_fn.sync.requests.outputs import Outputs  # noqa: PLC0415 - as above

        super().__init__(world)
        self._outputs = Outputs()
        self._deployer = Deployer(world.writer, world.config, world.outside, lambda: world.served(GRAPHS))
        self._targets: dict[ObjectKey, ObjectKey] = {}
        """The graph of each request."""
        self._made: dict[ObjectKey, tuple[Subject, float]] = {}
        """Graphs that were created and that the watch has not brought yet, with the time of their creation."""
        self._awaited: dict[ObjectKey, float] = {}
        """Requests whose Job is complete and whose output is missing, with the time until which it may arrive."""
        self._once = logs.Once()

    @classmethod
    def enabled(cls, features: Features) -> bool:
        """A feature of its own."""
        return features.requests

    @classmethod
    def follows(cls, features: Features) -> Iterable[Follow]:
        """Requests, and the objects by which they are judged."""
        from krm_fn.profiling import output  # noqa: PLC0415 - the core does not need it

        found = [Follow(REQUESTS, requests.read), Follow(JOBS, job.read), Follow(OUTPUTS, output.published), dynamo(GRAPHS)]
        return [*found, Follow(PODS, job.pod)] if features.pods else found

    def keys(self, change: Change) -> Iterator[ObjectKey]:
        """The request itself, or the request of a Job, a pod, an output or a graph."""
        key = change.key
        if (key.group, key.kind) == (REQUESTS.group, REQUESTS.kind):
            yield key
        elif (key.group, key.kind) == (JOBS.group, JOBS.kind):
            yield from _named(key, names.profiling_job(""))
        elif (key.group, key.kind) == (OUTPUTS.group, OUTPUTS.kind):
            yield from _named(key, names.profiling_output(""))
        elif isinstance(pod := change.after or change.before, job.Pod):
            yield from _named(key._replace(name=pod.job), names.profiling_job(""))
        elif (key.group, key.kind) == (GRAPHS.group, GRAPHS.kind):
            self._made.pop(key, None)
            yield from (each for each, graph in self._targets.items() if graph == key)

    def expendable(self, value: Request) -> tuple[str, ...]:
        """The generated graph."""
        return value.form.result[:1]

    def state(self, value: Request) -> str:
        """The state in the status, `unknown` before the first, and `unmanaged` for a request that no render wrote."""
        return (value.state or _UNKNOWN) if value.managed else UNMANAGED

    async def reconcile(self, key: ObjectKey) -> float | None:
        """Deploys the graph of one request if it is due, and writes the status."""
        entry = self.world.cache.entry(key)
        if entry is None or entry.value.deleted or not entry.value.managed:
            self._leave(key, entry)
            return None
        found = await self._look(entry.value)
        if (wait := self._wait(entry.value, found.seen)) > 0:
            return wait
        desired = request.status(entry.value, found.seen, times.now(), self.world.features)
        if _due(desired):
            told = entry.value._replace(status=desired).generated
            if told != entry.value.generated:  # the graph is created only if the status can tell it
                pause = await self._publish(entry, desired)
                entry = self.world.cache.entry(key)
                if pause is not None or entry is None:
                    return pause
            found = await self._deploy(entry, found.seen)
            desired = request.status(entry.value, found.seen, times.now(), self.world.features)
        pause = await self._publish(entry, desired)
        return found.pause if pause is None else pause

    async def _look(self, asked: Request) -> _Look:
        """What the status depends on now."""
        cache, pause = self.world.cache, None
        output = await self._outputs.get(cache.store(OUTPUTS).entry(asked.output), mocker=asked.mocker)
        own: Job | None = cache.store(JOBS).get(asked.job)
        if own is None and output is None and not asked.generated:
            own = await self._foreign(asked)
            pause = _AGAIN if own else None
        key = deployment.target(asked, output)
        graph = cache.subject(key) if key else None
        if key is None:
            self._targets.pop(asked.key, None)
        else:
            self._targets[asked.key] = key
            if graph is None and key in self._made:
                graph, pause = self._arriving(key), _GRAPH_ARRIVES
        pods = self._pods(asked) if own is not None and not own.complete else []
        return _Look(Seen(own, output, graph, job.detail(pods, asked.job)), pause)

    def _wait(self, asked: Request, seen: Seen) -> float:
        """Seconds to wait for the output of a Job that is complete; 0 or less if there is nothing to wait for."""
        if seen.output is not None or seen.job is None or not seen.job.complete or asked.generated:
            self._awaited.pop(asked.key, None)
            return 0.0
        now = monotonic()
        return self._awaited.setdefault(asked.key, now + OUTPUT_ARRIVES) - now

    async def _foreign(self, asked: Request) -> Job | None:
        """A Job with the name of the request's Job and without the label that the watch selects."""
        outcome = await self.world.writer.find(JOBS, asked.job)
        return job.read(outcome.resource) if outcome.resource is not None else None

    def _pods(self, asked: Request) -> list[job.Pod]:
        """The pods of profiling Jobs in the namespace of a request."""
        if not self.world.features.pods:
            return []
        store = self.world.cache.store(PODS)
        return [each for key in store.keys(asked.key.namespace) if isinstance(each := store.get(key), job.Pod)]

    def _arriving(self, key: ObjectKey) -> Subject | None:
        """A graph that was created just now, which the watch may bring later than the answer of the server."""
        graph, since = self._made[key]
        if monotonic() - since < _GRAPH_ARRIVES:
            return graph
        del self._made[key]
        return None

    async def _deploy(self, entry: Entry[Request], seen: Seen) -> _Look:
        """Tries to deploy the graph. Returns what the status depends on afterwards."""
        attempt = await self._deployer.deploy(entry.value, seen.output)
        graph = attempt.graph
        if graph is not None and self.world.cache.subject(graph.key) is None:
            self._made[graph.key] = graph, monotonic()
        if attempt.warnings:
            self.report(entry, "DeploymentWarnings", "\n".join(attempt.warnings), warning=True)
        return _Look(seen._replace(graph=graph or seen.graph, refused=attempt.refused, problem=attempt.problem), attempt.pause)

    async def _publish(self, entry: Entry[Request], desired: dict[str, Any]) -> float | None:
        """Writes the status if it says something new, and tells what happened. Returns the pause if the server refuses it."""
        outcome = await self.publish(entry.value.key, entry, desired)
        if outcome is None:
            return None
        if outcome.result == "written":
            for each in transitions.between(entry.value.status, desired):
                self.report(entry, each.reason, each.message, warning=each.warning)
        return outcome.pause

    def _leave(self, key: ObjectKey, entry: Entry[Request] | None) -> None:
        """Forgets a request that is gone, or that is left to others."""
        self._targets.pop(key, None)
        self._awaited.pop(key, None)
        self._deployer.forget(key)
        if entry is None or entry.value.deleted:
            self._once.forget(key)
        elif self._once.first(key):
            message = "the request has no annotation %s, so its status is left as it is; render the request"
            _LOG.info(message, labels.PROFILE_HASH, extra=logs.about(namespace=key.namespace, name=key.name))


def _named(key: ObjectKey, prefix: str) -> Iterator[ObjectKey]:
    """The request whose object has that name."""
    if key.name.startswith(prefix):
        yield ObjectKey(REQUESTS.group, REQUESTS.kind, key.namespace, key.name.removeprefix(prefix))


def _due(desired: dict[str, Any]) -> bool:
    """True if the graph must be applied now."""
    return fields.condition(desired, deployment.TYPE).get("reason") == deployment.APPLYING


CONTROLLER = Requests
