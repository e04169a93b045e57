"""Counts the objects that a syncer would cache for a fleet, with the sizes of their documents. `fleet_estimate` says what they need.

The syncer itself does not import this module: it has no render in its memory.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence

from krm_fn.base.results import Result
from krm_fn.cluster.api_resources import ApiResource
from krm_fn.kubernetes import identity, values
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, expand, labels
from krm_fn.render.config import Config
from krm_fn.syncer import fleet_estimate
from krm_fn.syncer.fleet_estimate import Fleet
from krm_fn.syncer.status import cached_object

POD = "Pod"
_RENDERED = ("DynamoGraphDeployment", "DynamoComponentDeployment")
_PODS = re.compile(r"(?<!\d)(\d{1,9}) pods?\b")


def with_rendered(resources: Sequence[Resource], config: Config) -> tuple[list[Resource], list[Result]]:
    """Returns resources with the objects of their graphs, and the findings. Graphs that a render has expanded are not rendered again."""
    if not any(map(_is_unrendered, resources)):
        return [*resources], []
    expansion = expand.expand(resources, config)
    return [*resources, *expansion.resources], expansion.results


def _is_unrendered(resource: Resource) -> bool:
    """True for a graph or a component of a graph that a render has not expanded yet."""
    is_source = dynamo_api.is_dynamo(resource) and resource.get("kind") in _RENDERED
    return is_source and labels.WORKLOADS not in labels.annotations(resource)


def count(resources: Iterable[Resource], kinds: Iterable[ApiResource], default_namespace: str, namespaces: Collection[str] = ()) -> Fleet:
    """Counts the objects of watched kinds. An object that several resources describe counts once, and so does one that a graph lists.

    Without pods among the resources, the graphs tell their number. `default_namespace` is that of resources without one.
    """
    by_kind: dict[tuple[str, str], list[ApiResource]] = defaultdict(list)
    for kind in kinds:
        by_kind[kind.group, kind.kind].append(kind)
    documents: dict[ObjectKey, int] = {}
    pods: dict[ObjectKey, int] = {}
    for resource in resources:
        key = identity.key(resource, default_namespace)
        if any(kind.selects(resource) for kind in by_kind[key[:2]]):
            documents[key] = _document_bytes(resource)
        if key.group == dynamo_api.GROUP and key.kind in _RENDERED and (cached := cached_object.read(resource, default_namespace)).entries:
            documents |= {workload: 0 for workload in cached.workloads if workload[:2] in by_kind and workload not in documents}
            pods[key] = _pods(resource)
    objects: dict[str, Counter[str]] = defaultdict(Counter)
    for key in documents:
        objects[key.namespace][key.kind] += 1
    if ("", POD) in by_kind and not any(counts[POD] for counts in objects.values()):
        for key, number in pods.items():
            objects[key.namespace][POD] += number
    served = {namespace: +counts for namespace, counts in objects.items() if not namespaces or namespace in namespaces or not namespace}
    return Fleet(served, _mean_bytes(documents))


def _document_bytes(resource: Resource) -> int:
    """Returns the size of a resource in the API. `kubectl get` prints no managedFields, and a repository has none."""
    size = len(json.dumps(resource, separators=(",", ":")))
    return size if "managedFields" in values.mapping(resource, "metadata") else round(size * fleet_estimate.WITH_MANAGED_FIELDS)


def _pods(resource: Resource) -> int:
    """Reads the number of pods in the summary that a render wrote."""
    match = _PODS.search(str(labels.annotations(resource).get(labels.SUMMARY)))
    return int(match[1]) if match else 0


def _mean_bytes(documents: dict[ObjectKey, int]) -> dict[str, int]:
    """Returns the mean size of the documents by kind. Objects of which only the name is known do not count."""
    sizes: dict[str, list[int]] = defaultdict(list)
    for key, size in documents.items():
        if size:
            sizes[key.kind].append(size)
    return {kind: sum(lengths) // len(lengths) for kind, lengths in sizes.items()}
