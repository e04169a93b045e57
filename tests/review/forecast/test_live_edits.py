"""A real controller makes a new revision of a workload exactly where the forecast says that its pods restart."""

from __future__ import annotations

import os
from typing import Any

from krm_fn.review import forecast
from krm_fn.review.forecast import object_rules
from tests.review.forecast import edits, given
from tests.testbed import server

GENERATED = int(os.environ.get("KRM_FN_EDITS", "40"))  # `make forecast` takes 200
SEED = 9
NOTHING = object_rules.ClusterState({}, {}, {})
KINDS = ("Deployment", "StatefulSet", "DaemonSet")
_REVISIONS = ("replicasets", "controllerrevisions")
_GENERATION = "deprecated.daemonset.template.generation"
"""The revision of a DaemonSet: a pod with the same number stays, also if there is another ControllerRevision (IsPodUpdated)."""
_OWN_FIELDS: dict[str, dict[str, Any]] = {"Deployment": {}, "StatefulSet": {"serviceName": "edited"}, "DaemonSet": {}}
_OF_DEPLOYMENTS = {"StatefulSet": ("strategy",), "DaemonSet": ("strategy", "replicas")}


def workload(deployment, kind, namespace, index):
    """The Deployment as another kind with the same template."""
    fields = {name: value for name, value in deployment["spec"].items() if name not in _OF_DEPLOYMENTS.get(kind, ())}
    metadata = {**deployment["metadata"], "name": f"edited-{index}", "namespace": namespace}
    return {**deployment, "kind": kind, "metadata": metadata, "spec": {**fields, **_OWN_FIELDS[kind]}}


def everything(namespace):
    """Pairs of states with a reason. The listed edits are those of Deployments, the generated ones of all kinds in turn."""
    listed = [(edit.reason, "Deployment", edits.deployment(), edits.edited(edit)) for edit in edits.LISTED]
    generated = enumerate(edits.generated(GENERATED, SEED))
    pairs = [*listed, *((f"generated {index}", KINDS[index % len(KINDS)], *pair) for index, pair in generated)]
    return [
        (f"{kind}: {reason}", workload(old, kind, namespace, index), workload(new, kind, namespace, index))
        for index, (reason, kind, old, new) in enumerate(pairs)
    ]


def applied(plane, resources):
    refused = {}
    for resource in resources:
        answer = plane.client.apply(resource, dry_run=False)
        if not answer.ok:
            refused[resource["metadata"]["name"]] = answer.message
    return refused


def settled(plane, namespace):
    def holds():
        workloads = [
            entry for kind in KINDS for entry in plane.client.get(f"/apis/apps/v1/namespaces/{namespace}/{kind.lower()}s")["items"]
        ]
        return all(entry["status"].get("observedGeneration") == entry["metadata"]["generation"] for entry in workloads)

    server.eventually(holds)


def revisions(plane, namespace):
    """The number of revisions of each workload."""
    count: dict[str, int] = {}
    for resource in _REVISIONS:
        for entry in plane.client.get(f"/apis/apps/v1/namespaces/{namespace}/{resource}")["items"]:
            name = entry["metadata"]["ownerReferences"][0]["name"]
            count[name] = count.get(name, 0) + 1
    for entry in plane.client.get(f"/apis/apps/v1/namespaces/{namespace}/daemonsets")["items"]:
        count[entry["metadata"]["name"]] = int(entry["metadata"]["annotations"][_GENERATION])
    return count


def test_a_new_revision_appears_where_pods_restart(control_plane, controllers, measured):
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
    counts = revisions(control_plane, namespace)
    wrong = []
    for reason, old, new in pairs:
        name = new["metadata"]["name"]
        effect = forecast.kind_forecast(given.change(old, new), NOTHING).effect
        if name not in refused and (counts[name] > 1) != (effect == "restarts"):
            wrong.append((reason, counts[name], effect))
    restarted = sum(counts[new["metadata"]["name"]] > 1 for _, _, new in pairs)
    measured.append(f"{len(pairs) - len(refused)} edits of workloads, {restarted} with new pods, {len(wrong)} forecast wrongly")
    assert not wrong
    listed = [f"edited-{index}" for index in range(len(edits.LISTED))]
    assert [refused[name] for name in listed if name in refused] == []
