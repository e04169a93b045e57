"""A real Deployment makes a new ReplicaSet exactly where the forecast says that its pods restart."""

from __future__ import annotations

import os

from krm_fn.review.forecast.uniform_workloads import Deployment
from tests.review.forecast import edits
from tests.testbed import server

GENERATED = int(os.environ.get("KRM_FN_EDITS", "40"))  # `make forecast` takes 200
SEED = 9


def named(resource, namespace, index):
    resource["metadata"] |= {"name": f"edited-{index}", "namespace": namespace}
    return resource


def everything(namespace):
    """Pairs of states with a reason."""
    listed = [(edit.reason, edits.deployment(), edits.edited(edit)) for edit in edits.LISTED]
    pairs = [*listed, *((f"generated {index}", *pair) for index, pair in enumerate(edits.generated(GENERATED, SEED)))]
    return [(reason, named(old, namespace, index), named(new, namespace, index)) for index, (reason, old, new) in enumerate(pairs)]


def applied(plane, resources):
    refused = {}
    for resource in resources:
        answer = plane.client.apply(resource, dry_run=False)
        if not answer.ok:
            refused[resource["metadata"]["name"]] = answer.message
    return refused


def settled(plane, namespace):
    def holds():
        found = plane.client.get(f"/apis/apps/v1/namespaces/{namespace}/deployments")["items"]
        return all(each["status"].get("observedGeneration") == each["metadata"]["generation"] for each in found)

    server.eventually(holds)


def revisions(plane, namespace):
    """The number of ReplicaSets of each Deployment."""
    count: dict[str, int] = {}
    for each in plane.client.get(f"/apis/apps/v1/namespaces/{namespace}/replicasets")["items"]:
        name = each["metadata"]["ownerReferences"][0]["name"]
        count[name] = count.get(name, 0) + 1
    return count


def test_a_new_replica_set_appears_where_pods_restart(control_plane, controllers):
    namespace = control_plane.namespace("forecast-edits")
    pairs = everything(namespace)
    unusable = applied(control_plane, [old for _, old, _ in pairs])
    assert len(unusable) <= GENERATED // 10, unusable
    pairs = [pair for pair in pairs if pair[1]["metadata"]["name"] not in unusable]
    settled(control_plane, namespace)
    assert set(revisions(control_plane, namespace).values()) == {1}
    refused = applied(control_plane, [new for _, _, new in pairs])
    assert len(refused) <= GENERATED // 10, refused
    settled(control_plane, namespace)
    found = revisions(control_plane, namespace)
    wrong = []
    for reason, old, new in pairs:
        name = new["metadata"]["name"]
        if name not in refused and (found[name] > 1) != bool(Deployment().causes(old, new)):
            wrong.append((reason, found[name], Deployment().causes(old, new)))
    assert not wrong
    listed = [f"edited-{index}" for index in range(len(edits.LISTED))]
    assert [refused[name] for name in listed if name in refused] == []
