"""The status of a model follows the operator's dynamo_model_controller.go, and says what to do where something is missing."""

from __future__ import annotations

import pytest

from krm_fn.syncer.status import SyncFeatures, cached_model, model_endpoints, model_status
from krm_fn.syncer.status.base_model_index import BaseModelIndex
from krm_fn.syncer.status.cached_model import AdapterLoad
from krm_fn.syncer.status.model_status import events
from krm_fn.syncer.status.workload_index import WorkloadIndex
from tests.support.cases import cases
from tests.syncer.status import given, lora
from tests.syncer.status.lora import endpoint, graph, model, slice_, worker

TWO = [slice_(endpoint("w-1"), endpoint("w-2")), worker("w-1"), worker("w-2")]
LOADED, REFUSED = AdapterLoad(loaded=True, tried=True), AdapterLoad(tried=True, problem="load LoRA failed with status 500: no such file")


def loads(**known):
    """What is known about the pods of TWO: `w1` and `w2`."""
    return {
        model_endpoints.WorkerEndpoint(f"w-{name[1:]}", f"uid-w-{name[1:]}", 0, f"10.0.0.{name[1:]}"): load for name, load in known.items()
    }


def short(status):
    """The conditions as `Type=Reason`, with a minus for those that are false."""
    return " ".join(f"{each['type']}={'' if each['status'] == 'True' else '-'}{each['reason']}" for each in status["conditions"])


def message(status, name="Ready"):
    return (given.found(status, name) or {})["message"]


INVALID = [
    # reason, model, message (operator: internal/webhook/validation/dynamomodel_test.go; the last four are ours)
    ("no name", model(modelName=""), "spec.modelName is required"),
    ("no base", model(base=""), "spec.baseModelName is required"),
    ("a LoRA without a source", model(source=None), "spec.source is required when modelType is 'lora'"),
    ("a LoRA without a URI", model(source={"uri": ""}), "spec.source.uri must be specified when modelType is 'lora'"),
    ("another scheme", model(source={"uri": "http://x"}), "source URI must start with 's3://' or 'hf://', got: http://x"),
    ("a name that leaves the path", model(modelName=".."), "spec.modelName: '..' cannot be a part of the URL that unloads the adapter"),
    ("a line end in the name", model(modelName="a\nb"), "spec.modelName: 'a\\nb' has a control character; remove it"),
    ("a path that leaves its store", model(source={"uri": "s3://a/../b"}), "spec.source.uri: 's3://a/../b' contains the segment '..'"),
    ("a NUL in the path", model(source={"uri": "hf://a\0"}), "spec.source.uri: 'hf://a\\x00' has a control character; remove it"),
]


@cases(("own", "said"), INVALID)
def test_an_invalid_model_is_not_served_and_says_why(own, said):
    found = lora.status(own, *TWO)
    assert short(found) == "Valid=-ValidationFailed Ready=-ValidationFailed Stalled=ValidationFailed"
    assert message(found, "Valid").startswith(f"Validation failed: {said}")
    assert (found["readyEndpoints"], found["totalEndpoints"], "endpoints" in found) == (0, 0, False)


VALID = [
    ("a base model without a source", model(type_="base", source=None)),
    ("a base model with any source", model(type_="base", source={"uri": "http://x/../y"})),
    ("no type, which is base", model(type_=None, source=None)),
    ("an adapter of another type", model(type_="adapter", source=None)),
    ("a name with a slash and dots", model(modelName="../org/a..b")),
    ("the hub", model(source={"uri": "hf://team/model"})),
]


@cases("own", VALID)
def test_a_valid_model(own):
    found = given.found(lora.status(own, *TWO), "Valid")
    assert found is not None
    assert (found["status"], found["reason"], found["message"]) == ("True", "ValidationPassed", "DynamoModel spec is valid")


def ready(reason):
    """The conditions of a model that is served."""
    return f"ServicesFound=ServicesFound EndpointsReady={reason} Ready={reason}"


def unready(reason, progress="Reconciling", *, why="", found="ServicesFound=ServicesFound"):
    """The conditions of a model that is not served. `why` is the reason for kstatus if it is another one."""
    return f"{found} EndpointsReady=-{reason} Ready=-{why or reason} {progress}={why or reason}"


ALIKE = [graph(lora.ALIKE[1])]
NONE = unready("NoEndpoints", found="ServicesFound=-NoServicesFound")
BOTH = loads(w1=LOADED, w2=LOADED)
HALF_READY = [slice_(endpoint("w-1"), endpoint("w-2", ready=False))]
OTHER_A, OTHER_B = (model(name, source={"uri": "s3://other"}) for name in "ab")
SERVED = [
    # reason, model, objects, what is known, conditions after Valid, ready of total
    ("no slices", model(), [], {}, NONE, (0, 0)),
    ("an empty slice", model(), [slice_()], {}, NONE, (0, 0)),
    ("loaded everywhere", model(), TWO, BOTH, ready("AllEndpointsReady"), (2, 2)),
    ("refused by one", model(), TWO, loads(w1=LOADED, w2=REFUSED), unready("NotReady"), (1, 2)),
    ("one is not asked yet", model(), TWO, loads(w1=LOADED), unready("Loading"), (1, 2)),
    (
        "refused again and again",
        model(),
        TWO,
        loads(w1=LOADED, w2=REFUSED._replace(lasting=True)),
        unready("NotReady", "Stalled", why="LoadFailed"),
        (1, 2),
    ),
    (
        "a slice without a Service",
        model(),
        [slice_(endpoint("w-1"), service=""), worker("w-1")],
        loads(w1=LOADED),
        "ServicesFound=-NoServicesFound EndpointsReady=AllEndpointsReady Ready=AllEndpointsReady",
        (1, 1),
    ),
    ("a slice that lies", model(), [slice_(endpoint("w-1"))], {}, unready("NotReady"), (0, 1)),
    ("a base model", model(type_="base"), TWO, None, ready("EndpointsDiscovered"), (2, 2)),
    (
        "a base model with a pod that is not ready",
        model(type_="base"),
        HALF_READY,
        None,
        "ServicesFound=ServicesFound EndpointsReady=EndpointsDiscovered Ready=-NotReady Reconciling=NotReady",
        (1, 2),
    ),
    ("the type in capitals", model(type_="LoRA"), TWO, BOTH, ready("AllEndpointsReady"), (2, 2)),
    ("its own base model in a graph is no collision", model(), [*TWO, graph(lora.BASE)], BOTH, ready("AllEndpointsReady"), (2, 2)),
    ("the first of two adapters of the same name", model("a"), [*TWO, OTHER_B], BOTH, ready("AllEndpointsReady"), (2, 2)),
    ("the same adapter twice", model("b"), [*TWO, model("a")], BOTH, ready("AllEndpointsReady"), (2, 2)),
    (
        "a base model that hashes alike",
        model(base=lora.ALIKE[0]),
        ALIKE,
        {},
        unready("HashCollision", "Stalled", found="ServicesFound=-HashCollision"),
        (0, 0),
    ),
    ("an adapter of the same name with another source", model("b"), [*TWO, OTHER_A], BOTH, unready("NameConflict", "Stalled"), (0, 2)),
]


@cases(("own", "around", "known", "told", "counts"), SERVED)
def test_the_conditions_and_counts(own, around, known, told, counts):
    found = lora.status(own, *around, loads=known)
    assert short(found) == f"Valid=ValidationPassed {told}"
    assert (found["readyEndpoints"], found["totalEndpoints"]) == counts
    assert sum(each["ready"] for each in found.get("endpoints", ())) == counts[0]
    assert found["observedGeneration"] == 2
    assert all(each["observedGeneration"] == 2 for each in found["conditions"])


def test_an_endpoint_has_its_url_and_its_pod():
    around = [slice_(endpoint("w-1"), endpoint("w-2", "fd00::2")), worker("w-1")]
    assert lora.status(model(), *around, loads=loads(w1=LOADED))["endpoints"] == [
        {"address": "http://10.0.0.1:9090", "podName": "w-1", "ready": True},
        {"address": "http://[fd00::2]:9090", "podName": "w-2", "ready": False},
    ]


MESSAGES = [
    # reason, model, objects, what is known, the message of Ready
    (
        "nothing serves the base model",
        model(),
        [],
        {},
        (
            "No endpoint slices found for base model acme/tiny; no pod of namespace team-a serves it: deploy a graph with "
            "modelRef.name: acme/tiny"
        ),
    ),
    (
        "a worker refuses",
        model(),
        TWO,
        loads(w1=LOADED, w2=REFUSED),
        "1 of 2 endpoints have the adapter; w-2: load LoRA failed with status 500: no such file",
    ),
    (
        "a slice names a pod that is none",
        model(),
        [slice_(endpoint("w-1"))],
        {},
        f"0 of 1 endpoints have the adapter; w-1: no running pod of this name has the label nvidia.com/dynamo-base-model-hash: {lora.HASH}",
    ),
    (
        "a hash that two base models have",
        model(base=lora.ALIKE[0]),
        ALIKE,
        {},
        (
            "base model acme/tiny-83308 has the same hash as acme/tiny-89280 of DynamoGraphDeployment chat, and pods are found by this "
            "hash; "
            "use one of the two base models in another namespace"
        ),
    ),
    (
        "an adapter of the same name",
        model("b"),
        [*TWO, OTHER_A],
        {},
        "DynamoModel a loads support-v1 from another source; give one of the two another modelName",
    ),
    (
        "the type adapter",
        model(type_="adapter"),
        TWO,
        {},
        "Found 2 endpoint(s) for base model; nothing is loaded for modelType adapter, write lora to load it",
    ),
    ("pods of a base model", model(type_="base"), HALF_READY, {}, "1 of 2 endpoints are ready; see the pods"),
]


@cases(("own", "around", "known", "said"), MESSAGES)
def test_the_message_says_what_is_missing(own, around, known, said):
    assert message(lora.status(own, *around, loads=known)) == said


def test_an_endpoint_whose_pod_may_come_soon_is_no_problem_yet():
    """The EndpointSlice may come before the pod."""
    found = lora.status(model(), slice_(endpoint("w-1")), loads={}, settled=False)
    assert short(found).endswith(unready("Loading"))
    assert message(found) == "0 of 1 endpoints have the adapter"


def test_a_message_names_three_endpoints_at_most():
    pods = [f"w-{number}" for number in range(5)]
    around = [slice_(*map(endpoint, pods)), *map(worker, pods)]
    found = lora.status(
        model(), *around, loads={model_endpoints.WorkerEndpoint(pod, f"uid-{pod}", 0, lora.address(pod)): REFUSED for pod in pods}
    )
    assert message(found).count("no such file") == 3
    assert message(found).endswith("; and 2 more")


def test_without_the_feature_nothing_is_ready_and_the_condition_says_so():
    found = lora.status(model(), *TWO, features=SyncFeatures(models=True))
    assert short(found).endswith("EndpointsReady=-LorasDisabled Ready=-LorasDisabled Stalled=LorasDisabled")
    assert message(found) == "nothing is loaded, because krm-fn sync runs without --loras"
    assert lora.status(model(type_="base"), *TWO, features=SyncFeatures(models=True))["readyEndpoints"] == 2


def test_a_deleted_model_keeps_its_status():
    stored = {"readyEndpoints": 1, "totalEndpoints": 1}
    assert lora.status(model(metadata={"deletionTimestamp": given.NOW}, status=stored), *TWO, loads={}) == stored


# After a restart of the syncer


def stored(**known):
    """A model with the status of before."""
    return model(status=lora.status(model(), *TWO, loads=loads(**known)))


@pytest.mark.parametrize("known", [{"w1": LOADED, "w2": LOADED}, {"w1": LOADED, "w2": REFUSED}], ids=["all ready", "one refused"])
def test_the_stored_status_holds_until_the_endpoints_answer(known):
    own = stored(**known)
    trusted = {name: AdapterLoad(loaded=load.loaded) for name, load in known.items()}
    assert lora.status(own, *TWO, loads=loads(**trusted), now=given.LATER) == own["status"]
    assert lora.status(own, *TWO, loads=None, now=given.LATER) == own["status"]
    assert lora.status(own, *TWO, loads=loads(**known), now=given.LATER) == own["status"]


def test_an_answer_that_is_another_one_is_told():
    found = lora.status(stored(w1=LOADED, w2=LOADED), *TWO, loads=loads(w1=LOADED, w2=REFUSED), now=given.LATER)
    assert "EndpointsReady=-NotReady" in short(found)


def test_another_spec_or_other_endpoints_are_told_at_once():
    own = stored(w1=LOADED, w2=LOADED)
    newer = {**own, "metadata": {**own["metadata"], "generation": 3}}
    assert "EndpointsReady=-Loading" in short(lora.status(newer, *TWO, loads={}))
    three = [slice_(endpoint("w-3"), name="s3"), worker("w-3"), *TWO]
    assert "EndpointsReady=-Loading" in short(lora.status(own, *three, loads=loads(w1=LOADED, w2=LOADED)))
    assert lora.status(own, *TWO[1:], loads={})["totalEndpoints"] == 0


def test_the_endpoints_of_the_reference_are_trusted_by_the_generation_of_its_condition():
    """The operator writes no top-level observedGeneration."""
    rows = [{"address": "http://10.0.0.1:9090", "podName": "w-1", "ready": True}, {"address": "http://10.0.0.2:9090", "ready": False}]
    told = {"type": "EndpointsReady", "status": "False", "reason": "NotReady", "observedGeneration": 2}

    def stored(**change):
        return cached_model.stored_loads(cached_model.read(model(status={"endpoints": rows, "conditions": [{**told, **change}]})))

    first, second = ("http://10.0.0.1:9090", "w-1"), ("http://10.0.0.2:9090", "")
    assert stored() == {first: True}
    assert stored(observedGeneration=1) == {first: False, second: False}, "they may have the adapter of an earlier spec"
    assert stored(reason="Loading") == {first: True, second: False}, "the earlier process ended before an answer"
    assert cached_model.stored_loads(cached_model.read(model())) == {}


# Events


def told(before, after):
    """The events between two statuses."""
    return [f"{'Warning' if each.warning else 'Normal'} {each.reason} {each.note}" for each in events(cached_model.read(before), after)]


EVENTS = [
    # reason, model, objects, what is known, events
    (
        "invalid",
        model(source={"uri": "http://x"}),
        [],
        {},
        ["Warning ValidationFailed source URI must start with 's3://' or 'hf://', got: http://x"],
    ),
    ("no endpoints", model(), [], {}, ["Warning NoEndpointsFound No endpoint slices found for base model acme/tiny"]),
    ("not asked yet", model(), TWO, {}, []),
    ("all ready", model(), TWO, loads(w1=LOADED, w2=LOADED), ["Normal EndpointsReady All 2 endpoints ready for base model acme/tiny"]),
    (
        "one refused",
        model(),
        TWO,
        loads(w1=LOADED, w2=REFUSED),
        [
            (
                "Warning PartialEndpointFailure Some endpoints failed to load LoRA: 1 task(s) failed; w-2: load LoRA failed with status "
                "500: no such file"
            ),
            "Warning NotReady Only 1 of 2 endpoints ready for base model acme/tiny",
        ],
    ),
    ("a base model", model(type_="base"), TWO, {}, ["Normal EndpointsDiscovered Discovered 2 endpoints for base model acme/tiny"]),
]


@cases(("own", "around", "known", "expected"), EVENTS)
def test_an_event_tells_what_begins_and_does_not_repeat_it(own, around, known, expected):
    found = lora.status(own, *around, loads=known)
    assert told(own, found) == expected
    again = {**own, "status": found}
    assert told(again, lora.status(again, *around, loads=known)) == []


@pytest.mark.parametrize("row", SERVED[-2:], ids=[row[0] for row in SERVED[-2:]])
def test_a_contested_hash_or_name_is_an_event(row):
    own, around = row[1], row[2]
    found = lora.status(own, *around, loads=BOTH)
    reason = (given.found(found, "EndpointsReady") or {})["reason"]
    assert told(own, found) == [f"Warning {reason} {message(found)}"]


# Bad input


ABSURD = [
    {"spec": None, "metadata": {"name": "a", "namespace": "team-a", "finalizers": 5}},
    {"spec": {"modelName": 5, "baseModelName": [], "modelType": {}, "source": "s3://x"}, "metadata": {"name": "a", "generation": "x"}},
    {"spec": model()["spec"], "metadata": model()["metadata"], "status": {"endpoints": 5, "conditions": [5, {"type": 5}]}},
    {"spec": model()["spec"], "metadata": model()["metadata"], "status": {"endpoints": [5], "observedGeneration": "2", "conditions": {}}},
]


@pytest.mark.parametrize("fields", ABSURD)
def test_absurd_values_never_raise(fields):
    own = {"apiVersion": "nvidia.com/v1alpha1", "kind": cached_model.KIND, **fields}
    found = lora.status(own, *TWO, loads={})
    assert found["conditions"]
    assert events(cached_model.read(own), found) is not None


def test_a_status_depends_on_the_objects_and_not_on_their_order():
    """Stores deliver objects in any order."""
    around = [*TWO, slice_(endpoint("w-3"), name="s0"), worker("w-3"), graph("other"), model("z")]
    first, last = lora.status(model(), *around, loads={}), lora.status(model(), *reversed(around), loads={})
    assert first == last
    assert model_status.of_model(cached_model.read(model()), BaseModelIndex(), WorkloadIndex(), given.NOW, lora.ON)["totalEndpoints"] == 0
