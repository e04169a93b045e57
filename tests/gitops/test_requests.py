"""A request in Git under the real Argo CD and Flux: one profiling, whatever becomes of the Job. The syncer tells the health.

The Job's template is immutable in a cluster, and a render with other settings changes it.
"""

from __future__ import annotations

import pytest
import yaml

from tests.gitops import application, cluster, kustomization, profiling
from tests.gitops.profiling import JOB, OBJECTS, OUTPUT, REQUEST
from tests.support import builds, markdown
from tests.testbed import programs, server, syncer

PAGE = programs.ROOT / "docs" / "argocd.md"


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
    """With the sync policy of the page, Argo CD leaves the Job alone; with server-side apply, the changed template stops the comparison.

    Without RespectIgnoreDifferences it creates the Job again, whose pod then suspends it.
    """
    with application.made(argo, "request-argocd", "llm-agg-kustomize", tmp_path) as app:
        run = profiling.Run(argo.plane, app.namespace, app.folder / "graph.yaml")
        run.write()
        app.repository.commit()
        app.deploy()
        app.sync()
        run.is_in("Profiling")
        first = run.job()

        configure(app, "copier:2")
        app.push()
        app.wait(lambda status: any("field is immutable" in each["message"] for each in status.get("conditions", ())))
        policy(app, page_policy()["syncOptions"])
        app.sync()
        assert run.job() == first
        run.profile()
        run.is_in("Ready")
        app.wait(application.healthy)

        policy(app, [])
        configure(app, "copier:3")
        run.write(labels={"team": "a"})  # Argo CD does not look at the Job's spec, so it syncs only if another object differs
        app.sync()
        server.eventually(lambda: run.job() not in ("", first))
        run.suspend()
        app.wait(application.healthy)
        assert {OUTPUT, *OBJECTS} <= run.objects().keys()

        run.leave()
        app.sync()
        server.eventually(lambda: not {OUTPUT, *OBJECTS} & run.objects().keys())


def policy(app, options):
    """Write the sync options of the Application."""
    change = {"spec": {"syncPolicy": {"syncOptions": options}}}
    cluster.patch(app.argo.plane, app.argo.application(app.namespace), change)


def page_policy():
    """The sync policy of an Application with a request, from the page about Argo CD."""
    (block,) = [text for _, text in markdown.fenced(PAGE.read_text(), "yaml") if "syncPolicy" in text]
    return yaml.safe_load(block)["syncPolicy"]


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
