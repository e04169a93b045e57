"""The real controller of LeaderWorkerSets rolls out rendered DisaggregatedSets, as the forecast and the status of their graphs say.

A prefill pod is ready half a second after its creation, and a decode pod a second later.
"""

from __future__ import annotations

import itertools
import json
import os
import time

import pytest

from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.render.schema import object_changes
from krm_fn.review import forecast
from krm_fn.syncer.status.workload_index import WorkloadIndex
from tests.support import disaggregated_faults
from tests.testbed import kubelet as kubelets
from tests.testbed import server
from tests.upgrades import generations
from tests.upgrades.generations import PODS, ROLES, SETS
from tests.upgrades.paired_graphs import NEW, Graph, Shape

STRIDE = int(os.environ.get("KRM_FN_SET_STRIDE", "14"))  # every fourteenth shape; 1 takes all
FIRST = int(os.environ.get("KRM_FN_SET_FIRST", "0"))
SECONDS = {"Prefill": 0.5, "Decode": 1.5}
REVISION = "disaggregatedset.x-k8s.io/revision"
USUAL = Shape()
SHAPES = [
    *(Shape(*shape) for shape in itertools.product((1, 2, 3, 4), (1, 2, 3, 4), ((1, 1), (1, 2), (2, 1)))),
    *(Shape(*shape) for shape in itertools.product((2, 4), (2, 4), ((1, 1),), (("0", "1"), ("2", "0"), ("1", "1")))),
]
EDITS = [{"image": NEW}, {"image": NEW, "model": "acme/other"}]
"""The states after the first one: another image, then other arguments."""


@pytest.fixture(scope="module")
def kubelet(control_plane):
    """A kubelet whose decode pods start more slowly than its prefill pods."""
    with kubelets.running(control_plane, lambda pod: SECONDS.get(pod["metadata"]["labels"].get("nvidia.com/dynamo-component"), 0)):
        yield


@pytest.fixture
def graphs(live_pods, kubelet, control_plane):
    """Makes graphs, and deletes them at the end."""
    deployed: list[Graph] = []

    def make(name: str, shape: Shape = USUAL, *, joined: bool = True) -> Graph:
        deployed.append(Graph(control_plane, live_pods, name, shape, joined=joined))
        return deployed[-1]

    yield make
    for graph in deployed:
        live_pods.move(graph.now, {})
    server.eventually(lambda: not control_plane.client.get(PODS)["items"])


def test_there_are_sixty_shapes():
    assert len(SHAPES) == len(set(SHAPES)) == 60


def test_a_change_never_leaves_a_graph_without_both_roles_of_one_generation(graphs, live_pods, control_plane, measured):
    """At each event, pods of both roles of one generation are ready; the controller leaves a role alone only between two of its writes.

    The pods that are replaced, and the most replicas at one time, are those of the forecast. The same graphs without sets show that the
    measure notices what it looks for.
    """
    chosen = [*enumerate(SHAPES)][FIRST::STRIDE]
    joined = [graphs(f"joined-{number}", shape) for number, shape in chosen]
    apart = [graphs(f"apart-{number}", shape, joined=False) for number, shape in chosen]
    for graph in (*joined, *apart):
        graph.apply()
    live_pods.settle()
    found: dict[str, list[list[generations.Moment]]] = {"with sets": [], "without": []}
    with generations.recording(control_plane.kubeconfig) as recorder:
        for edit in EDITS:
            before, start = live_pods.pods(), time.monotonic()
            changes = {graph.namespace: graph.apply(**edit) for graph in (*joined, *apart)}
            live_pods.settle()
            after = live_pods.pods()
            restarting = {service for change in changes.values() for service in forecast.restarting(change)}
            assert restarting == {service for service, uids in before.items() if uids.isdisjoint(after[service])}
            for graph in joined:
                sets = recorder.moments(SETS, graph.namespace, start)
                assert generations.alone_in_two_states(sets) == [], graph.shape
                said = peaks(changes[graph.namespace])
                most = {role: max(moment.total(role) for moment in sets) for role in ROLES}
                # A step of a rollout without surge first adds a replica and then removes one.
                assert most == said or (graph.shape.steps and most == {**said, "Prefill": said["Prefill"] + 1}), graph.shape
            for word, members in (("with sets", joined), ("without", apart)):
                found[word] += [recorder.moments(PODS, graph.namespace, start) for graph in members]
    measured.extend(f"{word}: {generations.summary(runs)}" for word, runs in found.items())
    assert [moment for run in found["with sets"] for moment in run if not moment.is_served()] == []
    assert [moment for run in found["without"] for moment in run if not moment.is_served()]


def peaks(changes):
    """The most replicas of each role at one time, by the forecast."""
    rollouts = forecast.forecast(changes).rollouts
    return {rollout.service.name: rollout.new_units + rollout.steps.surge for rollout in rollouts if rollout.together and rollout.service}


def replace(graph, *options, **edit):
    """Replaces the set, as `kubectl replace` does."""
    graph.plane.kubectl("replace", *options, "-f", "-", input=json.dumps(graph.joined(**edit)))


def test_no_generation_is_left_over(graphs, live_pods):
    """`settle` waits until no LeaderWorkerSet, StatefulSet or pod of another generation is left."""
    replaced, created, reverted, renamed = (graphs(name) for name in ("replaced", "created-again", "reverted", "renamed"))
    for graph in (replaced, created, reverted, renamed):
        graph.apply()
    live_pods.settle()
    old = reverted.replicas()
    replace(replaced, image=NEW)
    replace(created, "--force", image=NEW)
    renamed.apply(names=("Fill", "Decode"))
    reverted.apply(image=NEW)
    server.eventually(lambda: len(reverted.items(PODS)) > sum(old.values()))
    reverted.apply()
    live_pods.settle()
    assert reverted.replicas() == old
    for graph in (replaced, created, reverted, renamed):
        services = [entry for entry in graph.items("/api/v1/services") if REVISION in entry["metadata"].get("labels", {})]
        revisions = {entry["metadata"]["labels"][REVISION] for entry in graph.items(SETS)}
        assert {entry["metadata"]["labels"][REVISION] for entry in services} == revisions


def test_other_names_of_all_roles_leave_the_old_pods(graphs, live_pods):
    """The forecast warns of it, and says which LeaderWorkerSets to delete."""
    graph = graphs("other-names")
    graph.apply()
    live_pods.settle()
    old = graph.replicas()
    outcome = forecast.forecast(graph.apply(names=("Fill", "Generate")))
    assert [finding.code for part in outcome.outcomes for finding in part.findings] == ["DYN832"]
    assert outcome.restarting == ()
    server.eventually(lambda: all(graph.status(service).ready for service in ("Fill", "Generate")))
    assert old.items() < graph.replicas().items()
    for role in ("prefill", "decode"):
        path = f"/apis/leaderworkerset.x-k8s.io/v1/namespaces/{graph.namespace}/leaderworkersets"
        assert graph.plane.client.request("DELETE", f"{path}?labelSelector=disaggregatedset.x-k8s.io/role={role}").ok
    live_pods.settle()


def test_other_replicas_replace_no_pod(graphs, live_pods):
    graph = graphs("scaled")
    graph.apply()
    live_pods.settle()
    before = live_pods.pods()
    graph.shape = graph.shape._replace(prefill=4)
    outcome = forecast.forecast(graph.apply())
    live_pods.settle()
    added = {service.name: len(uids - before[service]) for service, uids in live_pods.pods().items()}
    assert added == {"Frontend": 0, "Prefill": 1, "Decode": 0}
    assert all(before[service] <= uids for service, uids in live_pods.pods().items())
    assert outcome.restarting == ()


def test_a_role_of_one_node_gets_two(graphs, live_pods):
    """The object stays, and the controller replaces its pods as for any other change."""
    graph = graphs("wider")
    graph.apply()
    live_pods.settle()
    before = live_pods.pods()
    graph.shape = graph.shape._replace(nodes=(2, 1))
    changes = graph.apply()
    assert {service.name for service in forecast.restarting(changes)} == set(ROLES)
    live_pods.settle()
    after = live_pods.pods()
    assert all(before[service].isdisjoint(after[service]) == (service.name in ROLES) for service in before)
    assert all(graph.status(role).ready for role in ROLES)


def test_a_new_spec_is_not_ready_before_the_controller_has_seen_it(graphs, live_pods):
    """Old LeaderWorkerSets are ready and the newest spec is not there: the revision on the roles tells them apart."""
    graph = graphs("unseen")
    graph.apply()
    live_pods.settle()
    assert graph.status("Prefill").ready
    index = WorkloadIndex.of([*graph.items(SETS), graph.joined(image=NEW)])
    status = index.get(ObjectKey("disaggregatedset.x-k8s.io", "DisaggregatedSet", graph.namespace, "chat"), "Prefill")
    assert status
    assert not status.ready
    assert status.problem.startswith("role prefill: the controller has made no LeaderWorkerSet of the newest revision")


def test_a_graph_serves_during_a_move_if_the_old_objects_are_pruned_last(graphs, live_pods, control_plane):
    """To a DisaggregatedSet and back. The forecast says that all workers restart.

    The workers of both belong to one generation. If the old ones are pruned at once, none serves until the new ones are ready.
    """
    mixed = Shape(nodes=(1, 2))  # a Deployment and a LeaderWorkerSet
    moves = {name: graphs(name, mixed, joined="back" in name) for name in ("there", "back", "there-at-once", "back-at-once")}
    for graph in moves.values():
        graph.apply()
    live_pods.settle()
    with generations.recording(control_plane.kubeconfig) as recorder:
        start = time.monotonic()
        for name, graph in moves.items():
            old = graph.now
            graph.settings = {} if "back" in name else disaggregated_faults.SETTINGS
            new = graph.rendered()
            assert {service.name for service in forecast.restarting(object_changes.between_states(old, new))} == set(ROLES)
            graph.now = new if "at-once" in name else {**old, **new}
            live_pods.move(old, graph.now)
        live_pods.settle()
        for name in ("there", "back"):
            new = moves[name].rendered()
            live_pods.move(moves[name].now, new)
            moves[name].now = new
        live_pods.settle()
        served = {
            name: all(moment.is_served() for moment in recorder.moments(PODS, graph.namespace, start)) for name, graph in moves.items()
        }
    assert served == {"there": True, "back": True, "there-at-once": False, "back-at-once": False}
