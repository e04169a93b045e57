"""`check` adds a note about engines that no frontend of the input serves."""

from __future__ import annotations

from krm_fn.kubernetes.types import Resource
from krm_fn.review import resource_findings
from tests.support import beta, given
from tests.support.cases import cases

WORKER = beta.component("Worker")
WITH_SIDECAR = beta.component("Worker", frontendSidecar="web", beside=[{"name": "web", "image": "a:1.5.0"}])
FRONTEND = beta.component("Frontend", "frontend")
MISSPELT = {**WORKER, "replica": 3}


def _shared(name: str, component: Resource, namespace: str = given.NAMESPACE) -> Resource:
    return beta.graph({**component, "globalDynamoNamespace": True}, name=name, namespace=namespace)


CASES = [
    ("workers alone", [beta.graph(WORKER)], ["chat"]),
    ("prefill and decode", [beta.graph(beta.component("A", "prefill"), beta.component("B", "decode"))], ["chat"]),
    ("a frontend", [beta.graph(WORKER, FRONTEND)], []),
    ("an endpoint picker", [beta.graph(WORKER, beta.component("Picker", "epp"))], []),
    ("a frontend beside the engine", [beta.graph(WITH_SIDECAR)], []),
    ("a frontend in another graph of one Dynamo namespace", [_shared("model", WORKER), _shared("web", FRONTEND)], []),
    ("the same in two Dynamo namespaces", [beta.graph(WORKER, name="model"), beta.graph(FRONTEND, name="web")], ["model"]),
    ("the same in two namespaces", [_shared("model", WORKER), _shared("web", FRONTEND, namespace="b")], ["model"]),
    ("no engine", [beta.graph(FRONTEND)], []),
    ("an error, which may be the cause", [beta.graph(MISSPELT)], []),
]  # fmt: skip


@cases(("graphs", "expected"), CASES)
def test_a_graph_whose_engines_no_frontend_serves(graphs: list[Resource], expected: list[str]) -> None:
    """Something else may call the engines, so it is a note. A render says nothing."""
    settings = given.settings_of(*graphs)
    notes = [result for result in resource_findings.check(graphs, settings, is_configured=True) if result.code == "DYN137"]
    assert [(result.severity, result.ref and result.ref.name) for result in notes] == [("info", name) for name in expected]
    assert "DYN137" not in {result.code for result in given.expanded(*graphs).results}
