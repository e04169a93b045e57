"""A graph that the operator runs moves to Git by docs/migration.md while it answers: the same processes, and no request is lost."""

from __future__ import annotations

import copy
import json

import pytest

from tests.platform import admission, installation, journey
from tests.running import graphs, load
from tests.testbed import programs, server

READ, COMPARE, OFF, TAKE, LOOK = "1. Read the settings", "2. Compare", "3. Stop the operator", "4. Take over", "5. Look"
SETTINGS = {
    "apiVersion": "dynamo.krm-fn.io/v1alpha1",
    "kind": "DynamoRender",
    "metadata": {"name": "render"},
    "spec": {"grove": {"terminationDelay": "4h"}},
}
_SERVERS = ("--natsAddr=", "--etcdAddr=", "--prometheus-endpoint=")


def operator():
    """The operator's Deployment without servers: this runtime needs none."""
    deployment = copy.deepcopy(journey.DEPLOYMENT)
    manager = deployment["spec"]["template"]["spec"]["containers"][1]
    manager["args"] = [each for each in manager["args"] if not each.startswith(_SERVERS)]
    return deployment


def pids(bed, here):
    """The process of each container."""
    return {pod["metadata"]["name"]: bed.machine.pids(here.namespace, pod["metadata"]["name"]) for pod in here.listed("Pod")}


@pytest.fixture
def reader(bed, sync, tmp_path):
    """The reader of the page. The operator has made the objects of a graph whose pods answer."""
    for kind in ("leaderworkerset", "podgroup", "podcliqueset", "inferencepool"):
        installation.apply(bed.plane, (programs.ROOT / "tests" / "crds" / f"{kind}.yaml").read_text())
    for kind in ("PodClique", "PodCliqueScalingGroup"):
        installation.apply(bed.plane, json.dumps(journey.made_by_grove(kind)))
    bed.plane.kubectl("wait", "--for=condition=Established", "crd", "--all")
    with bed.namespace("adopted") as here:
        spec = graphs.v1alpha1("chat", "1.5.1", graphs.frontend(2), graphs.worker(2))["spec"]
        reader = journey.depart(bed.plane, tmp_path / "reader", "adopted", spec.pop("services"), SETTINGS, **spec)
        admission.keep(bed.plane.client, operator())
        bed.machine.eventually(lambda: bed.models(here, "chat") == [graphs.MODEL] and bed.chat(here, "chat") != "", "adopted")
        yield reader, here


def test_adoption_while_it_answers(reader, bed, measured):
    reader, here = reader
    before = pids(bed, here)
    assert len(before) == 4
    with load.running(bed.machine, *bed.frontend(here, "chat")) as run:
        for heading in (READ, COMPARE, OFF, TAKE, LOOK):
            run.note(heading)
            said = reader.run(reader.scripts(heading)[0]) if heading == OFF else reader.take(heading)
        assert "the same pods" in said
        run.note("the syncer says successful")
        bed.wait_until_successful(here, "chat")
        reader.collected()
    measured.append(f"adoption: {run.story()}")
    assert pids(bed, here) == before
    assert not run.lost, run.story()
    server.eventually(lambda: journey.owned(reader.everything()) == [])
