"""Sorts resources so that one run of `kubectl apply -f` is enough."""

from __future__ import annotations

from krm_fn.base import results
from krm_fn.render import dynamo_api

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_fn.kubernetes.types import Resource


_FIRST = (
    *("Namespace", "PriorityClass", "StorageClass", "ResourceQuota", "LimitRange", "NetworkPolicy"),
    "CustomResourceDefinition",
    *("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
    *("ConfigMap", "Secret", "PersistentVolume", "PersistentVolumeClaim"),
    "Service",
    *("DaemonSet", "StatefulSet", "Deployment", "PodGroup", "LeaderWorkerSet", "DisaggregatedSet", "PodCliqueSet", "Job", "CronJob", "Pod"),
    *("HorizontalPodAutoscaler", "PodDisruptionBudget"),
    *("Ingress", "VirtualService", "InferencePool", "HTTPRoute"),
)
_LAST = (dynamo_api.MODEL, dynamo_api.GRAPH, dynamo_api.COMPONENT, dynamo_api.ADAPTER, dynamo_api.REQUEST)
_RANKS = {kind: rank for rank, kind in enumerate((*_FIRST, "", *_LAST))}


def sort(resources: Iterable[Resource]) -> list[Resource]:
    """Returns resources in the order of applying. Unknown kinds come after native kinds and before Dynamo's. The sort is stable.

    >>> [item["kind"] for item in sort([{"kind": "Gateway"}, {"kind": "Deployment"}, {"kind": "Service"}])]
    ['Service', 'Deployment', 'Gateway']
    """
    return sorted(resources, key=_rank)


def _rank(resource: Resource) -> int:
    return _RANKS.get(results.ref(resource).kind, _RANKS[""])
