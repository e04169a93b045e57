"""A graph that the operator runs moves to Git by docs/migration.md while it answers: the same processes, and no request is lost."""

from __future__ import annotations

import copy
import json

import pytest

from tests.platform import admission, installation, journey, newer, pages
from tests.running import bed as beds
from tests.running import graphs, load
from tests.running.bed import Bed
from tests.testbed import conversion_webhook, programs, server

SPACE = "adopted"
ADOPT, RECORD, COMPARE, OFF, NEWER, TAKE, LOOK = list(journey.STEPS)[1:8]
SETTINGS = {
    "apiVersion": "dynamo.krm-fn.io/v1alpha1",
    "kind": "DynamoRender",
    "metadata": {"name": "render"},
    "spec": {"behaviour": "v0.9", "grove": {"terminationDelay": "4h"}},
}
SERVICES = (graphs.frontend(2), graphs.worker(2, adapter=True))
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


def moved(reader, bed, here, *headings, webhook=None):
    """Take steps of the page while clients ask, with four pods; returns the load. The webhook stops with the operator."""
    bed.machine.eventually(lambda: bed.answering(here, "chat") == 2, here.namespace)
    before = pids(bed, here)
    assert len(before) == 4
    with load.running(bed.machine, *bed.frontend(here, "chat")) as run:
        for heading in headings:
            run.note(heading)
            said = reader.take(heading)
            if heading == OFF and webhook:
                webhook.stop()
        assert "the same pods" in said
        run.note("the syncer says successful")
        bed.wait_until_successful(here, "chat")
        reader.collected()
    assert pids(bed, here) == before
    assert not run.lost, run.story()
    return run


@pytest.fixture
def reader(bed, sync, tmp_path):
    """The reader of the page. An operator of 0.9 has made the objects of a graph."""
    for kind in ("leaderworkerset", "podgroup", "podcliqueset", "inferencepool"):
        installation.apply(bed.plane, (programs.ROOT / "tests" / "crds" / f"{kind}.yaml").read_text())
    for kind in ("PodClique", "PodCliqueScalingGroup"):
        installation.apply(bed.plane, json.dumps(journey.made_by_grove(kind)))
    bed.plane.kubectl("wait", "--for=condition=Established", "crd", "--all")
    with bed.namespace(SPACE) as here:
        spec = graphs.v1alpha1("chat", "1.5.1", *SERVICES)["spec"]
        reader = journey.depart(bed.plane, tmp_path / "reader", SPACE, spec.pop("services"), SETTINGS, **spec)
        admission.keep(bed.plane.client, operator())
        yield reader, here


@pytest.mark.ran(
    workload="Deployment",
    engine="mock engine, moved from the operator to Git",
    release="0.9",
    result="answered",
    by="NVIDIA's mock engine on the real runtime",
)
def test_adoption_while_it_answers(reader, bed, measured):
    reader, here = reader
    run = moved(reader, bed, here, ADOPT, RECORD, COMPARE, OFF, TAKE, LOOK)
    measured.append(f"adoption from 0.9: {run.story()}")
    server.eventually(lambda: journey.owned(reader.everything()) == [])


@pytest.fixture
def webhook(tmp_path):
    (tmp_path / "webhook").mkdir()
    with conversion_webhook.running(tmp_path / "webhook") as started:
        yield started


@pytest.fixture
def later(can_run, webhook, tmp_path, tmp_path_factory):
    """The reader of the page on a cluster of its own, in which an operator of 1.5 serves both versions and runs a graph."""
    with beds.started(tmp_path_factory) as running:
        bed = Bed(running.plane, running.node)
        bed.machine.images.update(beds.images())
        newer.install(bed.plane, webhook.conversion, newer.FILE)
        with bed.namespace(SPACE) as here:
            graph = graphs.v1beta1("chat", "1.5.1", *SERVICES)
            graph["metadata"]["namespace"] = SPACE
            newer.deploy(bed.plane, graph, newer.OPERATOR)
            folder = pages.clone(tmp_path / "reader", journey.PAGE)
            yield journey.Journey(bed.plane, folder, SPACE, graph, newer.OPERATOR), bed, here._replace(dynamo=newer.BETA)


@pytest.mark.ran(
    workload="Deployment",
    engine="mock engine, moved from the operator to Git",
    release="1.5",
    result="answered",
    by="NVIDIA's mock engine on the real runtime",
)
def test_adoption_from_a_newer_operator_while_it_answers(later, webhook, kustomize, tmp_path_factory, measured):
    """Its definitions, its webhook and the hash in the names of the workers are no reason for a new pod."""
    reader, bed, here = later
    with beds.syncing(bed, kustomize, tmp_path_factory):
        run = moved(reader, bed, here, ADOPT, RECORD, COMPARE, OFF, NEWER, TAKE, LOOK, webhook=webhook)
    measured.append(f"adoption from 1.5: {run.story()}")
    kinds = ("deployments", "services", "serviceaccounts", "roles", "rolebindings", "dgd", "dgdsa")
    server.eventually(lambda: journey.owned(reader.objects(*kinds)) == [])
