"""Rendered graphs with vLLM: the real engine on the real runtime, built for CPUs, with a model of random weights.

`make test-engine` runs these tests. The engine computes each token from the weights, so the same question has the same answer.
"""

from __future__ import annotations

import contextlib
import json
from typing import NamedTuple

import pytest

from tests.running import bed as beds
from tests.running import graphs
from tests.running.graphs import MODEL

SECONDS = 900  # vLLM needs a minute of computing time to start, which is ten minutes on a busy machine


class Case(NamedTuple):
    """A graph with vLLM and how it is rendered."""

    name: str
    release: str
    version: str
    behaviour: str
    parts: tuple[str, ...] = ("worker",)

    @property
    def ran(self) -> pytest.MarkDecorator:
        """The mark of a test that this graph answers."""
        engine = "vLLM" if self.parts == ("worker",) else "vLLM, prefill and decode, KV cache by NIXL"
        facts = {"workload": "Deployment", "engine": engine, "release": self.behaviour.removeprefix("v")}
        return pytest.mark.ran(**facts, result="answered", by="vLLM for CPUs on the real runtime")


CASES = [
    Case("vllm-v1beta1-16", "1.6.1", "v1beta1", "v1.6"),
    Case("vllm-v1alpha1-15", "1.5.1", "v1alpha1", "v1.5"),
    Case("vllm-parts-16", "1.6.1", "v1beta1", "v1.6", parts=("prefill", "decode")),
]


@pytest.fixture(scope="module")
def deployed(bed, sync):
    """The namespaces of all graphs, by the name of the case. Their image has vLLM, and their volume a model with weights."""
    with contextlib.ExitStack() as stack:
        namespaces = {case.name: stack.enter_context(bed.namespace(case.name)) for case in CASES}
        for case in CASES:
            bed.machine.images[graphs.vllm_image(case.release)] = beds.vllm(case.release)
            beds.add_weights(bed, namespaces[case.name])
            services = (graphs.frontend(), *(graphs.vllm(case.release, part) for part in case.parts))
            graph = getattr(graphs, case.version)("chat", case.release, *services)
            namespaces[case.name].deploy(graph, behaviour=case.behaviour, sourceVersion="v1alpha1")
        yield namespaces


def ask(bed, here, content):
    """The answer to a question, without chance."""
    body = beds.HELLO | {"messages": [{"role": "user", "content": content}], "temperature": 0}
    (frontend,) = bed.machine.endpoints(here.namespace, "chat-frontend")
    return bed.machine.request(frontend.address, frontend.port, "/v1/chat/completions", body, SECONDS)


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name, marks=case.ran) for case in CASES])
def test_vllm_answers(case, deployed, bed):
    """The frontend passes on what the model computes: the same question has the same answer, and another question another one."""
    here = deployed[case.name]
    bed.wait_until_successful(here, "chat", SECONDS)
    bed.machine.eventually(lambda: bed.models(here, "chat") == [MODEL], here.namespace)
    # A frontend lists the model before it knows a worker of each part, and answers 503 until then.
    bed.machine.eventually(lambda: ask(bed, here, "hello").status == 200, here.namespace)
    responses = [ask(bed, here, question) for question in ("hello", "hello", "What is a Deployment?")]
    assert [response.status for response in responses] == [200] * 3, responses
    first, again, other = (json.loads(response.text) for response in responses)
    assert first["usage"]["completion_tokens"] == beds.HELLO["max_tokens"]
    texts = [answer["choices"][0]["message"]["content"] for answer in (first, again, other)]
    assert texts[0] == texts[1] != texts[2]
    if "decode" in case.parts:
        (decode,) = (pod["metadata"]["name"] for pod in here.listed("Pod") if "-decode-" in pod["metadata"]["name"])
        bed.machine.eventually(lambda: "Num successful transfers=" in bed.machine.logs(here.namespace, decode), here.namespace)
