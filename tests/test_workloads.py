"""What carries pods: Deployments, LeaderWorkerSets, PodCliqueSets; and what a graph says of them to those who report its status."""

from __future__ import annotations

import json

import pytest

from krm_fn import config, workloads
from krm_fn.kube import labels
from tests import given

GROVE = {"orchestrator": "grove"}
SGLANG = {"command": ["python3", "-m", "dynamo.sglang"], "args": ["--model", "m"]}


def nodes(count=2, **fields):
    return given.service("worker", main=SGLANG, multinode={"nodeCount": count}, resources={"limits": {"gpu": "4"}}, **fields)


def listed(graph, **settings):
    """The workloads annotation, the contract with the status syncer."""
    return json.loads(given.rendered(graph, **settings)["DynamoGraphDeployment/chat"]["metadata"]["annotations"][labels.WORKLOADS])


def test_a_deployment_finds_exactly_its_own_pods():
    found = given.deployment(given.service("worker"))
    assert (found["apiVersion"], found["metadata"]["namespace"]) == ("apps/v1", "team")
    assert found["spec"]["selector"] == {"matchLabels": {labels.SELECTOR: "chat-worker"}}


REPLICAS = [
    ("as written", {"replicas": 3}, 3, 3),
    ("zero", {"replicas": 0}, 0, 0),
    ("left to Kubernetes", {}, None, 1),
    ("left to an autoscaler", {"replicas": 3, "scalingAdapter": {"enabled": True}}, None, None),
    ("an adapter that is off", {"replicas": 3, "scalingAdapter": {"enabled": False}}, 3, 3),
]


@pytest.mark.parametrize(("fields", "written", "counted"), [row[1:] for row in REPLICAS], ids=[row[0] for row in REPLICAS])
def test_replicas_of_a_deployment(fields, written, counted):
    """A Deployment that an autoscaler owns has none, so that Git never fights it."""
    assert given.deployment(given.service("worker", **fields))["spec"].get("replicas") == written
    (entry,) = listed(given.graph({"Worker": given.service("worker", **fields)}))
    assert entry == {"service": "Worker", "apiVersion": "apps/v1", "kind": "Deployment", "name": "chat-worker"} | (
        {} if counted is None else {"replicas": counted}
    )


ROLLING = {"maxSurge": "25%", "maxUnavailable": "25%"}
STRATEGIES = [
    ("the default", {}, {}, "RollingUpdate", ROLLING),
    ("Recreate", {labels.STRATEGY: "Recreate", labels.MAX_SURGE: "1"}, {}, "Recreate", None),
    ("RollingUpdate", {labels.STRATEGY: "RollingUpdate"}, {}, "RollingUpdate", ROLLING),
    ("a word that is none", {labels.STRATEGY: "recreate"}, {}, "RollingUpdate", ROLLING),
    ("a strategy among the pods' annotations does not count", {}, {labels.STRATEGY: "Recreate"}, "RollingUpdate", ROLLING),
    ("a number", {labels.MAX_SURGE: "2"}, {}, "RollingUpdate", {**ROLLING, "maxSurge": 2}),
    ("a share", {labels.MAX_UNAVAILABLE: "50%"}, {}, "RollingUpdate", {**ROLLING, "maxUnavailable": "50%"}),
    (
        "steps among the pods' annotations count, and win",
        {labels.MAX_SURGE: "2"},
        {labels.MAX_SURGE: "3"},
        "RollingUpdate",
        {**ROLLING, "maxSurge": 3},
    ),
]


@pytest.mark.parametrize(("own", "pods", "kind", "steps"), [row[1:] for row in STRATEGIES], ids=[row[0] for row in STRATEGIES])
def test_how_pods_are_replaced(own, pods, kind, steps):
    found = given.deployment(given.service("worker", annotations=own, extraPodMetadata={"annotations": pods}))["spec"]["strategy"]
    assert found == {"type": kind} | ({} if steps is None else {"rollingUpdate": steps})


DEADLINES = [
    ("no start-up probe", "frontend", {}, 600),
    ("a worker's default: two hours", "worker", {}, 7200 + 300),
    ("a short one", "worker", {"startupProbe": {"exec": {"command": ["true"]}, "periodSeconds": 1, "failureThreshold": 5}}, 600),
    (
        "a long one, with a delay",
        "worker",
        {"startupProbe": {"exec": {"command": ["true"]}, "initialDelaySeconds": 100, "periodSeconds": 20, "failureThreshold": 50}},
        100 + 1000 + 300,
    ),
    (
        "Kubernetes' defaults where nothing is said",
        "worker",
        {"startupProbe": {"exec": {"command": ["true"]}, "failureThreshold": 100}},
        1000 + 300,
    ),
    ("three failures where none are said", "worker", {"startupProbe": {"exec": {"command": ["true"]}, "periodSeconds": 200}}, 600 + 300),
]


@pytest.mark.parametrize(("kind", "main", "seconds"), [row[1:] for row in DEADLINES], ids=[row[0] for row in DEADLINES])
def test_a_deployment_waits_until_the_start_up_probe_gives_up(kind, main, seconds):
    """Within Kubernetes' ten minutes a large model does not load; GitOps tools would call the graph failed."""
    assert given.deployment(given.service(kind, main=main))["spec"]["progressDeadlineSeconds"] == seconds


def test_the_deadline_looks_at_the_main_container_even_in_debug_mode():
    debugged = given.deployment(given.service("worker", annotations={labels.DEBUG: "true"}))
    assert debugged["spec"]["progressDeadlineSeconds"] == 7500


def test_a_debug_deployment_stands_beside_the_other_one():
    written = given.service("worker", replicas=4, annotations={labels.STEALING_DEBUG: "true"})
    found = given.rendered(given.graph({"Worker": written}))
    main, debug = found["Deployment/chat-worker"], found["Deployment/chat-worker-d"]
    assert (main["spec"]["replicas"], debug["spec"]["replicas"]) == (4, 1)
    assert debug["spec"]["selector"]["matchLabels"] == {labels.SELECTOR: "chat-worker-d"}
    assert debug["spec"]["template"]["metadata"]["labels"][labels.TARGET_TYPE] == "debug"
    assert [len(each["spec"]["template"]["spec"]["containers"]) for each in (main, debug)] == [1, 2]
    assert [entry["name"] for entry in listed(given.graph({"Worker": written}))] == ["chat-worker"]


# several nodes in deployment mode


def test_each_replica_on_several_nodes_is_a_set_and_a_group():
    found = given.rendered(given.graph({"Worker": nodes(3, replicas=2)}))
    assert {name for name in found if name.startswith(("LeaderWorkerSet/", "PodGroup/"))} == {
        f"{kind}/chat-worker-{index}" for kind in ("LeaderWorkerSet", "PodGroup") for index in (0, 1)
    }
    first, group = found["LeaderWorkerSet/chat-worker-0"], found["PodGroup/chat-worker-0"]
    assert group["spec"] == {"minMember": 3}
    assert (first["spec"]["replicas"], first["spec"]["startupPolicy"], first["spec"]["leaderWorkerTemplate"]["size"]) == (
        1,
        "LeaderCreated",
        3,
    )
    assert "rolloutStrategy" not in first["spec"]
    assert listed(given.graph({"Worker": nodes(3, replicas=2)})) == [
        {
            "service": "Worker",
            "apiVersion": "leaderworkerset.x-k8s.io/v1",
            "kind": "LeaderWorkerSet",
            "name": f"chat-worker-{index}",
            "replicas": 1,
        }
        for index in (0, 1)
    ]


def test_the_pods_of_a_group_know_their_side_and_are_scheduled_together():
    template = given.rendered(given.graph({"Worker": nodes()}))["LeaderWorkerSet/chat-worker-0"]["spec"]["leaderWorkerTemplate"]
    for side in ("leader", "worker"):
        metadata, spec = (template[f"{side}Template"][part] for part in ("metadata", "spec"))
        assert (metadata["labels"]["role"], metadata["labels"]["instance-id"]) == (side, "0")
        assert labels.SELECTOR not in metadata["labels"]
        assert metadata["annotations"][labels.POD_GROUP] == "chat-worker-0"
        assert spec["schedulerName"] == "volcano"


def test_followers_serve_nothing_and_have_no_probes():
    template = given.rendered(given.graph({"Worker": nodes()}))["LeaderWorkerSet/chat-worker-0"]["spec"]["leaderWorkerTemplate"]
    leader, worker = (template[f"{side}Template"]["spec"]["containers"][-1] for side in ("leader", "worker"))
    probes = {"livenessProbe", "readinessProbe", "startupProbe"}
    assert (probes & set(leader), probes & set(worker)) == (probes, set())


def test_a_leader_without_a_shell_gets_words_that_kubernetes_expands():
    template = given.rendered(given.graph({"Worker": nodes()}))["LeaderWorkerSet/chat-worker-0"]["spec"]["leaderWorkerTemplate"]
    leader, worker = (template[f"{side}Template"]["spec"]["containers"][-1] for side in ("leader", "worker"))
    assert leader["args"] == ["--model", "m", "--dist-init-addr", "$(LWS_LEADER_ADDRESS):29500", "--nnodes", "2", "--node-rank", "0"]
    assert worker["command"] == ["sh", "-c"]
    assert worker["args"] == [
        "exec python3 -m dynamo.sglang --model m --dist-init-addr $LWS_LEADER_ADDRESS:29500 --nnodes 2 --node-rank $(LWS_WORKER_INDEX)"
    ]


def test_no_replicas_on_several_nodes_are_no_sets():
    found = given.rendered(given.graph({"Worker": nodes(replicas=0)}))
    assert not any(name.startswith(("LeaderWorkerSet/", "PodGroup/", "Deployment/")) for name in found)
    assert listed(given.graph({"Worker": nodes(replicas=0)})) == []


# Grove


def test_one_set_carries_a_whole_graph_in_the_order_of_the_spec():
    services = {"Front": given.service("frontend", replicas=2), "Decode": nodes(3, replicas=4)}
    found = given.rendered(given.graph(services), **GROVE)
    assert not any(name.startswith(("Deployment/", "LeaderWorkerSet/")) for name in found)
    template = found["PodCliqueSet/chat"]["spec"]["template"]
    assert [(clique["name"], clique["spec"]["replicas"]) for clique in template["cliques"]] == [
        ("front", 2),
        ("decode-ldr", 1),
        ("decode-wkr", 2),
    ]
    assert template["podCliqueScalingGroups"] == [
        {"name": "decode", "cliqueNames": ["decode-ldr", "decode-wkr"], "replicas": 4, "minAvailable": 1}
    ]
    assert listed(given.graph(services), **GROVE) == [
        {"service": "Front", "apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "name": "chat-0-front", "replicas": 2},
        {"service": "Decode", "apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueScalingGroup", "name": "chat-0-decode", "replicas": 4},
    ]


def test_a_graph_that_opts_out_of_grove_gets_deployments():
    found = given.rendered(given.graph(annotations={labels.ENABLE_GROVE: "false"}), **GROVE)
    assert "Deployment/chat-worker" in found
    assert found["DynamoGraphDeployment/chat"]["metadata"]["annotations"][labels.ORCHESTRATOR] == "deployment"


def test_under_grove_the_labels_of_a_service_reach_its_pods():
    written = given.service("worker", labels={"tier": "gold"}, extraPodMetadata={"labels": {"team": "a"}})
    (clique,) = given.rendered(given.graph({"Worker": written}), **GROVE)["PodCliqueSet/chat"]["spec"]["template"]["cliques"]
    assert {"tier": "gold", "team": "a", labels.COMPONENT: "Worker"}.items() <= clique["labels"].items()


QUEUES = [("the configured one", None, "fast"), ("the graph's own", {labels.KAI_QUEUE_NAME: "own"}, "own")]


@pytest.mark.parametrize(("notes", "queue"), [row[1:] for row in QUEUES], ids=[row[0] for row in QUEUES])
def test_the_kai_scheduler_and_its_queue(notes, queue):
    kai = config.Grove(kai_scheduler=config.KaiScheduler(enabled=True, queue="fast"))
    found = given.rendered(given.graph(annotations=notes), **GROVE, grove=kai)
    (clique,) = found["PodCliqueSet/chat"]["spec"]["template"]["cliques"]
    assert clique["spec"]["podSpec"]["schedulerName"] == "kai-scheduler"
    assert clique["labels"][labels.KAI_QUEUE] == queue


def test_every_carrier_has_an_answer_to_everything():
    plan = given.component(given.service("worker"))
    graph = given.plan(given.graph())[0]
    for name in workloads.names():
        carrier = workloads.get(name)
        assert list(carrier.render(graph, [plan]))
        assert list(carrier.roles(plan))
        assert list(carrier.summaries(graph, plan))
