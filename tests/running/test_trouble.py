"""What the status of a graph says about a worker that cannot start, and about servers that stop."""

from __future__ import annotations

import pytest

from tests.running import graphs
from tests.running.bed import message
from tests.support.cases import cases
from tests.testbed.place import conditions

TOLD = {"terminationMessagePolicy": "FallbackToLogsOnError"}
MINUTE = 60  # seconds after the graph was applied in which the status must have the reason

ABSENT = "/models/absent"
BROKEN = [
    ("arguments", graphs.worker(1, "--modle-name", "tiny"), "unrecognized arguments: --modle-name tiny"),
    ("no-model", graphs.worker()._replace(arguments=("--model-path", ABSENT, "--model-name", ABSENT)), ABSENT),
]


@cases(("name", "worker", "said"), BROKEN)
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
    """The status says what the probes say: without NATS nothing answers, but this runtime stays ready, and so does the graph."""
    with bed.namespace("nats") as here:
        graph = graphs.v1alpha1("chat", "0.9.0", graphs.frontend(), graphs.worker(), DYN_STORE_KV="mem", DYN_REQUEST_PLANE="nats")
        here.deploy(graph, behaviour="v0.9", natsAddress=bed.platform["natsAddress"])
        bed.wait_until_successful(here, "chat")
        bed.machine.eventually(lambda: bed.answers(here, "chat"), here.namespace)
        nats.kill()
        try:
            bed.machine.eventually(lambda: not bed.answers(here, "chat"), here.namespace)
            assert probes(bed, here) == {200}
            assert ready(here)
            status = here.status("chat")
        finally:
            nats.start()
        assert status["state"] == "successful"
        measured.append(f"without NATS nothing answers, the probes are good, and the status says: {message(status)}")
        bed.machine.eventually(lambda: bed.answers(here, "chat"), here.namespace)
        bed.wait_until_successful(here, "chat")


def probes(bed, here):
    """The answers to the readiness probes of all containers, asked now."""
    found = set()
    for pod in here.listed("Pod"):
        (container,) = pod["spec"]["containers"]
        action = container["readinessProbe"]["httpGet"]
        ports = {each["name"]: each["containerPort"] for each in container["ports"]}
        number = ports.get(action["port"], action["port"])
        found.add(bed.machine.request(pod["status"]["podIP"], number, action["path"]).status)
    return found


def ready(here):
    """True if all pods say that they are ready."""
    return all(conditions(pod["status"])["Ready"]["status"] == "True" for pod in here.listed("Pod"))
