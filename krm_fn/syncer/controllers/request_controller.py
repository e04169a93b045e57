"""Reconciles requests: their status, and the deployment of their graphs."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from time import monotonic
from typing import Any, NamedTuple

from krm_fn.cluster import logs, timestamps
from krm_fn.cluster.api_resources import ApiResource
from krm_fn.cluster.object_store import StoredObject
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.render import labels, names
from krm_fn.syncer.controllers import GRAPHS, REQUESTS, UNMANAGED, Controller, ControllerContext, ObjectEvent, Watch, dynamo_watch
from krm_fn.syncer.status import SyncFeatures, cached_request, conditions, request_deployment, request_profiling, request_status
from krm_fn.syncer.status.cached_object import CachedObject
from krm_fn.syncer.status.cached_request import CachedRequest, ProfilingJob, RequestInputs
from krm_fn.syncer.status.request_profiling import ProfilingPod

JOBS = ApiResource(request_profiling.GROUP, "v1", "jobs", request_profiling.KIND, labels.REQUEST)
OUTPUTS = ApiResource("", "v1", "configmaps", "ConfigMap", f"{labels.REQUEST_NAME},!{labels.REQUEST_NAMESPACE}")
"""The second label is on ConfigMaps that belong to a deployed graph."""
PODS = ApiResource("", "v1", "pods", "Pod", f"{labels.REQUEST},!{labels.GRAPH},!{labels.BASE_MODEL_HASH}")
"""Pods of profiling Jobs. Pods of graphs and of base models have another projection."""
_UNKNOWN = "unknown"
_AGAIN = 60.0
"""Seconds until the controller looks again for a Job without the label of requests: the syncer does not watch it."""
_GRAPH_ARRIVES = 30.0
"""Seconds in which the watch must bring a graph that was created. Until then it counts as existing."""

OUTPUT_ARRIVES = 10.0
"""Seconds in which the watch must bring the output of a complete Job. The copier writes it before the Job ends."""

_LOG = logging.getLogger(__name__)


class _ObservedState(NamedTuple):
    """The inputs of the status of a request, and the seconds until the next reconcile; None if only an event requires it."""

    inputs: RequestInputs
    pause: float | None = None


class RequestController(Controller):
    """Writes the status of requests with the annotation `profile-hash`. Other programs manage the other requests."""

    kind = REQUESTS
    counted = True

    def __init__(self, context: ControllerContext) -> None:
        from krm_fn.syncer.graph_deployer import GraphDeployer, ProfilerOutputs  # noqa: PLC0415 - only this feature expands graphs

        super().__init__(context)
        self._outputs = ProfilerOutputs(context.budget)
        self._deployer = GraphDeployer(
            context.writer, context.config, context.namespace_problem, lambda: context.served(GRAPHS), context.budget
        )
        self._targets: dict[ObjectKey, ObjectKey] = {}
        """The graph of each request."""
        self._requests: dict[ObjectKey, set[ObjectKey]] = {}
        """The requests of each graph: an event of a graph must not read the requests of all tenants."""
        self._created: dict[ObjectKey, tuple[CachedObject, float]] = {}
        """Graphs that were created and that the watch has not brought yet, with the time of their creation."""
        self._awaited: dict[ObjectKey, float] = {}
        """Requests whose Job is complete and whose output is missing, with the time until which it may arrive."""
        self._once = logs.Once()

    @classmethod
    def is_enabled(cls, features: SyncFeatures) -> bool:
        """Needs the feature `requests`."""
        return features.requests

    @classmethod
    def watches(cls, features: SyncFeatures) -> Iterable[Watch]:
        """Returns requests, and the objects that their status depends on."""
        from krm_fn.syncer import profiler_output  # noqa: PLC0415 - only this feature reads outputs

        watches = [
            Watch(REQUESTS, cached_request.read),
            Watch(JOBS, request_profiling.read_job),
            Watch(OUTPUTS, profiler_output.read_config_map),
            dynamo_watch(GRAPHS),
        ]
        return [*watches, Watch(PODS, request_profiling.read_pod)] if features.pods else watches

    def requests_for(self, event: ObjectEvent) -> Iterator[ObjectKey]:
        """Yields the request itself, or the request of a Job, a pod, an output or a graph."""
        key = event.key
        if (key.group, key.kind) == (REQUESTS.group, REQUESTS.kind):
            yield key
        elif (key.group, key.kind) == (JOBS.group, JOBS.kind):
            yield from _request_of(key, names.profiling_job(""))
        elif (key.group, key.kind) == (OUTPUTS.group, OUTPUTS.kind):
            yield from _request_of(key, names.profiling_output(""))
        elif isinstance(pod := event.after or event.before, ProfilingPod):
            yield from _request_of(key._replace(name=pod.job), names.profiling_job(""))
        elif (key.group, key.kind) == (GRAPHS.group, GRAPHS.kind):
            self._created.pop(key, None)
            yield from sorted(self._requests.get(key, ()))

    def expendable(self, value: CachedRequest) -> tuple[str, ...]:
        """Returns the field of the generated graph."""
        return value.field_names.generated_graph[:1]

    def state(self, value: CachedRequest) -> str:
        """Returns the state in the status, `unknown` before the first, and `unmanaged` for a request that no render wrote."""
        return (value.state or _UNKNOWN) if value.managed else UNMANAGED

    async def reconcile(self, key: ObjectKey) -> float | None:
        """Deploys the graph of one request if it is due, and writes the status."""
        entry = self.context.cache.entry(key)
        if entry is None or entry.value.deleted or not entry.value.managed:
            self._forget(key, entry)
            return None
        observed = await self._observe(entry.value)
        if (wait := self._wait(entry.value, observed.inputs)) > 0:
            return wait
        desired = request_status.of_request(entry.value, observed.inputs, timestamps.now(), self.context.features)
        if _is_due(desired):
            generated = entry.value._replace(status=desired).generated
            if generated != entry.value.generated:  # the graph is created only if the status can hold it
                pause = await self._write(entry, desired)
                entry = self.context.cache.entry(key)
                if pause is not None or entry is None:
                    return pause
            observed = await self._deploy(entry, observed.inputs)
            desired = request_status.of_request(entry.value, observed.inputs, timestamps.now(), self.context.features)
        pause = await self._write(entry, desired)
        return observed.pause if pause is None else pause

    async def _observe(self, request: CachedRequest) -> _ObservedState:
        """Collects the inputs of the status."""
        cache, pause = self.context.cache, None
        output = await self._outputs.get(cache.store(OUTPUTS).entry(request.output), mocker=request.mocker)
        job: ProfilingJob | None = cache.store(JOBS).get(request.job)
        if job is None and output is None and not request.generated:
            job = await self._unlabelled_job(request)
            pause = _AGAIN if job else None
        key = request_deployment.target(request, output)
        graph = cache.cached_object(key) if key else None
        self._set_target(request.key, key)
        if key is not None and graph is None and key in self._created:
            graph, pause = self._arriving(key), _GRAPH_ARRIVES
        pods = self._pods(request) if job is not None and not job.complete else []
        return _ObservedState(RequestInputs(job, output, graph, request_profiling.pod_problem(pods, request.job)), pause)

    def _set_target(self, request: ObjectKey, graph: ObjectKey | None) -> None:
        """Records the graph of a request; None if it has none."""
        before = self._targets.pop(request, None)
        if before is not None and before != graph:
            self._requests[before].discard(request)
            if not self._requests[before]:
                del self._requests[before]
        if graph is not None:
            self._targets[request] = graph
            self._requests.setdefault(graph, set()).add(request)

    def _wait(self, request: CachedRequest, inputs: RequestInputs) -> float:
        """Returns the seconds to wait for the output of a Job that is complete; 0 or less if there is nothing to wait for."""
        if inputs.output is not None or inputs.job is None or not inputs.job.complete or request.generated:
            self._awaited.pop(request.key, None)
            return 0.0
        now = monotonic()
        return self._awaited.setdefault(request.key, now + OUTPUT_ARRIVES) - now

    async def _unlabelled_job(self, request: CachedRequest) -> ProfilingJob | None:
        """Reads a Job with the name of the request's Job and without the label that the watch selects."""
        result = await self.context.writer.find(JOBS, request.job)
        return request_profiling.read_job(result.resource) if result.resource is not None else None

    def _pods(self, request: CachedRequest) -> list[ProfilingPod]:
        """Returns the pods of profiling Jobs in the namespace of a request."""
        if not self.context.features.pods:
            return []
        store = self.context.cache.store(PODS)
        return [pod for key in store.keys(request.key.namespace) if isinstance(pod := store.get(key), ProfilingPod)]

    def _arriving(self, key: ObjectKey) -> CachedObject | None:
        """Returns a graph that was created just now, which the watch may bring later than the answer of the server."""
        graph, since = self._created[key]
        if monotonic() - since < _GRAPH_ARRIVES:
            return graph
        del self._created[key]
        return None

    async def _deploy(self, entry: StoredObject[CachedRequest], inputs: RequestInputs) -> _ObservedState:
        """Makes one attempt to deploy the graph. Returns the inputs of the status afterwards."""
        attempt = await self._deployer.deploy(entry.value, inputs.output)
        graph = attempt.graph
        if graph is not None and self.context.cache.cached_object(graph.key) is None:
            self._created[graph.key] = graph, monotonic()
        if attempt.warnings:
            self.record_event(entry, "DeploymentWarnings", "\n".join(attempt.warnings), warning=True)
        new = inputs._replace(graph=graph or inputs.graph, rejected=attempt.rejected, problem=attempt.problem)
        return _ObservedState(new, attempt.pause)

    async def _write(self, entry: StoredObject[CachedRequest], desired: dict[str, Any]) -> float | None:
        """Writes the status if it changes, and records the events. Returns the pause if the server rejects it."""
        result = await self.write_status(entry.value.key, entry, desired)
        if result is None:
            return None
        if result.result == "written":
            for event in request_status.events(entry.value.status, desired):
                self.record_event(entry, event.reason, event.message, warning=event.warning)
        return result.pause

    def _forget(self, key: ObjectKey, entry: StoredObject[CachedRequest] | None) -> None:
        """Forgets a request that is gone, or that another program manages."""
        self._set_target(key, None)
        self._awaited.pop(key, None)
        self._deployer.forget(key)
        if entry is None or entry.value.deleted:
            self._once.forget(key)
        elif self._once.first(key):
            message = "the request has no annotation %s, so its status is left as it is; render the request"
            _LOG.info(message, labels.PROFILE_HASH, extra=logs.about(namespace=key.namespace, name=key.name))


def _request_of(key: ObjectKey, prefix: str) -> Iterator[ObjectKey]:
    """Yields the request whose object has that name."""
    if key.name.startswith(prefix):
        yield ObjectKey(REQUESTS.group, REQUESTS.kind, key.namespace, key.name.removeprefix(prefix))


def _is_due(desired: dict[str, Any]) -> bool:
    """Returns True if the graph must be applied now."""
    return conditions.find(desired, request_deployment.TYPE).reason == request_deployment.APPLYING


CONTROLLERS = {"requests": RequestController}
