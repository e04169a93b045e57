"""Rendered graphs answer: releases of the runtime, behaviours, API versions, kinds of discovery and shapes of graphs, each on its own."""

from __future__ import annotations

import contextlib
import time
from typing import NamedTuple

import pytest

from tests.running import graphs
from tests.running.graphs import MODEL
from tests.testbed import place
from tests.testbed.place import GRAPH

# Runtimes before 1.0 connect to etcd at their start, also with Kubernetes discovery, unless they keep their store in memory.
MEMORY = {"DYN_STORE_KV": "mem"}


class Case(NamedTuple):
    """A graph and how it is rendered. Both lists of `platform` and `variables` are empty for a runtime that needs neither NATS nor etcd."""

    name: str
    release: str
    services: tuple[graphs.Service, ...]
    behaviour: str = "v0.9"
    version: str = "v1alpha1"
    platform: tuple[str, ...] = ()
    discovery: str = "kubernetes"
    variables: dict[str, str] = {}

    @property
    def ran(self) -> pytest.MarkDecorator:
        """The mark of a test that this graph answers."""
        parts = ", prefill and decode" if len(self.services) > 2 else ""
        router = ", KV router" if "kv" in self.services[0].arguments else ""
        facts = {"workload": "Deployment", "engine": f"mock engine{parts}{router}", "release": self.behaviour.removeprefix("v")}
        return pytest.mark.ran(**facts, result="answered", by="NVIDIA's mock engine on the real runtime")


ETCD = ("natsAddress", "etcdAddress")
NATS = ("natsAddress",)
PLAIN = (graphs.frontend(), graphs.worker())

CASES = [
    Case("etcd-09", "0.9.0", PLAIN, platform=ETCD, discovery="etcd"),
    Case("kubernetes-09", "0.9.0", PLAIN, platform=NATS, variables=MEMORY),
    Case("v1beta1-09", "0.9.0", PLAIN, version="v1beta1", platform=NATS, variables=MEMORY),
    Case("parts-09", "0.9.0", (graphs.frontend(router="kv"), *graphs.disaggregated("0.9.0")), platform=ETCD, discovery="etcd"),
    Case("etcd-15", "1.5.1", PLAIN, platform=ETCD, discovery="etcd"),
    Case("kubernetes-15", "1.5.1", PLAIN),
    Case("new-pods-15", "1.5.1", PLAIN, behaviour="v1.5"),
    Case("v1beta1-15", "1.5.1", PLAIN, behaviour="v1.5", version="v1beta1"),
    Case("router-15", "1.5.1", (graphs.frontend(router="kv"), graphs.worker(2)), behaviour="v1.5", version="v1beta1"),
    Case("parts-15", "1.5.1", (graphs.frontend(router="kv"), *graphs.disaggregated("1.5.1")), behaviour="v1.5", version="v1beta1"),
    Case("v1alpha1-16", "1.6.1", PLAIN, behaviour="v1.6"),
    Case("v1beta1-16", "1.6.1", PLAIN, behaviour="v1.6", version="v1beta1"),
    Case("router-16", "1.6.1", (graphs.frontend(router="kv"), graphs.worker(2)), behaviour="v1.6", version="v1beta1"),
    Case("parts-16", "1.6.1", (graphs.frontend(router="kv"), *graphs.disaggregated("1.6.1")), behaviour="v1.6", version="v1beta1"),
]


@pytest.fixture(scope="module")
def deployed(bed, sync, nats, etcd):
    """All graphs, rendered and applied at once, so that their pods start at the same time."""
    with contextlib.ExitStack() as stack:
        places = {case.name: stack.enter_context(bed.namespace(case.name)) for case in CASES}
        for case in CASES:
            graph = getattr(graphs, case.version)("chat", case.release, *case.services, **case.variables)
            settings = {name: bed.platform[name] for name in case.platform}
            here = places[case.name]
            here.deploy(graph, discoveryBackend=case.discovery, behaviour=case.behaviour, sourceVersion="v1alpha1", **settings)
        yield places


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name, marks=case.ran) for case in CASES])
def test_rendered_graph_becomes_ready_and_answers(case, deployed, bed):
    """By its own probes; the syncer says so, the frontend lists the model, and a chat completion has text."""
    here = deployed[case.name]
    status = bed.wait_until_successful(here, "chat")
    assert place.conditions(status)["Ready"]["status"] == "True"
    bed.machine.eventually(lambda: bed.models(here, "chat") == [MODEL], here.namespace)
    # The mock engine of 0.9.0 panics over a request that comes before its first second is over, and answers the next one.
    bed.machine.eventually(lambda: bed.chat(here, "chat") != "", here.namespace)
    assert len(here.listed("Pod")) == sum(each.replicas for each in case.services)
    assert here.get(GRAPH, "chat")["apiVersion"] == "nvidia.com/v1alpha1"


def test_no_model_hub_is_asked(deployed, bed):
    """The machine of the pods has no way out, and no runtime tried one."""
    for case in CASES:
        here = deployed[case.name]
        for pod in here.listed("Pod"):
            log = bed.machine.logs(here.namespace, pod["metadata"]["name"])
            assert "huggingface.co" not in log


@pytest.mark.parametrize(
    ("release", "behaviour", "models"),
    [("1.5.1", "v1.5", [MODEL, "other"]), ("1.6.1", "v1.6", [MODEL])],
    ids=["before 1.6: the prefix of a name is enough", "from 1.6 on: the whole name"],
)
def test_a_frontend_lists_the_workers_of_its_graph(release, behaviour, models, bed, sync):
    """The name of one graph is the beginning of the other's. DYN_NAMESPACE_PREFIX_STRICT keeps them apart from 1.6 on."""
    other = graphs.worker(1, "--model-name", "other")
    with bed.namespace(f"prefix-{behaviour.replace('.', '')}") as here:
        for name, worker in (("chat", graphs.worker()), ("chat-b", other)):
            here.deploy(graphs.v1beta1(name, release, graphs.frontend(), worker), behaviour=behaviour, sourceVersion="v1alpha1")
        for name in ("chat", "chat-b"):
            bed.wait_until_successful(here, name)
        # A frontend is ready before it has found its workers.
        for name, listed in (("chat", models), ("chat-b", ["other"])):
            bed.machine.eventually(lambda name=name, listed=listed: sorted(bed.models(here, name)) == listed, here.namespace)
        time.sleep(5)  # a worker of the other graph would be found within a second
        assert sorted(bed.models(here, "chat")) == models
