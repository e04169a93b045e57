"""Draws what the paths of `krm-fn graph` have: graphs, or a change of graphs. The diagrams are in `krm_fn.review.diagram`."""

from __future__ import annotations

import contextlib
from typing import NamedTuple

from krm_fn.base import results
from krm_fn.base.results import Result
from krm_fn.kubernetes import identity
from krm_fn.render import expand
from krm_fn.render.resolve import cluster
from krm_fn.repository.files import reading
from krm_fn.repository.files.reading import Source
from krm_fn.review import render_settings
from krm_fn.review.diagram import Diagram, graph_diagram
from krm_fn.review.diff import comparison
from krm_fn.review.diff.rendered_state import Render
from krm_fn.review.inputs import Inputs, compared_roots, path_inputs


class DrawnGraphs(NamedTuple):
    """The diagrams with the names of their roots, the findings, and the resources in which these are located."""

    diagrams: list[tuple[str, Diagram]]
    results: list[Result]
    resources: list[Source]
    lines: list[str]
    stdin: str


def draw(given: Inputs) -> DrawnGraphs:
    """Draws the graphs of each root."""
    loaded = path_inputs.load(given).with_dynamo()
    drawn, about = [], [*loaded.results, *path_inputs.without_graphs(loaded)]
    for root in loaded.roots:
        for render in root.renders():
            drawn.append((root.name, graph_diagram.diagram(render.sources.values, render.sources.config)))
            expansion = expand.expand(render.sources.values, render.sources.config)
            about += reading.locate(expansion.results, render.sources.resources)
        about += root.sources.locate(())
    return DrawnGraphs(drawn, results.errors_of(about), loaded.resources, loaded.lines, loaded.stdin)


def draw_change(given: Inputs, old: str) -> DrawnGraphs:
    """Draws both states of each root."""
    with contextlib.ExitStack() as stack:
        compared = compared_roots.load(given, old, stack, skips=False)
    drawn, about = [], [*compared.results]
    for pair in compared.pairs:
        before, after = _as_rendered(pair.old.rendered), _as_rendered(pair.new.rendered)
        drawn.append((pair.root, graph_diagram.change_diagram(before, after)))
        about += results.errors_of(pair.new.results)
        about += [*pair.old.results, *comparison.not_compared(before, after)]
    sources = [source for pair in compared.pairs for source in pair.new.files.resources]
    stdin = next((pair.new.files.stdin for pair in compared.pairs if pair.new.files.stdin), "")
    return DrawnGraphs(drawn, about, sources, compared.lines, stdin)


def _as_rendered(state: Render) -> Render:
    """Returns a state with the settings of its render: those of a finished build are on its graphs."""
    built = (resource for resource in state.sources if identity.key(resource, cluster.default_namespace(state.config)) in state.built)
    graph = next(built, None)
    settings = render_settings.of(graph, state.config) if graph else state.config
    return state._replace(config=settings._replace(namespace=state.config.namespace))
