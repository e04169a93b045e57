"""Adapters on a real control plane, with the rights of platform/syncer: what workers do, and what becomes of it."""

from __future__ import annotations

from itertools import pairwise

from tests.syncer.serving import CLOSED, MODEL, READY, endpoint, events, is_, listed, model, pod, post, running, serves
from tests.testbed import lora_workers, server
from tests.testbed.lora_workers import OK
from tests.testbed.place import conditions


def test_another_spec_is_loaded_in_place_of_the_old_one(served, fleet):
    serves(served, "192.0.2.2")
    model(served)
    served.wait("support", READY, MODEL)
    model(served, uri="s3://models/newer")
    served.wait("support", lambda status: READY(status) and status["observedGeneration"] == 2, MODEL)
    assert fleet.done("192.0.2.2") == [post(), "DELETE support-v1", post(uri="s3://models/newer")]
    model(served, uri="s3://models/newer", modelName="support-v2")
    served.wait("support", lambda status: READY(status) and status["observedGeneration"] == 3, MODEL)
    server.eventually(lambda: fleet.done("192.0.2.2")[3:] == [post("support-v2", "s3://models/newer"), "DELETE support-v1"])


def test_an_adapter_is_loaded_again_after_a_restart_of_a_container(served, fleet):
    serves(served, "192.0.2.3")
    model(served)
    served.wait("support", READY, MODEL)
    running(served, "w-1", "192.0.2.3", restarts=1)
    server.eventually(lambda: fleet.done("192.0.2.3") == [post(), post()])
    served.wait("support", READY, MODEL)


# Workers that do something else


BAD = [
    # what the worker does, and what the condition says
    (500, 'load LoRA failed with status 500: {"status": "error", "message": "no such adapter"}'),
    (lora_workers.SLOW, "load LoRA: no answer within 2 s"),
    (lora_workers.ENDLESS, "load LoRA failed with status 200: the answer is longer than 64 KiB, so this is not a worker of Dynamo"),
    (lora_workers.REDIRECT, "load LoRA failed with status 307: redirects are not followed"),
    (lora_workers.HTML, "load LoRA failed with status 200: the answer is an HTML page, so this is not a worker of Dynamo"),
    (lora_workers.REFUSED, "failed to call load LoRA endpoint: Connection refused"),
]


def test_a_worker_that_does_something_else_is_told_and_delays_no_other_model(served, fleet):
    """One model for each of them, and one whose worker is right. Each is asked again with a delay, and served once its worker is right."""
    addresses = {}
    for number, (how, _) in enumerate(BAD):
        name, address = f"bad-{number}", CLOSED if how == lora_workers.REFUSED else f"192.0.2.{10 + number}"
        addresses[name] = address
        fleet.behave(address, how)
        pod(served, name, address, base=name)
        listed(served, endpoint(served, name, address), base=name, name=name)
        model(served, name, base=name)
    serves(served, "192.0.2.20")
    model(served)
    served.wait("support", READY, MODEL)
    for number, (_, said) in enumerate(BAD):
        name = f"bad-{number}"
        message = f"0 of 1 endpoints have the adapter; {name}: {said}"
        # A busy machine may give no answer in time at first.
        status = served.wait(name, lambda status: conditions(status).get("Ready", {}).get("message") == message, MODEL)  # noqa: B023 - called at once
        assert (status["readyEndpoints"], status["totalEndpoints"], conditions(status)["EndpointsReady"]["reason"]) == (0, 1, "NotReady")
        told = f"Some endpoints failed to load LoRA: 1 task(s) failed; {name}: {said}"
        server.eventually(lambda: told in events(served, "PartialEndpointFailure"))  # noqa: B023 - called at once
    server.eventually(lambda: len(events(served, "NotReady")) == len(BAD))
    assert fleet.to("192.0.2.250") == [], "no redirect is followed"
    for name, address in addresses.items():
        if address != CLOSED:
            fleet.behave(address, OK)
            served.wait(name, READY, MODEL)
            times = [each.time for each in fleet.to(address)]
            assert all(after - before >= 1 for before, after in pairwise(times)), times
    served.wait("bad-5", is_("Ready", "NotReady"), MODEL)


def test_a_worker_that_refuses_again_and_again_stalls_the_model(served, fleet):
    """Flux then stops to wait."""
    fleet.behave("192.0.2.21", 400)
    serves(served, "192.0.2.21")
    model(served)
    served.wait("support", is_("Stalled", "LoadFailed"), MODEL)
    fleet.behave("192.0.2.21", OK)
    served.wait("support", lambda status: READY(status) and "Stalled" not in conditions(status), MODEL)


def test_two_hundred_endpoints_are_loaded_within_the_limits(served, fleet, loader):
    def unanswered():
        return loader.metric("lora_operations_total", operation="load", result="timeout")

    before, addresses = unanswered(), [f"198.51.100.{number}" for number in range(1, 201)]
    for number, address in enumerate(addresses):
        pod(served, f"w-{number}", address)
    for part in range(2):
        chosen = range(part * 100, part * 100 + 100)
        listed(served, *(endpoint(served, f"w-{number}", addresses[number]) for number in chosen), name=f"s{part}")
    model(served)
    status = served.wait("support", lambda status: READY(status) and status["totalEndpoints"] == 200, MODEL)
    assert status["readyEndpoints"] == 200
    asked = fleet.done(*addresses)
    assert (set(asked), {each.pod for each in fleet.to(*addresses)}) == ({post()}, {*addresses})
    assert len(asked) <= 200 + unanswered() - before, "only what had no answer is repeated"


def test_a_pod_that_goes_away_while_it_is_asked_is_forgotten(served, fleet):
    fleet.behave("192.0.2.53", lora_workers.SLOW)
    serves(served, "192.0.2.53")
    model(served)
    server.eventually(lambda: fleet.done("192.0.2.53") == [post()])
    served.kubectl("delete", "pod", "w-1", "--timeout=120s")
    listed(served)
    served.wait("support", is_("Ready", "NoEndpoints"), MODEL)
    asked = fleet.done("192.0.2.53")
    served.kubectl("delete", "dynamomodel", "support", "--timeout=120s")
    assert fleet.done("192.0.2.53") == asked
    assert set(asked) == {post()}, "until the pod goes away, the request is repeated each time it had no answer"


def test_no_worker_ever_saw_a_credential(loader, fleet):
    """The last test: it looks at the requests of all others."""
    assert fleet.asked
    assert {name for each in fleet.asked for name in each.headers if name.lower() in {"authorization", "cookie"}} == set()
    assert {each.headers["Host"].rpartition(":")[2] for each in fleet.asked} == {"9090"}
    assert loader.metric("lora_operations_total", operation="load", result="success") > 0
    server.eventually(lambda: loader.metric("lora_operations_in_flight") == 0)
