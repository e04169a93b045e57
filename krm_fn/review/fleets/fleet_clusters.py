"""Reads what one cluster of a fleet applies: its Dynamo resources, each with its settings and its objects, and all other objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from krm_fn.base import results
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import text
from krm_fn.render import dynamo_api, dynamo_resources, expand, labels, render_mark
from krm_fn.render.config import Config
from krm_fn.render.manifests import ownership
from krm_fn.render.resolve import cluster, release_choice
from krm_fn.review.diff.rendered_state import Render

_WRITTEN_BY_A_RENDER = frozenset({labels.WORKLOADS, labels.SUMMARY, labels.SPEC_HASH, labels.ORCHESTRATOR, labels.RENDERED_BY})
RELEASED = (dynamo_api.GRAPH, dynamo_api.COMPONENT)
"""The kinds whose render follows a release of the operator."""


class ClusterGraph(NamedTuple):
    """A Dynamo resource of one cluster, as its author wrote it, with its objects.

    `source` is None if only the objects reach the cluster. `mark` is the text of the annotation `rendered-by`, and `config` the settings in
    it. `beside` are the resources that a render reads beside the source. `is_built` is true if the objects come from a finished build, so
    that a later layer may have changed them.
    """

    source: Resource | None
    mark: str
    config: Config
    objects: tuple[Resource, ...] = ()
    beside: tuple[Resource, ...] = ()
    is_built: bool = True

    def render_again(self) -> list[Resource]:
        """Renders the source again with its settings; empty without a source."""
        if self.source is None:
            return []
        again = expand.expand([self.source, *self.beside], self.config).resources
        return [resource for resource in again if ownership.is_generated(resource) and not ownership.is_shared(resource)]


class FleetCluster(NamedTuple):
    """One cluster: its graphs and other Dynamo resources, and the objects that belong to none of them alone, by their keys."""

    name: str
    graphs: dict[ObjectKey, ClusterGraph]
    others: dict[ObjectKey, Resource]

    def settings(self) -> dict[str, Any]:
        """Returns the settings of the renders. A setting in which the graphs of the cluster differ is a list of its values."""
        texts = {
            repr(settings): settings for graph in self.graphs.values() if (settings := render_mark.changed_settings(graph.mark)) is not None
        }
        merged = {}
        for key in sorted({key for settings in texts.values() for key in settings}):
            values = {repr(settings.get(key)): settings.get(key) for settings in texts.values()}
            merged[key] = [*values.values()] if len(values) > 1 else next(iter(values.values()))
        return merged


def read(name: str, states: Iterable[Render]) -> FleetCluster:
    """Returns the cluster that applies some rendered states, one for each of its roots."""
    graphs: dict[ObjectKey, ClusterGraph] = {}
    others: dict[ObjectKey, Resource] = {}
    for state in states:
        namespace = cluster.default_namespace(state.config)
        graphs |= _graphs(state, namespace)
        objects: dict[ObjectKey, list[Resource]] = {}
        for resource in state.objects:
            key = identity.key(resource, namespace)
            owner = next(iter(dynamo_resources.owner_keys(resource, key.namespace)), None)
            if owner is None or ownership.is_shared(resource):
                others[key] = _without(resource, frozenset({labels.OWNER}))
            else:
                objects.setdefault(owner, []).append(resource)
        for owner, owned in objects.items():
            graphs[owner] = graphs.get(owner, ClusterGraph(None, "", state.config))._replace(objects=tuple(owned))
    return FleetCluster(name, graphs, others)


def _graphs(state: Render, namespace: str) -> dict[ObjectKey, ClusterGraph]:
    sources = {identity.key(source, namespace): source for source in state.sources}
    beside = tuple(_beside(state.inputs))
    graphs = {}
    for resource in filter(dynamo_resources.is_expanded, state.inputs):
        key = identity.key(resource, namespace)
        source = sources.get(key, resource)
        release = release_choice.release_name(resource, state.config)
        mark = text(labels.annotations(source).get(labels.RENDERED_BY)) or render_mark.write(state.config, release)
        config = render_mark.read(mark) or state.config
        metadata = {**source["metadata"], "namespace": key.namespace}
        written = _without({**source, "metadata": metadata}, _WRITTEN_BY_A_RENDER)
        written.pop("status", None)
        graphs[key] = ClusterGraph(written, mark, config, beside=beside, is_built=key in state.built)
    return graphs


def _beside(inputs: Sequence[Resource]) -> Iterator[Resource]:
    yield from (resource for resource in inputs if not dynamo_resources.is_expanded(resource) and not ownership.is_generated(resource))


def _without(resource: Resource, names: frozenset[str]) -> Resource:
    """Returns a copy of a resource without some annotations, and without those of tools."""
    cleaned = labels.without_tool_annotations(resource)
    annotations = {key: value for key, value in labels.annotations(cleaned).items() if key not in names}
    metadata = {key: value for key, value in cleaned["metadata"].items() if key != "annotations"}
    return {**cleaned, "metadata": {**metadata, "annotations": annotations} if annotations else metadata}


def object_name(resource: Resource) -> tuple[str, str]:
    """Returns kind and name of an object of a graph: its key within the graph."""
    ref = results.ref(resource)
    return ref.kind, ref.name
