"""The graphs of examples/argocd and examples/flux, as they are, in a cluster that serves v1beta1.

Argo CD and Flux report them as healthy, and changed workers leave no gap.
"""

from __future__ import annotations

import time

import pytest

from krm_fn.render import labels
from tests.gitops import application, argocd, cluster, flux, kustomization
from tests.support import beta
from tests.testbed import server

NEWER, GRAPH = "nvidia.com/v1beta1", "DynamoGraphDeployment"
LATER = {"name": "TIER", "value": "gold"}
WORKERS = 2  # with maxUnavailable at 25 %, no worker may be missing


@pytest.fixture
def argo_app(newer_plane, tmp_path_factory, tmp_path):
    with (
        argocd.running(newer_plane, tmp_path_factory.mktemp("argo")) as argo,
        application.made(argo, "newer-argocd", "llm-agg-kustomize", tmp_path, older=False) as app,
    ):
        yield prepared(app)


@pytest.fixture
def flux_app(newer_plane, tmp_path_factory, tmp_path):
    with (
        flux.running(newer_plane, tmp_path_factory.mktemp("flux")) as controller,
        kustomization.made(controller, "newer-flux", tmp_path, older=False) as app,
    ):
        yield prepared(app)


def prepared(app):
    """The app with two workers, whose number Git sets."""
    app.change(lambda spec: (worker(spec).update(replicas=WORKERS), worker(spec).pop("scalingAdapter")))
    return app


def worker(spec):
    return beta.named({"spec": spec}, "VllmWorker")


def change_the_workers(app):
    """Another variable, so that the version of Dynamo stays the same."""
    app.change(lambda spec: beta.main({"spec": spec}, "VllmWorker")["env"].append(LATER))


def serve(app, plane):
    """Act as status syncer and volume controller; returns the graph, or None before it is applied."""
    cluster.run_pods(plane, app.namespace)
    graph = cluster.get(plane, NEWER, GRAPH, "llm-agg", app.namespace)
    if graph is not None:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        ready = {"type": "Ready", "status": "True", "reason": "told_by_the_test", "message": "", "lastTransitionTime": now}
        status = {"state": "successful", "observedGeneration": graph["metadata"]["generation"], "conditions": [ready]}
        cluster.report(plane, {"apiVersion": NEWER, "kind": GRAPH, **graph}, status)
    return graph


def workers(app, plane):
    """The ready pods that the Service of the workers selects."""
    service = cluster.get(plane, "v1", "Service", "llm-agg-vllmworker", app.namespace)
    assert service is not None
    selector = service["spec"]["selector"].items()
    pods = plane.client.get(f"/api/v1/namespaces/{app.namespace}/pods")["items"]
    return [each for each in pods if selector <= each["metadata"]["labels"].items() and is_ready(each)]


def app_deployment(app, plane):
    """The identity of the Deployment of the workers."""
    found = cluster.get(plane, "apps/v1", "Deployment", "llm-agg-vllmworker", app.namespace)
    assert found is not None
    return found["metadata"]["uid"]


def is_ready(pod):
    conditions = {each["type"]: each["status"] for each in pod["status"].get("conditions", ())}
    return conditions.get("Ready") == "True" and "deletionTimestamp" not in pod["metadata"]


def generations(pods):
    return {each["metadata"]["labels"][labels.WORKER_HASH] for each in pods}


def roll(app, plane):
    """Wait until all workers run the later image. Returns the smallest number of ready workers until then."""
    fewest = [WORKERS]

    def done():
        pods = workers(app, plane)
        fewest.append(len(pods))
        return len(pods) == WORKERS and all(LATER in each["spec"]["containers"][0]["env"] for each in pods)

    server.eventually(done)
    return min(fewest)


def assert_rolls_without_a_gap(app, plane, publish):
    """Change the workers. They keep their Deployment, get a new generation, and are never fewer than wanted."""
    before = app_deployment(app, plane)
    server.eventually(lambda: len(workers(app, plane)) == WORKERS)
    (older,) = generations(workers(app, plane))
    change_the_workers(app)
    published = publish()
    assert roll(app, plane) >= WORKERS
    assert app_deployment(app, plane) == before
    (newer,) = generations(workers(app, plane))
    assert newer != older
    return published


def test_argo_cd(argo_app, newer_plane):
    def healthy(status):
        serve(argo_app, newer_plane)
        return application.healthy(status)

    argo_app.repository.commit()
    argo_app.deploy()
    argo_app.wait(healthy)
    commit = assert_rolls_without_a_gap(argo_app, newer_plane, argo_app.push)
    argo_app.wait(lambda status: healthy(status) and application.synced(status, commit))


def test_flux(flux_app, newer_plane):
    def succeeds(revision):
        serve(flux_app, newer_plane)
        return flux_app.controller.says(flux_app.namespace, "True", revision)

    flux_app.deploy()
    first = flux_app.release()
    server.eventually(lambda: succeeds(first))
    second = assert_rolls_without_a_gap(flux_app, newer_plane, flux_app.release)
    server.eventually(lambda: succeeds(second))
