"""The status of a pod from the states of its containers, and the waits between restarts."""

from __future__ import annotations

import pytest

from tests.testbed.node import state
from tests.testbed.node.backoff import Backoff
from tests.testbed.node.state import State


def made(kind, *, init=False, sidecar=False, name="main"):
    """A container in a state: `waiting`, `running`, `ready`, an exit code, or `crashed`, which waits after its first end."""
    found = State({"name": name, "image": "i", **({"restartPolicy": "Always"} if sidecar else {})}, init=init or sidecar)
    if kind == "waiting":
        return found
    found.id = "tests://1"
    found.run(0)
    if kind in ("running", "ready"):
        found.started = kind == "ready" or not sidecar
        found.ready = kind == "ready"
    else:
        found.end(1 if kind == "crashed" else kind, "Error", "")
    if kind == "crashed":
        found.wait("CrashLoopBackOff")
    return found


def status(*states, policy="Always", deleted=False):
    """The status of a pod with these containers."""
    metadata = {"deletionTimestamp": "now"} if deleted else {}
    return state.status({"metadata": metadata, "spec": {"restartPolicy": policy}}, states, {}, {"PodScheduled": {"status": "True"}})


PHASES = [
    ([made("waiting")], "Always", "Pending"),
    ([made("running")], "Always", "Running"),
    ([made("running"), made("waiting")], "Always", "Pending"),
    ([made("crashed")], "Always", "Running"),
    ([made(1)], "Always", "Running"),
    ([made(0)], "Always", "Running"),
    ([made(0)], "OnFailure", "Succeeded"),
    ([made(1)], "OnFailure", "Running"),
    ([made(0), made("running")], "Never", "Running"),
    ([made(0), made(1)], "Never", "Failed"),
    ([made(0), made(0)], "Never", "Succeeded"),
    ([made("running", init=True), made("waiting")], "Always", "Pending"),
    ([made("crashed", init=True), made("waiting")], "Always", "Pending"),
    ([made(1, init=True), made("waiting")], "Never", "Failed"),
    ([made(0, init=True), made("running")], "Always", "Running"),
    ([made("running", sidecar=True), made("waiting")], "Always", "Pending"),
    ([made("ready", sidecar=True), made("running")], "Always", "Running"),
    ([made("running", sidecar=True), made("running")], "Always", "Running"),
]


@pytest.mark.parametrize(("states", "policy", "phase"), PHASES)
def test_phases(states, policy, phase):
    """`getPhase` of a kubelet."""
    assert status(*states, policy=policy)["phase"] == phase


def test_a_deleted_pod_ends_whatever_its_policy():
    """Its containers will not start again: the phase is final."""
    assert [status(made(code), deleted=True)["phase"] for code in (0, 143)] == ["Succeeded", "Failed"]


def said(found):
    """The conditions by type, as status, reason and message."""
    return {each["type"]: (each["status"], each.get("reason"), each.get("message")) for each in found["conditions"]}


def test_conditions_name_the_containers():
    """Initialized, ContainersReady and Ready with the kubelet's reasons and messages."""
    found = said(status(made("running", init=True, name="setup"), made("waiting", name="a"), made("waiting", name="b")))
    unready = ("False", "ContainersNotReady", "containers with unready status: [a b]")
    assert found["Initialized"] == ("False", "ContainersNotInitialized", "containers with incomplete status: [setup]")
    assert (found["ContainersReady"], found["Ready"]) == (unready, unready)
    found = said(status(made(0, init=True, name="setup"), made("ready", sidecar=True, name="log"), made("ready")))
    assert {name: each[0] for name, each in found.items()} == dict.fromkeys(
        ("Initialized", "ContainersReady", "Ready", "PodScheduled"), "True"
    )


def test_a_readiness_gate_holds_ready_back():
    """ContainersReady is true, Ready waits for the condition that somebody else writes, which is kept."""
    own = {"type": "example.com/gate", "status": "False"}
    pod = {"metadata": {}, "spec": {"readinessGates": [{"conditionType": "example.com/gate"}]}, "status": {"conditions": [own]}}
    found = said(state.status(pod, [made("ready")], {}, {}))
    assert found["ContainersReady"][0] == "True"
    assert found["Ready"] == (
        "False",
        "ReadinessGatesNotReady",
        'the status of pod readiness gate "example.com/gate" is not "True", but False',
    )
    assert found["example.com/gate"][0] == "False"


def test_the_time_of_a_condition_is_that_of_its_last_change():
    """A status that stays keeps its time."""
    before = {"type": "Ready", "status": "True", "lastTransitionTime": "2001-01-01T00:00:00Z"}
    pod = {"metadata": {}, "spec": {}, "status": {"conditions": [before]}}
    (kept,) = [each for each in state.status(pod, [made("ready")], {}, {})["conditions"] if each["type"] == "Ready"]
    (changed,) = [each for each in state.status(pod, [made("running")], {}, {})["conditions"] if each["type"] == "Ready"]
    assert kept["lastTransitionTime"] == "2001-01-01T00:00:00Z" != changed["lastTransitionTime"]


def test_the_last_end_is_kept():
    """`lastState` is the end before; a container in back-off still shows it."""
    found = made("crashed")
    assert found.status()["lastState"]["terminated"]["exitCode"] == 1
    found.run(1)
    found.end(2, "Error", "why")
    found.run(2)
    assert found.status()["lastState"]["terminated"]["message"] == "why"
    assert found.status()["restartCount"] == 2


def test_waits_double_up_to_five_minutes_and_are_forgotten():
    """The first restart comes at once. After ten minutes without an end, the waits begin again."""
    backoff, waits, now = Backoff(10), [], 1000.0
    for _ in range(8):
        waits.append(backoff.wait(now))
        backoff.restarted(now, now + waits[-1])
        now += waits[-1] + 1
    assert waits == [0, 10, 20, 40, 80, 160, 300, 300]
    assert backoff.wait(now + 598) == 300
    assert backoff.wait(now + 600) == 0
    backoff.restarted(now + 600, now + 600)
    assert backoff.wait(now + 601) == 10
