"""What a release does otherwise than its neighbours: one table of facts, each with the value that every release gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from krm_fn.base import results
from krm_fn.render import labels
from tests.support import beta, given
from tests.support.cases import cases

if TYPE_CHECKING:
    from collections.abc import Callable

    from krm_fn.kubernetes.types import Resource

GROVE: dict[str, Any] = {"orchestrator": "grove"}
OLDER, NEWER = ("v1.2", "v1.3", "v1.4"), ("v1.5", "v1.6", "v1.7")
RELEASES = (*OLDER, *NEWER)
BEFORE_1_4, SINCE_1_4 = OLDER[:2], ("v1.4", *NEWER)
SINCE_1_3 = ("v1.3", *SINCE_1_4)
PYTHON = ["python3", "-m", "dynamo.vllm"]


class Difference(NamedTuple):
    """A fact: what the output of `items` has, by release. `pick` takes it from the output by `Kind/name`."""

    reason: str
    items: tuple[Resource, ...]
    pick: Callable[[dict[str, Resource]], Any]
    values: dict[tuple[str, ...], Any]
    settings: dict[str, Any]


def difference(reason, item, pick, values, *others, **settings):
    return Difference(reason, (item, *others), pick, values, settings)


def pod(kind="Deployment", name="chat-worker", at="template"):
    def pick(output):
        spec = output[f"{kind}/{name}"]["spec"]
        return (spec["leaderWorkerTemplate"] if kind == "LeaderWorkerSet" else spec)[at]

    return pick


def main(output, find=None):
    return (find or pod())(output)["spec"]["containers"][0]


def variable(name, find=None):
    return lambda output: next((entry.get("value") for entry in main(output, find)["env"] if entry["name"] == name), None)


def clique(output):
    return output["PodCliqueSet/chat"]["spec"]["template"]["cliques"][0]


def workers(*args, **fields):
    """A graph with a worker on two nodes."""
    return given.graph({"Worker": beta.service(main={"command": PYTHON, "args": [*args]}, multinode={"nodeCount": 2}, **fields)})


def addresses(kind):
    return lambda output: sorted(address for address in output if address.startswith(f"{kind}/"))


LEADER = pod("LeaderWorkerSet", "chat-worker-0", "leaderTemplate")
ALONE = given.item(
    "DynamoComponentDeployment",
    "alone",
    api="nvidia.com/v1alpha1",
    spec={
        **beta.service(main={"command": ["python3", "-m", "dynamo.trtllm"], "args": ["--model-path", "m"]}, multinode={"nodeCount": 2}),
        "dynamoNamespace": "team-chat",
        "backendFramework": "trtllm",
        "resources": {"limits": {"gpu": "1"}},
    },
)
XE = {"limits": {"gpu": "2", "gpuType": "gpu.intel.com/xe"}}

LONG = "n" * 50
TRTLLM = given.graph(
    {
        "Worker": beta.service(
            main={"command": ["python3", "-m", "dynamo.trtllm"], "args": ["--model-path", "m"]},
            multinode={"nodeCount": 2},
            resources={"limits": {"gpu": "1"}},
        )
    }
)
MOUNTED = given.graph(
    {
        "Worker": beta.service(
            main={"volumeMounts": [{"name": "mine", "mountPath": "/mine"}]}, volumeMounts=[{"name": "lost", "mountPoint": "/l"}]
        )
    },
    pvcs=[{"name": name, "create": False} for name in ("mine", "lost")],
)
CACHED = given.graph(
    {
        "Worker": beta.service(
            main={"command": PYTHON}, volumeMounts=[{"name": "kernels", "mountPoint": "/k", "useAsCompilationCache": True}]
        )
    },
    pvcs=[{"name": "kernels", "create": False}],
)
PLACED = beta.graph(
    beta.component("Worker", topologyConstraint={"packDomain": "host"}),
    topologyConstraint={"packDomain": "rack", "clusterTopologyName": "room"},
)
SHARED_GPUS = beta.graph(
    beta.component(
        "Worker",
        main={"command": PYTHON, "args": ["--model", "m"], "resources": {"limits": {"nvidia.com/gpu": "1"}}},
        experimental={"gpuMemoryService": {"mode": "IntraPod"}},
    )
)
APART = beta.graph(
    beta.component(
        "Worker",
        main={"command": PYTHON, "args": ["--model", "m"], "resources": {"limits": {"nvidia.com/gpu": "1"}}},
        experimental={"gpuMemoryService": {"mode": "InterPod"}},
    ),
    backendFramework="vllm",
)
STRATEGY = beta.graph(annotations={labels.GROVE_UPDATE_STRATEGY: "OnDelete"})
NOTED = beta.graph(beta.component("Worker", metadata={"annotations": {"mine": "1"}}))


def engine(output):
    """The main container of the clique that runs the engine."""
    cliques = output["PodCliqueSet/chat"]["spec"]["template"]["cliques"]
    containers = [clique["spec"]["podSpec"]["containers"][0] for clique in cliques]
    return next(container for container in containers if "dynamo.vllm" in container.get("command", ()))


DIFFERENCES = [
    difference(
        "workers of Grove tell their generation from 1.5 on",
        beta.graph(),
        lambda output: labels.WORKER_HASH in clique(output)["labels"],
        {OLDER: False, NEWER: True},
        **GROVE,
    ),
    difference(
        "the status has the GPUs of a component from 1.5 on",
        beta.graph(),
        lambda output: "gpusPerEngine" in output["DynamoGraphDeployment/chat"]["metadata"]["annotations"][labels.WORKLOADS],
        {OLDER: False, NEWER: True},
    ),
    difference(
        "elastic expert parallelism in one pod starts Ray from 1.5 on",
        beta.graph(beta.component("Worker", main={"command": PYTHON, "args": ["--enable-elastic-ep", "--data-parallel-backend", "ray"]})),
        lambda output: main(output)["command"],
        {OLDER: PYTHON, NEWER: ["/bin/sh", "-c"]},
    ),
    difference(
        "no gate of images is older than 1.5",
        beta.graph(),
        variable("DYN_HEALTH_CHECK_ENABLED"),
        {OLDER: "false", NEWER: "true"},
    ),
    difference(
        "vLLM starts its processes itself for graphs of 1.0 and later",
        workers("--tensor-parallel-size", "2", resources={"limits": {"gpu": "1"}}),
        lambda output: "--distributed-executor-backend mp" in " ".join(main(output, LEADER)["args"]),
        {RELEASES: True},
    ),
    difference(
        "the cache of an endpoint picker with a configuration is a volume before 1.5",
        given.graph({"Epp": given.picker()}),
        lambda output: [mount["mountPath"] for mount in main(output, pod(name="chat-epp"))["volumeMounts"]],
        {OLDER: ["/etc/epp", "/home/nonroot/.cache", "/dev/shm"], NEWER: ["/etc/epp", "/dev/shm"]},  # noqa: S108 - no temporary file
    ),
    difference(
        "resources with other names than NVIDIA's and AMD's mean GPUs from 1.5 on",
        workers("--tensor-parallel-size", "4", resources=XE),
        lambda output: "--distributed-executor-backend mp" in " ".join(main(output, LEADER)["args"]),
        {OLDER: False, NEWER: True},
    ),
    difference(
        "the label of the deprecated dynamoNamespace is on pods of LeaderWorkerSets from 1.5 on",
        workers("--model", "m", resources={"limits": {"gpu": "1"}}, dynamoNamespace="mine"),
        lambda output: LEADER(output)["metadata"]["labels"][labels.NAMESPACE],
        {OLDER: "team-chat", NEWER: "mine"},
    ),
    difference(
        "a standalone component has the script that waits for a leader only if its pods wait",
        ALONE,
        addresses("ConfigMap"),
        {RELEASES: []},
        discovery_backend="etcd",
    ),
    difference(
        "the MPI job passes two more variables from 1.4 on",
        TRTLLM,
        lambda output: "-x TRITON_PTXAS_PATH" in main(output, LEADER)["args"][0],
        {BEFORE_1_4: False, SINCE_1_4: True},
    ),
    difference(
        "an endpoint picker logs less from 1.4 on",
        given.graph({"Epp": given.picker()}),
        variable("RUST_LOG", pod(name="chat-epp")),
        {BEFORE_1_4: "debug,dynamo_llm::kv_router=trace", SINCE_1_4: "info"},
    ),
    difference(
        "mounts of a service stay beside those of its main container from 1.4 on",
        MOUNTED,
        lambda output: [mount["name"] for mount in main(output)["volumeMounts"]],
        {BEFORE_1_4: ["mine", "shared-memory"], SINCE_1_4: ["mine", "lost", "shared-memory"]},
    ),
    difference(
        "a compilation cache is mounted once, also where the operator mounts it twice",
        CACHED,
        lambda output: [mount["name"] for mount in main(output)["volumeMounts"]],
        {RELEASES: ["kernels", "shared-memory"]},
    ),
    difference(
        "a topology constraint names its topology from 1.4 on",
        PLACED,
        lambda output: [output["PodCliqueSet/chat"]["spec"]["template"]["topologyConstraint"], clique(output)["topologyConstraint"]],
        {
            BEFORE_1_4: [{"packDomain": "rack"}, {"packDomain": "host"}],
            SINCE_1_4: [{"topologyName": "room", "pack": {"required": "rack"}}, {"pack": {"required": "host"}}],
        },
        **GROVE,
    ),
    difference(
        "an annotation sets the update strategy from 1.4 on",
        STRATEGY,
        lambda output: output["PodCliqueSet/chat"]["spec"].get("updateStrategy"),
        {BEFORE_1_4: None, SINCE_1_4: {"type": "OnDelete"}},
        **GROVE,
    ),
    difference(
        "labels of the objects for discovery are cut to the length of a label from 1.4 on",
        beta.graph(name=LONG),
        lambda output: len(output[f"ServiceAccount/{LONG}-k8s-service-discovery"]["metadata"]["labels"]["app.kubernetes.io/name"]),
        {BEFORE_1_4: 72, SINCE_1_4: 63},
    ),
    difference(
        "Services under Grove have the annotations of pods from 1.3 on",
        NOTED,
        lambda output: output["Service/chat-worker"]["metadata"]["annotations"].get("mine"),
        {("v1.2",): None, SINCE_1_3: "1"},
        **GROVE,
    ),
    difference(
        "the GPU memory service in a pod has a startup probe in 1.2 only",
        SHARED_GPUS,
        lambda output: "startupProbe" in pod()(output)["spec"]["initContainers"][0],
        {("v1.2",): True, SINCE_1_3: False},
    ),
    difference(
        "shadow mode needs failover from 1.3 on",
        APART,
        lambda output: [entry["name"] for entry in engine(output)["env"] if entry["name"] == "DYN_VLLM_GMS_SHADOW_MODE"],
        {("v1.2",): ["DYN_VLLM_GMS_SHADOW_MODE"], SINCE_1_3: []},
        **GROVE,
    ),
]
ROWS = [
    pytest.param(row, release, value, id=f"{row.reason}, {release}")
    for row in DIFFERENCES
    for releases, value in row.values.items()
    for release in releases
]


@pytest.mark.parametrize(("row", "release", "value"), ROWS)
def test_a_fact_of_a_release(row, release, value):
    assert row.pick(given.rendered(*row.items, behaviour=release, **row.settings)) == value


@pytest.mark.parametrize("row", DIFFERENCES, ids=lambda row: row.reason)
def test_each_release_has_one_value(row):
    assert sorted(release for releases in row.values for release in releases) == sorted(RELEASES)


OVERRIDE = {"apiVersion": "grove.io/v1alpha1", "value": {"minAvailable": 1}}
AT = "spec.components[0]"
MISSING = [
    ("a scaling group of one node", {"experimental": {"grove": {"forceScalingGroup": True}}}, f"{AT}.experimental.grove", OLDER),
    ("an override of Grove", {"providerOverride": OVERRIDE}, f"{AT}.providerOverride", OLDER),
    ("roles", {"multinode": {"nodeCount": 2}, "roles": [{"name": "leader"}, {"name": "worker"}]}, f"{AT}.roles", OLDER),
    ("a least number of pods", {"minAvailable": 1}, f"{AT}.minAvailable", ("v1.2",)),
    (
        "further clients of shared GPUs",
        {"experimental": {"gpuMemoryService": {"extraClientContainers": ["main"]}}},
        f"{AT}.experimental.gpuMemoryService.extraClientContainers",
        ("v1.2",),
    ),
]


@cases(("reason", "fields", "path", "without"), MISSING)
@pytest.mark.parametrize("release", RELEASES)
def test_a_field_that_a_definition_does_not_have_is_an_error(reason, fields, path, without, release):
    """An API server with the definitions of the release drops it, so the pods of the operator are others."""
    item = beta.graph(beta.component("Worker", **fields))
    found = [results.field(entry.path) for entry in given.expanded(item, behaviour=release, **GROVE).results if entry.code == "DYN411"]
    assert found == ([path] if release in without else []), reason


@pytest.mark.parametrize("release", RELEASES)
def test_shared_memory_without_a_size(release):
    """Admission of 1.4 accepts it, and takes the default. The definitions of krm-fn refuse it, so it is at least a warning."""
    found = given.expanded(given.graph({"Worker": beta.service(sharedMemory={})}), behaviour=release)
    accepts = release == "v1.4"
    assert [entry.severity for entry in found.results if entry.code == "DYN116"] == ["warning" if accepts else "error"]
    volumes = [volume for item in found.resources if item["kind"] == "Deployment" for volume in item["spec"]["template"]["spec"]["volumes"]]
    assert [volume["emptyDir"]["sizeLimit"] for volume in volumes] == (["8Gi"] if accepts else [])


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    ("field", "value"),
    [("priorityClassName", "high"), ("experimental", {"kvTransferPolicy": {"labelKey": "zone", "domain": "zone"}})],
)
def test_a_field_that_the_definition_of_a_graph_does_not_have_is_an_error(field, value, release):
    found = given.expanded(beta.graph(**{field: value}), behaviour=release, **GROVE).results
    assert ("DYN411" in {entry.code for entry in found}) == (release == "v1.2")


@pytest.mark.parametrize("release", RELEASES)
def test_a_component_needs_a_runtime_version_from_1_4_on(release):
    """Definitions of older releases have no `runtimeVersionOverride`, and none of their pods depends on a version."""
    found = given.expanded(beta.graph(beta.component("Worker", main={"image": "a/b:latest"})), behaviour=release).results
    assert ("DYN451" in {entry.code for entry in found}) == (release in SINCE_1_4)


@pytest.mark.parametrize("kind", ["ClusterTopology", "ClusterTopologyBinding"])
@pytest.mark.parametrize("release", ["v1.3", "v1.4"])
def test_a_topology_is_found_by_either_kind(kind, release):
    """A build can hold the kind of an older Grove. A finding names the kind of the release."""
    topology = given.item(kind, "room", api="grove.io/v1alpha1", spec={"levels": [{"domain": "rack", "key": "rack"}]})
    found = given.expanded(PLACED, topology, behaviour=release, **GROVE).results
    (message,) = [entry.message for entry in found if entry.code == "DYN437"]
    assert f"the {'ClusterTopology' if release == 'v1.3' else 'ClusterTopologyBinding'} room has no domain host" in message


TWICE = [{"name": "models", "mountPath": "/a"}, {"name": "models", "mountPath": "/b"}]
FAILURES = [
    (
        "a group without GPUs",
        beta.graph(beta.component("Worker", main={"command": PYTHON, "args": ["-m", "m"]}, multinode={"nodeCount": 2})),
        BEFORE_1_4,
        f"{AT}.podTemplate.spec.containers[0].resources",
    ),
    ("a cache that is listed with its path", CACHED, BEFORE_1_4, "spec.services.Worker.volumeMounts[0].mountPoint"),
    (
        "a claim that is mounted twice",
        beta.graph(beta.component("Worker", main={"volumeMounts": TWICE})),
        ("v1.2",),
        f"{AT}.podTemplate.spec.containers[0].volumeMounts[1]",
    ),
]


@pytest.mark.parametrize("release", RELEASES)
@cases(("reason", "item", "fails", "path"), FAILURES)
def test_a_note_says_where_the_operator_makes_no_pods(reason, item, fails, path, release):
    found = [
        (entry.severity, results.field(entry.path)) for entry in given.expanded(item, behaviour=release).results if entry.code == "DYN441"
    ]
    assert found == ([("info", path)] if release in fails else []), reason


@pytest.mark.parametrize("release", RELEASES)
def test_a_lost_mount_is_a_warning(release):
    found = [results.field(entry.path) for entry in given.expanded(MOUNTED, behaviour=release).results if entry.code == "DYN125"]
    assert found == (["spec.services.Worker.volumeMounts[0]"] if release in BEFORE_1_4 else [])


@pytest.mark.parametrize("release", RELEASES)
def test_an_annotation_that_a_release_does_not_read_is_a_warning(release):
    found = [entry.code for entry in given.expanded(STRATEGY, behaviour=release, **GROVE).results if entry.severity == "warning"]
    assert ("DYN125" in found) == (release in BEFORE_1_4)


LOADER = {"name": "loader", "image": "registry.example/loader:1"}
CLIENTS = [
    ("a name that no container has", ["missing"]),
    ("the main container", ["main"]),
]


@pytest.mark.parametrize("release", [release for release in RELEASES if release != "v1.2"])
@cases(("reason", "names"), CLIENTS)
def test_clients_without_a_container_have_no_effect_before_1_5(reason, names, release):
    """The definitions of 1.2 lack the field. 1.3 and 1.4 skip the name, and make the same pods as without it."""
    gpus = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
    made = []
    services: tuple[Any, ...] = ({"extraClientContainers": names}, {})
    for service in services:
        worker = beta.component("Worker", main={"command": PYTHON, **gpus}, beside=[LOADER], experimental={"gpuMemoryService": service})
        made.append(given.expanded(beta.graph(worker), behaviour=release, worker_hash="none"))
    found = [(entry.severity, results.field(entry.path)) for entry in made[0].results if entry.code == "DYN462"]
    severity = "warning" if release in OLDER else "error"
    assert found == [(severity, f"{AT}.experimental.gpuMemoryService.extraClientContainers[0]")], reason
    if release in OLDER:
        pods = [[each for each in output.resources if each["kind"] == "Deployment"] for output in made]
        assert pods[0] == pods[1]
        assert pods[0]
