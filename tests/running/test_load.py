"""A graph under 20 requests a second: its frontend is scaled, it restarts in order, its image changes. The lost requests are counted."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.running import graphs, load
from tests.running.bed import Bed, successful
from tests.testbed.place import GRAPH, Place

REBUILT = "1.5.1-rebuilt"
ORDER = {"strategy": {"type": "Sequential", "order": ["Worker", "Frontend"]}}
DRAIN = 5


class Chat(NamedTuple):
    """A graph with two frontends, the number in their adapter, and two workers."""

    bed: Bed
    here: Place
    drain: int

    def deploy(self, release="1.5.1", **spec):
        """Render and apply the graph, with more fields of its spec."""
        services = (graphs.frontend(2, adapter=True)._replace(drain=self.drain), graphs.worker(2)._replace(drain=self.drain))
        graph = graphs.v1beta1("chat", release, *services)
        graph["spec"] |= spec
        self.here.deploy(graph, behaviour="v1.5", sourceVersion="v1alpha1", restart="sync")

    def scale(self, replicas):
        """Write the number of frontends as an autoscaler does, and wait until as many answer."""
        self.here.kubectl("scale", "dgdsa/chat-frontend", f"--replicas={replicas}")
        self.settled(lambda: len(self.bed.machine.endpoints(self.here.namespace, "chat-frontend")) == replicas)

    def settled(self, holds=lambda: True):
        """Wait until `holds` is true, the status is that of the newest spec, and no pod is left that is going."""

        def done():
            going = [each for each in self.here.listed("Pod") if "deletionTimestamp" in each["metadata"]]
            return not going and holds() and successful(self.here.get(GRAPH, "chat"))

        self.bed.machine.eventually(done, self.here.namespace)

    def load(self):
        """Requests to the Service of the frontend."""
        return load.running(self.bed.machine, *self.bed.frontend(self.here, "chat"))


@pytest.fixture(scope="module", params=[0, DRAIN], ids=["default", "drain"])
def chat(request, bed, sync):
    """The graph as it is rendered by default, and with a `preStop` in each container."""
    with bed.namespace(f"load-{request.param}") as here:
        found = Chat(bed, here, request.param)
        found.deploy()
        bed.wait_until_successful(here, "chat")
        bed.machine.eventually(lambda: bed.models(here, "chat") == [graphs.MODEL], here.namespace)
        yield found


def judge(chat, run, what, measured):
    """Print the lost requests. With a `preStop`, none is lost. Without, a pod that stops may lose those that it has or that just come."""
    measured.append(f"{what}, {f'preStop of {chat.drain} s' if chat.drain else 'rendered defaults'}: {run.story()}")
    assert len(run.answers) > 100
    assert len(run.lost) <= (0 if chat.drain else len(run.answers) / 20), run.story()


def test_scaling_from_one_frontend_to_three_and_back(chat, measured):
    chat.scale(1)
    with chat.load() as run:
        for replicas in (3, 1):
            run.note(f"scaled to {replicas}")
            chat.scale(replicas)
    chat.scale(2)
    judge(chat, run, "frontends scaled 1 -> 3 -> 1", measured)


def test_restart_in_order(chat, measured):
    with chat.load() as run:
        run.note("restart")
        chat.deploy(restart={"id": "once", **ORDER})
        chat.settled(lambda: chat.here.status("chat").get("restart", {}).get("phase") == "Completed")
    judge(chat, run, "restart in order", measured)


def test_another_image(chat, measured):
    chat.bed.machine.images[graphs.image(REBUILT)] = chat.bed.machine.images[graphs.image("1.5.1")]
    with chat.load() as run:
        run.note("another image")
        chat.deploy(REBUILT, restart={"id": "once", **ORDER})
        chat.settled()
    assert {pod["spec"]["containers"][0]["image"] for pod in chat.here.listed("Pod")} == {graphs.image(REBUILT)}
    judge(chat, run, "another image", measured)
