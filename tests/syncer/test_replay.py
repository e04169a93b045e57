"""While the real controllers' statuses of a LeaderWorkerSet and of Grove's objects go by, no graph is successful too early or too late."""

from __future__ import annotations

import pytest

from krm_fn.syncer.status import SyncFeatures
from tests.support import given
from tests.testbed import expected_statuses, observed_statuses, replay, server, syncer
from tests.testbed.place import Place, conditions

FEATURES = SyncFeatures(scaling=False, grove_counts=False)
MAIN = {"command": ["python3", "-m", "dynamo.vllm"], "args": ["--model", "m"]}
LARGE = {"resources": {"limits": {"gpu": "8"}}}
DECODE = given.service("worker", main=MAIN, multinode={"nodeCount": 3}, replicas=1, **LARGE)
GROUPED = given.service("worker", main=MAIN, multinode={"nodeCount": 2}, replicas=2, scalingAdapter={"enabled": True}, **LARGE)
FRONTEND = given.service("frontend", replicas=2, scalingAdapter={"enabled": True})
GROUPS = given.graph({"Decode": DECODE}, name="groups")
CLIQUES = given.graph({"Frontend": FRONTEND, "Decode": GROUPED}, name="cliques")
LIVES = {
    "lws": (observed_statuses.LEADER_WORKER_SET, GROUPS, {}),
    "old-lws": (observed_statuses.OLD_LEADER_WORKER_SET, GROUPS, {}),
    "grove": (observed_statuses.GROVE, CLIQUES, {"orchestrator": "grove"}),
}


@pytest.fixture(scope="module")
def follower(dynamo, kustomize, tmp_path_factory):
    """A syncer that scales nothing, because here the tests play the autoscaler."""
    folder = tmp_path_factory.mktemp("syncer")
    with syncer.running(syncer.installed(dynamo, kustomize, folder), folder, "--no-scaling", "--no-grove-counts") as running:
        yield running


def test_successful_only_when_settled(dynamo, follower):
    """The lives go on side by side, one step at a time. After each, the states are compared as soon as the syncer has no more to write."""
    places = {name: Place(dynamo, dynamo.namespace(f"replay-{name}")) for name in LIVES}
    for name, (_, graph, settings) in LIVES.items():
        places[name].deploy(graph, **settings)
    for moment in range(max(len(life.steps) for life, _, _ in LIVES.values())):
        going = {name: life for name, (life, _, _) in LIVES.items() if moment < len(life.steps)}
        for name, life in going.items():
            replay.play(places[name], life, life.steps[moment])
        namespaces = frozenset(place.namespace for place in places.values())
        server.eventually(lambda: not expected_statuses.differences(dynamo.client, FEATURES, namespaces))  # noqa: B023 - called at once
        for name, life in going.items():
            step, status = life.steps[moment], places[name].status(LIVES[name][1]["metadata"]["name"])
            assert (status["state"] == "successful") == step.settled, f"{name}, {step.action}: {status}"
            assert (conditions(status)["Ready"]["status"] == "True") == step.settled, f"{name}, {step.action}"
