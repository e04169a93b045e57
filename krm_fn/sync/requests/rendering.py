"""The objects of a graph that a request generated, made as a render makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import expand, results
from krm_fn.kube import identity
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krm_fn.config import Config
    from krm_fn.kube.types import Resource


_SOURCE = "DYN428"
"""Warns about a render of the graph in the cluster. Nobody renders that one: `krm-fn request get` prints the graph of the profiler."""


class Rendered(NamedTuple):
    """A graph with the annotations of a render, and the objects to create with it. `refused` says why it cannot be applied."""

    graph: Resource
    objects: tuple[Resource, ...] = ()
    refused: str = ""
    warnings: tuple[str, ...] = ()


def render(graph: Resource, config_maps: Sequence[Resource], config: Config, check: str) -> Rendered:
    """Renders a graph together with ConfigMaps. All of them have a namespace. `check` is the command that prints all findings.

    The graph stays, whatever the configuration says about graphs in Git: the cluster needs it.
    """
    expansion = expand.expand([graph, *config_maps], config._replace(source="keep", namespace=""))
    if wrong := [each for each in expansion.results if each.severity == "error"]:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        return Rendered(graph, refused=f"the generated graph has errors: {results.line(wrong[0])}{more}; see `{check}`")
    key = identity.key(graph)
    (kept,) = [each for each in expansion.resources if identity.key(each) == key]
    others = tuple(each for each in expansion.resources if each is not kept)
    told = [each for each in expansion.results if each.severity == "warning" and each.code != _SOURCE]
    return Rendered(kept, others, warnings=tuple(results.line(each) for each in told))
