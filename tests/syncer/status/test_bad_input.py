"""Whatever a user or another program wrote: a condition says what is wrong, nothing is followed that is not ours, and nothing raises."""

from __future__ import annotations

import json

import pytest
from hypothesis import given as random
from hypothesis import strategies as st

from krm_fn.render import labels
from krm_fn.syncer.status import SyncFeatures, cached_object, conditions, graph_status, replica_status
from krm_fn.syncer.status.replica_status import WorkloadFamily
from krm_fn.syncer.status.workload_index import WorkloadIndex
from tests.support.cases import cases
from tests.support.strategies import JSON
from tests.syncer.status import given

ENTRY = {"service": "Decode", "apiVersion": "apps/v1", "kind": "Deployment", "name": "demo-decode", "replicas": 1}
BEFORE = {"services": {"Decode": {"componentKind": "Deployment", "replicas": 4}}, "restart": {"observedID": "r0", "phase": "Completed"}}


def listed(text, *resources, before=None):
    """The status of a graph whose annotation is this text."""
    annotated = given.graph(annotations={labels.WORKLOADS: text}, status=before or {}, services={"Decode": {}})
    return given.status(annotated, given.children(*resources), given.NOW)


BROKEN = [
    ("truncated", '[{"service":"Decode","apiVer', "the annotation is not JSON"),
    ("empty", "", "the annotation is not JSON"),
    ("another value", "{}", "the annotation is not a JSON list"),
    ("an entry that is none", "[7]", "entry 0 is not a JSON object"),
    ("no name", '[{"service":"Decode","apiVersion":"apps/v1","kind":"Deployment"}]', "entry 0 has no text under name"),
    ("replicas as text", json.dumps([{**ENTRY, "replicas": "3"}]), "entry 0 has no whole number under replicas"),
    ("too deep", "[" * 100_000, "the annotation is nested too deeply"),
    ("no text at all", 7, "the annotation is not JSON"),
]


@cases(("text", "why"), BROKEN)
def test_an_annotation_that_cannot_be_read(text, why):
    """The state is failed, and what was known before stays."""
    found = listed(text, before=BEFORE)
    assert (found["state"], found["services"], found["restart"]) == ("failed", BEFORE["services"], BEFORE["restart"])
    ready, stalled = found["conditions"]
    assert (ready["type"], ready["status"], ready["reason"]) == ("Ready", "False", "InvalidWorkloads")
    assert (stalled["type"], stalled["status"], stalled["reason"]) == ("Stalled", "True", "InvalidWorkloads")
    assert ready["message"].startswith(f"the annotation dynamo.krm-fn.io/workloads cannot be read: {why}")
    assert ready["message"].endswith("; render the graph again and apply the result as it is")


def test_keys_of_a_later_version_are_ignored():
    assert listed(json.dumps([{**ENTRY, "weight": 7}]), given.deployment())["state"] == "successful"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"kind": "Robot"}, "this version does not know the kind Robot of apps/v1, update krm-fn"),
        ({"apiVersion": "evil.example/v1"}, "this version does not know the kind Deployment of evil.example/v1, update krm-fn"),
        ({"apiVersion": ""}, "this version does not know the kind Deployment of , update krm-fn"),
        ({"kind": "PodCliqueSet"}, "this version does not know the kind PodCliqueSet of apps/v1, update krm-fn"),
        ({"name": ""}, "resource not found"),
    ],
    ids=["kind", "group", "no version", "kind of another group", "no name"],
)
def test_an_entry_of_a_later_version_or_of_a_hand(change, why):
    found = listed(json.dumps([{**ENTRY, **change}]), given.deployment())
    assert found["state"] == "pending"
    assert given.ready(found)["message"].endswith(f": {why}")


@pytest.mark.parametrize("change", [{"namespace": "prod"}, {"name": "prod/demo-decode"}, {"service": "../prod"}], ids=str)
def test_no_entry_leads_into_another_namespace(change):
    """A workload of the same name is there, and ready."""
    other = given.deployment()
    other["metadata"]["namespace"] = "prod"
    found = listed(json.dumps([{**ENTRY, **change}]), other)
    assert found["state"] == "pending"
    assert "resource not found" in given.ready(found)["message"]
    assert "services" not in found


def test_an_entry_that_is_written_twice_counts_once():
    assert listed(json.dumps([ENTRY, ENTRY]), given.deployment())["services"]["Decode"]["replicas"] == 1


def test_services_that_the_graph_does_not_have_are_judged_and_not_counted():
    other = given.deployment("other", availableReplicas=0)
    found = listed(json.dumps([ENTRY, {**ENTRY, "service": "Other", "name": "other"}]), given.deployment(), other)
    assert (found["state"], set(found["services"])) == ("pending", {"Decode"})


def test_workloads_of_several_kinds_are_not_added():
    """One service has workloads of one kind. The first kind counts."""
    group = {**ENTRY, "apiVersion": given.APIS["LeaderWorkerSet"], "kind": "LeaderWorkerSet", "name": "demo-decode-0"}
    living = given.workload("LeaderWorkerSet", "demo-decode-0", {"replicas": 5}, replicas=5)
    assert listed(json.dumps([ENTRY, group]), given.deployment(), living)["services"]["Decode"]["replicas"] == 1


ABSURD = [-1, "1", 1.0, True, [1], {}, None, 2**40]


@pytest.mark.parametrize("value", ABSURD, ids=str)
@pytest.mark.parametrize("field", ["updatedReplicas", "availableReplicas", "replicas", "observedGeneration"])
def test_a_count_that_is_none(field, value):
    """It counts as 0, or as the largest number that a CRD accepts."""
    resource = given.deployment()
    resource["status"][field] = value
    found = listed(json.dumps([ENTRY]), resource)
    ready = field != "replicas" and value == 2**40  # more than enough
    assert (found["state"] == "successful") is ready
    if field != "observedGeneration":
        assert found["services"]["Decode"][field] == (2**31 - 1 if value == 2**40 else 0)


@pytest.mark.parametrize("value", [each for each in ABSURD if each is not None], ids=str)
def test_a_wanted_number_that_is_none_never_makes_a_workload_ready(value):
    """Only a real 0 means: no pod is wanted."""
    resource = given.deployment("demo-decode", 0, spec={"replicas": value})
    assert listed(json.dumps([ENTRY]), resource)["state"] == "pending"


def test_sums_have_a_limit():
    entries = [{**ENTRY, "apiVersion": given.APIS["LeaderWorkerSet"], "kind": "LeaderWorkerSet", "name": f"s-{index}"} for index in (0, 1)]
    sets = [given.workload("LeaderWorkerSet", f"s-{index}", {"replicas": 2**31 - 1}) for index in (0, 1)]
    assert listed(json.dumps(entries), *sets)["services"]["Decode"]["replicas"] == 2**31 - 1


def test_the_most_entries_that_are_read_make_a_status_that_an_api_server_accepts():
    """Only the message grows, and it is cut."""
    found = listed(json.dumps([{**ENTRY, "service": f"S{index}", "name": f"missing-worker-of-{index}"} for index in range(1_000)]))
    assert len(json.dumps(found)) < 100_000
    assert len(given.ready(found)["message"]) == 32768


KINDS = [replica_status.get(name) for name in replica_status.kinds()]
ANNOTATION = (
    JSON.map(json.dumps)
    | st.text(max_size=20)
    | st.lists(st.fixed_dictionaries({key: st.sampled_from([value, "x"]) | JSON for key, value in ENTRY.items()}), max_size=3).map(
        json.dumps
    )
)
FIELDS = ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "observedGeneration", "conditions", "containerStatuses"]
CONDITION = st.fixed_dictionaries({}, optional={"type": st.sampled_from(["Ready", "Available", "Progressing"]) | JSON, "status": JSON})
VALUE = JSON | st.integers(0, 2) | st.lists(CONDITION, max_size=2)
STATUS = JSON | st.dictionaries(st.sampled_from(FIELDS), VALUE, max_size=4)
SPEC = JSON | st.dictionaries(st.sampled_from(["replicas", "paused", "template", "selector", "leaderWorkerTemplate"]), VALUE, max_size=3)
METADATA = st.fixed_dictionaries(
    {"name": st.just("demo-decode"), "namespace": st.just("team-a")}, optional={"labels": JSON, "generation": JSON, "annotations": JSON}
)


@st.composite
def workloads(draw):
    observer = draw(st.sampled_from(KINDS))
    api = f"{observer.group}/{observer.version}".removeprefix("/")
    marks = {labels.PART_OF: "demo", labels.GRAPH: "demo", labels.COMPONENT: "Decode", labels.GROVE_GROUP: "demo-decode"}
    metadata = {**draw(METADATA), **({"labels": marks} if draw(st.booleans()) else {})}
    return {"apiVersion": api, "kind": observer.kind, "metadata": metadata, "spec": draw(SPEC), "status": draw(STATUS)}


@st.composite
def subjects(draw):
    """A graph or component, in any state that JSON allows."""
    metadata = {**draw(METADATA), "name": "demo", "annotations": {labels.WORKLOADS: draw(ANNOTATION), labels.RESTART: "sync"}}
    service = st.fixed_dictionaries({"Decode": JSON | st.just({"replicas": 0})})
    spec = draw(JSON | st.fixed_dictionaries({}, optional={"services": service | JSON, "restart": JSON | st.just({"id": "r1"})}))
    before = st.fixed_dictionaries(
        {}, optional={"conditions": st.lists(CONDITION | JSON) | JSON, "services": JSON, "restart": JSON | st.just({"observedID": "r1"})}
    )
    kind = draw(st.sampled_from([cached_object.GRAPH, cached_object.COMPONENT]))
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec, "status": draw(JSON | before)}


@random(resource=subjects(), around=st.lists(workloads(), max_size=4), on=st.booleans())
def test_any_json_gives_a_status_and_then_the_same_again(resource, around, on):
    """A status that changed again without a reason would be written for ever. A restart goes on by one service each time."""
    children, features = WorkloadIndex.of(around), SyncFeatures(pods=on, restarts=on, grove_counts=on)
    read = cached_object.read(resource)
    waits = read.key.kind == cached_object.GRAPH and graph_status.recheck(read, children, given.NOW, features) is not None
    looks = [given.NOW, given.NOW if waits else given.LATER]  # with the time, a pod may fail
    steps = len(read.components) + 1 if read.restart else 1
    first, second = (settled(resource, children, looks, count, features) for count in (steps, steps + 1))
    json.dumps(first)
    assert conditions.patch(first, second) is None


def settled(resource, children, looks, count, features):
    """The status after some looks; the first is at another time than all others."""
    for number in range(count):
        resource = {**resource, "status": given.status(resource, children, looks[min(number, 1)], features)}
    return resource["status"]


@random(resource=JSON, kind=st.sampled_from(KINDS))
def test_any_json_is_observed(resource, kind):
    """The syncer gets objects from the API server; the offline command gets files."""
    observer = kind
    found = observer.read(resource if isinstance(resource, dict) else {"spec": resource})
    assert observer.with_family(found, WorkloadFamily([found])).key.kind == kind.kind
