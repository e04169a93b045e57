"""Scaling adapters of a graph with a planner, which the syncer makes their owner, under the real Argo CD and Flux.

Argo CD leaves an object with an owner out of what it manages, unless Git has the object. So it prunes an adapter that leaves Git only
after the syncer has removed the owner.
"""

from __future__ import annotations

import pytest
import yaml

from tests.gitops import application, argocd, cluster, flux, kustomization
from tests.support import beta
from tests.testbed import server, syncer
from tests.testbed.place import conditions

NEWER, GRAPH, ADAPTER = "nvidia.com/v1beta1", "DynamoGraphDeployment", "DynamoGraphDeploymentScalingAdapter"
IN_GIT, SCALED = 2, 3


@pytest.fixture(scope="module", autouse=True)
def sync(newer_plane, kustomize, tmp_path_factory):
    """A syncer for all namespaces, with the rights of platform/syncer."""
    folder = tmp_path_factory.mktemp("syncer")
    with syncer.running(syncer.installed(newer_plane, kustomize, folder), folder, "--no-leader-election") as running:
        yield running


@pytest.fixture
def argo_app(newer_plane, tmp_path_factory, tmp_path):
    with (
        argocd.running(newer_plane, tmp_path_factory.mktemp("argo")) as argo,
        application.made(argo, "owned-argocd", "llm-agg-kustomize", tmp_path) as app,
    ):
        yield prepared(app)


@pytest.fixture
def flux_app(newer_plane, tmp_path_factory, tmp_path):
    with (
        flux.running(newer_plane, tmp_path_factory.mktemp("flux")) as controller,
        kustomization.made(controller, "owned-flux", tmp_path) as app,
    ):
        yield prepared(app)


def prepared(app):
    """The app with a graph of v1beta1 that has a planner, in place of its own."""
    main = {"command": ["python3", "-m", "dynamo.vllm"], "args": ["--model", "m"]}
    worker = beta.component("Worker", main=main, replicas=IN_GIT, scalingAdapter={})
    graph = beta.graph(beta.component("Frontend", "frontend"), worker, beta.component("Planner", "planner"), name="llm-agg")
    del graph["metadata"]["namespace"]
    (app.folder / "graph.yaml").write_text(yaml.safe_dump(graph))
    return app


def live(app, plane, kind, name, version=NEWER):
    return cluster.get(plane, version, kind, name, app.namespace)


def adapter(app, plane):
    return live(app, plane, ADAPTER, "llm-agg-worker")


def replicas(app, plane):
    """The number of the Deployment of the worker, and of its ready pods."""
    found = live(app, plane, "Deployment", "llm-agg-worker", "apps/v1")
    return found["spec"]["replicas"], found["status"].get("readyReplicas")


def assert_owned(app, plane):
    """The graph owns the adapter, which has the first number, and its workload has that number too."""
    found, graph = adapter(app, plane), live(app, plane, GRAPH, "llm-agg")
    (owner,) = found["metadata"]["ownerReferences"]
    assert (owner["uid"], owner["controller"], owner["apiVersion"]) == (graph["metadata"]["uid"], True, NEWER)
    assert (found["spec"]["replicas"], conditions(found["status"])["Ready"]["status"]) == (IN_GIT, "True")
    assert replicas(app, plane) == (IN_GIT, IN_GIT)


def scale(app, plane):
    """Scale the adapter as `kubectl scale` and a planner do."""
    resource = {"apiVersion": NEWER, "kind": ADAPTER, **adapter(app, plane)}
    cluster.patch(plane, resource, {"spec": {"replicas": SCALED}}, "/scale")
    server.eventually(lambda: replicas(app, plane) == (SCALED, SCALED))


def change_another_field(app):
    """A commit about the component whose adapter was scaled."""
    app.change(lambda spec: spec["components"][1]["podTemplate"]["spec"].update(priorityClassName="system-cluster-critical"))


def assert_keeps_its_number(app, plane):
    found = live(app, plane, "Deployment", "llm-agg-worker", "apps/v1")
    assert found["spec"]["template"]["spec"]["priorityClassName"] == "system-cluster-critical"
    assert (adapter(app, plane)["spec"]["replicas"], found["spec"]["replicas"]) == (SCALED, SCALED)


def take_out(app):
    """A commit without the adapter: Git sets the replicas again."""
    app.change(lambda spec: spec["components"][1].pop("scalingAdapter"))


def assert_pruned(app, plane):
    """The adapter is gone, its graph is not, and the worker has the number of Git."""
    server.eventually(lambda: adapter(app, plane) is None)
    server.eventually(lambda: replicas(app, plane) == (IN_GIT, IN_GIT))
    assert live(app, plane, GRAPH, "llm-agg") is not None


def test_argo_cd(argo_app, newer_plane):
    """Argo CD shows the owned adapter as a resource of the Application, and as healthy."""
    argo_app.repository.commit()
    argo_app.deploy()
    status = argo_app.wait(application.healthy)
    assert_owned(argo_app, newer_plane)
    (shown,) = [each for each in status["resources"] if each["kind"] == ADAPTER]
    assert (shown["status"], shown["health"]["status"]) == ("Synced", "Healthy")

    scale(argo_app, newer_plane)
    change_another_field(argo_app)
    argo_app.sync()
    assert_keeps_its_number(argo_app, newer_plane)

    take_out(argo_app)
    argo_app.push()
    assert_pruned(argo_app, newer_plane)
    argo_app.wait(application.healthy)


def test_flux(flux_app, newer_plane):
    """Flux waits for the adapter, and prunes it by its own inventory."""
    ready, name = flux_app.controller.wait, flux_app.namespace
    flux_app.deploy()
    ready(name, "True", flux_app.release())
    assert_owned(flux_app, newer_plane)

    scale(flux_app, newer_plane)
    change_another_field(flux_app)
    ready(name, "True", flux_app.release())
    assert_keeps_its_number(flux_app, newer_plane)

    take_out(flux_app)
    ready(name, "True", flux_app.release())
    assert_pruned(flux_app, newer_plane)
