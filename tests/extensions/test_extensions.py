"""A new engine, component type, workload kind or observer is one new file. The tests put it into a folder of its own."""

from __future__ import annotations

import importlib
import sys

import pytest

from krm_fn.base import registry
from krm_fn.migration.adopt import exported_objects, verification
from krm_fn.render import engines, labels, workload_list
from krm_fn.render.config import Config
from krm_fn.render.kinds import types
from krm_fn.render.manifests import ownership, workloads
from krm_fn.review import finished_builds
from krm_fn.syncer.status import cached_object, graph_status, replica_status
from krm_fn.syncer.status.workload_index import WorkloadIndex
from tests.support import given, toys


def forget():
    """Empties what is remembered of registries."""
    registry.entries.cache_clear()
    engines.get.cache_clear()
    types.get.cache_clear()
    ownership._shared_accounts.cache_clear()
    workloads.get.cache_clear()
    workloads.objects.cache_clear()
    replica_status._readers.cache_clear()


@pytest.fixture
def add(tmp_path, monkeypatch):
    """Adds a file to a registry for the length of a test."""
    added = []

    def _add(package, name, text):
        folder = tmp_path / package.__name__
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.py").write_text(text)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
        forget()
        importlib.invalidate_caches()
        added.append(f"{package.__name__}.{name}")

    yield _add
    monkeypatch.undo()
    forget()
    for module in added:
        sys.modules.pop(module, None)


RUN = {"command": ["python3", "-m", "dynamo.abacus"], "args": ["--model", "m"]}


def test_a_new_engine_is_found_by_its_command_and_rewrites_its_pods(add):
    written = given.service("worker", main=RUN, volumeMounts=[{"name": "cache", "useAsCompilationCache": True}])
    cache = [{"name": "cache", "create": True, "size": "1Gi", "storageClass": "a", "volumeAccessMode": "ReadWriteOnce"}]
    before = given.expanded(given.graph({"Worker": written}, pvcs=cache))
    assert given.findings(before.results) == [("DYN147", "spec.services.Worker.volumeMounts[0].mountPoint")]

    add(engines, "abacus", toys.ENGINE)
    pod = given.pod(written, pvcs=cache)
    main = pod["containers"][-1]
    assert pod["hostIPC"] is True
    assert given.variables(main)["ABACUS"] == "main of 1 under nobody"
    assert {"name": "cache", "mountPath": "/var/abacus"} in main["volumeMounts"]
    assert main["args"] == ["--model", "m"]


def test_a_new_engine_learns_of_several_nodes_whatever_carries_them(add):
    add(engines, "abacus", toys.ENGINE)
    written = given.service("worker", main=RUN, multinode={"nodeCount": 3}, replicas=1, resources={"limits": {"gpu": "1"}})
    group = given.rendered(given.graph({"Worker": written}))["LeaderWorkerSet/chat-worker-0"]["spec"]["leaderWorkerTemplate"]
    told = [given.variables(group[role]["spec"]["containers"][-1])["ABACUS"] for role in ("leaderTemplate", "workerTemplate")]
    assert told == ["leader of 3 under $LWS_LEADER_ADDRESS", "worker of 3 under $LWS_LEADER_ADDRESS"]
    grove = given.rendered(given.graph({"Worker": written}), orchestrator="grove")["PodCliqueSet/chat"]["spec"]["template"]
    assert grove["cliqueStartupType"] == "CliqueStartupTypeExplicit"
    assert grove["cliques"][0]["spec"]["startsAfter"] == ["worker-wkr"]


def test_what_a_new_engine_finds_is_said(add):
    add(engines, "abacus", toys.ENGINE)
    slow = given.expanded(given.graph({"Worker": given.service("worker", main={**RUN, "args": ["--slow"]})}))
    fast = given.expanded(given.graph({"Worker": given.service("worker", main=RUN)}))
    assert given.findings(slow.results) == [("DYN300", "spec.services.Worker")]
    assert fast.results == []


def test_a_new_component_type_brings_ports_probes_engine_and_account(add):
    written = given.service("ledger", main={"args": ["python3 -m dynamo.vllm"]})
    plain = given.rendered(given.graph({"Books": written}))
    assert plain["Deployment/chat-books"]["spec"]["template"]["spec"]["containers"][-1].get("ports") is None

    add(types, "ledger", toys.TYPE)
    found = given.rendered(given.graph({"Books": written}))
    main = found["Deployment/chat-books"]["spec"]["template"]["spec"]["containers"][-1]
    assert main["command"] == ["ledger"]
    assert main["readinessProbe"]["httpGet"] == {"path": "/open", "port": "books"}
    assert found["Service/chat-books"]["spec"]["ports"] == [{"name": "books", "port": 7000, "targetPort": "books", "protocol": "TCP"}]
    assert found["Deployment/chat-books"]["spec"]["template"]["spec"]["serviceAccountName"] == "ledger"
    assert found["ServiceAccount/ledger"]["metadata"]["annotations"]["dynamo.krm-fn.io/owner"] == "DynamoGraphDeployment/chat"
    assert found["RoleBinding/ledger-binding"]["roleRef"]["name"] == "dynamo-planner"
    assert set(found) - set(plain) == {"ServiceAccount/ledger", "RoleBinding/ledger-binding"}
    assert ownership.is_shared(found["ServiceAccount/ledger"])


def test_a_new_workload_kind_runs_a_graph_is_served_listed_and_read_back(add, control_plane):
    """From the configuration to a cluster that accepts the objects, and to the check of the finished build."""
    assert "statefulset" not in workloads.names()
    add(workloads, "statefulset", toys.WORKLOAD)
    services = {"Frontend": given.service("frontend"), "Worker": given.service("worker", replicas=3)}
    found = given.rendered(given.graph(services), orchestrator="statefulset")
    assert not [name for name in found if name.startswith("Deployment/")]
    carrier, graph = found["StatefulSet/chat-worker"], found["DynamoGraphDeployment/chat"]
    assert carrier["spec"]["replicas"] == 3
    assert workload_list.read(labels.annotations(graph)[labels.WORKLOADS]) == [
        workload_list.WorkloadEntry("Frontend", "apps/v1", "StatefulSet", "chat-frontend", 1),
        workload_list.WorkloadEntry("Worker", "apps/v1", "StatefulSet", "chat-worker", 3),
    ]
    selector = found["Service/chat-worker"]["spec"]["selector"]
    assert selector.items() <= carrier["spec"]["template"]["metadata"]["labels"].items()
    control_plane.namespace("team")
    for each in (carrier, found["Service/chat-worker"]):
        answer = control_plane.apply(each)
        assert answer.ok, answer.message

    config = Config(orchestrator="statefulset")  # type: ignore[arg-type]
    assert list(finished_builds.check(list(found.values()), config)) == []
    shifted = [{**each, "metadata": {**each["metadata"], "namespace": "prod"}} for each in found.values()]
    mismatches = {f"{each.ref.kind}/{each.ref.name}": each.code for each in finished_builds.check(shifted, config) if each.ref}
    assert mismatches["StatefulSet/chat-worker"] == "DYN060"


def test_objects_of_a_new_workload_kind_are_ours_and_compared_at_an_adoption(add):
    """A later run may remove them, and an adoption compares their pod templates and replicas with those that run."""
    add(workloads, "statefulset", toys.WORKLOAD)
    found = given.rendered(given.graph({"Worker": given.service("worker", replicas=3)}), orchestrator="statefulset")
    carrier = found["StatefulSet/chat-worker"]
    assert ownership.is_prunable(carrier)
    fewer = {**carrier, "spec": {**carrier["spec"], "replicas": 2}}
    exported = exported_objects.read([found["DynamoGraphDeployment/chat"], fewer])
    verified = verification.compare([carrier], exported)
    assert (verified.total, verified.same) == (1, 1)
    assert [(each.workload.kind, each.live, each.rendered) for each in verified.replicas] == [("StatefulSet", 2, 3)]


def test_the_status_of_a_new_workload_kind_is_one_file(add):
    """Until the file is there, the graph is not ready and says why."""
    add(workloads, "statefulset", toys.WORKLOAD)
    found = given.rendered(given.graph({"Worker": given.service("worker", replicas=3)}), orchestrator="statefulset")
    graph, running = found["DynamoGraphDeployment/chat"], {"replicas": 3, "updatedReplicas": 3, "readyReplicas": 3}
    carrier = {**found["StatefulSet/chat-worker"], "status": running}

    def judged():
        return graph_status.of_resource(cached_object.read(graph), WorkloadIndex.of([carrier]), "2026-03-01T12:00:00Z")

    assert "this version does not know the kind StatefulSet of apps/v1" in judged()["conditions"][0]["message"]
    add(replica_status, "statefulset_status", toys.OBSERVER)
    assert judged()["state"] == "successful"
    assert judged()["services"]["Worker"] == {"componentKind": "StatefulSet", "componentName": "chat-worker", **running}
    running["readyReplicas"] = 2
    assert judged()["conditions"][0]["message"].startswith("Resources not ready: chat-worker: desired=3, ready=2, ")


def test_nothing_of_it_stays(add):
    assert "statefulset" not in replica_status.kinds()
    assert "abacus" not in engines.names()
    assert "statefulset" not in workloads.names()
    assert "ledger" not in types.names()
