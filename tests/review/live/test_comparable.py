"""A live object as its file would be: what stays, and what the cluster or others added."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from krm_fn.kubernetes import identity
from krm_fn.review.live.server_fields import comparable
from tests.support import given
from tests.support.cases import cases

MARK = {"dynamo.krm-fn.io/owner": "DynamoGraphDeployment/chat"}
WORKER = given.service(
    "worker", replicas=2, main={"command": ["python3"], "args": ["-m", "dynamo.vllm"]}, resources={"limits": {"gpu": "1", "cpu": "1000m"}}
)


def rendered(kind, **settings):
    expansion = given.expanded(given.graph({"Worker": WORKER}), **settings)
    return next(each for each in expansion.resources if each["kind"] == kind)


def stored(resource):
    """The object as an API server prints it: with its own metadata, defaults, and other spellings."""
    live = copy.deepcopy(resource)
    live["metadata"].update(uid="0", resourceVersion="7", creationTimestamp="2026-01-01T00:00:00Z", generation=2)
    live["status"] = {"replicas": 1}
    if live["kind"] == "Service":
        live["spec"].update(clusterIP="10.0.0.1", clusterIPs=["10.0.0.1"], type="ClusterIP", sessionAffinity="None")
        for port in live["spec"]["ports"]:
            port["protocol"] = "TCP"
    if live["kind"] == "Deployment":
        live["metadata"].setdefault("annotations", {})["deployment.kubernetes.io/revision"] = "1"
        live["spec"].update(revisionHistoryLimit=10)
        live["spec"]["template"]["metadata"]["creationTimestamp"] = None
        pod = live["spec"]["template"]["spec"]
        pod.update(dnsPolicy="ClusterFirst", schedulerName="default-scheduler", serviceAccount=pod["serviceAccountName"])
        for container in pod["containers"]:
            container.update(terminationMessagePath="/dev/termination-log", imagePullPolicy="IfNotPresent")
            container["resources"]["limits"]["cpu"] = "1"
    return live


@pytest.mark.parametrize("kind", ["Deployment", "Service"])
def test_what_an_api_server_adds_is_no_difference(kind):
    made = rendered(kind)
    assert comparable(stored(made), made) == made


def test_a_group_is_the_same():
    worker = {**WORKER, "replicas": 1, "multinode": {"nodeCount": 2}}
    made = next(each for each in given.expanded(given.graph({"Worker": worker})).resources if each["kind"] == "LeaderWorkerSet")
    assert comparable(stored(made), made) == made


# reason, the change of the live pod, what stays
POD = [
    ("a variable that was removed from Git", lambda pod: main(pod)["env"].append({"name": "OLD", "value": "1"}), True),
    ("a probe that was removed from Git", lambda pod: main(pod).update(startupProbe={"httpGet": {"port": 1}}), True),
    ("a node selector that was removed", lambda pod: pod.update(nodeSelector={"a": "b"}), True),
    ("a default", lambda pod: pod.update(restartPolicy="Always", hostNetwork=False), False),
    ("an empty list", lambda pod: pod.update(tolerations=[]), False),
]


def main(pod):
    return pod["containers"][0]


@cases(("reason", "change", "stays"), POD)
def test_without_managed_fields_what_changes_pods_stays(reason, change, stays):
    made = rendered("Deployment")
    live = stored(made)
    change(live["spec"]["template"]["spec"])
    assert (comparable(live, made) != made) is stays


def test_without_managed_fields_entries_of_maps_stay_and_fields_do_not():
    made = given.item("ConfigMap", "a", data={"x": "1"})
    assert comparable({**made, "data": {"x": "1", "y": "2"}, "immutable": False}, made)["data"] == {"x": "1", "y": "2"}


def test_values_that_differ_are_the_live_ones():
    made = rendered("Deployment")
    live = stored(made)
    main(live["spec"]["template"]["spec"])["image"] = "registry.example/other:1"
    live["spec"]["replicas"] = 5
    found = comparable(live, made)
    assert found["spec"]["replicas"] == 5
    assert main(found["spec"]["template"]["spec"])["image"] == "registry.example/other:1"
    assert found != made


def managed(live, *managers):
    """The object with managed fields. Each manager has a name, an operation, a subresource, and owned fields as a tree."""
    names = ("manager", "operation", "subresource", "fieldsV1")
    live["metadata"]["managedFields"] = [dict(zip(names, each, strict=True)) for each in managers]
    return live


APPLIED: dict[str, Any] = {"f:metadata": {"f:annotations": {"f:dynamo.krm-fn.io/owner": {}}}}


def marked():
    made = rendered("Deployment")
    made["metadata"]["annotations"] = MARK
    return made


def test_fields_of_other_managers_are_left_out():
    made = marked()
    live = stored(made)
    live["spec"]["template"]["metadata"]["annotations"] = {"kubectl.kubernetes.io/restartedAt": "now", "ours": "1"}
    live["metadata"]["labels"]["team"] = "search"
    template: dict[str, Any] = {"f:metadata": {"f:annotations": {"f:ours": {}}}}
    managed(
        live,
        ("kustomize-controller", "Apply", "", {**APPLIED, "f:spec": {"f:template": template}}),
        ("kubectl-rollout", "Update", "", {"f:spec": {"f:template": {"f:metadata": {"f:annotations": {"f:kubectl": {}}}}}}),
    )
    found = comparable(live, made)
    assert found["spec"]["template"]["metadata"]["annotations"] == {"ours": "1"}
    assert "team" not in found["metadata"]["labels"]


def test_replicas_of_an_autoscaler_are_left_out_and_those_of_the_file_stay():
    """Replicas that leave the file fall to 1, unless another manager owns them."""
    made = marked()
    live = stored(made)
    live["spec"]["replicas"] = 3
    del made["spec"]["replicas"]
    scaler: tuple[Any, ...] = ("kube-controller-manager", "Update", "scale", {"f:spec": {"f:replicas": {}}})
    assert "replicas" not in comparable(managed(live, ("kubectl", "Apply", "", APPLIED), scaler), made)["spec"]
    ours = ("kubectl", "Apply", "", {**APPLIED, "f:spec": {"f:replicas": {}}})
    assert comparable(managed(live, ours), made)["spec"]["replicas"] == 3


def test_entries_of_lists_belong_to_their_managers():
    made = marked()
    live = stored(made)
    main(live["spec"]["template"]["spec"])["env"] += [{"name": "OURS", "value": "1"}, {"name": "THEIRS", "value": "1"}]
    env: dict[str, Any] = {'k:{"name":"OURS"}': {".": {}, "f:name": {}, "f:value": {}}}
    containers = {'k:{"name":"main"}': {".": {}, "f:env": env}}
    tree = {**APPLIED, "f:spec": {"f:template": {"f:spec": {"f:containers": containers}}}}
    found = comparable(managed(live, ("kubectl", "Apply", "", tree)), made)
    names = [each["name"] for each in main(found["spec"]["template"]["spec"])["env"]]
    assert "OURS" in names
    assert "THEIRS" not in names


def test_kubectl_remembers_what_it_applied():
    made = marked()
    live = stored(made)
    live["spec"]["template"]["metadata"]["annotations"] = {"mine": "1", "restartedAt": "now"}
    file = {"spec": {"template": {"metadata": {"annotations": {"mine": "1"}}}}}
    live["metadata"]["annotations"] = {**MARK, "kubectl.kubernetes.io/last-applied-configuration": json.dumps(file)}
    assert comparable(live, made)["spec"]["template"]["metadata"]["annotations"] == {"mine": "1"}


@pytest.mark.parametrize("value", [None, 1, "x", [], [1, None], {}, {"a": 1}])
def test_values_of_any_type_are_no_exception(value):
    made = marked()
    for path in (
        ("spec",),
        ("spec", "template"),
        ("spec", "template", "spec"),
        ("spec", "template", "spec", "containers"),
        ("metadata", "annotations"),
    ):
        for broken, other in ((copy.deepcopy(made), made), (made, copy.deepcopy(made))):
            holder = broken if other is made else other
            for step in path[:-1]:
                holder = holder[step]
            holder[path[-1]] = value
            assert identity.key(comparable(broken, other)) == identity.key(made)
    live = copy.deepcopy(made)
    live["metadata"].update(managedFields=value)
    comparable(live, made)
    comparable(managed(live, ("kubectl", "Apply", "", value)), made)
