"""Facts are derived from a graph once; here those that no object shows by itself, and the order in which sources count."""

from __future__ import annotations

import pytest

from krm_fn.render import config, labels
from krm_fn.render.plan import Claim, EndpointPicker, IngressPlan, Mount, RestartPlan
from krm_fn.render.resolve import cluster
from tests.support import given
from tests.support.cases import cases

ENGINES = [
    ("a module of Python", ["python3", "-m", "dynamo.vllm"], [], "", "vllm"),
    ("command and arguments are one line", ["python3"], ["-m", "dynamo.sglang"], "", "sglang"),
    ("a shell's line", ["/bin/sh", "-c"], ["cd /w && python3 -m dynamo.trtllm --model m"], "", "trtllm"),
    ("options before the module", ["python3.11", "-u", "-m", "dynamo.vllm.worker"], [], "", "vllm"),
    ("a path to Python", ["/opt/bin/python3.12"], ["-m", "dynamo.vllm"], "", "vllm"),
    ("lines that go on", [], ["python3 \\\n -m dynamo.vllm \\\n --model m"], "", "vllm"),
    ("a separator between Python and the module", ["python3 run.py; -m dynamo.vllm"], [], "", "noop"),
    ("no blank after the option", ["python3 -mdynamo.vllm"], [], "", "noop"),
    ("another module of Dynamo", ["python3 -m dynamo.mocker"], [], "", "noop"),
    ("no command, and what the graph says", [], [], "sglang", "sglang"),
    ("another command, and what the graph says", ["./run"], [], "vllm", "vllm"),
    ("two engines, and what the graph says", ["python3 -m dynamo.vllm & python3 -m dynamo.sglang"], [], "trtllm", "trtllm"),
    ("nothing at all", [], [], "", "noop"),
]


@cases(("command", "args", "said", "engine"), ENGINES)
def test_the_engine(command, args, said, engine):
    """Reference: determineBackendFramework."""
    spec = {"backendFramework": said} if said else {}
    assert given.component(given.service("worker", main={"command": command, "args": args}), **spec).engine == engine


@pytest.mark.parametrize("kind", ["", "frontend", "planner", "Worker"])
def test_only_workers_have_an_engine(kind):
    assert given.component(given.service(kind, main={"args": ["python3 -m dynamo.vllm"]})).engine == "noop"


NODES = [
    ("one without a word", {}, {}, 1, "deployment"),
    ("two where the number is left out", {"multinode": {}}, {}, 2, "leaderworkerset"),
    ("as many as written", {"multinode": {"nodeCount": 4}}, {}, 4, "leaderworkerset"),
    (
        "without LeaderWorkerSets there is only a Deployment",
        {"multinode": {}},
        {"leader_worker_set": config.LeaderWorkerSetSettings(enabled=False)},
        2,
        "deployment",
    ),
    ("under Grove", {"multinode": {}}, {"orchestrator": "grove"}, 2, "grove"),
    ("one under Grove", {}, {"orchestrator": "grove"}, 1, "grove"),
]


@cases(("written", "settings", "nodes", "carrier"), NODES)
def test_nodes_and_what_carries_them(written, settings, nodes, carrier):
    plan = given.component(given.service("worker", **written), config=settings)
    assert (plan.placement.nodes, plan.placement.workload) == (nodes, carrier)


GROVE = [("false", "deployment"), ("FALSE", "deployment"), ("true", "grove"), ("no", "grove"), (None, "grove")]


@pytest.mark.parametrize(("word", "orchestrator"), GROVE)
def test_a_graph_can_opt_out_of_grove_and_not_into_it(word, orchestrator):
    annotations = {} if word is None else {labels.ENABLE_GROVE: word}
    assert given.plan(given.graph(annotations=annotations), orchestrator="grove")[0].orchestrator == orchestrator
    assert given.plan(given.graph(annotations=annotations))[0].orchestrator == "deployment"


REPLICAS = [
    ("as written", {"replicas": 3}, "", 3),
    ("zero is a number", {"replicas": 0}, "", 0),
    ("nothing said", {}, "", None),
    ("from the deployment configuration", {}, '{"Worker": {"ServiceArgs": {"workers": 4}}}', 4),
    ("what is written wins", {"replicas": 0}, '{"Worker": {"ServiceArgs": {"workers": 4}}}', 0),
    ("another service's do not count", {}, '{"worker": {"ServiceArgs": {"workers": 4}}}', None),
]


@cases(("written", "text", "replicas"), REPLICAS)
def test_replicas(written, text, replicas):
    envs = [{"name": "DYN_DEPLOYMENT_CONFIG", "value": text}] if text else []
    assert given.component(given.service("worker", envs=envs, **written)).placement.replicas == replicas


def test_the_deployment_configuration_sets_amounts_on_both_sides_and_leaves_the_others():
    text = '{"Worker": {"ServiceArgs": {"resources": {"cpu": "2000m", "gpu": "2"}}}}'
    written = given.service("worker", resources={"requests": {"memory": "1Gi", "cpu": "1"}})
    plan = given.component(written, envs=[{"name": "DYN_DEPLOYMENT_CONFIG", "value": text}])
    assert plan.pod.resources == {"limits": {"cpu": "2", "nvidia.com/gpu": "2"}, "requests": {"cpu": "2", "memory": "1Gi"}, "claims": []}
    assert plan.pod.gpus.number == 2


TEXT = '{"Worker": {"b": 1, "a": "<"}}'
TEXTS = [("frontend", '{"Worker":{"a":"\\u003c","b":1,"port":8000}}'), ("worker", TEXT), ("", TEXT)]


@pytest.mark.parametrize(("kind", "text"), TEXTS)
def test_only_a_frontends_deployment_configuration_is_printed_anew(kind, text):
    plan = given.component(given.service(kind), envs=[{"name": "DYN_DEPLOYMENT_CONFIG", "value": TEXT}])
    assert [entry["value"] for entry in plan.pod.envs if entry["name"] == "DYN_DEPLOYMENT_CONFIG"] == [text]


def test_under_grove_the_deployment_configuration_is_a_variable_like_any_other():
    written = given.service("frontend", envs=[{"name": "DYN_DEPLOYMENT_CONFIG", "value": "no JSON"}])
    assert given.component(written, config={"orchestrator": "grove"}).pod.envs == ({"name": "DYN_DEPLOYMENT_CONFIG", "value": "no JSON"},)


def test_variables_of_a_service_keep_their_order_where_the_graph_has_none():
    own = [{"name": "B"}, {"name": "A"}]
    assert list(given.component(given.service("worker", envs=own)).pod.envs) == own
    assert [entry["name"] for entry in given.component(given.service("worker", envs=own), envs=[{"name": "C"}]).pod.envs] == ["A", "B", "C"]


HANDED = [
    ("nothing of the graph", {}, {}, {}),
    (
        "two annotations of the graph",
        {labels.ENABLE_METRICS: "false", labels.DISCOVERY_BACKEND: "etcd"},
        {},
        {labels.ENABLE_METRICS: "false", labels.DISCOVERY_BACKEND: "etcd"},
    ),
    (
        "over the service's own",
        {labels.ENABLE_METRICS: "false"},
        {labels.ENABLE_METRICS: "true", "a": "b"},
        {labels.ENABLE_METRICS: "false", "a": "b"},
    ),
    ("and no others", {labels.DEBUG: "true", "a": "b"}, {}, {}),
]


@cases(("graph", "service", "handed"), HANDED)
def test_a_graph_hands_two_annotations_down(graph, service, handed):
    written = given.graph({"Worker": given.service("worker", annotations=service)}, annotations=graph)
    assert given.plan(written)[0].components[0].identity.annotations == handed


RESTARTS = [
    ("no id requests none", {}, RestartPlan("")),
    ("an id", {"id": "1"}, RestartPlan("1")),
    ("at once", {"id": "1", "strategy": {"type": "Parallel"}}, RestartPlan("1", parallel=True)),
    ("one after the other", {"id": "1", "strategy": {"type": "Sequential"}}, RestartPlan("1", sequential=True)),
    ("in an order", {"id": "1", "strategy": {"order": ["Worker"]}}, RestartPlan("1", ("Worker",), sequential=True)),
    ("an empty order", {"id": "1", "strategy": {"order": []}}, RestartPlan("1")),
]


@cases(("written", "restart"), RESTARTS)
def test_restart(written, restart):
    assert given.plan(given.graph(restart=written))[0].restart == restart


def test_claims():
    pvcs = [
        {"name": "a", "create": True, "size": "1024Gi", "storageClass": "s", "volumeAccessMode": "ReadWriteOnce"},
        {"name": "b"},
        {"name": ""},
    ]
    assert given.plan(given.graph(pvcs=pvcs))[0].claims == (
        Claim("a", create=True, size="1Ti", storage_class="s", access_mode="ReadWriteOnce"),
        Claim("b"),
        Claim(""),
    )


def test_mounts():
    mounts = [{"name": "a", "mountPoint": "/a"}, {"name": "b", "useAsCompilationCache": True}]
    assert given.component(given.service("worker", volumeMounts=mounts)).pod.mounts == (Mount("a", "/a"), Mount("b", "", cache=True))


GPUS = [
    ("none", {}, {}, 0),
    ("the service's", {}, {"limits": {"gpu": "4"}}, 4),
    ("by another name", {}, {"limits": {"gpu": "4", "gpuType": "amd.com/gpu"}}, 4),
    ("the container's", {"limits": {"nvidia.com/gpu": 2}}, {}, 2),
    ("the service's over the container's", {"limits": {"nvidia.com/gpu": "2"}}, {"limits": {"gpu": "4"}}, 4),
    ("requested ones are not limited", {}, {"requests": {"gpu": "4"}}, 0),
]


@cases(("container", "service", "gpus"), GPUS)
def test_gpus_of_one_pod(container, service, gpus):
    assert given.component(given.service("worker", main={"resources": container}, resources=service)).pod.gpus.number == gpus


INGRESS = config.IngressSettings(class_name="nginx", tls_secret_name="tls", host_suffix="example.org")  # noqa: S106 - the name of a Secret
DEFAULTS = [
    ("nothing is configured", "frontend", config.IngressSettings(), IngressPlan(host="chat")),
    (
        "a class, a certificate and a domain",
        "frontend",
        INGRESS,
        IngressPlan(enabled=True, host="chat", suffix="example.org", class_name="nginx", tls=True, tls_secret="tls"),  # noqa: S106
    ),
    (
        "a gateway",
        "frontend",
        config.IngressSettings(istio_gateway="istio/a"),
        IngressPlan(enabled=True, host="chat", virtual_service=True, gateway="istio/a"),
    ),
    ("other types have none", "worker", INGRESS, IngressPlan()),
]


@cases(("kind", "settings", "ingress"), DEFAULTS)
def test_the_ingress_of_the_installation(kind, settings, ingress):
    """Reference: GenerateDefaultIngressSpec."""
    assert given.component(given.service(kind), config={"ingress": settings}).exposure.ingress == ingress


def test_an_ingress_of_ones_own_takes_nothing_from_the_installation():
    assert given.component(
        given.service("frontend", ingress={"enabled": True, "host": "a"}), config={"ingress": INGRESS}
    ).exposure.ingress == IngressPlan(enabled=True, host="a")
    assert given.component(given.service("frontend", ingress={}), config={"ingress": INGRESS}).exposure.ingress == IngressPlan()


PICKERS = [
    ("inline", {"config": {"plugins": []}}, EndpointPicker(is_configured=True, config={"plugins": []})),
    (
        "by name",
        {"configMapRef": {"name": "a", "key": "b"}},
        EndpointPicker(is_configured=True, by_reference=True, config_map="a", key="b"),
    ),
    ("neither", {}, EndpointPicker(is_configured=True)),
]


@cases(("written", "picker"), PICKERS)
def test_the_configuration_of_an_endpoint_picker(written, picker):
    assert given.component(given.service("epp", eppConfig=written)).exposure.picker == picker


def test_components_stand_in_the_order_of_the_spec():
    services = {name: given.service("worker") for name in ("b", "a", "C")}
    assert [component.identity.service for component in given.plan(given.graph(services))[0].components] == ["b", "a", "C"]


def test_names_and_namespaces():
    plan = given.component(given.service("worker"))
    assert (plan.identity.name, plan.identity.namespace, plan.identity.graph, plan.identity.dynamo_namespace) == (
        "chat-worker",
        "team",
        "chat",
        "team-chat",
    )
    configured = given.plan(given.graph(namespace=""), namespace="prod")[0].components[0]
    assert (configured.identity.namespace, configured.identity.dynamo_namespace) == ("prod", "prod-chat")
    assert given.plan(given.graph(namespace=""))[0].namespace == cluster.NAMESPACE
