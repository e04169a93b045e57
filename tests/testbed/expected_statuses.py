"""Compares every stored status with the one that `krm_fn.syncer.status` computes from the objects of the cluster, as kubectl gets them."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from krm_fn.syncer.status import DEFAULT_FEATURES, cached_object, conditions, graph_status
from krm_fn.syncer.status.workload_index import WorkloadIndex

if TYPE_CHECKING:
    from krm_fn.syncer.status import SyncFeatures
    from tests.testbed.api import Client

Object = dict[str, Any]

_WORKLOADS = {
    "apps/v1": {"deployments": "Deployment"},
    "leaderworkerset.x-k8s.io/v1": {"leaderworkersets": "LeaderWorkerSet"},
    "grove.io/v1alpha1": {
        "podcliques": "PodClique",
        "podcliquescalinggroups": "PodCliqueScalingGroup",
        "podcliquesets": "PodCliqueSet",
    },
}
_DYNAMO = {
    "nvidia.com/v1alpha1": {
        "dynamographdeployments": "DynamoGraphDeployment",
        "dynamocomponentdeployments": "DynamoComponentDeployment",
        "dynamographdeploymentscalingadapters": "DynamoGraphDeploymentScalingAdapter",
    }
}
_PODS = {"v1": {"pods": "Pod"}}


def differences(client: Client, features: SyncFeatures = DEFAULT_FEATURES, namespaces: frozenset[str] = frozenset()) -> list[str]:
    """One line for each resource whose stored status is not what its workloads say now. Without `namespaces`: in all namespaces.

    Raises LookupError if the server does not list a kind. The status is computed twice: from the stored one, which must need no change, and
    from nothing, which must be equal except for times and the restart. So a leftover of an older status is found, too.
    """
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    children = WorkloadIndex.of(_listed(client, _WORKLOADS | (_PODS if features.pods else {})))
    resources = _listed(client, _DYNAMO)
    graphs = {each.key: each for each in map(cached_object.read, resources) if each.key.kind == cached_object.GRAPH}
    for graph in graphs.values():
        children.put_graph(graph)
    found = []
    for each in resources:
        if namespaces and each["metadata"]["namespace"] not in namespaces:
            continue
        live, bare = each.get("status", {}), {key: value for key, value in each.items() if key != "status"}
        read = cached_object.read(each)
        owner = graphs.get(read.key._replace(kind=cached_object.GRAPH, name=read.graph))
        missing = conditions.patch(live, graph_status.of_resource(cached_object.read(each), children, now, features, owner))
        fresh = graph_status.of_resource(cached_object.read(bare), children, now, features, owner)
        if missing is not None or conditions.patch(_timeless(live), _timeless(fresh)) is not None:
            name = f"{read.key.kind} {read.key.namespace}/{read.key.name}"
            found.append(f"{name}: stored {json.dumps(live)}, missing {json.dumps(missing)}, fresh {json.dumps(fresh)}")
    return found


def _listed(client: Client, kinds: dict[str, dict[str, str]]) -> list[Object]:
    """All objects of some kinds. A kind without a definition has none."""
    found = []
    for version, resources in kinds.items():
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        for resource, kind in resources.items():
            answer = client.request("GET", f"{root}/{resource}")
            if not answer.ok and answer.status != 404:
                raise LookupError(f"{resource}: {answer.message}")
            found += [{"apiVersion": version, "kind": kind, **each} for each in (answer.body["items"] if answer.ok else ())]
    return found


def _timeless(value: Any) -> Any:
    """The status without what depends on its past: times of transition, and the progress of a restart."""
    if isinstance(value, dict):
        return {key: _timeless(inner) for key, inner in value.items() if key not in ("lastTransitionTime", "lastScaleTime", "restart")}
    if isinstance(value, list):  # the order of conditions tells which one was added first
        return sorted((_timeless(each) for each in value), key=lambda each: each.get("type", "") if isinstance(each, dict) else "")
    return value
