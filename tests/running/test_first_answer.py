"""From `git push` to the first answer, part by part, and from a second push to the new status. The run prints the figures at its end.

Argo CD fetches from Git, and renders in its repo server by the plugin of examples/argocd. For Flux, the script of examples/flux renders in
CI before the push; source-controller does not run, so that the artifact is published without a registry. The tests do what a webhook does.
Without a webhook, Argo CD looks after two to three minutes, and Flux every minute (examples/flux/cluster/source.yaml).
"""

from __future__ import annotations

import contextlib
import json
import time

import pytest
import yaml

from tests.gitops import application, argocd, flux, kustomization
from tests.running import graphs
from tests.running.bed import successful
from tests.support import builds
from tests.testbed import server
from tests.testbed.place import GRAPH

SETTINGS = {"behaviour": "v1.5", "sourceVersion": "v1alpha1"}


class Parts:
    """The parts of a time, in seconds. The first begins now, and each other one at the end of the one before."""

    def __init__(self, bed, here):
        self.seconds = {}
        self._bed, self._here, self._began = bed, here, time.monotonic()

    def end(self, what, holds=lambda: True):
        """A part ends as soon as `holds` is true."""
        self._bed.machine.eventually(holds, self._here.namespace)
        began, self._began = self._began, time.monotonic()
        self.seconds[what] = self._began - began

    def follow(self, workers):
        """From the end of the push or of the fetch to the status."""
        here, wanted = self._here, [1, workers]
        self.end("apply", lambda: applied(here) == wanted)
        self.end("pods run", lambda: [pod["status"].get("phase") for pod in here.listed("Pod")] == ["Running"] * sum(wanted))
        self.end("pods ready", lambda: sorted(each["status"].get("readyReplicas", 0) for each in here.listed("Deployment")) == wanted)
        self.end("status", lambda: successful(here.get(GRAPH, "chat")))

    def __str__(self):
        parts = ", ".join(f"{what} {seconds:.1f}" for what, seconds in self.seconds.items())
        return f"{parts}; {sum(self.seconds.values()):.1f} s together"


def applied(here):
    """The replicas of all services, once the graph and its Deployments agree about them."""
    found = [sorted(each["spec"]["replicas"] for each in here.listed("Deployment"))]
    found += [sorted(each["replicas"] for each in graph["spec"]["services"].values()) for graph in here.listed(GRAPH)]
    return found[0] if len(found) == 2 and found[0] == found[1] else []


@contextlib.contextmanager
def explained(status):
    """A failure also shows what the pipeline says."""
    try:
        yield
    except Exception as failure:
        failure.add_note(json.dumps(status(), indent=1))
        raise


def first_push(name, app, push, bed, here, reported):
    """Push a new graph and ask it; returns the line with the figures. `push` ends the parts until the objects can be applied."""
    graph = graphs.v1beta1("chat", "1.5.1", graphs.frontend(), graphs.worker())
    (app.folder / "graph.yaml").write_text(yaml.safe_dump(graph))
    parts = Parts(bed, here)
    push(parts)
    parts.follow(workers=1)
    parts.end("answer", lambda: bed.answers(here, "chat"))
    figures = f"{name}, from a push to the first answer: {parts}"
    parts.end("report", reported)
    return f"{figures}; {name} reports success {parts.seconds['report']:.1f} s later"


@pytest.mark.ran(
    workload="Deployment",
    engine="mock engine, applied by Argo CD",
    release="1.5",
    result="answered",
    by="NVIDIA's mock engine on the real runtime",
)
def test_argo_cd(bed, sync, measured, tmp_path_factory, tmp_path):
    """The Application exists before its folder does. The second push needs one worker more."""
    with (
        bed.namespace("push-argocd") as here,
        argocd.running(bed.plane, tmp_path_factory.mktemp("argo")) as argo,
        application.made(argo, here.namespace, "llm-agg", tmp_path) as app,
        explained(lambda: argo.application(app.namespace)["status"]),
    ):
        (app.folder / "graph.yaml").unlink()
        app.repository.commit()
        app.deploy(**SETTINGS)
        app.wait(lambda status: bool(status.get("conditions")))

        def push(parts):
            commit = app.push()
            parts.end("push")
            app.wait(lambda status: status.get("sync", {}).get("revision") == commit)
            parts.end("fetch and compare")
            parts.seconds["fetch and compare"] -= argo.renders()[-1]
            parts.seconds["render in the repo server"] = argo.renders()[-1]

        def is_healthy():
            return argo.application(app.namespace)["status"].get("health", {}).get("status") == "Healthy"

        measured.append(first_push("Argo CD", app, push, bed, here, is_healthy))
        app.change(lambda spec: spec["components"][1].update(replicas=2))
        parts = Parts(bed, here)
        push(parts)
        parts.follow(workers=2)
        measured.append(f"Argo CD, from a push of another number of workers to the status: {parts}")


@pytest.mark.ran(
    workload="Deployment",
    engine="mock engine, applied by Flux",
    release="1.5",
    result="answered",
    by="NVIDIA's mock engine on the real runtime",
)
def test_flux(bed, sync, measured, tmp_path_factory, tmp_path):
    """The Kustomization exists before its artifact does."""
    with (
        bed.namespace("push-flux") as here,
        flux.running(bed.plane, tmp_path_factory.mktemp("flux")) as controller,
        kustomization.made(controller, here.namespace, tmp_path) as app,
        explained(lambda: controller.ready(app.namespace)),
    ):
        builds.edit(app.folder / "render.yaml", lambda render: render["spec"].update(SETTINGS))
        app.deploy()
        server.eventually(lambda: bool(controller.ready(app.namespace)))

        def push(parts):
            app.render()
            parts.end("render in CI")
            app.publish()
            parts.end("publish without a registry")

        measured.append(first_push("Flux", app, push, bed, here, lambda: controller.ready(app.namespace)["status"] == "True"))
