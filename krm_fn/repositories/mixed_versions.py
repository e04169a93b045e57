"""Dynamo resources of both API versions in what one root applies. The definitions in a cluster serve one of the versions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krm_fn import report, results
from krm_fn.files.reading import Source
from krm_fn.kube import identity, labels
from krm_fn.manifests import ownership
from krm_fn.results import Result

_VERSIONS = (identity.V1ALPHA1, identity.V1BETA1)
_KINDS = (identity.GRAPH, identity.COMPONENT, identity.REQUEST, identity.ADAPTER)
"""The kinds with two versions."""


def check(sources: Sequence[Source]) -> Iterator[Result]:
    """Yields a warning that names the first resource of each version, if resources of both versions reach the cluster."""
    first: dict[str, Source] = {}
    for source in sources:
        address = source.address
        if address.kind in _KINDS and not ownership.is_generated(source.value) and not labels.is_local(source.value):
            first.setdefault(address.api_version, source)
    if all(version in first for version in _VERSIONS):
        older, newer = (first[version] for version in _VERSIONS)
        message = (
            f"{_named(older)} is of v1alpha1, and {_named(newer)} of v1beta1, but the definitions of a cluster serve one version, so it "
            f"rejects one of them; convert one with `krm-fn convert`"
        )
        yield results.warning("DYN674", message, newer.address, ("apiVersion",), **newer.location(("apiVersion",)))


def _named(source: Source) -> str:
    return f"{source.address.kind} {report.visible(source.address.name)} in {report.visible(source.file)}"
