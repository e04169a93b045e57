"""The estimate for a fleet is near the real memory of a process that holds the fleet."""

from __future__ import annotations

import json
import subprocess
import sys

from hypothesis import given, strategies

from krm_fn.syncer import fleet_estimate
from krm_fn.syncer.fleet_estimate import Fleet
from tests.testbed import programs

GRAPHS = 200
_PROCESS = """
import gc, json, sys
import krm_fn.cli.sync_command, krm_fn.syncer.syncer
from krm_fn.render import labels
from krm_fn.syncer.status import cached_object, replica_status
from krm_fn.syncer.controllers import GRAPHS, workload_kind
from krm_fn.cluster.informer import Informer
from krm_fn.syncer.informer_cache import InformerCache
from tests.syncer.status import given

def memory():
    gc.collect()
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS")) / 1024

cache, before, objects = InformerCache(), memory(), {}
readers = {"Pod": replica_status.get("Pod"), "Deployment": replica_status.get("Deployment")}
kinds = {"DynamoGraphDeployment": (GRAPHS, cached_object.read)} | {kind: (workload_kind(each), each.read) for kind, each in readers.items()}
informers = {
    kind: Informer(found, cache.store(found), project=read, on_change=cache.update_indexes) for kind, (found, read) in kinds.items()
}

def put(resource):
    number = sum(objects.values())
    resource["metadata"] |= {"uid": f"00000000-0000-4000-8000-{number:012}", "resourceVersion": str(10**6 + number)}
    informers[resource["kind"]].put(resource)
    objects[resource["kind"]] = objects.get(resource["kind"], 0) + 1

for number in range(int(sys.argv[1])):
    name = f"graph-{number:05}"
    services = ("Frontend", "Decode", "Prefill")
    entries = [given.entry(service)._replace(service=service, name=f"{name}-{service.lower()}") for service in services]
    graph = given.graph(*entries, status={"state": "successful", "services": {each: {"replicas": 2} for each in services}})
    graph["metadata"]["name"] = name
    put(json.loads(json.dumps(graph)))
    for service in services:
        marks = {labels.GRAPH: name, labels.COMPONENT: service}
        ready = {"conditions": [{"type": "Ready", "status": "True"}]}
        put(given.workload("Deployment", f"{name}-{service.lower()}", {"replicas": 2, "readyReplicas": 2}, marks=marks))
        for pod in ("x2k0z", "x2k1z"):
            put(given.workload("Pod", f"{name}-{service.lower()}-7d9f8b6c5d-{pod}", ready, marks=marks))
print(json.dumps({"objects": objects, "before": before, "after": memory()}))
"""


def test_the_estimate_is_near_the_memory_of_a_process_that_holds_the_fleet():
    """A server, its connections and its buffers are not part of this process, so its base is smaller."""
    done = subprocess.run(
        [sys.executable, "-c", _PROCESS, str(GRAPHS)], cwd=programs.ROOT, capture_output=True, text=True, check=True, timeout=300
    )
    measured = json.loads(done.stdout)
    assert measured["objects"] == {"DynamoGraphDeployment": GRAPHS, "Deployment": 3 * GRAPHS, "Pod": 6 * GRAPHS}
    estimated = fleet_estimate.memory(measured["objects"]).steady
    assert 0.6 * measured["after"] < estimated < 1.6 * measured["after"]
    own = estimated - fleet_estimate.BASE
    assert 0.4 * (measured["after"] - measured["before"]) < own < 3 * (measured["after"] - measured["before"])


COUNTS = strategies.dictionaries(strategies.sampled_from(["Pod", "Deployment", "DynamoGraphDeployment"]), strategies.integers(0, 60_000))
FLEETS = strategies.dictionaries(strategies.sampled_from(["team-a", "team-b", "team-c"]), COUNTS).map(Fleet)


@given(FLEETS)
def test_more_objects_need_more_memory_and_no_fewer_shards(fleet):
    larger = Fleet({namespace: {kind: 2 * number for kind, number in counts.items()} for namespace, counts in fleet.objects.items()})
    small, large = fleet_estimate.memory(fleet.kinds), fleet_estimate.memory(larger.kinds)
    assert small.steady < small.peak < small.limit
    assert small <= large
    one, two = fleet_estimate.shards(fleet), fleet_estimate.shards(larger)
    assert two is None or (one is not None and one <= two)


def test_a_namespace_that_alone_needs_more_than_the_limit_cannot_be_shared():
    assert fleet_estimate.shards(Fleet({"team-a": {"Pod": 2_000_000}})) is None
    shared = fleet_estimate.shards(Fleet({f"team-{number}": {"Pod": 20_000} for number in range(100)}))
    assert shared is not None
    assert shared > 1
    assert fleet_estimate.shards(Fleet({})) == 1
