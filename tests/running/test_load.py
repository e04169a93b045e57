"""Two graphs under 20 requests a second each: their frontends are scaled, they restart in order, their image changes.

One graph is rendered by default; the other has what docs/restart.md says against losses. The lost requests of both are counted and printed.
"""

from __future__ import annotations

import contextlib
from typing import NamedTuple

import pytest
import yaml

from tests.running import graphs, load
from tests.running.bed import HELLO, Bed, successful
from tests.support import markdown
from tests.testbed import programs, server
from tests.testbed.place import GRAPH, Place

REBUILT = "1.5.1-rebuilt"
ORDER = {"strategy": {"type": "Sequential", "order": ["Worker", "Frontend"]}}

((_, _PAGE),) = markdown.fenced((programs.ROOT / "docs" / "restart.md").read_text().partition("## Lost requests")[2], "yaml")
_GRAPH = yaml.safe_load(_PAGE)
ANNOTATIONS = _GRAPH["metadata"]["annotations"]
_SETTINGS = _GRAPH["spec"]
VARIABLES = {each["name"]: each["value"] for each in _SETTINGS["env"]}
_FRONTEND = _SETTINGS["components"][0]["podTemplate"]["spec"]["containers"][0]
DRAIN = _FRONTEND["lifecycle"]["preStop"]["sleep"]["seconds"]
READINESS = _FRONTEND["readinessProbe"]
MODEL = READINESS["httpGet"]["path"].removeprefix("/v1/models/").removesuffix("/ready")
REQUEST = HELLO | {"model": MODEL}


class Chat(NamedTuple):
    """A graph with two frontends, the number in their adapter, and two workers.

    `drain` is the time of the `preStop` in seconds. 0: the graph has none of the settings of the page.
    """

    bed: Bed
    here: Place
    drain: int

    def deploy(self, release="1.5.1", workers=2, **spec):
        """Render and apply the graph, with more fields of its spec."""
        frontend = graphs.frontend(2, adapter=True)._replace(drain=self.drain, readiness=READINESS if self.drain else None)
        services = frontend, graphs.worker(workers, "--model-name", MODEL)._replace(drain=self.drain)
        graph = graphs.v1beta1("chat", release, *services, **(VARIABLES if self.drain else {}))
        graph["metadata"] |= {"annotations": ANNOTATIONS if self.drain else {}}
        graph["spec"] |= spec
        self.here.deploy(graph, behaviour="v1.5", sourceVersion="v1alpha1", restart="sync")

    def settle(self, holds):
        """Wait until `holds` is true, the status is that of the newest spec, and no pod is left that is going."""

        def done():
            going = [each for each in self.here.listed("Pod") if "deletionTimestamp" in each["metadata"]]
            return not going and holds(self) and successful(self.here.get(GRAPH, "chat"))

        self.bed.machine.eventually(done, self.here.namespace)

    def answering(self):
        """The number of frontends that answer."""
        return self.bed.answering(self.here, "chat", MODEL)

    def requests(self, rate=load.RATE, body=REQUEST, timeout=30):
        """Requests to the frontends: see `load.running`."""
        return load.running(self.bed.machine, *self.bed.frontend(self.here, "chat"), rate, body, timeout)

    def judge(self, run, what):
        """By default, a pod that goes may lose short requests and those that still come. With the settings of the page, none."""
        assert len(run.answers) > 100
        assert len(run.lost) <= (0 if self.drain else len(run.answers) / 20), f"{what}: {run.story()}"


@pytest.fixture(scope="module")
def chats(bed, sync):
    """Both graphs, which answer."""
    bed.machine.images[graphs.image(REBUILT)] = bed.machine.images[graphs.image("1.5.1")]
    with bed.namespace("load-default") as default, bed.namespace("load-drain") as drain:
        both = Chat(bed, default, 0), Chat(bed, drain, DRAIN)
        for each in both:
            each.deploy()
        for each in both:
            each.settle(lambda chat: chat.answering() == 2)
        yield both


@contextlib.contextmanager
def under_load(chats, what, measured):
    """Requests to both graphs. At the end, prints what was lost, and judges it."""
    with contextlib.ExitStack() as stack:
        runs = [stack.enter_context(each.requests()) for each in chats]
        yield
    for chat, run in zip(chats, runs, strict=True):
        measured.append(f"{what}, {'with the settings of the page' if chat.drain else 'rendered defaults'}: {run.story()}")
    for chat, run in zip(chats, runs, strict=True):
        chat.judge(run, what)


def scale(chats, replicas):
    """Write the number of frontends as an autoscaler does, and wait until as many answer."""
    for each in chats:
        each.here.kubectl("scale", "dgdsa/chat-frontend", f"--replicas={replicas}")
    for each in chats:
        each.settle(lambda chat: chat.answering() == replicas)


LONG = REQUEST | {"max_tokens": 1000}
"""The mock engine takes about seven seconds for the answer."""


def test_long_answers_that_have_begun_are_finished_by_default(chats, measured):
    """A worker and a frontend are deleted in the middle."""
    chat, _ = chats
    with chat.requests(rate=4, body=LONG) as run:
        server.eventually(lambda: run.now() > 5)
        names = [each["metadata"]["name"] for each in chat.here.listed("Pod")]
        gone = [next(each for each in names if each.startswith(f"chat-{service}-")) for service in ("worker", "frontend")]
        deleted = run.now()
        chat.here.kubectl("delete", "pods", *gone, "--wait=false")
        run.over = True
    chat.settle(lambda chat: chat.answering() == 2)
    begun = [each for each in run.answers if each.started < deleted - 2]
    assert len([each for each in begun if each.started + each.took > deleted + 1]) > 5, "answers in the middle"
    assert not [each for each in begun if each.lost], run.story()
    measured.append(f"long answers, a worker and a frontend deleted: {len(begun)} had begun, 0 lost")


@pytest.mark.ran(
    workload="Deployment",
    engine="mock engine, frontends scaled under load",
    release="1.5",
    result="answered",
    by="NVIDIA's mock engine on the real runtime",
)
def test_scaling_from_one_frontend_to_three_and_back(chats, measured):
    scale(chats, 1)
    with under_load(chats, "frontends scaled 1 -> 3 -> 1", measured):
        scale(chats, 3)
        scale(chats, 1)
    scale(chats, 2)


@pytest.mark.ran(
    workload="Deployment",
    engine="mock engine, restarted under load",
    release="1.5",
    result="answered",
    by="NVIDIA's mock engine on the real runtime",
)
def test_restart_in_order(chats, measured):
    with under_load(chats, "restart in order", measured):
        for each in chats:
            each.deploy(restart={"id": "once", **ORDER})
        for each in chats:
            each.settle(lambda chat: chat.here.status("chat").get("restart", {}).get("phase") == "Completed")


ANOTHER_IMAGE = pytest.mark.ran(
    workload="Deployment",
    engine="mock engine, another image under load",
    release="1.5",
    result="answered",
    by="NVIDIA's mock engine on the real runtime",
)


@ANOTHER_IMAGE
def test_another_image(chats, measured):
    with under_load(chats, "another image", measured):
        for each in chats:
            each.deploy(REBUILT, restart={"id": "once", **ORDER})
        for each in chats:
            each.settle(lambda chat: releases(chat) == {REBUILT})


@ANOTHER_IMAGE
def test_requests_that_wait_for_the_last_old_worker_are_answered_by_a_new_one(chats, measured):
    """The last worker of the old image hangs until it is deleted. Its requests go to workers of the new image."""
    _, chat = chats
    machine, namespace = chat.bed.machine, chat.here.namespace
    (old,) = releases(chat)
    new = "1.5.1" if old == REBUILT else REBUILT
    with chat.requests(timeout=300) as run:
        chat.deploy(new, restart={"id": "once", **ORDER})
        hanging = found_last_old_worker(chat, old)
        machine.kill(namespace, hanging, signal="STOP")
        machine.eventually(lambda: hanging not in workers(chat), namespace)
        sent = run.sent
        machine.eventually(lambda: len(run.answers) >= sent, namespace)
        if machine.pids(namespace, hanging):
            machine.kill(namespace, hanging, signal="CONT")
        chat.settle(lambda chat: releases(chat) == {new})
    measured.append(f"another image while the last old worker hangs: {run.story()}")
    chat.judge(run, "the last old worker hangs")


def test_frontends_without_a_worker_are_not_ready(chats):
    """By the readiness probe of the page. By default, they are ready, and answer with an error 404."""
    for each in chats:
        each.deploy(*releases(each), workers=0, restart={"id": "once", **ORDER})
    default, chat = chats
    machine = chat.bed.machine
    machine.eventually(lambda: machine.endpoints(chat.here.namespace, "chat-frontend") == [], chat.here.namespace)
    question = default.here.namespace, "chat-frontend", "/v1/chat/completions", REQUEST
    machine.eventually(lambda: machine.ask(*question).status == 404, default.here.namespace)
    assert len(machine.endpoints(default.here.namespace, "chat-frontend")) == 2


def releases(chat):
    """The releases of the images of all pods."""
    return {release(pod) for pod in chat.here.listed("Pod")}


def release(pod):
    """The release of the image of a pod."""
    return pod["spec"]["containers"][0]["image"].rpartition(":")[2]


def workers(chat):
    """The releases of the worker pods that are not deleted, by name."""
    pods = {pod["metadata"]["name"]: pod for pod in chat.here.listed("Pod") if "deletionTimestamp" not in pod["metadata"]}
    return {name: release(pod) for name, pod in pods.items() if name.startswith("chat-worker-")}


def found_last_old_worker(chat, old):
    """The name of the last worker of the old release, as soon as both new workers exist. The next moment, it may go."""
    seen = [""]

    def found():
        seen[0] = last_old_worker(chat, old)
        return seen[0] != ""

    chat.bed.machine.eventually(found, chat.here.namespace)
    return seen[0]


def last_old_worker(chat, old):
    """The name of the only worker of the old release, once both new workers exist; else empty."""
    found = workers(chat)
    names = [name for name, release in found.items() if release == old]
    return names[0] if len(names) == 1 and len(found) == 3 else ""
