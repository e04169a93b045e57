"""The events of a request: one for each thing that happened, none for what stays as it is."""

from krm_fn.syncer.status import request_status
from tests.support.cases import cases


def status(state="", **conditions):
    """A status with conditions, each as `Type="Reason: message"`."""
    split = {name: text.partition(": ") for name, text in conditions.items()}
    told = [{"type": name, "status": "True", "reason": reason, "message": said} for name, (reason, _, said) in split.items()]
    return {"state": state, "conditions": told} if state else {}


PENDING = status("Pending", Profiling="ProfilingPending: the Job does not exist yet")
RUNNING = status("Profiling", Profiling="ProfilingRunning: Profiling is in progress")
DONE = {"Profiling": "ProfilingCompleted: done"}
GENERATED = {**DONE, "SpecGenerated": "SpecGenerated: there it is"}
ROWS = [
    ("a new request", {}, PENDING, ["Initialized"]),
    ("a new request with a Job", {}, RUNNING, ["Initialized", "ProfilingJobCreated"]),
    ("nothing new", RUNNING, RUNNING, []),
    ("another message of good news", RUNNING, status("Profiling", Profiling="ProfilingRunning: Details"), []),
    ("a failed Job", RUNNING, status("Failed", Profiling="ProfilingFailed: no"), ["!ProfilingCheckFailed"]),
    (
        "another reason of a failure",
        status("Failed", Profiling="ProfilingFailed: no"),
        status("Failed", Profiling="ProfilingFailed: gone"),
        ["!ProfilingCheckFailed"],
    ),
    ("the Job of another", PENDING, status("Failed", Profiling="JobConflict: no"), ["!ProfilingJobFailed"]),
    ("no output", RUNNING, status("Failed", **DONE, SpecGenerated="GenerationFailed: no"), ["!GenerationFailed"]),
    ("a graph", RUNNING, status("Ready", **GENERATED), ["SpecGenerated"]),
    ("a graph to deploy", RUNNING, status("Deploying", **GENERATED, DeploymentReady="DeploymentPending: soon"), ["SpecGenerated"]),
    (
        "all at once",
        {},
        status("Ready", **GENERATED, DeploymentReady="DeploymentReady: yes"),
        ["Initialized", "SpecGenerated", "DeploymentReady"],
    ),
    (
        "a refused graph",
        status("Deploying", **GENERATED, DeploymentReady="DeploymentPending: soon"),
        status("Failed", **GENERATED, DeploymentReady="DeploymentRefused: no"),
        ["!DeploymentRefused"],
    ),
    (
        "a graph that degrades",
        status("Ready", **GENERATED, DeploymentReady="DeploymentReady: yes"),
        status("Deploying", **GENERATED, DeploymentReady="DeploymentDegraded: to pending"),
        ["!DeploymentDegraded"],
    ),
    (
        "a graph that is deleted",
        status("Ready", **GENERATED, DeploymentReady="DeploymentReady: yes"),
        status("DeploymentDeleted", **GENERATED, DeploymentReady="DeploymentDeleted: by user"),
        ["!DeploymentDeleted"],
    ),
    ("a refused change", RUNNING, status("Profiling", Validation="SpecChangeRejected: no", **DONE), ["!SpecChangeRejected"]),
    ("a change that was taken back", status("Profiling", Validation="SpecChangeRejected: no", **DONE), status("Profiling", **DONE), []),
]


@cases(("before", "after", "reasons"), ROWS)
def test_events(before, after, reasons):
    """The reasons of the operator; `!` marks a warning."""
    assert [f"{'!' * each.warning}{each.reason}" for each in request_status.events(before, after)] == reasons
