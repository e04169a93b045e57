"""From a commit to what Argo CD and Flux say: the real controllers, a fake kubelet, and the syncer with the rights of platform/syncer.

The tests take seconds in place of ten minutes, because one commit shortens the time in which a Deployment must make progress.
"""

from __future__ import annotations

import json
import time

import pytest

from tests.gitops import application, cluster, kustomization
from tests.support import builds
from tests.testbed import server, syncer
from tests.testbed.place import GRAPH, conditions

BROKEN = "processor:ImagePullBackOff"  # the fake kubelet cannot pull it


@pytest.fixture(scope="module", autouse=True)
def sync(dynamo, kubelet, kustomize, tmp_path_factory):
    """A syncer for all namespaces, as platform/syncer installs it with the component `pods`."""
    folder = tmp_path_factory.mktemp("syncer")
    with syncer.running(syncer.installed(dynamo, kustomize, folder, "pods"), folder, "--pods") as running:
        yield running


@pytest.fixture
def namespace(request):
    """A namespace for each test: the objects of the test before may still be deleted."""
    return "loop-" + request.node.originalname.removeprefix("test_").replace("_", "-")[:40].rstrip("-")


@pytest.fixture
def argo_app(argo, namespace, tmp_path):
    with application.made(argo, namespace, "llm-agg-kustomize", tmp_path) as app:
        yield prepared(app)


@pytest.fixture
def flux_app(controller, namespace, tmp_path):
    with kustomization.made(controller, namespace, tmp_path) as app:
        yield prepared(app)


def prepared(app):
    """The app with its first version, and with a patch that kustomize applies after the function."""
    builds.edit(app.folder / "kustomization.yaml", lambda file: file["transformers"].append("deadline.yaml"))
    write(app, "processor:1")
    return app


def write(app, image, deadline=600):
    """Write the image of one service, and the seconds after which a Deployment without progress fails."""
    app.change(lambda spec: spec["services"]["Processor"]["extraPodSpec"]["mainContainer"].update(image=image))
    patch = [{"op": "replace", "path": "/spec/progressDeadlineSeconds", "value": deadline}]
    named = {"apiVersion": "builtin", "kind": "PatchTransformer", "metadata": {"name": "deadline"}}
    (app.folder / "deadline.yaml").write_text(json.dumps({**named, "target": {"kind": "Deployment"}, "patch": json.dumps(patch)}))


def assert_serves(app):
    """The graph is successful, and its status is that of the last change."""
    graph = app.objects()[f"{GRAPH}/llm-agg"]
    assert graph["status"]["state"] == "successful"
    assert graph["status"]["observedGeneration"] == graph["metadata"]["generation"]
    assert conditions(graph["status"]).keys() == {"Ready"}


def assert_failed(app):
    """The graph fails, and its message has what a person needs for the repair."""
    parts = ("llm-agg-processor", f'ImagePullBackOff: container main, Back-off pulling image "{BROKEN}"')
    latest = {}

    def failed():
        status = app.objects()[f"{GRAPH}/llm-agg"]["status"]
        latest.update(conditions(status))
        # The reason of the pod may come after the failure of the Deployment.
        return status["state"] == "failed" and all(part in latest["Ready"]["message"] for part in parts)

    server.eventually(failed)
    assert latest["Ready"]["status"] == "False"
    assert (latest["Stalled"]["status"], latest["Stalled"]["reason"]) == ("True", "ProgressDeadlineExceeded")


def degraded(app, status):
    """The Application is Degraded, and its graph with the message of its status."""
    message = conditions(app.objects()[f"{GRAPH}/llm-agg"]["status"])["Ready"]["message"]
    shown = [each.get("health") for each in status["resources"] if each["kind"] == GRAPH]
    return status["health"]["status"] == "Degraded" and shown == [{"status": "Degraded", "message": message}]


def test_argo_cd(argo_app):
    """The user interface of Argo CD shows the message of the graph."""
    argo_app.repository.commit()
    argo_app.deploy()
    argo_app.wait(application.healthy)
    assert_serves(argo_app)

    write(argo_app, BROKEN, deadline=5)
    argo_app.sync()
    assert_failed(argo_app)
    argo_app.wait(lambda status: degraded(argo_app, status))

    write(argo_app, "processor:2")
    argo_app.sync()
    argo_app.wait(application.healthy)
    assert_serves(argo_app)


def test_flux(flux_app):
    """Flux names the workload or the graph that failed; the graph has the reason. The next commit needs no retry."""
    ready, name = flux_app.controller.wait, flux_app.namespace
    flux_app.deploy()
    ready(name, "True", flux_app.release())
    assert_serves(flux_app)

    write(flux_app, BROKEN, deadline=5)
    condition = ready(name, "False", flux_app.release())
    assert condition["reason"] == "HealthCheckFailed"
    assert "llm-agg" in condition["message"]
    assert_failed(flux_app)

    write(flux_app, "processor:2")
    ready(name, "True", flux_app.release())
    assert_serves(flux_app)


WORKER, ADAPTER = "Deployment/llm-agg-vllmworker", "DynamoGraphDeploymentScalingAdapter/llm-agg-vllmworker"
INTERVALS = 3


def scale(app, plane, replicas):
    """Scale the worker as an autoscaler does, once the syncer has initialized its adapter."""
    server.eventually(lambda: "replicas" in app.objects()[ADAPTER]["spec"])
    cluster.patch(plane, app.objects()[ADAPTER], {"spec": {"replicas": replicas}}, "/scale")
    server.eventually(lambda: app.objects()[WORKER]["status"].get("readyReplicas") == replicas)


def pods(app, plane):
    """The identities of the pods of the worker."""
    found = plane.client.get(f"/api/v1/namespaces/{app.namespace}/pods")["items"]
    return {pod["metadata"]["uid"] for pod in found if pod["metadata"]["labels"].get("nvidia.com/dynamo-component") == "VllmWorker"}


def change_the_worker(app):
    """A commit about the autoscaled service: another number in the graph, and a label on its adapter."""
    app.change(lambda spec: spec["services"]["VllmWorker"].update(replicas=2))
    builds.edit(app.folder / "kustomization.yaml", lambda file: file["transformers"].append("team.yaml"))
    label = {"apiVersion": "builtin", "kind": "LabelTransformer", "metadata": {"name": "team"}, "labels": {"team": "search"}}
    fields = [{"path": "metadata/labels", "create": True, "kind": "DynamoGraphDeploymentScalingAdapter"}]
    (app.folder / "team.yaml").write_text(json.dumps({**label, "fieldSpecs": fields}))


def switch_off(app):
    app.change(lambda spec: spec["services"]["VllmWorker"].pop("scalingAdapter"))


def assert_arrived(app, plane, before):
    """The commit is in the graph and in the adapter, which keeps its number, and no pod of the worker was replaced."""
    adapter = app.objects()[ADAPTER]
    assert app.objects()[f"{GRAPH}/llm-agg"]["spec"]["services"]["VllmWorker"]["replicas"] == 2
    assert (adapter["metadata"]["labels"]["team"], adapter["spec"]["replicas"]) == ("search", 5)
    assert app.objects()[WORKER]["spec"]["replicas"] == 5
    assert pods(app, plane) == before


def assert_git_sets_the_replicas(app):
    server.eventually(lambda: ADAPTER not in app.objects() and app.objects()[WORKER]["spec"]["replicas"] == 2)


def test_argo_cd_leaves_an_autoscaled_adapter_alone(argo_app):
    """Argo CD compares three times, and stays in sync without a setting about adapters."""
    plane, argo = argo_app.argo.plane, argo_app.argo
    argo_app.repository.commit()
    argo_app.deploy()
    argo_app.wait(application.healthy)
    scale(argo_app, plane, 5)
    before = pods(argo_app, plane)
    for _ in range(INTERVALS):
        compared = argo.application(argo_app.namespace)["status"]["reconciledAt"]
        server.eventually(lambda: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()) > compared)  # noqa: B023 - called before the next turn
        argo.refresh(argo_app.namespace)
        # A comparison can read the objects in the middle of a change of a controller, so the next one counts, too.
        argo_app.wait(lambda status: status["reconciledAt"] > compared and status["sync"]["status"] == "Synced")  # noqa: B023 - as above
        assert (argo_app.objects()[ADAPTER]["spec"]["replicas"], pods(argo_app, plane)) == (5, before)

    change_the_worker(argo_app)
    argo_app.sync()
    assert_arrived(argo_app, plane, before)
    switch_off(argo_app)
    argo_app.sync()
    assert_git_sets_the_replicas(argo_app)


def test_flux_leaves_an_autoscaled_adapter_alone(flux_app):
    """Flux applies three times. The adapter has no annotation of Flux, so that commits reach its other fields."""
    plane, controller, name = flux_app.controller.plane, flux_app.controller, flux_app.namespace
    flux_app.deploy()
    controller.wait(name, "True", flux_app.release())
    scale(flux_app, plane, 5)
    before = pods(flux_app, plane)
    for interval in range(INTERVALS):
        controller.reconcile(name, str(interval))
        assert (flux_app.objects()[ADAPTER]["spec"]["replicas"], pods(flux_app, plane)) == (5, before)

    change_the_worker(flux_app)
    controller.wait(name, "True", flux_app.release())
    assert_arrived(flux_app, plane, before)
    switch_off(flux_app)
    controller.wait(name, "True", flux_app.release())
    assert_git_sets_the_replicas(flux_app)
