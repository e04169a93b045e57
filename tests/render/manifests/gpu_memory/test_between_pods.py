"""The GPU memory service in pods of its own, which Grove places with the engines (reference: failover.go, roles of graph.go)."""

from __future__ import annotations

import pytest

from krm_fn.render import labels
from tests.support import beta, given, shared_gpus
from tests.support.cases import cases

SPREAD = {"multinode": {"nodeCount": 2}}
FOLDER = "/run/gms/shared"


def mount(rank):
    path = f"$(GROVE_PCSG_NAME)-$(GROVE_PCSG_INDEX)/rank-{rank}"
    return {"name": "gms-shared", "mountPath": FOLDER, "subPathExpr": path}


def main(clique):
    return clique["spec"]["podSpec"]["containers"][0]


GROUPS = [
    ("one node", {}, ["worker-gms-0", "worker"], [1, 1]),
    ("one node with failover", {"failover": True}, ["worker-gms-0", "worker"], [1, 2]),
    ("two nodes", SPREAD, ["worker-gms-0", "worker-ldr", "worker-gms-1", "worker-wkr-1"], [1, 1, 1, 1]),
    ("two nodes with failover", {**SPREAD, "failover": True}, ["worker-gms-0", "worker-ldr", "worker-gms-1", "worker-wkr-1"], [1, 2, 1, 2]),
]


@cases(("written", "names", "pods"), GROUPS)
def test_each_node_has_a_clique_for_the_service_and_one_for_its_engines(written, names, pods):
    """With failover one of two engines is enough, so one pod of a clique must run."""
    found = shared_gpus.template(**written, replicas=3, minAvailable=2)
    assert [clique["name"] for clique in found["cliques"]] == names
    assert [(clique["spec"]["replicas"], clique["spec"]["minAvailable"]) for clique in found["cliques"]] == [(count, 1) for count in pods]
    (group,) = found["podCliqueScalingGroups"]
    assert (group["cliqueNames"], group["replicas"], group["minAvailable"]) == (names, 3, 2)


def test_engines_start_after_the_service_of_their_node():
    found = shared_gpus.template(**SPREAD)
    assert found["cliqueStartupType"] == "CliqueStartupTypeExplicit"
    starts = {clique["name"]: clique["spec"].get("startsAfter") for clique in found["cliques"]}
    assert starts == {
        "worker-gms-0": None,
        "worker-ldr": ["worker-gms-0"],
        "worker-gms-1": None,
        "worker-wkr-1": ["worker-gms-1"],
    }


def test_the_pods_of_a_node_share_a_claim_in_each_replica():
    found = shared_gpus.template(memory={"deviceClassName": "mig.example.com"}, **SPREAD)
    claims = ["worker-gpu-rank-0", "worker-gpu-rank-1"]
    exactly = {"deviceClassName": "mig.example.com", "allocationMode": "ExactCount", "count": 2}
    spec = {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}}
    assert found["resourceClaimTemplates"] == [{"name": name, "templateSpec": spec} for name in claims]
    members = [["worker-gms-0", "worker-ldr"], ["worker-gms-1", "worker-wkr-1"]]
    assert found["podCliqueScalingGroups"][0]["resourceSharing"] == [
        {"name": name, "scope": "PerReplica", "filter": {"childCliqueNames": listed}} for name, listed in zip(claims, members, strict=True)
    ]
    for clique in found["cliques"]:
        assert "nvidia.com/gpu" not in main(clique).get("resources", {}).get("limits", {})
        assert "claims" not in main(clique).get("resources", {})


def test_the_service_replaces_the_engine_and_its_probes():
    """It is ready when two sockets stand there for each GPU: one for weights, one for key-value caches."""
    server = main(shared_gpus.cliques()["worker-gms-0"])
    assert server["command"] == ["bash", "-c"]
    assert "python3 -m gpu_memory_service.cli.server &" in server["args"][0].splitlines()
    assert server["startupProbe"]["exec"]["command"][-1] == f"test $(ls {FOLDER}/gms_*.sock 2>/dev/null | wc -l) -ge 4"
    assert not {"livenessProbe", "readinessProbe"} & server.keys()
    assert given.variables(server)["GMS_SOCKET_DIR"] == FOLDER


def test_an_engine_loads_weights_from_the_service():
    variables = given.variables(engine := main(shared_gpus.cliques()["worker"]))
    assert engine["args"] == ["-m", "dynamo.vllm", "--load-format", "gms"]
    assert variables["ENGINE_ID"] == {"fieldRef": {"fieldPath": "metadata.labels['grove.io/podclique-pod-index']"}}
    assert (variables["GMS_SOCKET_DIR"], variables["FAILOVER_LOCK_PATH"]) == (FOLDER, f"{FOLDER}/failover.lock")
    assert variables["DYN_SYSTEM_STARTING_HEALTH_STATUS"] == "notready"
    assert "DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS" not in variables
    assert "DYN_VLLM_GMS_SHADOW_MODE" not in variables


@pytest.mark.parametrize(("clique", "rank"), [("worker-gms-0", 0), ("worker-ldr", 0), ("worker-gms-1", 1), ("worker-wkr-1", 1)])
def test_the_pods_of_a_node_have_one_folder_of_it(clique, rank):
    """Pods of other replicas and ranks on the node have other folders. Containers that are not root can write there."""
    pod = shared_gpus.cliques(**SPREAD)[clique]["spec"]["podSpec"]
    assert mount(rank) in pod["containers"][0]["volumeMounts"]
    assert {"name": "gms-shared", "hostPath": {"path": "/run/gms", "type": "DirectoryOrCreate"}} in pod["volumes"]
    opened = {
        "name": "fix-gms-perms",
        "image": beta.IMAGE,
        "command": ["sh", "-c", f"chmod 1777 {FOLDER}"],
        "securityContext": {"runAsUser": 0, "runAsNonRoot": False},
        "volumeMounts": [mount(rank)],
    }
    assert opened in pod["initContainers"]
    assert pod["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]


def test_an_engine_of_a_group_never_starts_again_alone():
    """A controller of the operator finds the pods by their label, and deletes the whole group."""
    found = shared_gpus.cliques(failover=True)
    engine, server = found["worker"], found["worker-gms-0"]
    assert (engine["spec"]["podSpec"]["restartPolicy"], server["spec"]["podSpec"]["restartPolicy"]) == ("Never", "Always")
    assert engine["labels"][labels.FAILOVER_GROUP] == "true"
    assert labels.FAILOVER_GROUP not in server["labels"]
    assert given.variables(main(engine))["DYN_VLLM_GMS_SHADOW_MODE"] == "true"
    alone = shared_gpus.cliques()["worker"]
    assert alone["spec"]["podSpec"]["restartPolicy"] == "Always"
    assert labels.FAILOVER_GROUP not in alone["labels"]


def test_only_engines_take_part_in_discovery():
    found = shared_gpus.cliques()
    assert labels.DISCOVERY_ENABLED in found["worker"]["labels"]
    assert labels.DISCOVERY_ENABLED not in found["worker-gms-0"]["labels"]


def test_an_engine_finds_the_leader_with_its_own_index():
    """Each engine of a group spans all nodes: the pods with one index belong together."""
    spread = {**SPREAD, "failover": True, "main": {"args": ["-m", "dynamo.vllm", "--tensor-parallel-size", "4"]}}
    found = shared_gpus.cliques(**spread)
    host = "$(GROVE_PCSG_NAME)-$(GROVE_PCSG_INDEX)-worker-ldr-$(GROVE_PCLQ_POD_INDEX).$(GROVE_HEADLESS_SERVICE)"
    for name, rank in (("worker-ldr", "0"), ("worker-wkr-1", "1")):
        args = main(found[name])["args"]
        assert args[args.index("--master-addr") + 1] == host
        assert args[args.index("--node-rank") + 1] == rank
    assert "--nnodes" not in main(found["worker-gms-0"])["args"]


def test_the_longest_clique_counts_for_the_name_of_the_set():
    """Grove takes 45 characters for set, scaling group and clique; `-gms-0` is longer than a single clique."""
    graph = shared_gpus.graph("InterPod")
    graph["metadata"]["name"] = "a" * 30
    (found,) = (each for each in given.rendered(graph, orchestrator="grove").values() if each["kind"] == "PodCliqueSet")
    longest = max(len(clique["name"]) for clique in found["spec"]["template"]["cliques"])
    assert len(found["metadata"]["name"]) + len("worker") + longest == 45


SUMMARIES = [
    ("beside the engine", "IntraPod", False, "1 service, 2 pods, 4 GPUs"),
    ("in pods of its own", "InterPod", False, "1 service, 4 pods, 4 GPUs"),
    ("in pods of its own, with failover", "InterPod", True, "1 service, 6 pods, 4 GPUs"),
]


@cases(("mode", "failover", "summary"), SUMMARIES)
def test_the_summary_counts_every_pod_and_each_gpu_once(mode, failover, summary):
    written = shared_gpus.graph(mode, failover=failover, **SPREAD)
    source = given.rendered(written, orchestrator="grove")["DynamoGraphDeployment/chat"]
    assert labels.annotations(source)[labels.SUMMARY] == summary
