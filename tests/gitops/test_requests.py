"""A request in Git under the real Argo CD and Flux: one profiling, whatever becomes of the Job. The syncer tells the health.

The Job's template is immutable in a cluster, and a render with other settings changes it.
"""

from __future__ import annotations

import pytest

from tests.gitops import application, cluster, kustomization, profiling
from tests.gitops.profiling import JOB, OBJECTS, OUTPUT, REQUEST
from tests.support import builds
from tests.testbed import server, syncer


@pytest.fixture(scope="module", autouse=True)
def sync(dynamo, kubelet, kustomize, tmp_path_factory):
    """A syncer for all namespaces, as platform/syncer installs it with the component `requests`."""
    folder = tmp_path_factory.mktemp("syncer")
    profiling.grant(dynamo)
    with syncer.running(syncer.installed(dynamo, kustomize, folder, "requests"), folder, "--requests") as running:
        yield running


def configure(app, image):
    """Render with other settings: the copier's image is a part of the pod template, and no part of what is profiled."""
    builds.edit(app.folder / "render.yaml", lambda file: file["spec"].update(profiling={"copierImage": image}))


def test_argo_cd(argo, tmp_path):
    """Argo CD leaves the Job alone. Without RespectIgnoreDifferences it creates the Job again, whose pod then suspends it."""
    with application.made(argo, "request-argocd", "llm-agg-kustomize", tmp_path) as app:
        run = profiling.Run(argo.plane, app.namespace, app.folder / "graph.yaml")
        run.write()
        app.repository.commit()
        app.deploy()
        app.sync()
        run.is_in("Profiling")
        first = run.job()

        configure(app, "copier:2")
        app.sync()
        assert run.job() == first
        run.profile()
        run.is_in("Ready")
        app.wait(healthy)

        found = argo.application(app.namespace)
        cluster.patch(argo.plane, found, {"spec": {"syncPolicy": {"syncOptions": ["ServerSideApply=true"]}}})
        configure(app, "copier:3")
        run.write(labels={"team": "a"})  # Argo CD does not look at the Job's spec, so it syncs only if another object differs
        app.sync()
        server.eventually(lambda: run.job() not in ("", first))
        run.suspend()
        app.wait(healthy)
        assert {OUTPUT, *OBJECTS} <= run.objects().keys()

        run.leave()
        app.sync()
        server.eventually(lambda: not {OUTPUT, *OBJECTS} & run.objects().keys())


def healthy(status):
    return (status.get("health", {}).get("status"), status.get("sync", {}).get("status")) == ("Healthy", "Synced")


def test_flux(controller, tmp_path):
    """Flux leaves the Job alone, and waits for the request. It creates a deleted Job again, whose pod then suspends it."""
    with kustomization.made(controller, "request-flux", tmp_path) as app:
        run, ready = profiling.Run(controller.plane, app.namespace, app.folder / "graph.yaml"), controller.wait
        run.write()
        app.deploy()
        revision = app.release()
        run.is_in("Profiling")
        first = run.job()
        run.profile()
        ready(app.namespace, "True", revision)

        configure(app, "copier:2")
        ready(app.namespace, "True", app.release())
        assert run.job() == first

        run.write(model="other")
        condition = ready(app.namespace, "False", app.release())
        assert REQUEST.replace("/", f"/{app.namespace}/") in condition["message"]
        assert run.job() == first
        run.write()
        ready(app.namespace, "True", app.release())

        controller.plane.kubectl("delete", JOB, "--namespace", app.namespace)
        configure(app, "copier:3")
        revision = app.release()
        server.eventually(lambda: run.job() not in ("", first))
        run.suspend()
        ready(app.namespace, "True", revision)

        run.leave()
        ready(app.namespace, "True", app.release())
        server.eventually(lambda: not {OUTPUT, *OBJECTS} & run.objects().keys())
