"""Two graphs with prefill and decode workers under load: their image, their arguments and their numbers change.

The workers of one graph are roles of a DisaggregatedSet; those of the other are Deployments. Both have what docs/restart.md says against
losses, but not `workerHash: none`: the hash keeps the generations apart. So a request that waits for the last old worker can be lost, as
that page says: on busy CPUs, one in some changes.
"""

from __future__ import annotations

import contextlib
from typing import Any, NamedTuple

import pytest

from tests.running import graphs, leader_worker_sets, load
from tests.running.bed import Bed, successful
from tests.running.test_load import DRAIN, MODEL, READINESS, REQUEST, VARIABLES
from tests.testbed.place import GRAPH, Place

RELEASE, REBUILT = "1.6.1", "1.6.1-rebuilt"
RATE = 10.0
SLOW = ("--speedup-ratio", "0.5")
AT_THE_END = 2
"""The requests that may be lost when the last worker with the old hash goes. They are refused at once: a client can send them again."""


class Pair(NamedTuple):
    """A graph with a frontend, prefill workers and decode workers."""

    bed: Bed
    here: Place
    orchestrator: str

    def deploy(self, release=RELEASE, arguments=(), decode=2):
        """Render and apply the graph."""
        named = ("--model-name", MODEL, *arguments)
        prefill = graphs.worker(2, *named, kind="prefill", release=RELEASE)
        second = graphs.worker(decode, *named, kind="decode", release=RELEASE)
        services = [service._replace(drain=DRAIN) for service in (graphs.frontend(), prefill, second)]
        services[0] = services[0]._replace(readiness=READINESS)
        graph = graphs.v1beta1("chat", release, *services, **VARIABLES)
        self.here.deploy(graph, behaviour="v1.6", sourceVersion="v1alpha1", orchestrator=self.orchestrator)

    def requests(self):
        """Requests to the frontend: see `load.running`."""
        address, port = self.bed.frontend(self.here, "chat")
        return load.running(self.bed.machine, address, port, RATE, REQUEST)

    def settle(self, workers=4):
        """Waits until the status is that of the newest spec, the frontend answers, and no other worker is left."""

        def is_settled():
            pods = self.here.listed("Pod")
            return (
                len(pods) == workers + 1 and successful(self.here.get(GRAPH, "chat")) and self.bed.answering(self.here, "chat", MODEL) == 1
            )

        self.bed.machine.eventually(is_settled, self.here.namespace, 300)


@pytest.fixture(scope="module")
def pairs(bed, sync, tmp_path_factory):
    """Both graphs, which answer."""
    bed.machine.images[graphs.image(REBUILT)] = bed.machine.images[graphs.image(RELEASE)]
    with (
        leader_worker_sets.running(bed.plane, tmp_path_factory.mktemp("leader-worker-sets")),
        bed.namespace("load-joined") as joined,
        bed.namespace("load-apart") as apart,
    ):
        both = Pair(bed, joined, "disaggregatedSet"), Pair(bed, apart, "deployment")
        for pair in both:
            pair.deploy()
        for pair in both:
            pair.settle()
        yield both
        joined.kubectl("delete", "disaggregatedsets", "--all", "--cascade=foreground")


CHANGES: list[tuple[str, dict[str, Any], int]] = [
    ("another image", {"release": REBUILT}, 4),
    ("other arguments", {"release": REBUILT, "arguments": SLOW}, 4),
    ("another decode worker", {"release": REBUILT, "arguments": SLOW, "decode": 3}, 5),
]


@pytest.mark.ran(
    workload="DisaggregatedSet",
    engine="mock engine, prefill and decode, changed under load",
    release="1.6",
    result="answered",
    by="NVIDIA's mock engine on the real runtime",
)
def test_changes_of_prefill_and_decode_lose_no_request_but_at_the_end_of_a_hash(pairs, measured):
    """The losses of Deployments are counted beside them, under the same load of the machine."""
    for what, change, workers in CHANGES:
        with contextlib.ExitStack() as stack:
            runs = [stack.enter_context(pair.requests()) for pair in pairs]
            for pair in pairs:
                pair.deploy(**change)
            for pair in pairs:
                pair.settle(workers)
        measured.extend(f"{what}, {pair.orchestrator}: {run.story()}" for pair, run in zip(pairs, runs, strict=True))
        joined, _ = runs
        assert joined.late < load.OVERLOADED, f"the machine is overloaded: a request was sent {joined.late:.1f} s too late"
        assert len(joined.answers) > 50
        assert len(joined.lost) <= (AT_THE_END if workers == 4 else 0), f"{what}: {joined.story()}"
        assert all(answer.lost.startswith("503") and answer.took < 1 for answer in joined.lost), f"{what}: {joined.story()}"
