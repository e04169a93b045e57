"""The life of a request: the state follows from the Job, the output and the graph as they are now."""

from __future__ import annotations

from typing import Any

from krm_fn.render import labels
from krm_fn.syncer.status import SyncFeatures, cached_request, request_deployment
from krm_fn.syncer.status.cached_request import RequestInputs
from tests.support.cases import cases
from tests.syncer.status import asked
from tests.syncer.status.asked import COMPLETE, FAILED, HASH, OTHER
from tests.syncer.status.given import LATER, NOW

RUNNING = {"Profiling": ("False", "ProfilingRunning")}
PROFILED = {"Profiling": ("True", "ProfilingCompleted")}
GENERATED = {**PROFILED, "SpecGenerated": ("True", "SpecGenerated")}
PLACE = {"name": "vllm-disagg", "namespace": "team-a"}


def busy(reason):
    return {"Ready": ("False", reason), "Reconciling": ("True", reason)}


def stuck(reason):
    return {"Ready": ("False", reason), "Stalled": ("True", reason)}


def walk(*steps, **spec):
    """The statuses of a request, each stored before the next. A step is what is seen."""
    found: dict[str, Any] = {}
    for seen in steps:
        found = asked.status(asked.read(found, **spec), seen)
        yield found


def test_a_graph_to_commit():
    """Without autoApply the request is ready as soon as the graph is generated."""
    pending, profiling, ready = walk(
        RequestInputs(), RequestInputs(asked.profiling()), RequestInputs(asked.profiling(COMPLETE), asked.written())
    )
    assert (pending["state"], asked.told(pending)) == (
        "Pending",
        {"Profiling": ("False", "ProfilingPending"), **busy("ProfilingPending")},
    )
    assert (profiling["state"], asked.told(profiling)) == ("Profiling", {**RUNNING, **busy("ProfilingRunning")})
    assert (ready["state"], asked.told(ready)) == ("Ready", {**GENERATED, "Ready": ("True", "SpecGenerated")})
    assert ready["generatedDeployment"] == asked.GRAPH
    assert ready["profilingResults"] == "configmap/dgdr-output-qwen"
    assert (ready["backend"], ready["observedGeneration"]) == ("vllm", 1)
    assert "deployment" not in ready


def test_a_graph_that_is_deployed():
    """Names, states, reasons and messages of the operator, and `created` only once the graph exists."""
    job, output = asked.profiling(COMPLETE), asked.written()
    due, created, ready, degraded, again, gone = walk(
        RequestInputs(job, output),
        *(RequestInputs(job, output, asked.graph(state)) for state in ("", "successful", "pending", "successful")),
        RequestInputs(job, output),
        autoApply=True,
    )
    assert (due["state"], asked.told(due)) == (
        "Deploying",
        {**GENERATED, "DeploymentReady": ("False", "DeploymentPending"), **busy("DeploymentPending")},
    )
    assert "deployment" not in due
    assert (created["state"], created["deployment"]) == ("Deploying", {**PLACE, "state": "pending", "created": True})
    assert asked.told(created) == {**GENERATED, "DeploymentReady": ("False", "DeploymentCreated"), **busy("DeploymentCreated")}
    assert (ready["state"], ready["deployment"]["state"]) == ("Ready", "successful")
    assert asked.told(ready) == {**GENERATED, "DeploymentReady": ("True", "DeploymentReady"), "Ready": ("True", "DeploymentReady")}
    assert asked.message(ready, "DeploymentReady") == "DynamoGraphDeployment vllm-disagg is ready"
    assert (degraded["state"], asked.told(degraded)["DeploymentReady"]) == ("Deploying", ("False", "DeploymentDegraded"))
    assert asked.message(degraded, "DeploymentReady") == "Deployment degraded to pending"
    assert again["state"] == "Ready"
    assert (gone["state"], gone["deployment"]) == ("DeploymentDeleted", {**PLACE, "created": True})
    assert asked.told(gone) == {**GENERATED, "DeploymentReady": ("False", "DeploymentDeleted"), **stuck("DeploymentDeleted")}
    assert gone["generatedDeployment"] == asked.GRAPH


def test_a_graph_that_is_back_counts_again():
    """Nothing is terminal: the state follows from the objects."""
    job, output = asked.profiling(COMPLETE), asked.written()
    *_, gone, back = walk(
        RequestInputs(job, output, asked.graph("successful")),
        RequestInputs(job, output),
        RequestInputs(job, output, asked.graph("successful")),
        autoApply=True,
    )
    assert (gone["state"], back["state"]) == ("DeploymentDeleted", "Ready")


def test_a_failed_graph_is_stalled_but_not_failed():
    """The operator has no state for it: the request stays in Deploying. kstatus hears that waiting does not help."""
    found = asked.status(asked.read(autoApply=True), RequestInputs(asked.profiling(COMPLETE), asked.written(), asked.graph("failed")))
    assert (found["state"], found["deployment"]["state"]) == ("Deploying", "failed")
    assert asked.told(found)["Stalled"] == ("True", "DeploymentCreated")


def test_overrides_give_the_place_of_the_graph():
    spec = {"autoApply": True, "deploymentOverrides": {"name": "prod", "namespace": "serving"}}
    output = asked.written()
    key = request_deployment.target(asked.read(**spec), output)
    assert key is not None
    assert (key.kind, key.namespace, key.name) == ("DynamoGraphDeployment", "serving", "prod")
    seen = RequestInputs(asked.profiling(COMPLETE), output, asked.graph("successful", name="prod", namespace="serving"))
    found = asked.status(asked.read(**spec), seen)
    assert found["deployment"] == {"name": "prod", "namespace": "serving", "state": "successful", "created": True}


TARGETS = [
    ("nothing is generated", {"autoApply": True}, {}, None, None),
    ("no autoApply", {}, {}, asked.written(), None),
    ("the output", {"autoApply": True}, {}, asked.written(), "vllm-disagg"),
    ("the status, without an output", {"autoApply": True}, {"generatedDeployment": {"metadata": {"name": "kept"}}}, None, "kept"),
    (
        "the status, if somebody changed the output",
        {"autoApply": True},
        {"generatedDeployment": {"metadata": {"name": "kept"}}},
        asked.written(edited=True),
        "kept",
    ),
    (
        "the deployed graph, whatever the request says now",
        {},
        {"deployment": {"name": "d", "namespace": "n", "created": True}},
        asked.written(),
        "d",
    ),
    ("a graph that was not created", {"autoApply": True}, {"deployment": {"name": "d", "namespace": "n"}}, asked.written(), "vllm-disagg"),
    ("a graph without a name", {"autoApply": True}, {}, asked.written(asked.TEXT.replace("name: vllm-disagg", "")), None),
]


@cases(("spec", "stored", "output", "name"), TARGETS)
def test_the_graph_of_a_request(spec, stored, output, name):
    key = request_deployment.target(asked.read(stored, **spec), output)
    assert (key.name if key else None) == name


MEMORY = {"generatedDeployment": asked.GRAPH, "profilingResults": "configmap/dgdr-output-qwen", "state": "Ready"}
DEPLOYED = {**MEMORY, "deployment": {**PLACE, "state": "successful", "created": True}}
AUTO = {"autoApply": True}
RUN, DONE, OUT = asked.profiling(), asked.profiling(COMPLETE), asked.written()
BOTH = "ProfilingCompleted SpecGenerated"
LEVELS = [
    # what is stored, what is seen, the state and the reasons of Profiling, SpecGenerated and DeploymentReady
    ("the output is enough, the Job still runs", {}, {}, RequestInputs(RUN, OUT), "Ready", BOTH),
    ("the output is enough, the Job is suspended", {}, {}, RequestInputs(asked.profiling(suspend=True), OUT), "Ready", BOTH),
    ("the output is enough, the Job is gone", {}, {}, RequestInputs(None, OUT), "Ready", BOTH),
    ("the output is enough, the Job failed", {}, {}, RequestInputs(asked.profiling(FAILED), OUT), "Ready", BOTH),
    (
        "an output without a hash needs a completed Job",
        {},
        {},
        RequestInputs(asked.profiling(hash_=""), asked.written(hash_="")),
        "Profiling",
        "ProfilingRunning",
    ),
    (
        "an output without a hash, of a completed Job",
        {},
        {},
        RequestInputs(asked.profiling(COMPLETE, hash_=""), asked.written(hash_="")),
        "Ready",
        BOTH,
    ),
    (
        "a stale output of other settings waits for the Job",
        {},
        {},
        RequestInputs(None, asked.written(hash_=OTHER)),
        "Pending",
        "ProfilingPending",
    ),
    ("all is gone, and the graph stays", MEMORY, {}, RequestInputs(), "Ready", BOTH),
    ("the output is gone, the Job is completed", MEMORY, {}, RequestInputs(DONE), "Ready", BOTH),
    ("the output is gone, the Job is suspended", MEMORY, {}, RequestInputs(asked.profiling(suspend=True)), "Ready", BOTH),
    (
        "a new Job for new settings is suspended, the output is of the settings before",
        MEMORY,
        {},
        RequestInputs(asked.profiling(suspend=True), asked.written(hash_=OTHER)),
        "Profiling",
        "ProfilingRunning SpecGenerated",
    ),
    ("profiled again: Job and output were deleted", MEMORY, {}, RequestInputs(RUN), "Profiling", "ProfilingRunning SpecGenerated"),
    ("profiled again without success", MEMORY, {}, RequestInputs(asked.profiling(FAILED)), "Failed", "ProfilingFailed SpecGenerated"),
    (
        "profiled again while the graph runs",
        DEPLOYED,
        AUTO,
        RequestInputs(RUN, None, asked.graph("successful")),
        "Ready",
        "ProfilingRunning SpecGenerated DeploymentReady",
    ),
    (
        "profiled again: the graph of before is not deployed",
        MEMORY,
        AUTO,
        RequestInputs(asked.profiling(hash_=""), asked.written(hash_=OTHER)),
        "Profiling",
        "ProfilingRunning SpecGenerated",
    ),
    ("autoApply is turned on later", MEMORY, AUTO, RequestInputs(None, asked.written()), "Deploying", f"{BOTH} DeploymentPending"),
    ("autoApply is turned on after the output was lost", MEMORY, AUTO, RequestInputs(), "Deploying", f"{BOTH} DeploymentCreationFailed"),
    (
        "autoApply is turned off later",
        DEPLOYED,
        {},
        RequestInputs(None, None, asked.graph("pending")),
        "Ready",
        f"{BOTH} DeploymentCreated",
    ),
    ("autoApply is turned off and the graph deleted", DEPLOYED, {}, RequestInputs(), "Ready", f"{BOTH} DeploymentDeleted"),
    (
        "the graph was made by others, before anything was profiled",
        {},
        AUTO,
        RequestInputs(RUN, None, asked.graph("successful")),
        "Profiling",
        "ProfilingRunning",
    ),
    (
        "the graph is half applied",
        {},
        AUTO,
        RequestInputs(DONE, OUT, asked.graph("", complete=False)),
        "Deploying",
        f"{BOTH} DeploymentPending",
    ),
    ("a stored state, and no object", {"state": "Deploying"}, {}, RequestInputs(), "Pending", "ProfilingPending"),
    ("an unknown stored state", {"state": "Confused"}, AUTO, RequestInputs(), "Pending", "ProfilingPending"),
    ("a foreign Job, but the output is there", {}, {}, RequestInputs(asked.profiling(owner=None), OUT), "Ready", BOTH),
    ("a foreign Job, but the graph is there", MEMORY, {}, RequestInputs(asked.profiling(owner="x")), "Ready", BOTH),
]


@cases(("stored", "spec", "seen", "state", "reasons"), LEVELS)
def test_the_state_follows_from_the_objects(stored, spec, seen, state, reasons):
    found = asked.status(asked.read(stored, **spec), seen)
    told = asked.told(found)
    assert (found["state"], " ".join(told[name][1] for name in ("Profiling", "SpecGenerated", "DeploymentReady") if name in told)) == (
        state,
        reasons,
    )
    assert ("deployment" in found) is ("deployment" in stored)


def test_a_stored_graph_names_its_output():
    """The output was the source of the graph, also if it does not exist any more."""
    stored = {"generatedDeployment": asked.GRAPH}
    found = asked.status(asked.read(stored, **AUTO), RequestInputs(None, None, asked.graph("pending")))
    assert found["deployment"]["state"] == "pending"
    assert (found["generatedDeployment"], found["profilingResults"]) == (asked.GRAPH, "configmap/dgdr-output-qwen")


def test_the_job_is_back_after_it_was_missing():
    """A missing Job fails the request only as long as it is missing."""
    _, failed, again = walk(RequestInputs(asked.profiling()), RequestInputs(), RequestInputs(asked.profiling()))
    assert (failed["state"], asked.told(failed)["Profiling"]) == ("Failed", ("False", "ProfilingFailed"))
    assert asked.message(failed, "Profiling").startswith('jobs.batch "profile-qwen" not found; ')
    assert (again["state"], asked.told(again)) == ("Profiling", {**RUNNING, **busy("ProfilingRunning")})


def test_the_mocker_can_be_chosen_after_profiling():
    """Both graphs are in the output, and the profile hash does not contain the choice."""
    texts = {"mocker_config_with_planner.yaml": asked.TEXT.replace("vllm-disagg", "mocker")}
    real, mocker = (asked.written(mocker=each, **texts) for each in (False, True))
    job = asked.profiling(COMPLETE)
    first = asked.status(asked.read(), RequestInputs(job, real))
    second = asked.status(asked.read(first, useMocker=True, generation=2), RequestInputs(job, mocker))
    assert [each["generatedDeployment"]["metadata"]["name"] for each in (first, second)] == ["vllm-disagg", "mocker"]


def test_a_request_without_our_annotation_is_left_alone():
    """Somebody else may manage it."""
    before = {"state": "Ready", "anything": 1}
    assert asked.status(asked.read(before, hash_=None), RequestInputs(asked.profiling(FAILED))) == before


def test_a_deleted_request_keeps_its_status():
    deleted = asked.resource({"state": "Ready"})
    deleted["metadata"]["deletionTimestamp"] = NOW
    assert asked.status(cached_request.read(deleted), RequestInputs()) == {"state": "Ready"}


def test_fields_and_conditions_of_others_stay():
    other = {"type": "Audited", "status": "True", "reason": "Yes", "message": "", "lastTransitionTime": NOW}
    found = asked.status(asked.read({"conditions": [other], "more": 1}), RequestInputs(asked.profiling()))
    assert (found["conditions"][0], found["more"]) == (other, 1)


def test_times_move_only_with_the_status_of_a_condition():
    first = asked.status(asked.read(), RequestInputs(asked.profiling()))
    second = asked.status(asked.read(first), RequestInputs(asked.profiling(), pod="Pod: p, Reason: Evicted"), now=LATER)
    assert {each["lastTransitionTime"] for each in second["conditions"]} == {NOW}
    assert "Evicted" in asked.message(second, "Profiling")


def test_without_the_feature_the_message_names_both_ways():
    """`krm-fn sync` without --auto-apply generates, but deploys nothing."""
    found = asked.status(asked.read(autoApply=True), RequestInputs(asked.profiling(COMPLETE), asked.written()), SyncFeatures(requests=True))
    assert (found["state"], asked.told(found)["DeploymentReady"]) == ("Deploying", ("False", "AutoApplyDisabled"))
    assert asked.told(found)["Stalled"] == ("True", "AutoApplyDisabled")
    said = asked.message(found, "DeploymentReady")
    assert "--auto-apply" in said
    assert "`krm-fn request get qwen -n team-a`" in said


def test_without_the_feature_a_committed_graph_counts_as_deployed():
    """Its annotation `workloads` may be missing: the operator may manage the graph."""
    seen = RequestInputs(asked.profiling(COMPLETE), asked.written(), asked.graph("successful", complete=False))
    assert asked.status(asked.read(autoApply=True), seen, SyncFeatures(requests=True))["state"] == "Ready"


def test_the_labels_of_a_graph_name_its_request():
    key = asked.graph().request
    assert key == asked.read().key
    assert asked.graph(ours=False).request is None


def test_a_profile_hash_is_read_from_the_annotation():
    read = asked.read()
    assert (read.managed, read.profile_hash) == (True, HASH)
    assert asked.read(hash_=None).managed is False
    assert labels.PROFILE_HASH in labels.annotations(asked.resource())
