"""The fake kubelet makes pods of real controllers ready, and reports what goes wrong as a kubelet does."""

from __future__ import annotations

import pytest

from tests.support.cases import cases
from tests.testbed import api, server
from tests.testbed import kubelet as kubelets

COUNT = 20


def deployment(namespace, name, image="worker:1"):
    labels = {"app": name}
    spec = {"containers": [{"name": "main", "image": image}], "terminationGracePeriodSeconds": 30}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}},
    }


def listed(plane, namespace, plural, root="/api/v1"):
    return plane.client.get(f"{root}/namespaces/{namespace}/{plural}")["items"]


@pytest.fixture
def place(control_plane, request):
    return control_plane.namespace("kubelet-" + request.node.originalname.removeprefix("test_").replace("_", "-")[:40])


def test_deployments_become_available(control_plane, controllers, kubelet, place):
    for number in range(COUNT):
        assert control_plane.apply(deployment(place, f"worker-{number}"), dry_run=False).ok

    def available():
        found = listed(control_plane, place, "deployments", "/apis/apps/v1")
        return [each["status"].get("availableReplicas") for each in found] == [1] * COUNT

    server.eventually(available)


BROKEN = [
    ("ImagePullBackOff", "Pending", "not found"),
    ("ErrImagePull", "Pending", "not found"),
    ("CrashLoopBackOff", "Running", "back-off 5m0s restarting failed container=main"),
]


@cases(("tag", "phase", "message"), BROKEN)
def test_a_broken_image_is_reported(tag, phase, message, control_plane, kubelet, place):
    status = started(control_plane, place, tag)
    assert status["phase"] == phase
    waiting = status["containerStatuses"][0]["state"]["waiting"]
    assert waiting["reason"] == tag
    assert message in waiting["message"]
    assert conditions(status)["Ready"]["status"] == "False"


def test_a_pod_that_fits_no_node_is_reported(control_plane, kubelet, place):
    status = started(control_plane, place, "Unschedulable")
    assert status["phase"] == "Pending"
    refused = conditions(status)["PodScheduled"]
    assert (refused["status"], refused["reason"]) == ("False", "Unschedulable")
    assert "Insufficient nvidia.com/gpu" in refused["message"]


def test_a_pod_that_runs_and_is_not_ready(control_plane, kubelet, place):
    status = started(control_plane, place, "NotReady")
    assert status["phase"] == "Running"
    assert conditions(status)["Ready"]["status"] == "False"


def conditions(status):
    return {each["type"]: each for each in status["conditions"]}


def pod(namespace, tag, **spec):
    containers = [{"name": "main", "image": f"worker:{tag}"}]
    metadata = {"name": tag.lower(), "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers, **spec}}


def started(plane, namespace, tag):
    """The status of a pod whose image has that tag, as soon as the kubelet has written it."""
    wanted = pod(namespace, tag)
    assert plane.apply(wanted, dry_run=False).ok
    path = plane.client.path(wanted)
    server.eventually(lambda: bool(plane.client.get(path)["status"].get("conditions")))
    return plane.client.get(path)["status"]


def test_a_terminating_pod_ends(control_plane, kubelet, place):
    """A pod on a node stays until its kubelet deletes it."""
    wanted = pod(place, "one", nodeName="somewhere")
    assert control_plane.apply(wanted, dry_run=False).ok
    path = control_plane.client.path(wanted)
    assert control_plane.client.request("DELETE", path).ok
    server.eventually(lambda: control_plane.client.request("GET", path).status == 404)


def test_claims_are_bound(control_plane, kubelet, place):
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": place}, "spec": spec}
    assert control_plane.apply(claim, dry_run=False).ok
    server.eventually(lambda: control_plane.client.get(control_plane.client.path(claim))["status"].get("phase") == "Bound")


def job(namespace, profiler, copier="copier:1"):
    """A Job with an init container, which tries once."""
    containers = {"initContainers": [{"name": "profiler", "image": profiler}], "containers": [{"name": "output-copier", "image": copier}]}
    spec = {"backoffLimit": 0, "template": {"spec": {"restartPolicy": "Never", **containers}}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "profile", "namespace": namespace}, "spec": spec}


@pytest.mark.parametrize(
    ("images", "condition", "states"),
    [
        (("x:1", "y:1"), "Complete", ({"terminated": 0}, {"terminated": 0})),
        (("x:Exit3", "y:1"), "Failed", ({"terminated": 3}, {"waiting": None})),
        (("x:1", "y:Exit4"), "Failed", ({"terminated": 0}, {"terminated": 4})),
    ],
)
def test_pods_of_jobs_end(images, condition, states, control_plane, controllers, kubelet, request):
    """The real Job controller counts them."""
    place = control_plane.namespace(f"kubelet-job-{images[0].partition(':')[2]}-{images[1].partition(':')[2]}".lower())
    assert control_plane.apply(job(place, *images), dry_run=False).ok

    def ended():
        (found,) = listed(control_plane, place, "jobs", "/apis/batch/v1")
        return [each["type"] for each in found["status"].get("conditions", ()) if each["status"] == "True"]

    server.eventually(lambda: condition in ended())
    (pod,) = listed(control_plane, place, "pods")
    told = [*pod["status"]["initContainerStatuses"], *pod["status"]["containerStatuses"]]
    assert tuple({kind: value.get("exitCode") for kind, value in each["state"].items()} for each in told) == states


def test_a_container_runs_until_a_test_ends_it(control_plane, controllers, kubelet, place):
    assert control_plane.apply(job(place, "x:Runs"), dry_run=False).ok
    server.eventually(lambda: any("initContainerStatuses" in each["status"] for each in listed(control_plane, place, "pods")))
    (pod,) = listed(control_plane, place, "pods")
    assert pod["status"]["phase"] == "Pending"
    status = kubelets.end(pod, "out of memory", profiler=137)
    path = f"/api/v1/namespaces/{place}/pods/{pod['metadata']['name']}/status"
    assert control_plane.client.request("PATCH", path, {"status": status}, api.MERGE).ok
    server.eventually(lambda: listed(control_plane, place, "jobs", "/apis/batch/v1")[0]["status"].get("failed") == 1)
    (told,) = status["initContainerStatuses"]
    assert told["state"]["terminated"]["message"] == "out of memory"
