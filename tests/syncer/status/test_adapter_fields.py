"""The first replicas and the owner of a scaling adapter, which no file of Git has."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.render import labels, workload_list
from krm_fn.syncer.status import SyncFeatures, adapter_fields, cached_object
from tests.support.cases import cases
from tests.syncer.status.graphs import NAMESPACE, NOW, adapter, deployment, entry, graph, index, leader_worker_set

ON = SyncFeatures()
UID = "1b4e28ba-2fa1-11d2-883f-0016d3cca427"
OWNER = {"apiVersion": "nvidia.com/v1beta1", "kind": "DynamoGraphDeployment", "name": "demo", "uid": UID, "controller": True}
READY = [{"type": "Ready", "status": "True", "reason": "Scaled", "message": "", "lastTransitionTime": NOW}]
NUMBERED = graph(entry("Decode"), services={"Decode": {"replicas": 3}})
IN_GIT = graph(*(entry("Decode", "LeaderWorkerSet", 1, f"demo-decode-{number}") for number in range(2)))


FIRST = [
    # reason, adapter, live workloads, graph, replicas
    ("a new adapter", adapter("Decode", None), [deployment("Decode", 1)], NUMBERED, 3),
    ("a graph without a number", adapter("Decode", None), [], graph(entry("Decode")), 1),
    ("a graph with 0", adapter("Decode", None), [], graph(entry("Decode"), services={"Decode": {"replicas": 0}}), 0),
    ("a set for each replica, which Git decides", adapter("Decode", None), [leader_worker_set("Decode")], IN_GIT, 2),
    ("an apply removed the number", adapter("Decode", None, {"conditions": READY}), [deployment("Decode", 5)], NUMBERED, 5),
    ("the same while the workload was scaled", adapter("Decode", None, {"lastScaleTime": NOW}), [deployment("Decode", 5)], NUMBERED, 5),
    ("the same without a workload", adapter("Decode", None, {"lastScaleTime": NOW}), [], NUMBERED, 3),
    ("an adapter with a number", adapter("Decode", 4), [], NUMBERED, None),
]


@cases(("found", "live", "owner", "replicas"), FIRST)
def test_an_adapter_without_a_number_gets_one(found, live, owner, replicas):
    expected = None if replicas is None else {"spec": {"replicas": replicas, "desiredReplicas": None}}
    assert adapter_fields.fields_patch(found, owner, UID, index(*live), ON) == expected


OFF = [
    ("the feature is off", NUMBERED, SyncFeatures(scaling=False)),
    ("another program manages the graph", NUMBERED._replace(entries=None), ON),
    ("the graph is deleted", NUMBERED._replace(deleted=True), ON),
]


@cases(("owner", "features"), OFF)
def test_an_adapter_gets_nothing(owner, features):
    assert adapter_fields.fields_patch(adapter("Decode", None), owner, UID, index(), features) is None


def written(by: str = "", subresource: str = "") -> dict[str, Any]:
    """The entry of managed fields of a program that set the replicas."""
    part = {"subresource": subresource} if subresource else {}
    return {"manager": by, "operation": "Update", **part, "fieldsV1": {"f:spec": {"f:replicas": {}}}}


EARLIER = [
    # reason, replicas, managed fields, the number that counts, is it in `spec.replicas`
    ("Git still sets the first number", 2, [written("flux")], 5, True),
    ("Git does not set it any more", None, [], 5, False),
    ("an autoscaler wrote the new field", 4, [written("hpa", "scale")], 4, False),
    ("Git set it again after the autoscaler", 2, [written("hpa", "scale"), written("flux")], 5, True),
    ("nobody knows who set it", 2, [], 5, True),
]


@pytest.mark.parametrize("version", ["v1alpha1", "v1beta1"])
@cases(("replicas", "managed", "number", "settled"), EARLIER)
def test_an_adapter_of_an_earlier_version_keeps_its_number(version, replicas, managed, number, settled):
    """An update of krm-fn must not scale anything, whatever is updated first."""
    target = {"name": "demo", "serviceName": "Decode", "componentName": "Decode"}
    spec = {**({} if replicas is None else {"replicas": replicas}), "desiredReplicas": 5, "dgdRef": target}
    kind = {"apiVersion": f"nvidia.com/{version}", "kind": "DynamoGraphDeploymentScalingAdapter"}
    found = cached_object.read(
        {**kind, "metadata": {"name": "demo-decode", "namespace": NAMESPACE, "managedFields": managed}, "spec": spec}
    )
    assert (found.replicas, found.is_initialized) == (number, settled)
    patch = adapter_fields.fields_patch(found, NUMBERED, UID, index(), ON)
    assert patch == (None if settled else {"spec": {"replicas": number, "desiredReplicas": None}})


def planned(version: str = "v1beta1", replicas: int | None = None, kind: str = "planner", marks: Any = None) -> Any:
    """A rendered graph with a planner."""
    components = [{"name": "Decode", "type": "decode", "replicas": 3}, {"name": "Planner", "type": kind}]
    services = {"Decode": {"componentType": "decode"}, "Planner": {"componentType": kind}}
    notes = {labels.WORKLOADS: workload_list.write([entry("Decode", replicas=replicas), entry("Planner", replicas=1)])}
    metadata = {"name": "demo", "namespace": NAMESPACE, "annotations": notes, "labels": marks or {}}
    spec = {"components": components} if version == "v1beta1" else {"services": services}
    return cached_object.read({"apiVersion": f"nvidia.com/{version}", "kind": "DynamoGraphDeployment", "metadata": metadata, "spec": spec})


REQUESTED = {labels.REQUEST_NAME: "mine", labels.REQUEST_NAMESPACE: NAMESPACE}
PLAIN = {key: value for key, value in OWNER.items() if key != "controller"}
STALE = {**OWNER, "uid": "stale"}
OPERATOR = {**OWNER, "blockOwnerDeletion": True}
OTHER = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "x", "uid": "other"}
FORMER = {**OWNER, "apiVersion": "nvidia.com/v1alpha1"}

OWNERS = [
    # reason, owners of the adapter, graph, owners to write
    ("a graph with a planner owns its adapter", [], planned(), [OWNER]),
    ("and does so already", [OWNER], planned(), None),
    ("as an operator wrote it", [OPERATOR], planned(), None),
    ("as an owner that is no controller, of an applied request", [PLAIN], planned(), [OWNER]),
    ("in the API version that planners compare", [FORMER], planned(), [OWNER]),
    ("in place of a deleted graph of the same name", [STALE], planned(), [OWNER]),
    ("beside another owner", [OTHER], planned(), [OTHER, OWNER]),
    ("not beside another controller", [{**OTHER, "controller": True}], planned(), None),
    ("not in v1alpha1, which no such planner reads", [], planned("v1alpha1"), None),
    ("not without a planner", [], planned(kind="frontend"), None),
    ("no more after the planner left", [OTHER, OWNER], planned(kind="frontend"), [OTHER]),
    ("no more after Git switched the adapter off, so that Argo CD prunes it", [OWNER], planned(replicas=3), []),
    ("but what an operator wrote stays", [OPERATOR], planned(replicas=3), None),
    ("and objects of an applied request are deleted with their graph", [OWNER], planned(replicas=3, marks=REQUESTED), None),
]


@cases(("before", "owner", "after"), OWNERS)
def test_the_owner_of_an_adapter(before, owner, after):
    """A planner of Dynamo 1.7 compares API version, kind, name, uid and `controller`."""
    found = adapter("Decode", 3, ownerReferences=before)
    expected = None if after is None else {"metadata": {"ownerReferences": after}}
    assert adapter_fields.fields_patch(found, owner, UID, index(), ON) == expected
