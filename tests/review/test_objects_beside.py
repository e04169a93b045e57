"""Mistakes in the objects beside a graph: autoscalers of KEDA, routes, budgets and Services."""

from __future__ import annotations

from typing import Any

from krm_fn.render.config import Config
from krm_fn.review import objects_beside
from tests.support import beta, given
from tests.support.cases import cases

GRAPH = beta.graph(beta.component("Frontend", "frontend"), beta.component("Worker"))
LABELS = {"nvidia.com/dynamo-graph-deployment-name": "chat", "nvidia.com/dynamo-component-type": "frontend"}


def scaled(least: Any = 1, most: Any = 4, **metadata: Any) -> Any:
    spec = {"minReplicaCount": least, "maxReplicaCount": most, "triggers": [{"type": "prometheus", "metadata": metadata}]}
    return given.item("ScaledObject", "chat", api="keda.sh/v1alpha1", spec=spec)


def route(of: str = "HTTPRoute", **backend: Any) -> Any:
    spec = {"rules": [{"backendRefs": [{"name": "chat-frontend", **backend}]}]}
    return given.item(of, "chat", api="gateway.networking.k8s.io/v1", spec=spec)


def service(selector: Any = None, **port: Any) -> Any:
    return given.item("Service", "public", spec={"selector": selector or LABELS, "ports": [{"port": 80, **port}]})


def budget(**limits: Any) -> Any:
    return given.item("PodDisruptionBudget", "chat", api="policy/v1", spec={**limits, "selector": {"matchLabels": LABELS}})


def policy(*ports: Any, selector: Any = None) -> Any:
    rule = {"from": [{"podSelector": {}}], **({"ports": [{"port": port} for port in ports]} if ports else {})}
    spec = {"podSelector": {"matchLabels": selector or LABELS}, "ingress": [rule]}
    return given.item("NetworkPolicy", "chat", api="networking.k8s.io/v1", spec=spec)


OBJECTS = [
    ("a budget with both limits", budget(minAvailable=1, maxUnavailable=1), "DYN755", "error", "remove one of them"),
    ("both limits of no pod", budget(minAvailable=0, maxUnavailable=0), "DYN755", "error", "remove one of them"),
    ("a budget", budget(minAvailable=1), "", "", ""),
    ("a number in a trigger", scaled(threshold=10), "DYN694", "error", 'quote it: threshold: "10"'),
    ("a truth value in a trigger", scaled(unsafeSsl=True), "DYN694", "error", 'quote it: unsafeSsl: "true"'),
    ("a least number above the most", scaled(10, 8), "DYN694", "error", "write 8 or less"),
    ("an autoscaler", scaled(threshold="10"), "", "", ""),
    ("fields of other types", scaled("a", None), "", "", ""),
    ("a Service without a port", route(), "DYN695", "error", "add port: 8000"),
    ("a Service of elsewhere without a port", route("GRPCRoute", name="other", kind="Service"), "DYN695", "error", "add port"),
    ("a Service with a port", route(port=8000), "", "", ""),
    ("a pool", route(group="inference.networking.k8s.io", kind="InferencePool"), "", "", ""),
    ("a low node port", service(nodePort=8000), "DYN692", "warning", "write 30000"),
    ("a node port", service(nodePort=30800), "", "", ""),
    ("a port that no pod has", service(targetPort=8080), "DYN693", "warning", "write 8000"),
    ("a port of the pods", service(targetPort=8000), "", "", ""),
    ("a port by name", service(targetPort="http"), "", "", ""),
    ("a policy for another port", policy(80), "DYN770", "warning", "write 8000"),
    ("a policy for the port", policy(8000), "", "", ""),
    ("a policy for two ports", policy(80, 8000), "", "", ""),
    ("a policy for a name", policy("http"), "", "", ""),
    ("a policy for all ports", policy(), "", "", ""),
    ("a policy for other pods", policy(80, selector={"app": "other"}), "", "", ""),
    ("a policy for a whole graph", policy(9090, selector={"nvidia.com/dynamo-graph-deployment-name": "chat"}), "", "", ""),
    ("other pods", service({"app": "other"}, targetPort=8080), "", "", ""),
]


@cases(("entry", "code", "severity", "remedy"), OBJECTS)
def test_objects_beside_a_graph(entry, code, severity, remedy):
    rendered = given.expanded(GRAPH).resources
    findings = [*objects_beside.check([GRAPH, entry], rendered, Config())]
    expected = [(finding.code, finding.severity, finding.message.partition("; ")[2]) for finding in findings]
    assert expected == [(code, severity, remedy)] * bool(code)


def test_a_port_in_the_command_of_a_pod_may_be_right():
    """A program can listen on a port that the container does not declare."""
    graph = beta.graph(beta.component("Frontend", "frontend", main={"args": ["-m", "dynamo.frontend", "--grpc-metrics-port", "8080"]}))
    assert [*objects_beside.check([graph, service(targetPort=8080)], given.expanded(graph).resources, Config())] == []


def test_another_policy_may_open_the_port():
    """Policies add to each other."""
    rendered, other = given.expanded(GRAPH).resources, {**policy(8000), "metadata": {"name": "other", "namespace": "team"}}
    assert [*objects_beside.check([GRAPH, policy(80), other], rendered, Config())] == []
