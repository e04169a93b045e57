"""The real syncer with the arguments and the account of platform/syncer, on a cluster with the policies of platform/admission.

The audit log of the API server has every request of the account, so its rights can be compared with what the syncer needs.
"""

from __future__ import annotations

import json
import os
import re
import signal
from typing import Any

import pytest
from prometheus_client import parser

from krm_fn.cluster import leader_election
from krm_fn.render import labels, workload_list
from krm_fn.syncer import namespace_leases
from tests.docs import test_syncer as page
from tests.platform import admission, runs
from tests.support import given
from tests.testbed import api, server
from tests.testbed.place import Place, conditions

pytestmark = pytest.mark.xdist_group("syncer")

SYNCER = admission.PLATFORM / "syncer"
ADAPTER, COMPONENT = "DynamoGraphDeploymentScalingAdapter", "DynamoComponentDeployment"


def chat(**worker: Any) -> dict[str, Any]:
    return given.graph({"Frontend": given.service("frontend"), "Worker": given.service("worker", replicas=2, **worker)})


def successful(status: dict[str, Any]) -> bool:
    return bool(status.get("state") == "successful")


@pytest.fixture(scope="module")
def default(audited, tmp_path_factory):
    """The default, after it has done everything that it can do: statuses, scaling, Grove's counts, events."""
    with runs.running(audited, tmp_path_factory.mktemp("default"), "monitoring") as run:
        place = runs.guarded(audited, "runs-default")
        place.deploy(chat(scalingAdapter={"enabled": True}), components=True)
        place.wait("chat", successful)
        for count in (3, 2):  # twice, so that one event repeats another
            place.kubectl("scale", "dgdsa/chat-worker", f"--replicas={count}")
            place.wait("chat", lambda status: successful(status) and status["services"]["Worker"]["readyReplicas"] == count)  # noqa: B023
        place.wait("chat-worker", lambda status: status.get("replicas") == 2, ADAPTER)
        place.wait("chat-worker", lambda status: conditions(status).get("Available", {}).get("status") == "True", COMPONENT)
        swarm(place)
        herd(place)
        yield run


def herd(place: Place) -> None:
    """A graph of release 1.5: one LeaderWorkerSet holds all replicas of a service, and the syncer scales it to the adapter's number."""
    worker = given.service(
        "worker",
        main={"command": ["python3"], "args": ["-m", "dynamo.vllm"]},
        multinode={"nodeCount": 2},
        resources={"limits": {"gpu": "1"}},
        scalingAdapter={"enabled": True},
    )
    place.deploy(given.graph({"Worker": worker}, name="herd"), behaviour="v1.5")
    place.kubectl("scale", "dgdsa/herd-worker", "--replicas=2")
    server.eventually(lambda: place.get("LeaderWorkerSet", "herd-worker-0")["spec"].get("replicas") == 2)


def swarm(place: Place) -> None:
    """A graph under Grove: tests create the objects that Grove creates, and the syncer scales them to the numbers in Git."""
    multinode = given.service("worker", replicas=2, multinode={"nodeCount": 2}, resources={"limits": {"gpu": "1"}})
    services = {"Frontend": given.service("frontend", replicas=2), "Worker": multinode}
    place.deploy(given.graph(services, name="swarm"), orchestrator="grove")
    annotation = place.get("DynamoGraphDeployment", "swarm")["metadata"]["annotations"][labels.WORKLOADS]
    entries = workload_list.read(annotation)
    assert {entry.kind for entry in entries} == {"PodClique", "PodCliqueScalingGroup"}
    for entry in entries:
        marks = {"app.kubernetes.io/managed-by": "grove-operator", "app.kubernetes.io/part-of": "swarm"}
        metadata = {"name": entry.name, "namespace": place.namespace, "labels": marks}
        spec = {"replicas": 1} | ({"cliqueNames": ["leader"]} if entry.kind == "PodCliqueScalingGroup" else {})
        place.apply([{"apiVersion": entry.api_version, "kind": entry.kind, "metadata": metadata, "spec": spec}])
    for entry in entries:
        server.eventually(lambda: place.get(entry.kind, entry.name)["spec"]["replicas"] == 2)  # noqa: B023 - called at once


@pytest.fixture(scope="module")
def denied(default):
    """The answer to another account with every right that writes a status where the default has written one."""
    path = "/apis/nvidia.com/v1alpha1/namespaces/runs-default/dynamographdeployments/chat/status"
    with admission.account(default.plane, "elsewhere", "writer") as other:
        return other.request("PATCH", path, {"status": {"state": "failed"}}, api.MERGE)


def test_the_policies_let_it_write_and_nobody_else(denied):
    assert denied.status == 403
    assert "status-writers" in denied.message


def test_the_rights_are_exactly_enough(default):
    """The server refused no request of the syncer, and every right was used."""
    assert default.refused() == []
    assert default.used() == default.granted()


@pytest.mark.parametrize("resource", ["secrets", "pods", "configmaps", "nodes", "serviceaccounts"])
def test_other_kinds_are_refused(resource, default):
    paths = [f"/api/v1/{resource}", *([f"/api/v1/namespaces/runs-default/{resource}"] if resource != "nodes" else [])]
    assert [default.status_of(path) for path in paths] == [403] * len(paths)


def test_a_lease_has_the_name_of_program_and_pod(default):
    lease = default.plane.client.get(leader_election.LEASES.path(runs.HOME, leader_election.NAME))
    assert lease["spec"]["holderIdentity"].startswith("krm-fn ")


@pytest.fixture(scope="module")
def alone(default, tmp_path_factory):
    """A syncer for one namespace with all features, beside the default, which leaves the namespace to it."""
    place = runs.guarded(default.plane, "runs-alone")
    components = ("pods", "restarts", "namespaced", "hold-namespaces")
    with runs.running(default.plane, tmp_path_factory.mktemp("alone"), *components, home=place.namespace) as run:
        server.eventually(lambda: "namespace runs-alone is left to" in default.syncer.log())
        yield run


def test_pods_and_restarts_work_with_their_components(alone):
    """A condition has the reason of a pod, and a restart goes through one service after the other."""
    place = Place(alone.plane, "runs-alone")
    place.deploy(chat(main={"image": "worker:ImagePullBackOff"}))
    place.wait("chat", lambda status: "ImagePullBackOff" in conditions(status).get("Ready", {}).get("message", ""))
    place.deploy(chat())
    place.wait("chat", successful)
    restart = {"id": "second", "strategy": {"type": "Sequential", "order": ["Frontend", "Worker"]}}
    graph = chat()
    place.deploy(graph | {"spec": graph["spec"] | {"restart": restart}}, restart="sync")
    place.wait("chat", lambda status: successful(status) and status.get("restart", {}).get("phase") == "Completed")
    assert alone.refused() == []
    assert {("watch", "", "pods"), ("patch", "apps", "deployments")} <= alone.used() <= alone.granted()


def test_a_restart_in_order_survives_the_end_of_the_syncer(alone):
    """A syncer that cannot renew its Lease in time ends. The next process of its pod continues with the service that is in progress."""
    place = Place(alone.plane, "runs-alone")
    restart = {"id": "third", "strategy": {"type": "Sequential", "order": ["Frontend", "Worker"]}}
    graph = chat(main={"image": "worker:NotReady"})
    alone.syncer.server.pause()
    place.deploy(graph | {"spec": graph["spec"] | {"restart": restart}}, restart="sync")
    os.kill(alone.syncer.server.pid, signal.SIGKILL)
    place.wait("chat", lambda status: status.get("restart", {}) == {"observedID": "third", "phase": "Restarting", "inProgress": ["Worker"]})
    os.kill(alone.syncer.server.pid, signal.SIGKILL)
    graph = chat()
    place.deploy(graph | {"spec": graph["spec"] | {"restart": restart}}, restart="sync")
    place.wait("chat", lambda status: successful(status) and status["restart"] == {"observedID": "third", "phase": "Completed"})


def test_one_namespace_needs_no_right_in_the_cluster(alone):
    """All requests are for the namespace; the same token sees no other namespace, and no Secret in its own."""
    assert {each["objectRef"]["namespace"] for each in alone.requests()} == {"runs-alone"}
    assert alone.status_of("/apis/nvidia.com/v1alpha1/dynamographdeployments") == 403
    assert alone.status_of("/apis/nvidia.com/v1alpha1/namespaces/runs-default/dynamographdeployments") == 403
    assert alone.status_of("/api/v1/namespaces/runs-alone/secrets") == 403
    marker = alone.plane.client.get(leader_election.LEASES.path("runs-alone", namespace_leases.NAME))
    assert marker["spec"]["holderIdentity"].startswith("krm-fn ")


def expressions():
    """All expressions of the alerts and of the dashboard."""
    dashboard = json.loads((SYNCER / "dashboard" / "krm-fn-sync.json").read_text())
    yield from (rule["expr"] for rule in page.alerts())
    yield from (target["expr"] for panel in dashboard["panels"] for target in panel["targets"])


def metrics(text):
    """The names of samples, with the label names of each."""
    found: dict[str, set[str]] = {}
    for family in parser.text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


@pytest.fixture(scope="module")
def exported(default, denied):
    """What Prometheus scrapes of the syncer, and of the API server, which has counted a denial."""
    code, text = default.syncer.ask("/metrics")
    assert code == 200
    of_server = default.plane.client.get("/metrics")
    counted = re.findall(r"^apiserver_validating_admission_policy_check_total\{.*", of_server, re.MULTILINE)
    assert [each for each in counted if 'enforcement_action="deny"' in each and 'policy="status-writers.dynamo.krm-fn.io"' in each], counted
    return metrics(text) | metrics(of_server)


NEVER_YET = {
    "krm_fn_sync_reconcile_errors_total": {"kind", "error"},
    "krm_fn_sync_watch_restarts_total": {"kind", "reason"},
    "krm_fn_sync_memory_limit_bytes": set[str](),
    "krm_fn_sync_memory_used_ratio": set[str](),
}
"""Metrics of failures, and of a memory limit, which have no series without one. Another test compares their names with the registry."""
ELSEWHERE = {
    "krm_fn_sync_members": {"installation"},
    "krm_fn_sync_moves_total": {"direction"},
    "kube_deployment_spec_replicas": {"deployment", "namespace"},
}
"""Metrics of a process with `--shards`, and of kube-state-metrics."""


def test_alerts_and_dashboard_ask_for_what_is_exported(exported):
    """Every name and every label of an expression is exported, except labels that Prometheus adds to its targets."""
    known = NEVER_YET | ELSEWHERE | exported
    found = {expression: (names(expression), asked(expression) - {"container", "pod", "instance", "le"}) for expression in expressions()}
    assert all(used for used, _ in found.values())
    assert {expression: used - known.keys() for expression, (used, _) in found.items() if used - known.keys()} == {}
    wrong = {expression: asks - set().union(*(known[name] for name in used)) for expression, (used, asks) in found.items()}
    assert {expression: missing for expression, missing in wrong.items() if missing} == {}


def names(expression):
    """The names of metrics: what stands before a selector, a range or a closing bracket, and is no function."""
    bare = re.sub(r"\{[^}]*\}|\[[^\]]*\]|\b(by|without) \([^)]*\)|\b(unless|group_left)\b|\"[^\"]*\"", "", expression)
    return set(re.findall(r"[a-z_]{6,}\b(?!\()", bare))


def asked(expression):
    """The labels of selectors and of aggregations."""
    grouped = [label for group in re.findall(r"\bby \(([^)]*)\)", expression) for label in group.split(", ")]
    return {*re.findall(r'([a-z_]+)=~?"', expression), *grouped}


def test_the_page_has_the_labels_of_the_metrics(exported):
    documented = {row[0].strip("`"): {*re.findall(r"`(\w+)`", row[1])} for row in page.table("Metrics")}
    seen = {re.sub(r"_(bucket|sum|count)$", "", name): names - {"le"} for name, names in exported.items() if name.startswith("krm_fn_sync")}
    assert {name: documented[name] for name in seen} == seen
