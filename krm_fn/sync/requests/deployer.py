"""Deploys the graphs of requests with `spec.autoApply`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from krm_fn.kube import labels
from krm_fn.records import NamedTuple
from krm_fn.status import subject
from krm_fn.status.requests import objects
from krm_fn.sync.requests import rendering
from krm_fn.sync.requests.apply import Applier

if TYPE_CHECKING:
    from collections.abc import Callable

    from krm_fn.config import Config
    from krm_fn.kube.identity import ObjectKey
    from krm_fn.profiling.output import Output
    from krm_fn.status.requests import Request
    from krm_fn.status.subject import Subject
    from krm_fn.sync.requests.rendering import Rendered
    from krm_fn.sync.writer import Writer


class Attempt(NamedTuple):
    """What became of an attempt. `graph` is the graph in the cluster, complete or somebody else's.

    `refused` and `problem` are those of `krm_fn.status.requests.Seen`. `pause` are the seconds until another attempt makes sense, or None.
    `warnings` are findings about a graph that was deployed.
    """

    graph: Subject | None = None
    refused: str = ""
    problem: str = ""
    pause: float | None = None
    warnings: tuple[str, ...] = ()


class _Made(NamedTuple):
    """What a rendered graph was made of."""

    generation: int
    served: str
    output: Output


class Deployer:
    """Renders and applies graphs.

    `outside(home, namespace, field)` says why the graph of a request in namespace `home` may not go into a namespace, which `field` names;
    empty if it may. `served()` is the version in which the server serves graphs.
    """

    def __init__(self, writer: Writer, config: Config, outside: Callable[[str, str, str], str], served: Callable[[], str]) -> None:
        self._applier = Applier(writer, retain_volumes=config.retain_volumes)
        self._config = config
        self._outside = outside
        self._served = served
        self._rendered: dict[ObjectKey, tuple[_Made, Rendered]] = {}
        self._failures: dict[ObjectKey, int] = {}

    def forget(self, request: ObjectKey) -> None:
        """Forgets the rendered graph of a request, and its failures."""
        self._rendered.pop(request, None)
        self._failures.pop(request, None)

    async def deploy(self, request: Request, output: Output | None) -> Attempt:
        """Deploys the graph of a request, or what is missing of it. Raises Retry."""
        if output is None or output.graph is None or output.edited:
            return Attempt(problem=f"the ConfigMap {request.output.name} no longer has what the profiler wrote; restore it")
        graph = objects.graph(output, request)
        if why := self._refusal(request, subject.read(graph)):
            return Attempt(refused=why)
        rendered = await self._render(request, output)
        if rendered.refused:
            return Attempt(refused=rendered.refused)
        applied = await self._applier.apply(rendered.graph, rendered.objects)
        if applied.graph is None:
            return Attempt(refused=applied.refused, problem=applied.problem, pause=self._pause(request.key, applied.pause))
        self.forget(request.key)
        return Attempt(subject.read(applied.graph), warnings=rendered.warnings)

    def _refusal(self, request: Request, graph: Subject) -> str:
        if why := self._outside(request.key.namespace, graph.key.namespace, f"{request.form.overrides}.namespace"):
            return f"the graph belongs into namespace {graph.key.namespace}, but {why}"
        if graph.request != request.key:
            marks = f"{labels.REQUEST_NAME} and {labels.REQUEST_NAMESPACE}"
            return f"{request.form.overrides}.labels changes the labels {marks}, by which krm-fn sync finds the graph; remove them there"
        return ""

    def _pause(self, request: ObjectKey, longest: float) -> float:
        """The seconds until the next attempt: a second, then twice as long each time."""
        failures = self._failures[request] = self._failures.get(request, -1) + 1
        return float(min(2 ** min(failures, 16), longest))

    async def _render(self, request: Request, output: Output) -> Rendered:
        """The rendered graph. The same generation of a request and the same output are rendered once."""
        made = _Made(request.generation, self._served(), output)
        before, rendered = self._rendered.get(request.key, (None, None))
        if rendered is None or before is None or before[:2] != made[:2] or before.output is not output:
            graph, others = objects.graph(output, request), objects.config_maps(output, request)
            check = f"krm-fn request get {request.key.name} -n {request.key.namespace} | krm-fn check -"
            rendered = await asyncio.to_thread(rendering.render, graph, others, self._config._replace(source_version=made.served), check)
            self._rendered[request.key] = made, rendered
        return rendered
