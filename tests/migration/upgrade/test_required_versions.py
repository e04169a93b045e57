"""The parts of the platform that a step of an upgrade needs: their lowest versions, and the versions that the cluster has."""

from __future__ import annotations

import pytest

import krm_fn
from krm_fn.migration.upgrade import required_versions
from krm_fn.render.config import PlatformSettings
from krm_fn.render.kinds import floors
from tests.support import given
from tests.support.cases import cases

V0_9, V1_5, V1_6 = (0, 9), (1, 5), (1, 6)


def workload(kind, pod=None, name="a", image="dynamo:1"):
    """An object with one pod template."""
    spec = {"containers": [{"name": "main", "image": image}], **(pod or {})}
    api_version = API_VERSIONS.get(kind, "apps/v1")
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": {"template": {"spec": spec}}}


API_VERSIONS = {
    "DisaggregatedSet": "disaggregatedset.x-k8s.io/v1",
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1",
    "PodCliqueSet": "grove.io/v1alpha1",
}


def with_variable(name):
    return workload("Deployment", {"containers": [{"name": "main", "env": [{"name": name, "value": "a"}]}]})


def node(kubelet, name="node-1"):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"nodeInfo": {"kubeletVersion": kubelet}}}


def definition(*served, stored=(), kind="DynamoGraphDeployment"):
    versions = [{"name": name, "served": name in served} for name in ("v1alpha1", "v1beta1", *served[2:])]
    spec = {"group": "nvidia.com", "names": {"kind": kind}, "versions": versions}
    metadata = {"name": f"{kind.lower()}s.nvidia.com"}
    status = {"storedVersions": [*stored]}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": spec,
        "status": status,
    }


def running(image):
    """A controller or a server with this image."""
    return workload("Deployment", image=image)


NATS, ETCD, SYNCER = with_variable("NATS_SERVER"), with_variable("ETCD_ENDPOINTS"), "registry.example/dynamo-krm-fn"
GROVE, SET, KAI = workload("PodCliqueSet"), workload("LeaderWorkerSet"), workload("Deployment", {"schedulerName": "kai-scheduler"})
JOINED = workload("DisaggregatedSet")
SCALED = JOINED | {"spec": {"roles": [{"name": "a"}, {"name": "b", "scaling": {"mode": "External"}}]}}
GRAPH = {"apiVersion": "nvidia.com/v1beta1", "kind": "DynamoGraphDeployment", "metadata": {"name": "chat"}}

ROWS = [
    # reason, part, release after, objects, platform, export, state, current version
    ("nothing is known", "kubernetes", V1_6, [], {}, [], "not known", ""),
    ("0.9 states no version of Kubernetes", "kubernetes", V0_9, [], {"kubernetes": "1.20"}, [], "not stated", "1.20"),
    ("the configuration says enough", "kubernetes", V1_6, [], {"kubernetes": "1.30"}, [], "met", "1.30"),
    ("the configuration says too little", "kubernetes", V1_5, [], {"kubernetes": "1.29"}, [], "not met", "1.29"),
    ("the configuration says no version", "kubernetes", V1_5, [], {"kubernetes": "stable"}, [], "not known", "stable"),
    ("the lowest kubelet counts", "kubernetes", V1_5, [], {}, [node("v1.33.1"), node("v1.29.2-eks-1", "old")], "not met", "v1.29.2-eks-1"),
    ("the configuration is older than the nodes", "kubernetes", V1_5, [], {"kubernetes": "1.28"}, [node("v1.33.1")], "not met", "1.28"),
    ("a node without a version", "kubernetes", V1_5, [], {}, [node(None)], "not known", ""),
    (
        "Grove's operator",
        "grove",
        V1_6,
        [GROVE],
        {},
        [running("ghcr.io/ai-dynamo/grove-operator:v0.1.0-alpha.13")],
        "not met",
        "v0.1.0-alpha.13",
    ),
    (
        "the same Grove is enough for 1.5",
        "grove",
        V1_5,
        [GROVE],
        {},
        [running("ghcr.io/ai-dynamo/grove-operator:v0.1.0-alpha.13")],
        "met",
        "v0.1.0-alpha.13",
    ),
    (
        "Grove by digest only",
        "grove",
        V1_5,
        [GROVE],
        {},
        [running(f"a.example/grove-operator@sha256:{'a' * 64}")],
        "not known",
        f"a.example/grove-operator@sha256:{'a' * 64}",
    ),
    ("no PodCliqueSet needs Grove", "grove", V1_6, [SET], {"grove": "0.0.1"}, [], None, None),
    (
        "the KAI scheduler",
        "kai_scheduler",
        V1_5,
        [GROVE, KAI],
        {},
        [running("mirror.example:5000/x/kai-scheduler/scheduler:v0.16.9")],
        "not met",
        "v0.16.9",
    ),
    ("another scheduler", "kai_scheduler", V1_5, [GROVE], {"kai_scheduler": "0.1.0"}, [], None, None),
    (
        "LeaderWorkerSet",
        "leader_worker_set",
        V1_6,
        [SET],
        {},
        [running("registry.k8s.io/lws/lws:v0.7.0")],
        "met",
        "v0.7.0",
    ),
    ("a DisaggregatedSet", "leader_worker_set", V1_6, [SET, JOINED], {"leader_worker_set": "0.8.0"}, [], "not met", "0.8.0"),
    ("the first version with DisaggregatedSets", "leader_worker_set", V0_9, [JOINED], {"leader_worker_set": "0.9.0"}, [], "met", "0.9.0"),
    (
        "a role that an autoscaler scales",
        "leader_worker_set",
        V1_6,
        [JOINED, SCALED],
        {"leader_worker_set": "0.9.0"},
        [],
        "not met",
        "0.9.0",
    ),
    ("the first version that scales roles", "leader_worker_set", V1_6, [SCALED], {}, [running("x/lws/lws:v0.10.0")], "met", "v0.10.0"),
    ("NATS has no floor", "nats", V1_6, [NATS], {}, [running("nats:2.10.1-alpine")], "not stated", "2.10.1-alpine"),
    ("nobody uses NATS", "nats", V1_6, [SET], {}, [running("nats:2.10.1")], None, None),
    ("etcd has no floor", "etcd", V1_5, [ETCD], {}, [], "not stated", ""),
    (
        "the syncer of this version",
        "syncer",
        V1_6,
        [],
        {},
        [running(f"{SYNCER}:{krm_fn.__version__}-sync")],
        "met",
        f"{krm_fn.__version__}-sync",
    ),
    ("an older syncer", "syncer", V1_6, [], {}, [running(f"{SYNCER}:0.0.1-sync")], "not met", "0.0.1-sync"),
    ("the image of the function runs no syncer", "syncer", V1_6, [], {}, [running(f"{SYNCER}:0.0.1")], None, None),
    (
        "served",
        "definitions",
        V1_6,
        [GRAPH],
        {},
        [definition("v1alpha1", "v1beta1", stored=["v1alpha1"])],
        "met",
        "v1alpha1, v1beta1 (stored: v1alpha1)",
    ),
    ("not served", "definitions", V1_6, [GRAPH], {}, [definition("v1alpha1")], "not met", "v1alpha1"),
    ("another kind", "definitions", V1_6, [GRAPH], {}, [definition("v1beta1", kind="DynamoModel")], "not known", ""),
    ("no Dynamo resource is applied", "definitions", V1_6, [SET], {}, [definition("v1alpha1")], None, None),
    (
        "searches of Dynamo 1.7",
        "definitions",
        V1_6,
        [SET],
        {},
        [definition("v1alpha1", "v1beta1", "v1beta2", kind="DynamoGraphDeploymentRequest")],
        "met",
        "v1beta2",
    ),
]


FIELDS = ("part", "after", "objects", "platform", "exported", "state", "current")


@pytest.mark.parametrize(FIELDS, [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_row_compares_the_lowest_known_version_with_the_floor(part, after, objects, platform, exported, state, current):
    """A part that no object uses has no row. What is not known is never met."""
    rows = required_versions.required_versions(V0_9, after, PlatformSettings(**platform), objects, exported)
    row = next((row for row in rows if row.part == part), None)
    assert (row and row.state, row and row.current) == (state, current)
    warnings = required_versions.findings([row] if row else [], GRAPH)
    assert given.findings([*warnings]) == ([("DYN665", "")] if state == "not met" else [])


def test_the_finding_names_the_source_of_the_version_and_the_remedy():
    rows = required_versions.required_versions(V1_5, V1_6, PlatformSettings(), [], [node("v1.29.2")])
    (finding,) = required_versions.findings(rows, GRAPH)
    expected = "the step needs Kubernetes 1.30, and Node node-1 says v1.29.2; upgrade Kubernetes to 1.30 or newer before the step"
    assert finding.message == expected


CHANGES = [
    # reason, before, after, part, number of actions
    ("across 1.4", V0_9, V1_5, "nats", 1),
    ("beyond 1.4", V1_5, V1_6, "nats", 0),
    ("back across 1.4, nothing to do", V1_5, V0_9, "nats", 0),
    ("Grove across 1.4", V0_9, V1_5, "grove", 1),
    ("Grove back across 1.4", V1_5, V0_9, "grove", 1),
    ("the KAI scheduler to 1.5", V0_9, V1_5, "kai_scheduler", 1),
]


@cases(("before", "after", "part", "count"), CHANGES)
def test_a_step_across_a_change_of_the_platform_names_it(before, after, part, count):
    objects = [GROVE, KAI, NATS]
    rows = required_versions.required_versions(before, after, PlatformSettings(), objects)
    assert [len(row.actions) for row in rows if row.part == part] == [count]


def test_every_release_has_a_floor_with_a_source():
    assert floors.SOURCES.keys() == floors.FLOORS.keys()


def test_the_settings_have_a_field_for_each_part_with_a_floor():
    assert {*floors.NAMES} == {*PlatformSettings._fields} == {*floors.Floors._fields}


@pytest.mark.parametrize("odd", [None, 7, "a", [], {"a": 1}, [{"name": 7, "served": True}]])
def test_fields_of_an_export_may_have_any_type(odd):
    exported = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "status": odd},
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "status": {"nodeInfo": {"kubeletVersion": odd}}},
        running(odd),
        workload("Deployment", {"containers": odd}),
        {**definition("v1beta1"), "spec": {"group": "nvidia.com", "names": odd, "versions": odd}},
        {**definition("v1beta1"), "status": odd},
    ]
    assert required_versions.required_versions(V1_5, V1_6, PlatformSettings(), [GROVE, GRAPH], exported)
