"""The real controller of LeaderWorkerSets rolls out a rendered DisaggregatedSet, as the forecast and the status of the graph say."""

from __future__ import annotations

import itertools
import time
from collections import defaultdict
from typing import Any

import pytest

from krm_fn.kubernetes import identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.render.schema import object_changes
from krm_fn.review import forecast
from krm_fn.syncer.status import replica_status
from krm_fn.syncer.status.workload_index import WorkloadIndex
from tests.support import beta, disaggregated_faults, given
from tests.testbed import server

SETS = "/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets"
NAME, ROLE, REVISION = (f"disaggregatedset.x-k8s.io/{key}" for key in ("name", "role", "revision"))
PAUSE = 0.1  # seconds between two samples


def graph(namespace: str, image: str, **fields: Any):
    """Prefill with three replicas of one pod, and decode with two replicas of two pods."""
    workers = [
        beta.component("Prefill", "prefill", replicas=3, main={"image": image, **GPUS}),
        beta.component("Decode", "decode", replicas=2, multinode={}, main={"image": image, **GPUS, **COMMAND}),
    ]
    return beta.graph(beta.component("Frontend", "frontend"), *workers, namespace=namespace, **fields)


GPUS = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
COMMAND = {"command": ["python3", "-m", "dynamo.sglang"], "args": ["--model-path", "acme/tiny"]}
OLD, NEW = "registry.example/dynamo:1.6.0", "registry.example/dynamo:1.6.1"


def rendered(*arguments: Any, **fields: Any):
    """The DisaggregatedSet of a graph."""
    return given.rendered(graph(*arguments, **fields), **disaggregated_faults.SETTINGS)["DisaggregatedSet/chat"]


class Live:
    """The LeaderWorkerSets and pods of one namespace."""

    def __init__(self, plane, namespace):
        self.plane, self.namespace = plane, namespace

    def items(self, path):
        """The objects of a kind in the namespace."""
        return [each for each in self.plane.client.get(path)["items"] if each["metadata"]["namespace"] == self.namespace]

    def sample(self):
        """The LeaderWorkerSets at one moment, by revision and role: the replicas that each shall have, and those that are ready."""
        found: dict[str, dict[str, Any]] = defaultdict(dict)
        for each in self.items(SETS):
            marks = each["metadata"]["labels"]
            found[marks[REVISION]][marks[ROLE]] = (each["spec"]["replicas"], (each.get("status") or {}).get("readyReplicas", 0))
        return dict(found)

    def pods(self):
        """The UIDs of the pods, by role."""
        found = defaultdict(set)
        for pod in self.items("/api/v1/pods"):
            found[pod["metadata"]["labels"][ROLE]].add(pod["metadata"]["uid"])
        return found

    def status(self, service):
        """The status that the syncer computes of a service."""
        live = [*self.items(SETS), *self.items("/apis/disaggregatedset.x-k8s.io/v1/disaggregatedsets")]
        index = WorkloadIndex.of(live)
        return index.get(ObjectKey("disaggregatedset.x-k8s.io", "DisaggregatedSet", self.namespace, "chat"), service)

    def is_ready(self):
        """True if the status says that all roles are ready."""
        return all((status := self.status(service)) and status.ready for service in ("Prefill", "Decode"))


@pytest.fixture
def live(live_pods, kubelet, control_plane):
    """A namespace with a set whose pods are all ready."""
    here = Live(control_plane, control_plane.namespace("joined"))
    assert control_plane.apply(rendered(here.namespace, OLD), dry_run=False).ok
    server.eventually(here.is_ready, seconds=60)
    yield here
    control_plane.client.request("DELETE", f"/apis/disaggregatedset.x-k8s.io/v1/namespaces/{here.namespace}/disaggregatedsets/chat")
    server.eventually(lambda: not here.items("/api/v1/pods"))


def test_a_change_of_the_image_replaces_both_roles_in_step(live, control_plane):
    """At each moment one generation has both roles ready, and none keeps one role alone. Each role has the surge of the forecast."""
    (before,), old_pods = live.sample(), live.pods()
    change = object_changes.between_states(*(_by_key(rendered(live.namespace, image)) for image in (OLD, NEW)))
    assert control_plane.apply(rendered(live.namespace, NEW), dry_run=False).ok
    samples, deadline = [live.sample()], time.monotonic() + 120
    while not live.is_ready():
        assert time.monotonic() < deadline, samples[-1]
        time.sleep(PAUSE)
        samples.append(live.sample())
    assert set(live.sample()) != {before}
    assert [sample for sample in samples if not any(is_complete(roles) for roles in sample.values())] == []
    lonely = [{revision for revision, roles in sample.items() if is_lonely(roles)} for sample in samples]
    assert [both for one, other in itertools.pairwise(lonely) if (both := one & other)] == []
    assert all(live.pods()[role].isdisjoint(uids) for role, uids in old_pods.items())
    outcome = forecast.forecast(change)
    assert outcome.outcomes[0].effect == "restarts"
    assert [service.name for service in outcome.restarting] == ["Prefill", "Decode"]
    surges = {rollout.service.name.lower(): rollout.new_units + rollout.steps.surge for rollout in rollouts(change)}
    assert {role: max(total(sample, role) for sample in samples) for role in surges} == surges


def test_other_replicas_replace_no_pod(live, control_plane):
    before = live.pods()
    scaled = rendered(live.namespace, OLD)
    scaled["spec"]["roles"][0]["spec"]["replicas"] = 4
    assert control_plane.apply(scaled, dry_run=False).ok
    server.eventually(lambda: len(live.pods()["prefill"]) == 4 and live.is_ready())
    assert before["decode"] == live.pods()["decode"]
    assert before["prefill"] < live.pods()["prefill"]
    change = object_changes.between_states(_by_key(rendered(live.namespace, OLD)), _by_key(scaled))
    assert forecast.forecast(change).outcomes[0].effect == "updated"


def test_a_new_spec_is_not_ready_before_the_controller_has_seen_it(live):
    """Old LeaderWorkerSets are ready and the newest spec is not there: the revision on the roles tells them apart."""
    newest = rendered(live.namespace, NEW)
    index = WorkloadIndex.of([*live.items(SETS), newest])
    key = identity.key(newest)
    status = index.get(key, "Prefill")
    assert status
    assert not status.ready
    assert status.problem.startswith("role prefill: the controller has made no LeaderWorkerSet of the newest revision")
    assert replica_status.find(key.group, key.kind) is not None


def is_complete(roles):
    """True if both roles of a generation have a replica that is ready."""
    return {"prefill", "decode"} == {role for role, (_, ready) in roles.items() if ready}


def is_lonely(roles):
    """True if only one role of a generation shall have replicas. The controller writes one role right after the other."""
    return len({bool(wanted) for wanted, _ in roles.values()}) > 1


def total(sample, role):
    """The replicas that a role shall have at one moment, of all generations."""
    return sum(roles.get(role, (0, 0))[0] for roles in sample.values())


def rollouts(changes):
    """The rollouts of some changes."""
    return forecast.all_rollouts(changes, forecast.object_rules.read_cluster_state(changes))


def _by_key(resource):
    return {identity.key(resource): resource}
