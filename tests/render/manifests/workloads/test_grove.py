"""Under Grove one PodCliqueSet holds a whole graph (reference: graph.go GenerateGrovePodCliqueSet, grove.go)."""

from __future__ import annotations

from typing import Any

from krm_fn.base.results import field
from krm_fn.kubernetes import identity
from krm_fn.render import config, labels, workload_list
from krm_fn.render.manifests import pod_builder, workloads
from krm_fn.render.workload_list import WorkloadEntry
from tests.support import given, nodes
from tests.support.cases import cases

SGLANG: dict[str, Any] = {"args": ["python3 -m dynamo.sglang"]}
TRTLLM: dict[str, Any] = {"args": ["python3 -m dynamo.trtllm"]}
KAI = config.GroveSettings(kai_scheduler=config.KaiSchedulerSettings(enabled=True))


def rendered(services=None, *, grove=None, annotations=None, **spec):
    services = {"Frontend": given.service("frontend"), "Decode": nodes.worker(**SGLANG)} if services is None else services
    graph = given.graph(services, annotations=annotations, **spec)
    return given.rendered(graph, orchestrator="grove", **({"grove": grove} if grove else {}))


def template(*args, **kwargs):
    return rendered(*args, **kwargs)["PodCliqueSet/chat"]["spec"]["template"]


def cliques(*args, **kwargs):
    return {clique["name"]: clique for clique in template(*args, **kwargs)["cliques"]}


def test_one_set_holds_the_graph():
    found = rendered()
    assert not [name for name in found if name.startswith(("Deployment/", "LeaderWorkerSet/", "PodGroup/"))]
    group = found["PodCliqueSet/chat"]
    assert group["metadata"] == {
        "name": "chat",
        "namespace": "team",
        "labels": {labels.MANAGED_BY: "krm-fn"},
        "annotations": {labels.OWNER: "DynamoGraphDeployment/chat"},
    }
    assert group["spec"]["replicas"] == 1
    assert group["spec"]["template"]["headlessServiceConfig"] == {"publishNotReadyAddresses": True}
    assert group["spec"]["template"]["cliqueStartupType"] == "CliqueStartupTypeAnyOrder"


GRAPHS = [
    ("where it is installed", "grove", {}, "PodCliqueSet"),
    ("unless the graph does without", "grove", {labels.ENABLE_GROVE: "false"}, "Deployment"),
    ("in whatever case it says so", "grove", {labels.ENABLE_GROVE: "False"}, "Deployment"),
    ("any other word changes nothing", "grove", {labels.ENABLE_GROVE: "no"}, "PodCliqueSet"),
    ("not where it is not installed", "deployment", {labels.ENABLE_GROVE: "true"}, "Deployment"),
]


@cases(("orchestrator", "annotations", "kind"), GRAPHS)
def test_the_configuration_and_the_graph_choose_grove(orchestrator, annotations, kind):
    found = given.rendered(given.graph(annotations=annotations), orchestrator=orchestrator)
    carried = {name.partition("/")[0] for name in found} & {"PodCliqueSet", "Deployment"}
    assert carried == {kind}
    assert labels.annotations(found["DynamoGraphDeployment/chat"])[labels.ORCHESTRATOR] == (
        "grove" if kind == "PodCliqueSet" else "deployment"
    )


NAMED = [
    ("a name that ends another", ["Worker", "PrefillWorker"], ["prefillworker", "worker"]),
    ("the longer name first", ["PrefillWorker", "Worker"], ["prefillworker", "worker"]),
    ("names that end each other in a row", ["r", "er", "Worker"], ["worker", "er", "r"]),
    ("others keep their place", ["A", "Worker", "B", "PrefillWorker", "C"], ["a", "prefillworker", "worker", "b", "c"]),
    ("a name that begins another", ["Worker", "WorkerTwo"], ["worker", "workertwo"]),
]


@cases(("services", "order"), NAMED)
def test_grove_finds_the_template_of_each_clique(services, order):
    """Grove takes the first clique whose name ends the name of the PodClique, so that the longer name stands first."""
    found = template({name: given.service("worker", main={"args": [name]}) for name in services})["cliques"]
    assert [clique["name"] for clique in found] == order
    for name in services:
        first = next(clique for clique in found if f"chat-0-{name.lower()}".endswith(clique["name"]))
        assert first["spec"]["podSpec"]["containers"][0]["args"] == [name]


def test_grove_finds_the_templates_of_groups():
    """A PodClique of a group has the group's name and a number in front of its clique's name."""
    services = {"Worker": nodes.worker(**SGLANG), "PrefillWorker": nodes.worker(**SGLANG), "Ldr": given.service("worker")}
    found = [clique["name"] for clique in template(services)["cliques"]]
    assert sorted(found) == ["ldr", "prefillworker-ldr", "prefillworker-wkr", "worker-ldr", "worker-wkr"]
    for service in ("worker", "prefillworker"):
        for side in ("ldr", "wkr"):
            name = f"chat-0-{service}-1-{service}-{side}"
            assert next(clique for clique in found if name.endswith(clique)) == f"{service}-{side}"
    assert next(clique for clique in found if "chat-0-ldr".endswith(clique)) == "ldr"


def test_cliques_stand_in_the_order_of_the_spec():
    """The reference's order is random, and Grove refuses to change it where it matters."""
    services = {"Zoo": given.service("worker"), "Mid": nodes.worker(**SGLANG), "Abc": given.service("frontend")}
    found = template(services)
    assert [clique["name"] for clique in found["cliques"]] == ["zoo", "mid-ldr", "mid-wkr", "abc"]
    assert [clique["spec"]["roleName"] for clique in found["cliques"]] == ["zoo", "mid-ldr", "mid-wkr", "abc"]


COUNTS = [
    ("one node", given.service("worker", replicas=3), {"worker": 3}, None),
    ("one node, replicas not written", given.service("worker"), {"worker": 1}, None),
    ("one node, no replicas", given.service("worker", replicas=0), {"worker": 0}, None),
    ("two nodes", nodes.worker(**SGLANG, replicas=4), {"worker-ldr": 1, "worker-wkr": 1}, 4),
    ("five nodes", nodes.worker(**SGLANG, nodes=5), {"worker-ldr": 1, "worker-wkr": 4}, 1),
]


@cases(("written", "pods", "groups"), COUNTS)
def test_a_group_is_a_leader_with_its_followers(written, pods, groups):
    found = template({"Worker": written})
    assert {clique["name"]: clique["spec"]["replicas"] for clique in found["cliques"]} == pods
    assert {clique["spec"]["minAvailable"] for clique in found["cliques"]} == {1}
    scaled = [{"name": "worker", "cliqueNames": ["worker-ldr", "worker-wkr"], "replicas": groups, "minAvailable": 1}]
    assert found.get("podCliqueScalingGroups") == (scaled if groups else None)


def test_a_group_whose_replicas_are_not_written_leaves_them_to_grove():
    written = {key: value for key, value in nodes.worker(**SGLANG).items() if key != "replicas"}
    assert "replicas" not in template({"Worker": written})["podCliqueScalingGroups"][0]


def test_grove_names_what_the_set_becomes():
    """The set's name, its index, and clique or group: the syncer looks for these."""
    found = rendered({"Front": given.service("frontend", replicas=2), "Decode": nodes.worker(**SGLANG, replicas=3)})
    assert workload_list.read(labels.annotations(found["DynamoGraphDeployment/chat"])[labels.WORKLOADS]) == [
        WorkloadEntry("Front", "grove.io/v1alpha1", "PodClique", "chat-0-front", 2),
        WorkloadEntry("Decode", "grove.io/v1alpha1", "PodCliqueScalingGroup", "chat-0-decode", 3),
    ]


ORDERS = [
    ("TensorRT-LLM on several nodes: the leader waits", nodes.worker(**TRTLLM), ["worker-wkr"]),
    ("TensorRT-LLM on one node", given.service("worker", main=TRTLLM), None),
    ("SGLang on several nodes", nodes.worker(**SGLANG), None),
    ("vLLM on several nodes", nodes.worker(args=["python3 -m dynamo.vllm"]), None),
]


@cases(("written", "after"), ORDERS)
def test_who_waits_for_whom(written, after):
    found = template({"Worker": written, "Frontend": given.service("frontend")})
    waiting = {clique["name"]: clique["spec"]["startsAfter"] for clique in found["cliques"] if "startsAfter" in clique["spec"]}
    assert waiting == ({"worker-ldr": after} if after else {})
    assert found["cliqueStartupType"] == ("CliqueStartupTypeExplicit" if after else "CliqueStartupTypeAnyOrder")


DELAYS = [("the default", "15m", "15m0s"), ("hours", "4h", "4h0m0s"), ("less than a second", "0.25s", "250ms"), ("none", "0s", None)]


@cases(("written", "delay"), DELAYS)
def test_termination_delay(written, delay):
    assert template(grove=config.GroveSettings(termination_delay=written)).get("terminationDelay") == delay


def test_pods_carry_the_labels_of_the_graph_then_of_the_service_then_of_its_pods():
    mine = {"a": "service", "b": "service", labels.COMPONENT: "Mine"}
    written = given.service("worker", subComponentType="decode", labels=mine, extraPodMetadata={"labels": {"b": "pod"}})
    found = cliques({"Worker": written})["worker"]["labels"]
    assert found == {
        labels.SELECTOR: "chat-worker",
        labels.GRAPH: "chat",
        labels.COMPONENT: "Mine",
        labels.NAMESPACE: "team-chat",
        labels.COMPONENT_TYPE: "worker",
        labels.SUB_COMPONENT_TYPE: "decode",
        labels.METRICS_ENABLED: "true",
        "a": "service",
        "b": "pod",
    }


METRICS = [
    ("the graph switches them off", {labels.ENABLE_METRICS: "false"}, {}, False),
    ("a service cannot", {}, {labels.ENABLE_METRICS: "false"}, True),
    ("no other word does", {labels.ENABLE_METRICS: "no"}, {}, True),
]


@cases(("of_graph", "of_service", "marked"), METRICS)
def test_metrics(of_graph, of_service, marked):
    found = cliques({"Worker": given.service("worker", annotations=of_service)}, annotations=of_graph)["worker"]["labels"]
    assert (labels.METRICS_ENABLED in found) == marked


def test_pods_carry_the_annotations_of_the_service_then_of_its_pods_then_the_restart():
    written = given.service("worker", annotations={"a": "1", "b": "1"}, extraPodMetadata={"annotations": {"b": "2"}})
    found = cliques({"Worker": written}, restart={"id": "r-1"})["worker"]["annotations"]
    assert found == {"a": "1", "b": "2", labels.DISCOVERY_BACKEND: "kubernetes", labels.RESTART_AT: "r-1"}


def test_the_graph_decides_about_discovery():
    """A service's own annotation is overridden."""
    own = {"Worker": given.service("worker", annotations={labels.DISCOVERY_BACKEND: "etcd"})}
    found = cliques(own)["worker"]
    assert found["annotations"][labels.DISCOVERY_BACKEND] == "kubernetes"
    assert found["spec"]["podSpec"]["serviceAccountName"] == "chat-k8s-service-discovery"
    none = rendered(annotations={labels.DISCOVERY_BACKEND: "etcd"})
    assert "serviceAccountName" not in none["PodCliqueSet/chat"]["spec"]["template"]["cliques"][0]["spec"]["podSpec"]
    assert not [name for name in none if name.startswith(("Role/", "ServiceAccount/"))]
    assert [name for name in none if name.startswith("Service/")] == ["Service/chat-frontend"]


def test_services_have_the_labels_of_the_component_only_and_select_by_type():
    found = rendered({"Decode": nodes.worker(**SGLANG, labels={"team": "red"}), "Frontend": given.service("frontend")})
    assert found["Service/chat-decode"]["metadata"]["labels"] == {
        "team": "red",
        labels.DISCOVERY_BACKEND: "kubernetes",
        labels.DISCOVERY_ENABLED: "true",
        labels.MANAGED_BY: "krm-fn",
    }
    assert found["Service/chat-decode"]["spec"]["selector"] == {labels.COMPONENT_TYPE: "worker", labels.NAMESPACE: "team-chat"}
    assert found["Service/chat-frontend"]["metadata"]["labels"][labels.DISCOVERY_ENABLED] == "true"
    assert labels.annotations(found["Service/chat-decode"]) == {labels.OWNER: "DynamoGraphDeployment/chat"}


ACCOUNTS = [
    ("the planner's own", given.service("planner", main={"args": ["x"]}), "planner-serviceaccount"),
    ("which the user may change", given.service("planner", main={"args": ["x"]}, pod={"serviceAccountName": "mine"}), "mine"),
    ("the one for discovery", given.service("worker"), "chat-k8s-service-discovery"),
]


@cases(("written", "account"), ACCOUNTS)
def test_accounts(written, account):
    (clique,) = template({"Worker": written})["cliques"]
    assert clique["spec"]["podSpec"]["serviceAccountName"] == account


def test_the_port_of_an_endpoint_picker_names_its_protocol():
    """Under Grove only, as in the reference."""
    picked = {"Frontend": given.service("frontend"), "Picker": given.picker()}
    port = {"name": "grpc", "port": 9002, "targetPort": 9002, "protocol": "TCP"}
    found = rendered(picked)
    assert found["Service/chat-picker"]["spec"]["ports"] == [{**port, "appProtocol": "http2"}]
    assert "appProtocol" not in found["Service/chat-frontend"]["spec"]["ports"][0]
    assert given.rendered(given.graph(picked))["Service/chat-picker"]["spec"]["ports"] == [port]


def test_debug_annotations_have_no_effect():
    """The reference adds no debugger to pods of cliques."""
    written = given.service("worker", annotations={labels.DEBUG: "true", labels.STEALING_DEBUG: "true"})
    found = rendered({"Worker": written})
    pod = found["PodCliqueSet/chat"]["spec"]["template"]["cliques"][0]["spec"]["podSpec"]
    assert [container["name"] for container in pod["containers"]] == ["main"]
    assert [name for name in found if name.startswith("Service/")] == ["Service/chat-worker"]


SCHEDULED = [
    ("not installed", None, {}, None, None, None),
    ("installed", KAI, {}, None, "kai-scheduler", "dynamo"),
    (
        "another queue",
        config.GroveSettings(kai_scheduler=config.KaiSchedulerSettings(enabled=True, queue="gold")),
        {},
        None,
        "kai-scheduler",
        "gold",
    ),
    ("the graph's queue", KAI, {labels.KAI_QUEUE_NAME: " silver "}, None, "kai-scheduler", "silver"),
    ("a blank queue", KAI, {labels.KAI_QUEUE_NAME: " "}, None, "kai-scheduler", "dynamo"),
    ("named by the user as well", KAI, {}, "kai-scheduler", "kai-scheduler", "dynamo"),
    ("the user has another one", KAI._replace(schedulers=("kai-scheduler", "mine")), {}, "mine", "mine", None),
]


@cases(("grove", "annotations", "own", "scheduler", "queue"), SCHEDULED)
def test_the_kai_scheduler_places_pods_on_a_queue(grove, annotations, own, scheduler, queue):
    written = given.service("worker", pod={"schedulerName": own} if own else {})
    found = cliques({"Worker": written}, grove=grove, annotations=annotations)["worker"]
    assert found["spec"]["podSpec"].get("schedulerName") == scheduler
    assert found["labels"].get(identity.KAI_QUEUE) == queue


def placed(**pod):
    return given.service("worker", pod=pod)


KNOWN = config.GroveSettings(schedulers=("default-scheduler", "kai-scheduler", "s"))
SPREAD = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]
REFUSED = [
    ("names within 45 characters", {"a" * 41: given.service("worker")}, None, []),
    ("one more", {"a" * 42: given.service("worker")}, None, [("error", "DYN163", "a" * 42)]),
    ("a group counts twice, with its suffix", {"a" * 18: nodes.worker(**SGLANG)}, None, []),
    ("one more letter in a group", {"a" * 19: nodes.worker(**SGLANG)}, None, [("error", "DYN163", "a" * 19)]),
    ("a group with 0 replicas", {"W": nodes.worker(**SGLANG, replicas=0)}, None, [("error", "DYN164", "W.replicas")]),
    (
        "a clique with 0 replicas",
        {"W": given.service("worker", replicas=0)},
        None,
        [("warning", "DYN164", "W.replicas")],
    ),
    ("replicas not written", {"W": given.service("worker")}, None, []),
    ("pods on one node", {"W": placed(nodeName="n")}, None, [("error", "DYN168", "W.extraPodSpec.nodeName")]),
    (
        "pods spread by the user",
        {"W": placed(topologySpreadConstraints=SPREAD)},
        None,
        [("error", "DYN168", "W.extraPodSpec.topologySpreadConstraints")],
    ),
    ("an empty list", {"W": placed(topologySpreadConstraints=[])}, None, [("error", "DYN168", "W.extraPodSpec.topologySpreadConstraints")]),
    ("pods on nodes of a kind", {"W": placed(nodeSelector={"gpu": "h100"})}, None, []),
    ("two schedulers", {"A": placed(), "B": placed(schedulerName="s")}, KNOWN, [("error", "DYN167", "B.extraPodSpec.schedulerName")]),
    ("one scheduler", {"A": placed(schedulerName="s"), "B": placed(schedulerName="s")}, KNOWN, []),
    ("the default one by its name", {"A": placed(), "B": placed(schedulerName="default-scheduler")}, None, []),
    (
        "KAI for some only",
        {"A": placed(), "B": placed(schedulerName="s")},
        KAI._replace(schedulers=KNOWN.schedulers),
        [("error", "DYN167", "B.extraPodSpec.schedulerName")],
    ),
    ("KAI for all", {"A": placed(), "B": placed(schedulerName="kai-scheduler")}, KAI, []),
    ("one name for two cliques", {"A": nodes.worker(**SGLANG), "A-ldr": given.service("worker")}, None, [("error", "DYN190", "A-ldr")]),
]


@cases(("services", "grove", "said"), REFUSED)
def test_a_set_that_groves_admission_refuses_is_an_error(services, grove, said, control_plane, crds):
    """The set itself is refused by Grove's rules exactly where there is an error."""
    settings = {"orchestrator": "grove", **({"grove": grove} if grove else {})}
    found = given.expanded(given.graph(services), **settings).results
    assert [(each.severity, each.code, field(each.path)) for each in found] == [
        (severity, code, f"spec.services.{where}") for severity, code, where in said
    ]
    control_plane.namespace("team")
    plan, _ = given.plan(given.graph(services), **settings)
    carrier = workloads.get("grove")
    (group,) = carrier.render(plan, [pod_builder.pods(each, carrier.roles(each)) for each in plan.components])
    answer = control_plane.apply(group)
    assert answer.ok != any(severity == "error" for severity, *_ in said), answer.message


CHANGED = [
    ("a service more", {"A": given.service("worker"), "B": given.service("worker")}, False),
    ("another service", {"B": given.service("worker")}, False),
    ("a service that becomes multinode", {"A": nodes.worker(**SGLANG)}, False),
    ("another image and another number", {"A": given.service("worker", main={"image": "x:2"}, replicas=3)}, True),
]


@cases(("reason", "after", "accepted"), CHANGED)
def test_a_set_that_exists_keeps_its_services(reason, after, accepted, control_plane, crds):
    """`check --old` warns of these changes (`krm_fn.render.rules.updates`)."""
    control_plane.namespace("team")
    name = f"kept-{CHANGED.index((reason, after, accepted))}"
    old, new = (
        given.rendered(given.graph(services, name=name), orchestrator="grove")[f"PodCliqueSet/{name}"]
        for services in ({"A": given.service("worker")}, after)
    )
    assert control_plane.apply(old, dry_run=False).ok
    assert control_plane.apply(new).ok is accepted


def test_deployments_may_do_all_that():
    written = {"A": placed(nodeName="n", schedulerName="s"), "B": given.service("worker", replicas=0)}
    assert given.expanded(given.graph(written)).results == []
    assert given.expanded(given.graph(written, annotations={labels.ENABLE_GROVE: "false"}), orchestrator="grove").results == []


def test_what_would_fit_is_said():
    found = given.expanded(given.graph({"a" * 22: nodes.worker(**SGLANG)}), orchestrator="grove")
    assert "52 characters" in found.results[0].message
    assert "shorten the graph's name by 7, or the component's name, which counts twice, by 4" in found.results[0].message
