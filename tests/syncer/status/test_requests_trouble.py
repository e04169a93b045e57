"""Whatever goes wrong with a request is a condition that says what to do. Nothing that was generated is lost."""

from __future__ import annotations

import pytest

from krm_fn.syncer.status.cached_request import RequestInputs
from tests.support.cases import cases
from tests.syncer.status import asked
from tests.syncer.status.asked import COMPLETE, FAILED, HASH, OTHER

DONE, RUN = asked.profiling(COMPLETE), asked.profiling()
MEMORY = {"generatedDeployment": asked.GRAPH, "profilingResults": "configmap/dgdr-output-qwen", "state": "Ready"}
LARGE = asked.TEXT + "    Large: {extraPodSpec: {mainContainer: {args: [" + "x" * 260_000 + "]}}}\n"
AGAIN = "delete the Job profile-qwen and the ConfigMap, and apply the Job again to profile once more"
TROUBLE = [
    # what is seen, the type and the reason of the condition, how its message begins, and what to do
    (
        "the Job failed",
        RequestInputs(asked.profiling(FAILED)),
        ("Profiling", "ProfilingFailed"),
        "profiling job failed: Job has reached the specified backoff limit; ",
        "correct the cause, then delete the Job profile-qwen and apply it again",
    ),
    (
        "the Job failed, with the detail of a pod",
        RequestInputs(asked.profiling(FAILED), pod="Pod: p-1, Container: profiler, ExitCode: 1"),
        ("Profiling", "ProfilingFailed"),
        "profiling job failed: Job has reached the specified backoff limit. Details: Pod: p-1, Container: profiler, ExitCode: 1; ",
        "correct the cause, then delete the Job profile-qwen and apply it again",
    ),
    (
        "a Job without our label",
        RequestInputs(asked.profiling(COMPLETE, owner=None), asked.written(hash_="")),
        ("Profiling", "JobConflict"),
        "the Job profile-qwen is not the Job of this request: it has no label dgdr; ",
        "delete that Job, or give the request another name",
    ),
    (
        "the Job of another request",
        RequestInputs(asked.profiling(owner="other")),
        ("Profiling", "JobConflict"),
        "the Job profile-qwen is not the Job of this request: it has the label dgdr: other; ",
        "delete that Job, or give the request another name",
    ),
    (
        "no output",
        RequestInputs(DONE),
        ("SpecGenerated", "GenerationFailed"),
        "output ConfigMap dgdr-output-qwen not found - profiling may not have completed yet; ",
        AGAIN,
    ),
    (
        "the output of another run",
        RequestInputs(DONE, asked.written(hash_=OTHER)),
        ("SpecGenerated", "GenerationFailed"),
        "the ConfigMap dgdr-output-qwen is from a run with other settings; ",
        AGAIN,
    ),
    (
        "an output that was edited",
        RequestInputs(DONE, asked.written(edited=True)),
        ("SpecGenerated", "GenerationFailed"),
        "the ConfigMap dgdr-output-qwen was changed after the profiler wrote it; ",
        f"restore its text, or {AGAIN}",
    ),
    (
        "an output without a graph",
        RequestInputs(DONE, asked.written("kind: ConfigMap\n")),
        ("SpecGenerated", "GenerationFailed"),
        "failed to extract DGD from config_with_planner.yaml: no DynamoGraphDeployment found in YAML content; ",
        f"correct the profiler or its configuration, then {AGAIN}",
    ),
    (
        "no graph for the mocker",
        RequestInputs(DONE, asked.written(mocker=True)),
        ("SpecGenerated", "GenerationFailed"),
        "key mocker_config_with_planner.yaml not found in ConfigMap dgdr-output-qwen; ",
        f"correct the profiler or its configuration, then {AGAIN}",
    ),
    (
        "a graph that the status cannot hold",
        RequestInputs(DONE, asked.written(LARGE)),
        ("SpecGenerated", "GenerationFailed"),
        "the generated graph is larger than 250000 bytes, and the status cannot hold it; ",
        "commit what `krm-fn request get qwen -n team-a` prints",
    ),
    (
        "objects beside the graph that the operator refuses",
        RequestInputs(DONE, asked.written(f"kind: ConfigMap\ndata: {{a: {'x' * 250_000}}}\n---\n{asked.TEXT}")),
        ("SpecGenerated", "GenerationFailed"),
        "the objects beside the generated graph are larger than 250000 bytes; ",
        "commit what `krm-fn request get qwen -n team-a` prints",
    ),
]


@cases(("seen", "condition", "said", "fix"), TROUBLE)
def test_the_message_says_what_to_do(seen, condition, said, fix):
    """The operator's text comes first, and kstatus hears that waiting does not help."""
    name, reason = condition
    found = asked.status(asked.read(), seen)
    told = asked.told(found)
    assert (found["state"], told[name], told["Ready"], told["Stalled"]) == (
        "Failed",
        ("False", reason),
        ("False", reason),
        ("True", reason),
    )
    assert asked.message(found, name) == asked.message(found, "Stalled")
    assert asked.message(found, name).startswith(said)
    assert asked.message(found, name).endswith(fix)
    assert "generatedDeployment" not in found


@pytest.mark.parametrize(
    "seen", [row[1] for row in TROUBLE if row[2][0] == "SpecGenerated"], ids=[r[0] for r in TROUBLE if r[2][0] == "SpecGenerated"]
)
def test_a_graph_of_before_survives_a_lost_or_changed_output(seen):
    found = asked.status(asked.read(MEMORY), seen)
    assert (found["state"], found["generatedDeployment"]) == ("Ready", asked.GRAPH)
    assert asked.told(found)["SpecGenerated"] == ("True", "SpecGenerated")
    if seen.output and seen.output.profile_hash == HASH:
        assert "; the output cannot be used any more, and the earlier graph stays: " in asked.message(found, "SpecGenerated")


LOST = [
    (
        "with the graph in the status",
        {**MEMORY, "state": "Deploying"},
        ("DeploymentReady", "DeploymentCreationFailed"),
        "the ConfigMap dgdr-output-qwen with the output does not exist, so the graph cannot be applied; delete",
    ),
    (
        "without a graph in the status",
        {"state": "Deploying", "profilingResults": "configmap/dgdr-output-qwen"},
        ("Profiling", "ProfilingPending"),
        "the Job profile-qwen and the ConfigMap dgdr-output-qwen with its output do not exist, although the status was Deploying",
    ),
]


@cases(("stored", "condition", "message"), LOST)
def test_a_request_that_was_deploying_names_the_output_that_is_gone(stored, condition, message):
    """Waiting does not help: the graph is applied from the ConfigMap that the stored status names."""
    status = asked.status(asked.read(stored, autoApply=True))
    assert asked.told(status)[condition[0]] == ("False", condition[1])
    assert asked.message(status, "Ready").startswith(message)


def test_a_suspended_job_without_an_output_says_how_to_go_on():
    """Somebody suspended it, for example a queue for GPUs."""
    found = asked.status(asked.read(), RequestInputs(asked.profiling(suspend=True)))
    assert (found["state"], asked.told(found)["Profiling"]) == ("Profiling", ("False", "ProfilingRunning"))
    assert asked.message(found, "Profiling").startswith("the Job profile-qwen is suspended; set its spec.suspend to false")


CHANGED = [
    ("the Job of before still runs", {}, RequestInputs(RUN), "Profiling"),
    ("the Job of before is done", {}, RequestInputs(DONE, asked.written()), "Ready"),
    ("only the output of before is there", MEMORY, RequestInputs(None, asked.written()), "Ready"),
]


@cases(("stored", "seen", "state"), CHANGED)
def test_a_spec_that_changed_after_profiling_began(stored, seen, state):
    """The state of what was profiled stays, nothing freezes, and a condition says that the change does not count."""
    found = asked.status(asked.read({**stored, "backend": "vllm"}, hash_=OTHER, generation=2, backend="sglang"), seen)
    told = asked.told(found)
    assert (found["state"], found["backend"], found["observedGeneration"]) == (state, "vllm", 2)
    assert told["Validation"] == ("False", "SpecChangeRejected")
    assert (told["Ready"], told["Stalled"]) == (("False", "SpecChangeRejected"), ("True", "SpecChangeRejected"))
    assert asked.message(found, "Validation") == (
        f"Cannot modify spec in state '{state}'. DynamoGraphDeploymentRequest is immutable once profiling starts. "
        "Create a new resource with a different name instead, or undo the change."
    )
    undone = asked.status(asked.read(found, generation=3), seen)
    assert "Validation" not in asked.told(undone)
    assert asked.told(undone)["Ready"][1] != "SpecChangeRejected"


def test_a_changed_spec_that_is_profiled_again_counts():
    """Whoever deletes the Job, or lets Argo CD replace it, accepts that profiling starts from the beginning."""
    new = asked.read({**MEMORY, "state": "Ready"}, hash_=OTHER, generation=2)
    found = asked.status(new, RequestInputs(asked.profiling(hash_=OTHER), asked.written()))
    assert (found["state"], found["generatedDeployment"]) == ("Profiling", asked.GRAPH)
    assert "Validation" not in asked.told(found)


def test_a_spec_that_is_refused_before_anything_was_profiled():
    found = asked.status(asked.read()._replace(problem="Validation failed: no image"))
    assert found["state"] == "Failed"
    assert asked.told(found)["Validation"] == ("False", "ValidationFailed")
    assert asked.told(found)["Stalled"] == ("True", "ValidationFailed")
    assert asked.message(found, "Ready") == "Validation failed: no image"
    assert "backend" not in found


def test_a_graph_that_is_refused():
    """autoApply of a graph with findings."""
    seen = RequestInputs(DONE, asked.written(), rejected="the graph has 2 errors; run krm-fn request get qwen -n team-a | krm-fn check -")
    found = asked.status(asked.read(autoApply=True), seen)
    assert found["state"] == "Failed"
    assert asked.told(found)["DeploymentReady"] == ("False", "DeploymentRefused")
    assert asked.told(found)["Stalled"] == ("True", "DeploymentRefused")
    assert asked.message(found, "DeploymentReady") == seen.rejected
    assert "deployment" not in found
    assert found["generatedDeployment"] == asked.GRAPH


def test_a_graph_without_a_name_cannot_be_deployed():
    output = asked.written(asked.TEXT.replace("name: vllm-disagg", ""))
    found = asked.status(asked.read(autoApply=True), RequestInputs(DONE, output))
    assert (found["state"], asked.told(found)["DeploymentReady"]) == ("Failed", ("False", "DeploymentRefused"))
    assert asked.message(found, "DeploymentReady") == "the generated graph has no name; set spec.deploymentOverrides.name"
    assert asked.status(asked.read(), RequestInputs(DONE, output))["state"] == "Ready"


def test_a_graph_of_another_namespace_goes_to_that_of_the_request():
    output = asked.written(asked.TEXT.replace("{name: vllm-disagg}", "{name: vllm-disagg, namespace: elsewhere}"))
    found = asked.status(asked.read(autoApply=True), RequestInputs(DONE, output, asked.graph()))
    assert found["deployment"]["namespace"] == "team-a"
    note = "the namespace elsewhere of the generated graph is not used; the graph goes to team-a"
    assert asked.message(found, "SpecGenerated") == f"DynamoGraphDeployment spec generated successfully; {note}"


def test_a_graph_that_exists_already_is_only_watched():
    """The operator adopts it, too. A note says so."""
    found = asked.status(
        asked.read(autoApply=True), RequestInputs(DONE, asked.written(), asked.graph("successful", ours=False, complete=False))
    )
    assert (found["state"], found["deployment"]["created"]) == ("Ready", True)
    note = "the graph was not made by this request, which only reports its state"
    assert asked.message(found, "DeploymentReady") == f"DynamoGraphDeployment vllm-disagg is ready; {note}"


def test_a_message_has_at_most_32_kib():
    found = asked.status(asked.read(), RequestInputs(asked.profiling({**FAILED, "message": "x" * 100_000})))
    assert max(len(each["message"]) for each in found["conditions"]) == 32768
