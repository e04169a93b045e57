"""A graph from a few words, as the files of a folder: the graph, what its layout needs, and a page for readers."""

from __future__ import annotations

from krm_fn.base.results import Result
from krm_fn.render import engines, expand
from krm_fn.render.config import Config
from krm_fn.repository.new_graphs import graph_layouts, graph_page, graph_text
from krm_fn.repository.new_graphs.graph_choices import GraphChoices

PAGE = "README.md"


def engine_names() -> tuple[str, ...]:
    """Returns the names of the engines that have an image of NVIDIA."""
    return tuple(name for name in engines.names() if engines.get(name).runtime_image)


def files(choices: GraphChoices, folder: str = ".") -> dict[str, str]:
    """Returns the text of each file of a new graph by its path. `folder` is the path of the files in their repository."""
    layout = graph_layouts.LAYOUTS[choices.layout]
    page = graph_page.text(choices, layout)
    schema = graph_layouts.path_to_top(layout.graph) + layout.schema
    return {PAGE: page, layout.graph: graph_text.text(choices, schema, namespaced=layout.namespaced), **layout.files(choices, folder)}


def findings(choices: GraphChoices) -> list[Result]:
    """Returns the findings of a render of each overlay of the graph: its names can be too long for those of its objects."""
    graphs = [(graph_text.resource(choices._replace(namespace=target.namespace)), target.namespace) for target in choices.targets]
    return [finding for graph, namespace in graphs for finding in expand.expand([graph], Config(namespace=namespace)).results]
