"""Warnings about graphs of several roots that are applied to one cluster, and whose frontends find the workers of each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from krm_fn.base.results import Result
from krm_fn.render.rules import shared_discovery
from krm_fn.repository.states import RootFiles


def check(roots: Iterable[RootFiles]) -> Iterator[Result]:
    """Yields one warning for each graph, also if its root is applied to several clusters. A render finds those within one root."""
    by_cluster: dict[str, list[RootFiles]] = {}
    for root in roots:
        for cluster in root.destination.clusters:
            by_cluster.setdefault(cluster, []).append(root)
    known: set[Result] = set()
    for _, listed in sorted(by_cluster.items()):
        for finding in check_cluster(listed):
            address = finding._replace(message="")
            if address not in known:
                known.add(address)
                yield finding


def check_cluster(roots: Sequence[RootFiles]) -> Iterator[Result]:
    """Yields the warnings about the roots of one cluster, with their locations."""
    sources = {id(source.value): source for root in roots for source in root.sources.resources}
    groups = [[(source.value, root.sources.config) for source in root.sources.resources] for root in roots]
    for resource, finding in shared_discovery.check(groups if len(groups) > 1 else ()):
        yield finding._replace(**sources[id(resource)].location(finding.path))
