"""A real Deployment on few GPUs: its rollout waits for ever exactly where the forecast says so."""

from __future__ import annotations

import collections
import itertools
import os
from typing import Any, NamedTuple

from krm_fn.review.forecast import gpu_capacity, native_workloads, rollouts, simulation
from tests.testbed import api, server

STRIDE = int(os.environ.get("KRM_FN_ROLLOUT_STRIDE", "11"))  # every eleventh case; `make forecast` takes all
GPU = "nvidia.com/gpu"
DEADLINE = 6  # seconds without progress after which Kubernetes calls a rollout stuck
STILL = 3  # looks at the cluster in which nothing has changed


class Case(NamedTuple):
    """A rollout of `replicas` pods from `old` to `new` GPUs each, with `free` GPUs besides those of the old pods."""

    replicas: int
    steps: dict[str, Any]
    old: int
    new: int
    free: int

    def rollout(self):
        taken = native_workloads.deployment_steps({"rollingUpdate": self.steps}, self.replicas)
        return rollouts.Rollout(self.replicas, self.replicas, demand(self.old), demand(self.new), taken)

    @property
    def pool(self):
        return self.replicas * self.old + self.free

    def is_stuck(self):
        return simulation.simulate([self.rollout()], gpu_capacity.pool({GPU: self.pool})).stuck == (True,)


def demand(gpus):
    return (gpu_capacity.Demand(((GPU, gpus),)),)


def cases():
    """All cases around the number of free GPUs from which on a rollout ends."""
    numbers = (0, 1, "25%")
    for replicas, surge, unavailable, sizes in itertools.product(range(1, 9), numbers, numbers, ((1, 2), (2, 1), (2, 2))):
        if surge == unavailable == 0:
            continue  # an API server refuses it
        case = Case(replicas, {"maxSurge": surge, "maxUnavailable": unavailable}, *sizes, 0)
        least = simulation.needed_gpus([case.rollout()])
        yield from (case._replace(free=free) for free in sorted({max(least - 1, 0), least}))


def deployment(namespace, case, state):
    """The Deployment in one state: `old` or `new`."""
    labels = {"app": "rolled"}
    container = {"name": "main", "image": "worker:1", "resources": {"limits": {GPU: f"{getattr(case, state)}"}}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "rolled", "namespace": namespace},
        "spec": {
            "replicas": case.replicas,
            "progressDeadlineSeconds": DEADLINE,
            "strategy": {"rollingUpdate": case.steps},
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels, "annotations": {"state": state}}, "spec": {"containers": [container]}},
        },
    }


class Cluster:
    """A scheduler and a kubelet for GPUs: a pod is ready as soon as its namespace has enough free GPUs; the oldest pod is first."""

    def __init__(self, plane, pools):
        self.client, self.pools = plane.client, pools

    def start(self):
        """Start all pods that fit; returns the number of pods that were started, and all pods as they were before."""
        started, pods = 0, self.client.get("/api/v1/pods?labelSelector=app%3Drolled")["items"]
        held = dict.fromkeys(self.pools, 0)
        waiting = []
        for pod in pods:
            if is_started(pod):
                held[pod["metadata"]["namespace"]] += size(pod)
            else:
                waiting.append(pod)
        for pod in sorted(waiting, key=lambda each: (each["metadata"]["creationTimestamp"], each["metadata"]["name"])):
            namespace = pod["metadata"]["namespace"]
            if held[namespace] + size(pod) <= self.pools[namespace]:
                held[namespace] += size(pod)
                path = f"/api/v1/namespaces/{namespace}/pods/{pod['metadata']['name']}/status"
                ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
                started += self.client.request("PATCH", path, {"status": ready}, api.MERGE).ok
        return started, pods

    def verdicts(self, pods):
        """For each namespace True if its rollout is stuck, False if it is complete, None otherwise.

        It is neither before the controllers have made all pods, and have seen which of `pods` are ready.
        """
        there = collections.Counter(pod["metadata"]["namespace"] for pod in pods)
        ready = collections.Counter(pod["metadata"]["namespace"] for pod in pods if is_started(pod))
        wanted = collections.Counter[str]()
        for each in self.client.get("/apis/apps/v1/replicasets")["items"]:
            wanted[each["metadata"]["namespace"]] += each["spec"]["replicas"]
        found = {each["metadata"]["namespace"]: each for each in self.client.get("/apis/apps/v1/deployments")["items"]}
        return {
            name: verdict(each) if (each["status"].get("readyReplicas", 0), wanted[name]) == (ready[name], there[name]) else None
            for name, each in found.items()
        }


def is_started(pod):
    return bool(pod["status"].get("conditions"))


def size(pod):
    return int(pod["spec"]["containers"][0]["resources"]["limits"][GPU])


def verdict(resource):
    status, replicas = resource["status"], resource["spec"]["replicas"]
    if status.get("observedGeneration") != resource["metadata"]["generation"]:
        return None
    if all(status.get(name) == replicas for name in ("replicas", "updatedReplicas", "availableReplicas")):
        return False
    reasons = {each["type"]: each.get("reason") for each in status.get("conditions", ())}
    return True if reasons.get("Progressing") == "ProgressDeadlineExceeded" else None


def settled(cluster):
    """Run the pods until no rollout moves any more; returns the verdicts."""
    seen: list[Any] = []

    def holds():
        started, pods = cluster.start()
        verdicts = cluster.verdicts(pods)
        names = sorted(pod["metadata"]["uid"] for pod in pods)
        found = {namespace: verdicts[namespace] for namespace in cluster.pools}
        moves = started > 0 or None in found.values() or (seen and seen[-1] != (names, found))
        if moves:
            seen.clear()
        seen.append((names, found))
        return len(seen) > STILL

    server.eventually(holds, 600)
    return seen[-1][1]


def test_a_rollout_is_stuck_where_the_forecast_says_so(control_plane, controllers):
    known = {control_plane.namespace(f"rollout-{index}"): case for index, case in enumerate(list(cases())[::STRIDE])}
    stuck = [case.is_stuck() for case in known.values()]
    assert min(stuck.count(True), stuck.count(False)) >= len(stuck) // 8  # an even stride meets more of one kind
    cluster = Cluster(control_plane, {namespace: case.pool for namespace, case in known.items()})
    for namespace, case in known.items():
        assert control_plane.apply(deployment(namespace, case, "old"), dry_run=False).ok
    assert not any(settled(cluster).values())
    for namespace, case in known.items():
        assert control_plane.apply(deployment(namespace, case, "new"), dry_run=False).ok

    found = settled(cluster)
    assert [(case, found[namespace]) for namespace, case in known.items() if found[namespace] != case.is_stuck()] == []
