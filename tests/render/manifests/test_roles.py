"""Roles of a component on several nodes: pod templates of their own, and overrides of the objects that Grove reads."""

from __future__ import annotations

import json

import pytest

from krm_fn.render import labels
from tests.support import beta, given
from tests.support.cases import cases
from tests.support.role_faults import launched, override, own, several

GROVE = {"orchestrator": "grove"}
RACK, ZONE = ({"pack": {"required": name}} for name in ("rack", "zone"))
MP = ["--distributed-executor-backend", "mp"]
VLLM = {"command": ["python3", "-m", "dynamo.vllm"], "args": ["--model", "m", *MP]}
TRTLLM = {"command": ["python3", "-m", "dynamo.trtllm"], "args": ["--model", "m"]}
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


def templates(graph, **settings):
    """The pod templates of the leader and of the workers."""
    group = given.rendered(graph, **settings)["LeaderWorkerSet/chat-worker-0"]["spec"]["leaderWorkerTemplate"]
    return group["leaderTemplate"], group["workerTemplate"]


def cliques(graph, **settings):
    """The cliques, and the scaling groups, of a graph under Grove by name."""
    template = given.rendered(graph, **GROVE, **settings)["PodCliqueSet/chat"]["spec"]["template"]
    return {part["name"]: part for part in (*template["cliques"], *template.get("podCliqueScalingGroups", ()))}


def main_of(template):
    return template["spec"]["containers"][0]


def hash_of(*components, **settings):
    (found,) = {template["metadata"]["labels"][labels.WORKER_HASH] for template in templates(beta.graph(*components), **settings)}
    return found


def test_each_role_has_the_pod_of_its_author():
    graph = beta.graph(
        launched(
            own("leader", main={"image": "registry.example/dynamo:1.6.1"}, metadata={"labels": {"role-of": "leader"}}),
            own("worker", main={"image": "registry.example/dynamo:1.6.0"}, pod={"nodeSelector": {"a": "b"}}),
        ),
        labels={"team": "search"},
        env=[{"name": "SHARED", "value": "1"}],
    )
    leader, worker = templates(graph)
    assert [main_of(template)["image"].rpartition(":")[2] for template in (leader, worker)] == ["1.6.1", "1.6.0"]
    assert "nodeSelector" not in leader["spec"]
    assert worker["spec"]["nodeSelector"] == {"a": "b"}
    assert [template["metadata"]["labels"].get("role-of") for template in (leader, worker)] == ["leader", None]
    for template in (leader, worker):  # what the graph adds reaches each role
        assert template["metadata"]["labels"]["team"] == "search"
        assert template["metadata"]["labels"][labels.WORKER_HASH]
        assert given.variables(main_of(template))["SHARED"] == "1"


def test_launch_lines_stay_as_written_and_a_follower_has_no_probes():
    leader, worker = templates(beta.graph(launched()))
    for template in (leader, worker):
        assert (main_of(template)["command"], main_of(template)["args"]) == (
            ["python3", "-m", "dynamo.sglang"],
            ["--model-path", "acme/tiny"],
        )
    assert all(probe in main_of(leader) for probe in PROBES)
    assert not any(probe in main_of(worker) for probe in PROBES)


def test_the_service_and_the_names_are_those_of_a_component_without_roles():
    with_roles, without = (given.rendered(beta.graph(component)) for component in (launched(), several()))
    kinds = {name for name in with_roles if not name.startswith(("DynamoGraphDeployment", "ConfigMap"))}
    assert kinds == {name for name in without if not name.startswith(("DynamoGraphDeployment", "ConfigMap"))}
    for name in (name for name in kinds if name.startswith("Service/")):
        assert with_roles[name]["spec"] == without[name]["spec"]


LINES = [
    # reason, command, args, expected args
    ("at the end of a plain command", VLLM["command"], VLLM["args"], [*VLLM["args"], "--master-port", "29500"]),
    ("a port of the author stays", VLLM["command"], [*MP, "--master-port=1"], [*MP, "--master-port=1"]),
    ("without the executor, nothing", VLLM["command"], ["--model", "m"], ["--model", "m"]),
    (
        "behind the module in a shell line",
        ["sh", "-c"],
        ["exec python3 -m dynamo.vllm --distributed-executor-backend mp"],
        ["exec python3 -m dynamo.vllm --master-port 29500 --distributed-executor-backend mp"],
    ),
    (
        "behind `vllm serve`",
        ["/bin/bash", "-c"],
        ["vllm serve m --distributed-executor-backend=mp"],
        ["vllm serve --master-port 29500 m --distributed-executor-backend=mp"],
    ),
]


@cases(("command", "args", "expected"), LINES)
def test_the_port_of_the_leader(command, args, expected):
    leader, worker = templates(
        beta.graph(
            launched(*(own(name, main={"command": command, "args": args}) for name in ("leader", "worker"))), backendFramework="vllm"
        )
    )
    assert [main_of(template)["args"] for template in (leader, worker)] == [expected] * 2
    waits = [container["name"] for container in worker["spec"].get("initContainers", ())]
    spreads = any("distributed-executor-backend" in word for word in args)
    assert waits == (["wait-for-leader-mp"] if spreads else [])
    for template in (leader, worker):
        assert ("VLLM_NIXL_SIDE_CHANNEL_HOST" in given.variables(main_of(template))) == spreads
    assert "initContainers" not in leader["spec"]


def test_tensorrt_llm_mounts_the_keys_and_probes_sshd():
    leader, worker = templates(beta.graph(launched(*(own(name, main=TRTLLM) for name in ("leader", "worker")))))
    for template in (leader, worker):
        assert main_of(template)["args"] == TRTLLM["args"]
        assert "/ssh-pk" in [mount["mountPath"] for mount in main_of(template)["volumeMounts"]]
        assert given.variables(main_of(template))["OMPI_MCA_orte_keep_fqdn_hostnames"] == "1"
    assert main_of(worker)["readinessProbe"]["tcpSocket"] == {"port": 2222}
    assert "livenessProbe" not in main_of(worker)


def test_each_role_has_the_gates_of_its_own_image():
    graph = beta.graph(launched(own("leader"), own("worker", main={"image": "registry.example/dynamo:1.4.0"})), annotations=None)
    leader, worker = templates(graph, behaviour="v1.6")
    values = [given.variables(main_of(template))["DYN_HEALTH_CHECK_ENABLED"] for template in (leader, worker)]
    assert values == ["true", "false"]


def test_the_status_counts_the_gpus_of_each_role():
    graph = beta.graph(launched(own("leader"), own("worker", main={"resources": {"limits": {"nvidia.com/gpu": "4"}}}), replicas=2))
    own_annotations = given.rendered(graph)["DynamoGraphDeployment/chat"]["metadata"]["annotations"]
    (entry,) = json.loads(own_annotations[labels.WORKLOADS])
    assert (entry["gpusPerEngine"], entry["gpusPerReplica"]) == (16, 16)
    assert own_annotations[labels.SUMMARY] == "1 service, 6 pods, 32 GPUs"


def test_roles_without_templates_change_no_pod_and_no_hash():
    """An operator writes the implicit roles into the resource. The hash must not read them."""
    roles = [{"name": "worker", "replicas": 2}, {"name": "leader", "replicas": 1}]
    assert templates(beta.graph(several(roles=roles))) == templates(beta.graph(several()))


def test_the_hash_reads_the_template_of_each_role_and_not_their_order():
    leader, worker = own("leader"), own("worker")
    changed = own("worker", main={"args": ["--model-path", "acme/other"]})
    assert hash_of(launched(leader, worker)) == hash_of(launched(worker, leader))
    assert hash_of(launched(leader, worker)) == hash_of(launched({**leader, "replicas": 1}, {**worker, "replicas": 2}))
    assert hash_of(launched(leader, worker)) != hash_of(launched(leader, changed))


OVERRIDDEN = [
    # reason, component, spec of the graph, part, expected constraint
    (
        "of a role",
        several(roles=[{"name": "leader"}, {"name": "worker", **override({"topologyConstraint": RACK})}]),
        {},
        "worker-wkr",
        RACK,
    ),
    (
        "of the other role, nothing",
        several(roles=[{"name": "leader"}, {"name": "worker", **override({"topologyConstraint": RACK})}]),
        {},
        "worker-ldr",
        None,
    ),
    ("of a scaling group", several(**override({"topologyConstraint": RACK})), {}, "worker", RACK),
    ("of a clique", beta.component("Worker", **override({"topologyConstraint": RACK})), {}, "worker", RACK),
    (
        "in place of that of the component",
        several(topologyConstraint={"packDomain": "host"}, **override({"topologyConstraint": ZONE})),
        {"topologyConstraint": {"clusterTopologyName": "racks", "packDomain": "zone"}},
        "worker",
        ZONE,
    ),
]


@cases(("component", "spec", "part", "expected"), OVERRIDDEN)
def test_an_override_replaces_the_constraint(component, spec, part, expected):
    assert cliques(beta.graph(component, **spec))[part].get("topologyConstraint") == expected


def test_an_override_of_the_graph_replaces_its_constraint():
    constraint = {"clusterTopologyName": "racks", "packDomain": "zone"}
    graph = beta.graph(several(), topologyConstraint=constraint, **override({"spec": {"template": {"topologyConstraint": RACK}}}))
    assert given.rendered(graph, **GROVE)["PodCliqueSet/chat"]["spec"]["template"]["topologyConstraint"] == RACK


@pytest.mark.parametrize(
    ("component", "part", "field"),
    [
        (several(replicas=3, **override({"minAvailable": 2})), "worker", ("minAvailable",)),
        (beta.component("Worker", replicas=3, **override({"spec": {"minAvailable": 2}})), "worker", ("spec", "minAvailable")),
        (several(replicas=3, minAvailable=2), "worker", ("minAvailable",)),
    ],
    ids=["of a scaling group", "of a clique", "the field of the component"],
)
def test_both_forms_of_a_minimum(component, part, field):
    found = cliques(beta.graph(component), behaviour="v1.6")[part]
    for step in field:
        found = found[step]
    assert found == 2
