"""What the status of a graph says about a worker that cannot start, and about servers that stop."""

from __future__ import annotations

import time

import pytest

from tests.running import graphs
from tests.running.bed import message

TOLD = {"terminationMessagePolicy": "FallbackToLogsOnError"}
MINUTE = 60  # seconds after the graph was applied in which the status must have the reason

ABSENT = "/models/absent"
BROKEN = [
    ("arguments", graphs.worker(1, "--modle-name", "tiny"), "unrecognized arguments: --modle-name tiny"),
    ("no-model", graphs.worker()._replace(arguments=("--model-path", ABSENT, "--model-name", ABSENT)), ABSENT),
]


@pytest.mark.parametrize(("name", "worker", "said"), BROKEN, ids=[row[0] for row in BROKEN])
@pytest.mark.parametrize("release", ["0.9.0", "1.5.1"])
def test_worker_that_cannot_start(name, worker, said, release, bed, sync, nats):
    """The message names the service, the crash loop, and the last line of the log."""
    with bed.namespace(f"{name}-{release.replace('.', '')}") as here:
        graph = graphs.v1alpha1("chat", release, graphs.frontend(), worker, DYN_STORE_KV="mem")
        for service in graph["spec"]["services"].values():
            service["extraPodSpec"]["mainContainer"] |= TOLD
        here.deploy(graph, behaviour="v0.9", natsAddress=bed.platform["natsAddress"])

        def told() -> bool:
            words = message(here.status("chat"))
            return all(part in words for part in ("chat-worker: ", "CrashLoopBackOff", said))

        bed.machine.eventually(told, here.namespace, MINUTE)
        assert here.status("chat")["state"] == "pending"


def test_nats_that_stops_and_starts_again(bed, sync, nats, measured):
    """The status follows the pods: it says successful as long as they are ready, and they answer again after NATS has come back."""
    with bed.namespace("nats") as here:
        graph = graphs.v1alpha1("chat", "0.9.0", graphs.frontend(), graphs.worker(), DYN_STORE_KV="mem")
        here.deploy(graph, behaviour="v0.9", natsAddress=bed.platform["natsAddress"])
        bed.wait_until_successful(here, "chat")
        bed.machine.eventually(lambda: bed.chat(here, "chat") != "", here.namespace)
        nats.kill()
        try:
            seen = {told_truth(here) for _ in range(30)}
        finally:
            nats.start()
        measured.append(f"NATS stopped: the status says {', '.join(sorted(state for state, _ in seen))}")
        assert {truth for _, truth in seen} == {True}
        bed.wait_until_successful(here, "chat")
        bed.machine.eventually(lambda: bed.chat(here, "chat") != "", here.namespace)


def told_truth(here):
    """The state that the status has after half a second in which no pod changed, and whether that is what the pods say."""

    def ready():
        said = [each for pod in here.listed("Pod") for each in pod["status"].get("conditions", ()) if each["type"] == "Ready"]
        return sorted((each["status"], each["lastTransitionTime"]) for each in said)

    before = None
    while before != (before := ready()):
        time.sleep(0.5)
    state = here.status("chat")["state"]
    return state, (state == "successful") == all(status == "True" for status, _ in ready()) or before != ready()
