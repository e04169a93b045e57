"""Adapters when the process ends or another one takes over. Each test runs its own syncers, for one namespace."""

from __future__ import annotations

import contextlib
import functools

from krm_fn.render import labels
from tests.syncer.serving import CLOSED, MODEL, READY, endpoint, is_, listed, model, pod, post, serves
from tests.testbed import lora_workers, server, syncer
from tests.testbed.lora_workers import OK
from tests.testbed.place import Place


def alone(dynamo, account, fleet, folder, name, *options, **limits):
    """A namespace, and the command of a syncer that works in no other one."""
    place = Place(dynamo, dynamo.namespace(name))
    prelude = lora_workers.prelude(fleet, CLOSED, **limits)
    return place, functools.partial(syncer.running, account, folder, "--namespace", name, "--models", "--loras", *options, prelude=prelude)


def test_after_a_restart_adapters_are_loaded_once_more_and_nothing_is_written(dynamo, controllers, kubelet, account, fleet, tmp_path):
    """Neither for a model that is served, nor for one whose worker refuses."""
    place, running_ = alone(dynamo, account, fleet, tmp_path, "models-restart", "--no-leader-election", retry=1000, longest_retry=1000)
    fleet.behave("192.0.2.61", 500)
    for number, name in ((60, "good"), (61, "bad")):
        pod(place, name, f"192.0.2.{number}", base=name)
        listed(place, endpoint(place, name, f"192.0.2.{number}"), base=name, name=name)
        model(place, name, base=name)
    with running_(name="first"):
        place.wait("good", READY, MODEL)
        place.wait("bad", is_("Ready", "NotReady"), MODEL)
    before = [place.get(MODEL, name)["metadata"]["resourceVersion"] for name in ("good", "bad")]
    with running_(name="second") as second:
        server.eventually(lambda: len(fleet.to("192.0.2.60", "192.0.2.61")) == 4)
        server.eventually(lambda: second.metric("lora_operations_total", operation="load") == 2)
        server.eventually(lambda: second.metric("writes_total", kind=MODEL, result="noop") >= 4)
        server.eventually(lambda: second.metric("queue_depth") == 0)
        assert second.metric("writes_total", kind=MODEL, result="written") == 0
    assert [place.get(MODEL, name)["metadata"]["resourceVersion"] for name in ("good", "bad")] == before


def test_the_next_leader_loads_what_the_last_one_had_begun(dynamo, controllers, kubelet, account, fleet, tmp_path):
    """Only the leader sends requests."""
    options = ("--leader-election", "--lease-namespace", syncer.NAMESPACE)
    place, running_ = alone(dynamo, account, fleet, tmp_path, "models-leader", *options, request=1000, batch=2000)
    fleet.behave("192.0.2.62", lora_workers.SLOW)
    with contextlib.ExitStack() as stack:
        with running_(name="first") as first:
            server.eventually(lambda: first.metric("leader") == 1)
            second = stack.enter_context(running_(name="second"))
            serves(place, "192.0.2.62")
            model(place)
            server.eventually(lambda: fleet.done("192.0.2.62") == [post()])
            given_up = fleet.given_up
            assert second.metric("leader") == 0
        server.eventually(lambda: fleet.given_up > given_up)
        fleet.behave("192.0.2.62", OK)
        server.eventually(lambda: second.metric("leader") == 1)
        place.wait("support", READY, MODEL)


def test_a_pod_that_two_features_read_is_one_pod(dynamo, controllers, kubelet, kustomize, fleet, tmp_path):
    """A pod of a graph with a base model has both labels. It stays known when it loses that of the graph."""
    account = syncer.installed(dynamo, kustomize, tmp_path, "models", "loras", "pods")
    place, running_ = alone(dynamo, account, fleet, tmp_path, "models-pods", "--pods", "--no-leader-election")
    with running_() as running_syncer:
        serves(place, "192.0.2.63")
        place.patch("Pod", "w-1", {"metadata": {"labels": {labels.GRAPH: "chat"}}})
        model(place)
        place.wait("support", READY, MODEL)
        assert running_syncer.metric("cached_objects", kind="Pod") == 1
        place.patch("Pod", "w-1", {"metadata": {"labels": {labels.GRAPH: None}}})
        serves(place, "192.0.2.64", "w-2")
        listed(place, endpoint(place, "w-1", "192.0.2.63"), name="s2")
        status = place.wait("support", lambda status: READY(status) and status["totalEndpoints"] == 2, MODEL)
        assert status["readyEndpoints"] == 2
        server.eventually(lambda: running_syncer.metric("cached_objects", kind="Pod") == 2)
        place.kubectl("delete", "pods", "w-1", "w-2", "--timeout=120s")
        server.eventually(lambda: running_syncer.metric("cached_objects", kind="Pod") == 0)
