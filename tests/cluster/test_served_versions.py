"""A syncer finds out in which version the server serves Dynamo's kinds, and goes on when the definitions are exchanged under it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from krm_fn.cluster.api_resources import SERVED, ServedVersions
from krm_fn.render import labels
from krm_fn.schemas.generate import crds
from tests.support import beta, definitions
from tests.support.cases import cases
from tests.testbed import api, control_plane, place, programs, server, syncer

pytestmark = pytest.mark.server

ALPHA, BETA = "v1alpha1", "v1beta1"
OPTIONS = ("--graph-replicas", "--no-leader-election")
GRAPHS = "/apis/nvidia.com/{}/namespaces/default/dynamographdeployments/chat"
ADAPTER = "/apis/nvidia.com/{}/namespaces/default/dynamographdeploymentscalingadapters/chat-worker"
DEPLOYMENT = "/apis/apps/v1/namespaces/default/deployments/chat-{}"


@pytest.fixture(scope="module")
def plane(tmp_path_factory):
    """A control plane of its own, because the tests exchange its definitions. No controller runs."""
    needed = control_plane.Programs(*(programs.path(name) for name in ("etcd", "kube-apiserver", "kubectl")))
    with control_plane.running(tmp_path_factory.mktemp("versions"), needed) as running:
        yield running


def serve(plane, version):
    definitions.serve(plane, crds.definitions(version))
    other = ALPHA if version == BETA else BETA
    server.eventually(lambda: not plane.client.request("GET", f"/apis/nvidia.com/{other}/dynamographdeployments").ok)


def rendered(version):
    """A graph with a planner and a worker with an adapter, in a version, and its objects."""
    parts = (beta.component("Planner", "planner"), beta.component("Worker", scalingAdapter={}, replicas=1))
    return place.render(beta.graph(*parts, namespace="default"), sourceVersion=version, behaviour="v1.5")


def apply(plane, objects):
    for each in objects:
        answer = plane.client.request("PATCH", f"{plane.client.path(each)}?fieldManager=gitops&force=true", each, api.APPLY)
        assert answer.ok, answer.message


def up(plane, part, replicas=1):
    """What the controller of Deployments would tell."""
    live = plane.client.get(DEPLOYMENT.format(part))
    counts = {f"{each}eplicas": replicas for each in ("r", "updatedR", "readyR", "availableR")}
    told = {"observedGeneration": live["metadata"]["generation"], **counts, "conditions": [{"type": "Available", "status": "True"}]}
    answer = plane.client.request("PATCH", f"{DEPLOYMENT.format(part)}/status", {"status": told}, api.MERGE)
    assert answer.ok, answer.message


def counted(plane, version):
    """The counts of all components in the status of the graph."""
    status = plane.client.get(GRAPHS.format(version)).get("status", {})
    found: dict[str, Any] = status.get("services" if version == ALPHA else "components") or {}
    return found if status.get("state") == "successful" else {}


def scale(plane, version, replicas):
    answer = plane.client.request("PATCH", f"{ADAPTER.format(version)}/scale", {"spec": {"replicas": replicas}}, api.MERGE)
    assert answer.ok, answer.message
    server.eventually(lambda: plane.client.get(DEPLOYMENT.format("worker"))["spec"]["replicas"] == replicas)
    up(plane, "worker", replicas)


def worker(plane, version):
    """The worker in the spec of the graph."""
    spec = plane.client.get(GRAPHS.format(version))["spec"]
    return spec["services"]["Worker"] if version == ALPHA else next(each for each in spec["components"] if each["name"] == "Worker")


def judged(plane, version, replicas):
    """Waits until the syncer has written all that it writes about the graph, with this number of workers."""
    server.eventually(lambda: counted(plane, version).get("Worker", {}).get("replicas") == replicas)
    server.eventually(lambda: plane.client.get(ADAPTER.format(version)).get("status", {}).get("replicas") == replicas)
    server.eventually(lambda: worker(plane, version).get("replicas") == replicas)


def test_a_syncer_follows_an_exchange_of_the_definitions(plane, tmp_path):
    """Status, scaling and the numbers for a planner go on: after the exchange in the words of v1beta1, and of v1alpha1 on the way back."""
    serve(plane, ALPHA)
    apply(plane, rendered(ALPHA))
    for part in ("planner", "worker"):
        up(plane, part)
    with syncer.running(plane.kubeconfig, tmp_path, *OPTIONS, hasty=True) as running:
        scale(plane, ALPHA, 2)
        judged(plane, ALPHA, 2)
        assert counted(plane, ALPHA)["Worker"]["componentName"] == "chat-worker"
        for version, replicas in ((BETA, 3), (ALPHA, 4)):
            serve(plane, version)
            apply(plane, rendered(version))
            scale(plane, version, replicas)
            judged(plane, version, replicas)
            told = counted(plane, version)["Worker"]
            assert told["componentNames"] == ["chat-worker"]
            assert told.get("componentName") == (None if version == BETA else "chat-worker")
        assert "dynamographdeployments as v1beta1" in running.log()
    planner = plane.client.get(DEPLOYMENT.format("planner"))
    assert planner["spec"]["replicas"] == 1, "only the worker has an adapter"
    assert labels.WORKER_HASH in plane.client.get(DEPLOYMENT.format("worker"))["spec"]["template"]["metadata"]["labels"]


class Asked:
    """A server that serves these plural names in these versions, and counts the questions."""

    def __init__(self, **served: list[str]) -> None:
        self.served = served
        self.questions = 0

    async def get(self, path: str) -> dict[str, Any] | None:
        self.questions += 1
        names = self.served.get(path.rpartition("/")[2])
        return None if names is None else {"resources": [{"name": name} for name in names]}


PATHS = [
    ("a list", f"/apis/nvidia.com/{SERVED}/dynamographdeployments", "/apis/nvidia.com/v1beta1/dynamographdeployments"),
    ("an object", f"/apis/nvidia.com/{SERVED}/namespaces/a/dynamomodels/b", "/apis/nvidia.com/v1alpha1/namespaces/a/dynamomodels/b"),
    ("a kind that is not there", f"/apis/nvidia.com/{SERVED}/others", "/apis/nvidia.com/v1alpha1/others"),
    ("another group", "/apis/apps/v1/deployments", "/apis/apps/v1/deployments"),
]


@cases(("path", "resolved"), PATHS)
def test_a_path_gets_the_version_of_its_kind(path, resolved):
    """Of two versions that are served, the newer one is used."""
    versions = ServedVersions(Asked(v1beta1=["dynamographdeployments"], v1alpha1=["dynamographdeployments", "dynamomodels"]).get)
    assert asyncio.run(versions.path(path)) == resolved


def test_the_server_is_asked_once_and_again_after_an_unknown_path():
    async def run():
        asked = Asked(v1alpha1=["dynamographdeployments"])
        versions = ServedVersions(asked.get)
        path = f"/apis/nvidia.com/{SERVED}/dynamographdeployments"
        await asyncio.gather(*(versions.path(path) for _ in range(5)))
        assert asked.questions == 2
        asked.served = {"v1beta1": ["dynamographdeployments"]}
        assert (await versions.path(path)).split("/")[3] == ALPHA
        versions.forget()
        assert versions.of("dynamographdeployments") == ALPHA, "until the server has answered"
        assert (await versions.path(path)).split("/")[3] == BETA

    asyncio.run(run())
