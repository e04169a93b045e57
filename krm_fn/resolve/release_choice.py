"""Chooses the operator release that the render of a resource follows."""

from __future__ import annotations

from krm_fn import results
from krm_fn.config import Config
from krm_fn.kinds import releases
from krm_fn.kinds.releases import Release
from krm_fn.kube import identity, labels
from krm_fn.kube.types import Resource

_MARKS = (labels.WORKER_HASH_V1, labels.WORKER_HASH_V2, labels.WORKLOAD_PROVIDER, labels.PRESERVED_GRAPH)
RELEASES = {"v0.9": "v0_9", "v1.5": "v1_5"}
"""The releases by their names in the configuration, the older ones first, and their files in `krm_fn.kinds.releases`."""


def release(resource: Resource, config: Config) -> Release:
    """The release of the operator that the render of a resource follows. No other function chooses it."""
    return releases.get(RELEASES[release_name(resource, config)])


def release_name(resource: Resource, config: Config) -> str:
    """The name of that release in the configuration.

    The configuration decides, otherwise the resource: its API version, or an annotation that only an operator of 1.0 or later writes.
    """
    newer = results.ref(resource).api_version != identity.V1ALPHA1 or is_from_newer(resource)
    return config.behaviour or ("v1.5" if newer else "v0.9")


def is_from_newer(resource: Resource) -> bool:
    """True if a resource has an annotation that only an operator of 1.0 or later writes."""
    annotations = labels.annotations(resource)
    return any(mark in annotations for mark in _MARKS) or _is_newer(annotations.get(labels.ORIGIN_VERSION))


def _is_newer(origin: str | None) -> bool:
    if not origin:
        return False
    from krm_fn.kube import version  # noqa: PLC0415 - only graphs of newer operators have the annotation

    return version.at_least(origin, (1, 0, 0))
