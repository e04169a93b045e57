"""A restart goes on if a rollout ends between two reconciles of its graph, on a real control plane."""

from __future__ import annotations

from tests.support import given
from tests.testbed import syncer
from tests.testbed.place import Place

_SLOW_GRAPHS = """
import asyncio
from krm_fn.cluster.client import Client
from krm_fn.cluster.work_queue import WorkQueue
stream = Client.stream
async def late_stream(client, path, *arguments):
    async for event in stream(client, path, *arguments):
        await asyncio.sleep(0.5 if "dynamographdeployments" in path else 0)
        yield event
Client.stream = late_stream
schedule = WorkQueue._schedule
def slow_schedule(queue, task):
    queue._interval = 3.0 if task.controller == "graphs" else 0.5
    schedule(queue, task)
WorkQueue._schedule = slow_schedule
"""
"""Between two reconciles of the status of a graph, the syncer annotates the next component, and its rollout ends.

The watch delivers each status that the syncer writes after the answer to the write, so it is no event.
"""


def test_no_event_follows_the_last_rollout(dynamo, controllers, kubelet, tmp_path):
    place = Place(dynamo, dynamo.namespace("restart-steps"))
    services = {name: given.service("worker") for name in ("First", "Second", "Third")}
    options = (f"--namespace={place.namespace}", "--no-leader-election", "--restarts")
    with syncer.running(dynamo.kubeconfig, tmp_path, *options, prelude=_SLOW_GRAPHS):
        place.deploy(given.graph(services, name="chat"), restart="sync")
        place.wait("chat", lambda status: status.get("state") == "successful")
        place.deploy(given.graph(services, name="chat", restart={"id": "r1", "strategy": {"type": "Sequential"}}), restart="sync")
        place.wait("chat", lambda status: status.get("restart") == {"observedID": "r1", "phase": "Completed"}, seconds=60)
