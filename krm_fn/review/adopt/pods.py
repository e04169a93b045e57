"""The pod templates of workloads, by workload and place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import identity, labels, paths, templates
from krm_fn.kube.identity import ObjectKey
from krm_fn.kube.values import mapping
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krm_fn.kube.types import Labels, Resource

KINDS = ("Deployment", "LeaderWorkerSet", "PodCliqueSet")


class Place(NamedTuple):
    """A pod template: its workload, and the name of the template in it. A Deployment has one template, without a name."""

    workload: ObjectKey
    template: str


class Template(NamedTuple):
    """The labels, annotations and pod spec of a template."""

    labels: Labels
    annotations: Labels
    spec: dict[str, Any]

    @property
    def service(self) -> str:
        """The service of the graph whose pods these are; empty if it is unknown."""
        return self.labels.get(labels.COMPONENT, "")


def templates_of(resources: Iterable[Resource], home: str) -> dict[Place, Template]:
    """The pod templates of all workloads among the resources. `home` is the namespace of resources without one."""
    return {place: found for each in resources if each.get("kind") in KINDS for place, found in _of(each, home)}


def _of(workload: Resource, home: str) -> Iterator[tuple[Place, Template]]:
    key = identity.key(workload, home)
    for place in (*templates.NATIVE, *templates.GROUP):
        for _, holder in paths.each(workload, [place.spec[:-1]]):
            if isinstance(holder, dict) and "spec" in holder:
                name = str(place.spec[-2]) if place in templates.GROUP else ""
                yield Place(key, name), _template(holder.get("metadata"), holder["spec"])
    for place in templates.CLIQUES:
        for _, clique in paths.each(workload, [place.metadata]):
            for _, pod in paths.each(clique, [place.spec[len(place.metadata) :]]) if isinstance(clique, dict) else ():
                yield Place(key, str(clique.get("name"))), _template(clique, pod)


def _template(metadata: Any, pod: Any) -> Template:
    metadata = mapping(metadata)
    return Template(mapping(metadata.get("labels")), mapping(metadata.get("annotations")), mapping(pod))
