"""Dynamo resources of both API versions in one root or in one cluster. The definitions in a cluster serve one of the versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from krm_fn.base import codes, report, results
from krm_fn.base.results import Result
from krm_fn.render import dynamo_api, labels
from krm_fn.render.manifests import ownership
from krm_fn.repository.files.reading import Source

_VERSIONS = (dynamo_api.V1ALPHA1, dynamo_api.V1BETA1)
_KINDS = (dynamo_api.GRAPH, dynamo_api.COMPONENT, dynamo_api.REQUEST, dynamo_api.ADAPTER)
"""The kinds with two versions."""


def check_clusters(roots: Iterable[tuple[Sequence[str], Sequence[Source]]]) -> Iterator[Result]:
    """Yields a warning for each cluster whose roots have different versions. Each root comes with the clusters to which it is applied.

    A root with both versions is left out: it has a warning of its own.
    """
    sources_by_cluster: dict[str, list[Source]] = {}
    for clusters, sources in roots:
        if not any(check(sources)):
            for cluster in clusters:
                sources_by_cluster.setdefault(cluster, []).extend(sources)
    for cluster, sources in sorted(sources_by_cluster.items()):
        yield from check(sources, f"the cluster {report.visible(cluster)}")


def check(sources: Sequence[Source], cluster: str = "a cluster") -> Iterator[Result]:
    """Yields a warning that names the first resource of each version, if resources of both versions reach the cluster."""
    first: dict[str, Source] = {}
    for source in sources:
        address = source.address
        if address.kind in _KINDS and not ownership.is_generated(source.value) and not labels.is_local(source.value):
            first.setdefault(address.api_version, source)
    if all(version in first for version in _VERSIONS):
        older, newer = (first[version] for version in _VERSIONS)
        message = (
            f"{_name_source(older)} is of v1alpha1, and {_name_source(newer)} of v1beta1, but the definitions of {cluster} serve one "
            f"version, so it rejects one of them; convert one with `krm-fn convert`"
        )
        yield results.warning(codes.BOTH_API_VERSIONS_IN_BUILD, message, newer.address, ("apiVersion",), **newer.location(("apiVersion",)))


def _name_source(source: Source) -> str:
    return f"{source.address.kind} {report.visible(source.address.name)} in {report.visible(source.file)}"
