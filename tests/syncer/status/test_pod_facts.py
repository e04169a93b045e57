"""The fields of a component that repeat facts of its pods, which planners read: GPUs, names and the power limit."""

from __future__ import annotations

import jsonschema
import pytest

from krm_fn.kubernetes.gpu_demand import ClaimUse, GPUDemand
from krm_fn.render import labels
from krm_fn.render.workload_list import StatusFacts
from krm_fn.schemas.generate import crds
from krm_fn.syncer.status import DEFAULT_FEATURES, cached_object
from tests.support.cases import cases
from tests.syncer.status import given

FACTS = StatusFacts(GPUDemand(8), GPUDemand(9), "", "llama", "decode", 300)
WRITTEN = {
    "gpusPerEngine": 8,
    "gpusPerReplica": 9,
    "servedModelName": "llama",
    "runtimeComponentName": "decode",
    "gpuPowerLimitWatts": 300,
}
DECODE = given.entry("Decode")._replace(facts=FACTS)
CLAIMING = DEFAULT_FEATURES._replace(device_claims=True)


def graph(*entries, version="v1beta1", **more):
    """A graph in one version."""
    found = given.graph(*entries, **more)
    if version == "v1alpha1":
        return found
    names = [{"name": name} for name in found["spec"].pop("services")]
    return {**found, "apiVersion": "nvidia.com/v1beta1", "spec": {"components": names}}


def judged(resource, *living, features=DEFAULT_FEATURES):
    found = given.status(resource, given.children(*living), given.NOW, features)
    version = resource["apiVersion"].rpartition("/")[2]
    (kind,) = [each for each in crds.definitions(version) if each["spec"]["names"]["kind"] == resource["kind"]]
    jsonschema.validate(found, kind["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"])
    return found


def part(status):
    return (status.get("components") or status["services"])["Decode"]


def told(status):
    """The facts in the status of the component."""
    return {field: value for field, value in part(status).items() if field in WRITTEN}


@pytest.mark.parametrize("version", ["v1alpha1", "v1beta1"])
@pytest.mark.parametrize("kind", ["Deployment", "LeaderWorkerSet", "PodClique", "PodCliqueScalingGroup"])
def test_each_kind_of_workload_has_them_in_both_versions(kind, version):
    entry = given.entry("Decode", kind)._replace(facts=FACTS)
    found = judged(graph(entry, version=version), given.workload(kind, "demo-decode", {"replicas": 1}))
    assert told(found) == WRITTEN
    assert part(found)["componentNames"] == ["demo-decode"]


def test_an_older_release_has_none_of_them_in_v1alpha1():
    """The operator of release 0.9 names one workload, and neither a namespace nor scheduled replicas."""
    marks = {"template": {"metadata": {"labels": {labels.NAMESPACE: "dynamo"}}}}
    newer, older = (judged(graph(entry, version="v1alpha1"), given.deployment(spec=marks)) for entry in (DECODE, given.entry("Decode")))
    assert set(part(newer)) - set(part(older)) == {*WRITTEN, "componentNames", "runtimeNamespace"}
    assert part(older)["componentName"] == part(newer)["componentName"] == "demo-decode"


def test_what_pods_do_not_tell_is_absent_and_no_gpu_is_a_number():
    entry = DECODE._replace(facts=StatusFacts(GPUDemand(0), GPUDemand(0)))
    assert told(judged(graph(entry), given.deployment())) == {"gpusPerEngine": 0, "gpusPerReplica": 0}


def test_a_newer_spec_clears_numbers_that_its_pods_do_not_have():
    stored = {"components": {"Decode": {**WRITTEN, "componentKind": "Deployment"}}}
    entry = DECODE._replace(facts=StatusFacts(gpu_problem="two kinds"))
    assert told(judged(graph(entry, status=stored), given.deployment())) == {}


@pytest.mark.parametrize("field", ["components", "services"])
def test_an_annotation_that_cannot_be_read_clears_them_too(field):
    """The status then has the newest generation, for which a planner would use them. The counts stay."""
    stored = {field: {"Decode": {**WRITTEN, "componentKind": "Deployment", "componentName": "demo-decode", "replicas": 1}}}
    version = "v1beta1" if field == "components" else "v1alpha1"
    found = given.status(graph(version=version, status=stored, annotations={labels.WORKLOADS: "{"}), given.children(), given.NOW)
    assert found["observedGeneration"] == 3
    assert found[field] == {"Decode": {"componentKind": "Deployment", "componentName": "demo-decode", "replicas": 1}}


def test_a_component_has_them_too():
    owner = cached_object.read(graph(DECODE))
    labelled = {labels.GRAPH: "demo", labels.COMPONENT: "Decode"}
    resource = {
        "apiVersion": "nvidia.com/v1beta1",
        "kind": cached_object.COMPONENT,
        "metadata": {"name": "demo-decode", "namespace": "team-a", "generation": 1, "labels": labelled},
        "spec": {"name": "Decode"},
    }
    found = given.status(resource, given.children(given.deployment()), given.NOW, graph=owner)
    assert {field: value for field, value in found["component"].items() if field in WRITTEN} == WRITTEN


OLD, NEW = "team-a-demo-old", "team-a-demo-new"
STORED = {"runtimeNamespace": OLD, "servedModelName": "before", "gpusPerEngine": 1, "gpusPerReplica": 1}
NAMES = {"servedModelName": "llama", "runtimeComponentName": "decode", "gpuPowerLimitWatts": 300}
UPDATES = [
    # reason, label of the template, updated replicas, the names in the status
    ("the pods of the old revision serve", "new", 0, {"servedModelName": "before"}),
    ("those of the new one serve", "new", 1, NAMES),
    ("the update starts no new revision", "old", 0, NAMES),
]


@cases(("revision", "updated", "names"), UPDATES)
def test_names_follow_the_pods_that_serve_and_numbers_the_newest_spec(revision, updated, names):
    marks = {"template": {"metadata": {"labels": {labels.NAMESPACE: "team-a-demo", labels.WORKER_HASH: revision}}}}
    living = given.deployment(spec=marks, updatedReplicas=updated)
    found = judged(graph(DECODE, status={"components": {"Decode": STORED}}), living)
    assert told(found) == {"gpusPerEngine": 8, "gpusPerReplica": 9, **names}
    assert part(found)["runtimeNamespace"] == (NEW if updated else OLD)


USE = ClaimUse("ResourceClaimTemplate", "gpus", (), 2)
CLAIMED = DECODE._replace(facts=StatusFacts(GPUDemand(0, (USE,)), GPUDemand(1, (USE, ClaimUse("ResourceClaim", "all")))))


def device(kind, name, **spec):
    namespace = {} if kind == "DeviceClass" else {"namespace": "team-a"}
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": name, **namespace}, "spec": spec}


def claim(kind, name, count, **exactly):
    requests = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "big", "count": count, **exactly}}]}}
    return device(kind, name, **({"spec": requests} if kind == "ResourceClaimTemplate" else requests))


TEMPLATE, CLAIM = claim("ResourceClaimTemplate", "gpus", 4), claim("ResourceClaim", "all", 3)
CLASS = device("DeviceClass", "big", extendedResourceName="nvidia.com/gpu")


def test_claims_count_with_the_right_to_read_them():
    found = judged(graph(CLAIMED), given.deployment(), TEMPLATE, CLAIM, CLASS, features=CLAIMING)
    assert (part(found)["gpusPerEngine"], part(found)["gpusPerReplica"]) == (8, 12)
    assert given.ready(found)["message"] == "All resources are ready"


UNKNOWN = "the GPUs of service Decode are unknown to planners"
ABSENT = [
    (
        "no right",
        (TEMPLATE, CLAIM, CLASS),
        DEFAULT_FEATURES,
        f"its pods use the {USE.kind} gpus; run krm-fn sync with --device-claims",
    ),
    ("no template", (CLAIM, CLASS), CLAIMING, "the ResourceClaimTemplate gpus is not in namespace team-a"),
    ("no claim", (TEMPLATE, CLASS), CLAIMING, "the ResourceClaim all is not in namespace team-a"),
    ("no class", (TEMPLATE, CLAIM), CLAIMING, "the ResourceClaimTemplate gpus asks for the DeviceClass big, which does not exist"),
    (
        "all devices",
        (claim("ResourceClaimTemplate", "gpus", 1, allocationMode="All"), CLAIM, CLASS),
        CLAIMING,
        "the ResourceClaimTemplate gpus has no fixed number of GPUs",
    ),
    ("a broken template", ({**TEMPLATE, "spec": 5}, CLAIM, {**CLASS, "spec": []}), CLAIMING, "it is unknown if the DeviceClass big"),
]


@cases(("around", "features", "reason"), ABSENT)
def test_unknown_numbers_are_absent_with_a_reason(around, features, reason):
    """The graph is as ready as without them."""
    found = judged(graph(CLAIMED), given.deployment(), *around, features=features)
    assert given.ready(found)["status"] == "True"
    assert given.ready(found)["message"].startswith(f"All resources are ready; {UNKNOWN}: {reason}")
    assert "gpusPerEngine" not in part(found)
    assert "gpusPerReplica" not in part(found)
    assert part(found)["replicas"] == 1


def test_a_claim_that_kubernetes_made_for_a_pod_is_not_the_users():
    generated = {**CLAIM, "metadata": {**CLAIM["metadata"], "annotations": {labels.POD_CLAIM: "mine"}}}
    found = judged(graph(CLAIMED), given.deployment(), TEMPLATE, generated, CLASS, features=CLAIMING)
    assert part(found)["gpusPerReplica"] == 9
