"""Changes of the resources that an adoption writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import labels
from krm_fn.kube.values import mapping, objects, text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_fn.kube.types import Labels, Resource


def annotated(resource: Resource, annotations: Labels) -> Resource:
    """The resource with further annotations."""
    metadata = resource["metadata"]
    return {**resource, "metadata": {**metadata, "annotations": {**labels.annotations(resource), **annotations}}}


def without_empty_lists(value: Any) -> Any:
    """The value without fields that hold an empty list. An operator's client leaves them out, and Grove counts one as a change of pods."""
    if isinstance(value, dict):
        return {key: without_empty_lists(inner) for key, inner in value.items() if inner != []}
    return [without_empty_lists(item) for item in value] if isinstance(value, list) else value


def in_order_of_cliques(graph: Resource, live: Iterable[Resource]) -> Resource:
    """The graph with its services in the order of the cliques of its live PodCliqueSet.

    A render writes cliques in the order of the services, and Grove refuses another order if the cliques start in an order. In v1alpha1,
    services are an object: the operator writes their cliques in random order, and an export has them in the order of the alphabet.
    """
    services = mapping(graph.get("spec")).get("services")
    name = graph["metadata"]["name"]
    sets = [clique for clique in live if clique.get("kind") == "PodCliqueSet" and clique["metadata"]["name"] == name]
    if not sets or not isinstance(services, dict):
        return graph
    cliques = objects(mapping(mapping(sets[0].get("spec")).get("template")).get("cliques"))
    order = dict.fromkeys(text(mapping(clique.get("labels")).get(labels.COMPONENT)) for clique in cliques)
    names = [*(clique for clique in order if clique in services), *(clique for clique in services if clique not in order)]
    return {**graph, "spec": {**graph["spec"], "services": {clique: services[clique] for clique in names}}}
