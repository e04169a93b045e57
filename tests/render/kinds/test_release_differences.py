"""What a release does otherwise than its neighbours: one table of facts, each with the value that every release gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from krm_fn.base import results
from krm_fn.render import labels
from tests.support import beta, given

if TYPE_CHECKING:
    from collections.abc import Callable

    from krm_fn.kubernetes.types import Resource

GROVE: dict[str, Any] = {"orchestrator": "grove"}
OLDER, NEWER = ("v1.2", "v1.3", "v1.4"), ("v1.5", "v1.6", "v1.7")
RELEASES = (*OLDER, *NEWER)
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

DIFFERENCES = [
    difference(
        "workers of Grove tell their generation from 1.5 on",
        beta.graph(),
        lambda output: labels.WORKER_HASH in clique(output)["labels"],
        {OLDER: False, NEWER: True},
        **GROVE,
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
]


@pytest.mark.parametrize(("reason", "fields", "path", "without"), MISSING, ids=[row[0] for row in MISSING])
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
