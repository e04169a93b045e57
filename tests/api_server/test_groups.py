"""A real API server validates LeaderWorkerSets and PodCliqueSets with the definitions of tests/crds, and checks their pod templates.

The first tests check the definitions themselves: on create and update they refuse what the real definitions and webhooks refuse.
"""

from __future__ import annotations

import copy

import pytest

from tests.support import build_checks, definitions, given, golden, nodes, workload_templates
from tests.support.cases import cases

SPACE = "groups"
POD = {"containers": [{"name": "main", "image": "a:1"}]}


def clique(name, **spec):
    return {"name": name, "spec": {"roleName": name, "replicas": 1, "minAvailable": 1, "podSpec": POD, **spec}}


def group(**fields):
    return {"name": "g", "cliqueNames": ["b", "c"], "replicas": 1, "minAvailable": 1, **fields}


VERSIONS = {
    "InferencePool": "inference.networking.k8s.io/v1",
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1",
    "PodCliqueSet": "grove.io/v1alpha1",
    "PodGroup": "scheduling.volcano.sh/v1beta1",
    "VirtualService": "networking.istio.io/v1beta1",
}
CLAIM = {"metadata": {"labels": {"team": "a"}}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
SCRATCH = {**POD, "volumes": [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": CLAIM}}]}


def object_of(kind, spec, name="x"):
    version = VERSIONS[kind]
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": SPACE}, "spec": spec}


def leader_worker_set(name="x", size=2, pod=POD, **spec):
    return object_of("LeaderWorkerSet", {"leaderWorkerTemplate": {"size": size, "workerTemplate": {"spec": pod}}, **spec}, name)


def pod_clique_set(*cliques, name="x", **template):
    return object_of("PodCliqueSet", {"replicas": 1, "template": {"cliques": list(cliques), **template}}, name)


def pool(**labels):
    spec = {
        "selector": {"matchLabels": labels},
        "targetPorts": [{"number": 8000}],
        "endpointPickerRef": {"name": "a", "port": {"number": 1}},
    }
    return object_of("InferencePool", spec)


def virtual_service(**uri):
    return object_of("VirtualService", {"hosts": ["a"], "http": [{"match": [{"uri": uri}], "route": [{"destination": {"host": "a"}}]}]})


THREE = (clique("a"), clique("b"), clique("c"))
EXPLICIT = {"cliqueStartupType": "CliqueStartupTypeExplicit"}
REFUSED = [
    ("an empty rollout strategy, as the reference writes it", leader_worker_set(rolloutStrategy={"type": ""}), "rolloutStrategy.type"),
    ("an unknown startup policy", leader_worker_set(startupPolicy="LeaderFirst"), "startupPolicy"),
    ("an unknown field of a set", leader_worker_set(template={}), "spec.template"),
    ("a group without pods", leader_worker_set(size=0), "leaderWorkerTemplate.size"),
    ("a negative number of groups", leader_worker_set(replicas=-1), "spec.replicas"),
    ("more pods than a 32-bit number can count", leader_worker_set(replicas=2_000_000_000, size=2), "cannot be counted"),
    ("a name that no Service can have", leader_worker_set("0x"), "fit for one"),
    ("a pod group with a negative minMember", object_of("PodGroup", {"minMember": -1}), "spec.minMember"),
    ("a queue with an invalid name", object_of("PodGroup", {"queue": "A"}), "spec.queue"),
    ("an unknown field of a pod group", object_of("PodGroup", {"minMembers": 1}), "minMembers"),
    ("a set without cliques", pod_clique_set(), "cliques"),
    ("an unknown field of a clique", pod_clique_set({**clique("a"), "replica": 1}), "replica"),
    ("two cliques of one name", pod_clique_set(clique("a"), clique("a")), "a"),
    ("two cliques of one role", pod_clique_set(clique("a"), clique("b", roleName="a")), "each role may stand once"),
    ("minAvailable above replicas", pod_clique_set(clique("a", minAvailable=2)), "more pods must be available"),
    ("a clique with an invalid name", pod_clique_set(clique("A")), "name"),
    ("46 characters", pod_clique_set(clique("a" * 45)), "more than 45"),
    ("46 characters in a group", pod_clique_set(*THREE, podCliqueScalingGroups=[group(name="g" * 44)]), "more than 45"),
    ("an unknown order", pod_clique_set(*THREE, cliqueStartupType="Explicit"), "cliqueStartupType"),
    ("a wait for an unknown clique", pod_clique_set(clique("a", startsAfter=["z"]), **EXPLICIT), "starts after other cliques"),
    ("a wait of a clique for itself", pod_clique_set(clique("a", startsAfter=["a"]), **EXPLICIT), "starts after other cliques"),
    ("two schedulers", pod_clique_set(clique("a"), clique("b", podSpec={**POD, "schedulerName": "s"})), "one scheduler"),
    ("a pod with a nodeName", pod_clique_set(clique("a", podSpec={**POD, "nodeName": "n"})), "placed by Grove"),
    ("a termination delay of 0", pod_clique_set(clique("a"), terminationDelay="0s"), "above zero"),
    ("an invalid termination delay", pod_clique_set(clique("a"), terminationDelay="soon"), "terminationDelay"),
    ("a scaling group of unknown cliques", pod_clique_set(clique("a"), podCliqueScalingGroups=[group()]), "consists of cliques"),
    (
        "a clique in two groups",
        pod_clique_set(*THREE, podCliqueScalingGroups=[group(), group(name="h", cliqueNames=["c"])]),
        "one scaling group at most",
    ),
    ("an unknown field of a pod", pod_clique_set(clique("a", podSpec={**POD, "hostIpc": True})), "hostIpc"),
    ("an unknown field of a pod in a group", leader_worker_set(pod={**POD, "hostIpc": True}), "hostIpc"),
    ("an unknown field deep in a pod", leader_worker_set(pod={"containers": [{"name": "a", "env": [{"nam": "A"}]}]}), "nam"),
    ("a pod without containers", pod_clique_set(clique("a", podSpec={"hostIPC": True})), "containers"),
    ("labels of a claim, which Grove's definition would lose", pod_clique_set(clique("a", podSpec=SCRATCH)), "metadata.labels"),
    ("a pool with an empty selector", pool(), "matchLabels"),
    ("two matches for one URI", virtual_service(prefix="/", exact="/a"), "uri"),
    ("a scaling group with 0 replicas", pod_clique_set(*THREE, podCliqueScalingGroups=[group(replicas=0)]), "replicas"),
]
ACCEPTED = [
    ("a set", leader_worker_set()),
    ("a set that updates as the real one does by default", leader_worker_set(rolloutStrategy={"type": "RollingUpdate"})),
    ("labels of a claim, which the definition of LeaderWorkerSet keeps", leader_worker_set(pod=SCRATCH)),
    ("a pod group", object_of("PodGroup", {"minMember": 2})),
    ("a pool", pool(a="b")),
    ("one match for a URI", virtual_service(prefix="/")),
    ("cliques", pod_clique_set(*THREE, podCliqueScalingGroups=[group()], terminationDelay="15m0s")),
    ("45 characters", pod_clique_set(clique("a" * 44))),
    ("a wait", pod_clique_set(clique("a", startsAfter=["b"]), clique("b"), **EXPLICIT)),
    ("0 replicas, which the server changes to 1", pod_clique_set(clique("a", replicas=0))),
    ("the default scheduler by its name", pod_clique_set(clique("a"), clique("b", podSpec={**POD, "schedulerName": "default-scheduler"}))),
]


@pytest.fixture(scope="module")
def plane(control_plane, crds):
    control_plane.namespace(SPACE)
    return control_plane


def test_the_definitions_leave_nothing_open():
    assert [path for definition in definitions.every() for path in definitions.left_open(definition)] == []


@cases(("written", "said"), REFUSED)
def test_the_definitions_refuse(written, said, plane):
    answer = plane.judge(written)
    assert not answer.ok
    assert said in answer.message


@cases("written", ACCEPTED)
def test_the_definitions_accept(written, plane):
    answer = plane.judge(written)
    assert answer.ok, answer.message


DEFAULTS = [
    ("the startup policy", leader_worker_set(), ("spec", "startupPolicy"), "LeaderCreated"),
    ("the number of groups", leader_worker_set(), ("spec", "replicas"), 1),
    ("the queue", object_of("PodGroup", {"minMember": 2}), ("spec", "queue"), "default"),
    ("the startup order of cliques", pod_clique_set(clique("a")), ("spec", "template", "cliqueStartupType"), "CliqueStartupTypeAnyOrder"),
]


@cases(("written", "path", "value"), DEFAULTS)
def test_the_definitions_fill_in(written, path, value, plane):
    found = plane.apply(written).body
    for step in path:
        found = found[step]
    assert found == value


EXPLICIT_SET = pod_clique_set(clique("a", startsAfter=["b"]), clique("b"), clique("c"), podCliqueScalingGroups=[group()], **EXPLICIT)
ANY_SET = pod_clique_set(*THREE, name="any")
TEMPLATE = ("spec", "template")
CHANGES = [
    ("another image", ANY_SET, (*TEMPLATE, "cliques", 0, "spec", "podSpec", "containers", 0, "image"), "a:2", ""),
    ("more pods", ANY_SET, (*TEMPLATE, "cliques", 0, "spec", "replicas"), 3, ""),
    ("another order of cliques without startsAfter", ANY_SET, (*TEMPLATE, "cliques"), [*THREE[1:], THREE[0]], ""),
    ("another clique", ANY_SET, (*TEMPLATE, "cliques"), [*THREE, clique("d")], "cliques cannot come"),
    ("a removed clique", ANY_SET, (*TEMPLATE, "cliques"), list(THREE[1:]), "cliques cannot come"),
    ("a clique by another name", ANY_SET, (*TEMPLATE, "cliques"), [*THREE[:2], clique("z")], "cliques cannot come"),
    ("another role", ANY_SET, (*TEMPLATE, "cliques", 0, "spec", "roleName"), "z", "a role cannot change"),
    ("another startup type", ANY_SET, (*TEMPLATE, "cliqueStartupType"), "CliqueStartupTypeInOrder", "order of starting"),
    ("a scaling group", ANY_SET, (*TEMPLATE, "podCliqueScalingGroups"), [group()], "scaling groups cannot come"),
    ("more groups", EXPLICIT_SET, (*TEMPLATE, "podCliqueScalingGroups", 0, "replicas"), 3, ""),
    (
        "other cliques in a group",
        EXPLICIT_SET,
        (*TEMPLATE, "podCliqueScalingGroups", 0, "cliqueNames"),
        ["b"],
        "cliques of a scaling group",
    ),
    ("another wait", EXPLICIT_SET, (*TEMPLATE, "cliques", 0, "spec", "startsAfter"), ["c"], "what a clique waits for"),
    (
        "another order of cliques with startsAfter",
        EXPLICIT_SET,
        (*TEMPLATE, "cliques"),
        [clique("b"), clique("a", startsAfter=["b"]), clique("c")],
        "order of cliques",
    ),
]


@cases(("written", "path", "value", "said"), CHANGES)
def test_the_definitions_let_nobody_change_what_grove_does_not(written, path, value, said, plane):
    assert plane.apply(written, dry_run=False).ok
    changed = copy.deepcopy(written)
    holder = changed
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    answer = plane.apply(changed)
    assert answer.ok == (not said), answer.message
    assert said in answer.message


FILES = sorted(golden.EXAMPLES.glob("*/expected*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(golden.EXAMPLES)))
def test_every_pod_template_of_the_examples_is_accepted(file, plane):
    """`test_objects.py` sends the workloads themselves."""
    sent = [template for each in build_checks.read(file.read_text()) for template in workload_templates.pod_templates(each)]
    assert sent
    for each in sent:
        plane.namespace(each["metadata"]["namespace"])
        answer = plane.judge(each)
        assert answer.ok, answer.message
        assert answer.warnings == ()


def test_examples_carry_pods_in_every_way():
    kinds = {each["kind"] for file in FILES for each in build_checks.read(file.read_text()) if list(workload_templates.templates(each))}
    assert kinds == {"Deployment", "DisaggregatedSet", "Job", "LeaderWorkerSet", "PodCliqueSet"}


GRAPHS = [
    ("LeaderWorkerSets", "deployment", {"LeaderWorkerSet", "PodGroup"}),
    ("Grove", "grove", {"PodCliqueSet"}),
    ("LeaderWorkerSets of 1.5", "deployment of 1.5", {"LeaderWorkerSet", "ConfigMap"}),
    ("Grove of 1.5", "grove of 1.5", {"PodCliqueSet", "ConfigMap"}),
]


@pytest.mark.parametrize("engine", ["vllm", "sglang", "trtllm"])
@cases(("carrier", "kinds"), GRAPHS)
def test_a_change_of_image_and_replicas_passes(carrier, kinds, engine, plane):
    """Applies the workloads of a graph, then those of the graph with another image and number of replicas."""

    def rendered(image, replicas):
        written = nodes.worker(command=["python3", "-m", f"dynamo.{engine}"], args=["--x"], image=image, replicas=replicas)
        graph = given.graph({"Worker": written}, name=f"{engine}-{carrier.replace(' of 1.5', '-newer')}", namespace=SPACE)
        found = [each for each in given.expanded(graph, **nodes.settings(carrier)).resources if each["kind"] in kinds]
        assert {each["kind"] for each in found} == kinds
        return found

    for each in (*rendered("a:1.5.0", 1), *rendered("a:1.5.1", 2)):
        answer = plane.apply(each, dry_run=False)
        assert answer.ok, answer.message


LINES = [
    ("mp", "vllm", ["--tensor-parallel-size", "16"]),
    ("data parallelism", "vllm", ["--data-parallel-size", "16"]),
    ("elastic parallelism", "vllm", ["--enable-elastic-ep", "--data-parallel-backend", "ray"]),
    ("an MPI job", "trtllm", ["--x"]),
]


@pytest.mark.parametrize("carrier", nodes.NEWER)
@cases(("engine", "args"), LINES)
def test_pods_of_several_nodes_of_release_1_5_are_accepted(engine, args, carrier, plane):
    """Init containers, volumes from the ConfigMap, and variables from fields of the pod."""
    written = nodes.worker(command=["python3", "-m", f"dynamo.{engine}"], args=args)
    found = given.expanded(given.graph({"Worker": written}, namespace=SPACE), **nodes.settings(carrier)).resources
    sent = [template for each in found for template in workload_templates.pod_templates(each)]
    assert len(sent) == 2
    for each in sent:
        answer = plane.judge(each)
        assert answer.ok, answer.message
        assert answer.warnings == ()
