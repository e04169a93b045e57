"""Requests: their status, and the deployment of their graphs."""

from __future__ import annotations

import logging
from time import monotonic
from typing import TYPE_CHECKING, Any

from krm_fn.kube import labels, names
from krm_fn.kube.identity import ObjectKey
from krm_fn.status import fields, job, request
from krm_fn.status.request import Seen
from krm_fn.status.requests import deployment, transitions
from krm_fn.status.subject import Subject
from krm_fn.sync import logs, times
from krm_fn.sync.controllers import GRAPHS, REQUESTS, UNMANAGED, Controller, Follow, dynamo
from krm_fn.sync.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krm_fn.status.features import Features
    from krm_fn.status.job import Job
    from krm_fn.status.request import Request
    from krm_fn.sync.controllers import Change, World
    from krm_fn.sync.deployer import Attempt
    from krm_fn.sync.store import Entry

JOBS = Kind(job.GROUP, "v1", "jobs", job.KIND, labels.REQUEST)
OUTPUTS = Kind("", "v1", "configmaps", "ConfigMap", f"{labels.REQUEST_NAME},!{labels.REQUEST_NAMESPACE}")
"""The second label is on ConfigMaps that belong to a deployed graph."""
PODS = Kind("", "v1", "pods", "Pod", f"{labels.REQUEST},!{labels.GRAPH},!{labels.BASE_MODEL_HASH}")
"""Pods of profiling Jobs. Pods of graphs and of base models have another projection."""
_UNKNOWN = "unknown"
FOREIGN = 60.0
"""Seconds until a Job that is not of the request is looked for again: the syncer does not watch it."""
_ARRIVES = 30.0
"""Seconds in which the watch must bring a graph that was created. Until then it counts as existing."""

_LOG = logging.getLogger(__name__)


class Requests(Controller):
    """Keeps the status of requests with the annotation `profile-hash`. Other requests are left to whoever manages them."""

    kind = REQUESTS
    counted = True
    expendable = ("generatedDeployment",)

    def __init__(self, world: World) -> None:
        from krm_fn.sync.deployer import Deployer  # noqa: PLC0415 - the core needs neither the expansion nor the output
        from krm_fn.sync.outputs import Outputs  # noqa: PLC0415 - as above

        super().__init__(world)
        self._outputs = Outputs()
        self._deployer = Deployer(world.writer, world.config, world.outside)
        self._targets: dict[ObjectKey, ObjectKey] = {}
        """The graph of each request."""
        self._made: dict[ObjectKey, tuple[Subject, float]] = {}
        """Graphs that were created and that the watch has not brought yet, with the time of their creation."""
        self._once = logs.Once()

    @classmethod
    def enabled(cls, features: Features) -> bool:
        """A feature of its own."""
        return features.requests

    @classmethod
    def follows(cls, features: Features) -> Iterable[Follow]:
        """Requests, and the objects by which they are judged."""
        from krm_fn.profiling import output  # noqa: PLC0415 - the core does not need it

        found = [Follow(REQUESTS, request.read), Follow(JOBS, job.read), Follow(OUTPUTS, output.published), dynamo(GRAPHS)]
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

    def state(self, value: Request) -> str:
        """The state in the status, `unknown` before the first, and `unmanaged` for a request that no render wrote."""
        return (fields.text(value.status.get("state")) or _UNKNOWN) if value.managed else UNMANAGED

    async def reconcile(self, key: ObjectKey) -> float | None:
        """Deploys the graph of one request if it is due, and writes the status."""
        entry = self.world.cache.entry(key)
        if entry is None or entry.value.deleted or not entry.value.managed:
            self._leave(key, entry)
            return None
        seen, pause = await self._look(entry.value)
        desired = request.status(entry.value, seen, times.now(), self.world.features)
        if _due(desired):
            if desired.get("generatedDeployment") != entry.value.generated:
                await self._publish(entry, desired)
                entry = self.world.cache.entry(key) or entry
            attempt = await self._deployer.deploy(entry.value, seen.output)
            seen, pause = self._deployed(entry, seen, attempt), attempt.pause
            desired = request.status(entry.value, seen, times.now(), self.world.features)
        outcome_pause = await self._publish(entry, desired)
        return pause if outcome_pause is None else outcome_pause

    async def _look(self, found: Request) -> tuple[Seen, float | None]:
        """What the status depends on, and the seconds until it must be looked at again."""
        cache, pods = self.world.cache, []
        output = await self._outputs.get(cache.store(OUTPUTS).entry(found.output), mocker=found.mocker)
        own: Job | None = cache.store(JOBS).get(found.job)
        pause = None
        if own is None and output is None and not found.generated:
            own = await self._foreign(found)
            pause = FOREIGN if own else None
        if self.world.features.pods and own is not None and not own.complete:
            store = cache.store(PODS)
            pods = [each for key in store.keys(found.key.namespace) if isinstance(each := store.get(key), job.Pod)]
        graph = request.target(found, output)
        self._target(found.key, graph)
        return Seen(own, output, self._graph(graph), job.detail(pods, found.job)), pause

    async def _foreign(self, found: Request) -> Job | None:
        """A Job with the name of the request's Job and without the label that the watch selects."""
        outcome = await self.world.writer.find(JOBS, found.job)
        return job.read(outcome.resource) if outcome.resource is not None else None

    def _target(self, key: ObjectKey, graph: ObjectKey | None) -> None:
        if graph is None:
            self._targets.pop(key, None)
        else:
            self._targets[key] = graph

    def _graph(self, key: ObjectKey | None) -> Subject | None:
        """The graph of a request. One that was created just now exists, also if the watch has not brought it yet."""
        if key is None:
            return None
        made, since = self._made.get(key, (None, 0.0))
        return self.world.cache.subject(key) or (made if monotonic() - since < _ARRIVES else None)

    def _deployed(self, entry: Entry[Request], seen: Seen, attempt: Attempt) -> Seen:
        """What the status depends on after an attempt to deploy the graph."""
        if attempt.graph is not None and self.world.cache.subject(attempt.graph.key) is None:
            self._made[attempt.graph.key] = attempt.graph, monotonic()
        if attempt.warnings:
            self.report(entry, "DeploymentWarnings", "\n".join(attempt.warnings), warning=True)
        return seen._replace(graph=attempt.graph or seen.graph, refused=attempt.refused, problem=attempt.problem)

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
