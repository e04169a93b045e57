"""Deploys the graphs of requests with `spec.autoApply`: reads the output of the profiler, renders the graph and applies it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.cluster.object_store import StoredObject
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import expand, labels
from krm_fn.render.config import Config
from krm_fn.syncer import profiler_output
from krm_fn.syncer.cpu_budget import CpuBudget
from krm_fn.syncer.graph_applier import GraphApplier
from krm_fn.syncer.profiler_output import OutputConfigMap, ProfilerOutput
from krm_fn.syncer.status import cached_object, request_generation
from krm_fn.syncer.status.cached_object import CachedObject
from krm_fn.syncer.status.cached_request import CachedRequest
from krm_fn.syncer.writer import Writer

_CACHE_LIMIT = 64
"""The most cached outputs. A request that is ready is reconciled only after an event."""
_RENDER_OF_LIVE_GRAPH = codes.SOURCE_VERSION_SELECTS_RELEASE
"""A warning for users who render a graph of the cluster. `krm-fn request get` prints the graph of the profiler instead."""

Version = tuple[str, str, bool]


class DeployAttempt(NamedTuple):
    """The result of an attempt. `graph` is the graph in the cluster, complete or another program's.

    `rejected` and `problem` are those of `RequestInputs`. `pause` are the seconds until another attempt makes sense, or None. `warnings`
    are findings about a graph that was deployed.
    """

    graph: CachedObject | None = None
    rejected: str = ""
    problem: str = ""
    pause: float | None = None
    warnings: tuple[str, ...] = ()


class RenderedGraph(NamedTuple):
    """A graph with the annotations of a render, and the objects to create with it. `rejected` is the reason why it cannot be applied."""

    graph: Resource
    objects: tuple[Resource, ...] = ()
    rejected: str = ""
    warnings: tuple[str, ...] = ()


class _RenderInputs(NamedTuple):
    """The inputs of a rendered graph."""

    generation: int
    served: str
    output: ProfilerOutput


class ProfilerOutputs:
    """Reads the outputs of requests, each once, in a thread: a large output must not delay the statuses of other resources."""

    def __init__(self, budget: CpuBudget) -> None:
        self._budget = budget
        self._cached: dict[ObjectKey, tuple[Version, ProfilerOutput]] = {}

    async def get(self, entry: StoredObject[OutputConfigMap] | None, *, mocker: bool) -> ProfilerOutput | None:
        """Returns the output in a ConfigMap; None if the ConfigMap does not exist. The same version returns the same object.

        Raises OverBudgetError.
        """
        if entry is None:
            return None
        key, version = entry.value.key, (entry.uid, entry.resource_version, mocker)
        cached = self._cached.pop(key, None)
        if cached is None or cached[0] != version:
            cached = version, await self._budget.compute(partial(profiler_output.read, entry.value, mocker=mocker))
        self._cached[key] = cached  # the last used is last
        while len(self._cached) > _CACHE_LIMIT:
            del self._cached[next(iter(self._cached))]
        return cached[1]


class GraphDeployer:
    """Renders and applies graphs.

    `namespace_problem(request_namespace, namespace, field)` explains why the graph of a request may not go into a namespace, which `field`
    names; empty if the namespace is allowed. `served()` is the version in which the server serves graphs.
    """

    def __init__(
        self,
        writer: Writer,
        config: Config,
        namespace_problem: Callable[[str, str, str], str],
        served: Callable[[], str],
        budget: CpuBudget,
    ) -> None:
        self._budget = budget
        self._applier = GraphApplier(writer, retain_volumes=config.retain_volumes)
        self._config = config
        self._namespace_problem = namespace_problem
        self._served = served
        self._rendered: dict[ObjectKey, tuple[_RenderInputs, RenderedGraph]] = {}
        self._failures: dict[ObjectKey, int] = {}

    def forget(self, request: ObjectKey) -> None:
        """Forgets the rendered graph of a request, and its failures."""
        self._rendered.pop(request, None)
        self._failures.pop(request, None)

    async def deploy(self, request: CachedRequest, output: ProfilerOutput | None) -> DeployAttempt:
        """Deploys the graph of a request, or its missing objects. Raises Retry, and OverBudgetError before the first write."""
        if output is None or output.graph is None or output.edited:
            return DeployAttempt(problem=f"the ConfigMap {request.output.name} no longer has what the profiler wrote; restore it")
        graph = request_generation.graph_to_deploy(output, request)
        if rejected := self._rejection(request, cached_object.read(graph)):
            return DeployAttempt(rejected=rejected)
        rendered = await self._render(request, output)
        if rendered.rejected:
            return DeployAttempt(rejected=rendered.rejected)
        applied = await self._applier.apply(rendered.graph, rendered.objects)
        if applied.graph is None:
            pause = self._pause(request.key, applied.pause)
            return DeployAttempt(rejected=applied.rejected, problem=applied.problem, pause=pause)
        self.forget(request.key)
        return DeployAttempt(cached_object.read(applied.graph), warnings=rendered.warnings)

    def _rejection(self, request: CachedRequest, graph: CachedObject) -> str:
        field = request.field_names.graph_metadata
        if reason := self._namespace_problem(request.key.namespace, graph.key.namespace, f"{field}.namespace"):
            return f"the graph belongs into namespace {graph.key.namespace}, but {reason}"
        if graph.request != request.key:
            owner_labels = f"{labels.REQUEST_NAME} and {labels.REQUEST_NAMESPACE}"
            return f"{field}.labels changes the labels {owner_labels}, by which krm-fn sync finds the graph; remove them there"
        return ""

    def _pause(self, request: ObjectKey, longest: float) -> float:
        """Returns the seconds until the next attempt: a second, then twice as long each time."""
        failures = self._failures[request] = self._failures.get(request, -1) + 1
        return float(min(2 ** min(failures, 16), longest))

    async def _render(self, request: CachedRequest, output: ProfilerOutput) -> RenderedGraph:
        """Renders a graph. The same generation of a request and the same output are rendered once."""
        inputs = _RenderInputs(request.generation, self._served(), output)
        before, rendered = self._rendered.get(request.key, (None, None))
        if rendered is None or before is None or before[:2] != inputs[:2] or before.output is not output:
            graph, config_maps = request_generation.graph_to_deploy(output, request), request_generation.config_maps(output, request)
            command = f"krm-fn request get {request.key.name} -n {request.key.namespace} | krm-fn check -"
            config = self._config._replace(source_version=inputs.served)  # type: ignore[arg-type]
            rendered = await self._budget.compute(partial(render, graph, config_maps, config, command))
            self._rendered[request.key] = inputs, rendered
        return rendered


def render(graph: Resource, config_maps: Sequence[Resource], config: Config, command: str) -> RenderedGraph:
    """Renders a graph together with ConfigMaps. All of them have a namespace. `command` prints all findings.

    The rendered graph stays among the objects under any configuration, because the cluster needs it.
    """
    expansion = expand.expand([graph, *config_maps], config._replace(source="keep", namespace=""))
    if errors := results.errors_of(expansion.results):
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        rejected = f"the generated graph has errors: {results.line(errors[0])}{more}; see `{command}`"
        return RenderedGraph(graph, rejected=rejected)
    key = identity.key(graph)
    (rendered,) = [resource for resource in expansion.resources if identity.key(resource) == key]
    objects = tuple(resource for resource in expansion.resources if resource is not rendered)
    warnings = [finding for finding in expansion.results if finding.severity == "warning" and finding.code != _RENDER_OF_LIVE_GRAPH]
    return RenderedGraph(rendered, objects, warnings=tuple(map(results.line, warnings)))
