"""Addresses in pods beside a graph that mean the Service of its frontend."""

from __future__ import annotations

from typing import Any

from krm_fn.render.config import Config
from krm_fn.review import service_urls
from tests.support import beta, given
from tests.support.cases import cases

GRAPH = beta.graph(beta.component("Frontend", "frontend"), beta.component("Worker"))
"""The graph `chat`, whose Service is chat-frontend."""


def job(value: Any, *, is_variable: bool = False, kind: str = "Job", namespace: str = "team") -> Any:
    container = {"name": "c", "image": "a:1", **({"env": [{"name": "URL", "value": value}]} if is_variable else {"args": ["--url", value]})}
    spec = {"template": {"spec": {"containers": [container]}}}
    return given.item(kind, "load", api="batch/v1" if kind == "Job" else "apps/v1", namespace=namespace, spec=spec)


ROWS = [
    ("the name of the graph", "http://chat:8000/v1", "http://chat-frontend:8000/v1"),
    ("a word for a Service", "http://chat-frontend-svc:8000", "http://chat-frontend:8000"),
    ("the component alone", "http://frontend:8000", "http://chat-frontend:8000"),
    ("a host and a port", "chat:8000", "chat-frontend:8000"),
    ("the whole name", "http://chat.team.svc.cluster.local:8000", "http://chat-frontend.team.svc.cluster.local:8000"),
    ("another port", "http://chat-frontend:8080/v1", "http://chat-frontend:8000/v1"),
    ("in a line", "aiperf profile --url http://chat:8000 --streaming", "aiperf profile --url http://chat-frontend:8000 --streaming"),
    ("the Service", "http://chat-frontend:8000", ""),
    ("without a port", "http://chat-frontend/v1", ""),
    ("another namespace", "http://chat.b:8000", ""),
    ("another host", "http://search:8000", ""),
    ("a word", "chat", ""),
    ("a part of a name", "http://api.chat:8000", ""),
    ("an image", "registry.example/chat:8000", ""),
    ("a user", "http://me@chat:8000", ""),
]


@cases(("value", "right"), ROWS)
def test_an_address_of_a_frontend(value, right):
    rendered = given.expanded(GRAPH).resources
    for entry in (job(value), job(value, is_variable=True), job(value, kind="Deployment")):
        found = [(finding.code, finding.severity, finding.proposed) for finding in service_urls.check([GRAPH, entry], rendered, Config())]
        assert found == [("DYN754", "warning", right)] * bool(right)


def test_what_is_not_judged():
    """A Service of the author with this name, a pod of another namespace, and values of any type."""
    rendered = given.expanded(GRAPH).resources
    own = given.item("Service", "chat", spec={"ports": [{"port": 8000}]})
    url = "http://chat:8000"
    assert [*service_urls.check([GRAPH, own, job(url)], rendered, Config())] == []
    assert [*service_urls.check([GRAPH, job(url, namespace="b"), job(3), {**job(url), "spec": 3}], rendered, Config())] == []
