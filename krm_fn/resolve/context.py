"""The facts that the reader of a component gets from the resource that contains the component."""

from __future__ import annotations

from krm_fn import behaviours, results
from krm_fn.behaviours import Behaviour
from krm_fn.config import Config
from krm_fn.kube import identity, labels
from krm_fn.kube.types import EnvVar, Resource
from krm_fn.plan import Book
from krm_fn.records import NamedTuple
from krm_fn.resolve.cluster import ClusterFacts
from krm_fn.results import Ref, Result


class Shared(NamedTuple):
    """The facts that all components of one resource share. Findings are added to `found`. `name` is the graph's name, or empty."""

    name: str
    namespace: str
    ref: Ref
    config: Config
    behaviour: Behaviour
    cluster: ClusterFacts
    orchestrator: str
    framework: str
    envs: list[EnvVar]
    discovery: str
    book: Book
    found: list[Result]


_MARKS = (labels.WORKER_HASH_V1, labels.WORKER_HASH_V2, labels.WORKLOAD_PROVIDER, labels.PRESERVED_GRAPH)
RELEASES = {"v0.9": "v0_9", "v1.5": "v1_5"}
"""The releases by their names in the configuration, the older ones first, and their files in `krm_fn.behaviours`."""


def behaviour(resource: Resource, config: Config) -> Behaviour:
    """The release of the reference that the render of a resource follows. No other function chooses it."""
    return behaviours.get(RELEASES[release(resource, config)])


def release(resource: Resource, config: Config) -> str:
    """The name of that release in the configuration.

    The configuration decides, otherwise the resource: its API version, or an annotation that only an operator of 1.0 or later writes.
    """
    newer = results.ref(resource).api_version != identity.V1ALPHA1 or is_from_newer(resource)
    return config.behaviour or ("v1.5" if newer else "v0.9")


def is_from_newer(resource: Resource) -> bool:
    """True if a resource has an annotation that only an operator of 1.0 or later writes."""
    annotations = labels.notes(resource)
    return any(mark in annotations for mark in _MARKS) or _is_newer(annotations.get(labels.ORIGIN_VERSION))


def _is_newer(origin: str | None) -> bool:
    if not origin:
        return False
    from krm_fn.kube import version  # noqa: PLC0415 - only graphs of newer operators have the annotation

    return version.at_least(origin, (1, 0, 0))


def parent(resource: Resource) -> str:
    """The name of the graph that owns a component, from its owner references; empty if there is none."""
    for owner in (resource.get("metadata") or {}).get("ownerReferences") or ():
        if owner.get("kind") == "DynamoGraphDeployment":
            return str(owner.get("name") or "")
    return ""
