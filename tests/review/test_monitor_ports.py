"""`krm-fn check` finds ports of monitors that the pods or Services they select do not have."""

from __future__ import annotations

from typing import Any

from krm_fn.render.config import Config
from krm_fn.review import resource_findings
from tests.support import beta, given
from tests.support.cases import cases

GRAPH = {"nvidia.com/dynamo-graph-deployment-name": "chat"}
WORKERS = {**GRAPH, "nvidia.com/dynamo-component-type": "worker"}
FRONTENDS = {**GRAPH, "nvidia.com/dynamo-component-type": "frontend"}


def monitor(port: str, labels: Any, kind: str = "PodMonitor", path: str = "/metrics", **selector: Any) -> Any:
    field = "podMetricsEndpoints" if kind == "PodMonitor" else "endpoints"
    spec = {"selector": {"matchLabels": labels, **selector}, field: [{"port": port, "path": path}]}
    return given.item(kind, "monitor", api="monitoring.coreos.com/v1", spec=spec)


POD = given.item(
    "Pod", "chat-beside", metadata={"name": "chat-beside", "namespace": given.NAMESPACE, "labels": WORKERS}, spec={"containers": []}
)
MONITORS = [
    ("of workers", monitor("metrics", WORKERS), "write system"),
    ("of frontends", monitor("metrics", FRONTENDS), "write http"),
    ("a slip", monitor("sytem", WORKERS), "write system"),
    ("of several types", monitor("metrics", GRAPH), "write one of http, system"),
    ("of Services", monitor("metrics", WORKERS, "ServiceMonitor"), ""),
    ("a slip in the path", monitor("system", WORKERS, path="/metric"), "write /metrics"),
    ("the path of probes", monitor("system", WORKERS, path="/health"), "write /metrics"),
    ("another path", monitor("system", WORKERS, path="/own/metrics-of-team"), ""),
    ("the port", monitor("system", WORKERS), ""),
    ("the port of some pods", monitor("system", GRAPH), ""),
    ("other pods", monitor("metrics", {"app": "chat"}), ""),
    ("other pods of the graph", monitor("metrics", WORKERS, matchExpressions=[{"key": "app", "operator": "Exists"}]), ""),
]


def found(*beside: Any) -> list[tuple[str, str, str]]:
    """The code, the severity and the remedy of the findings about monitors."""
    graph = beta.graph(beta.component("Frontend", "frontend"), beta.component("Worker"))
    findings = resource_findings.check([graph, *beside], Config(), is_configured=False)
    of_monitors = [finding for finding in findings if finding.ref and "Monitor" in finding.ref.kind]
    return [(finding.code, finding.severity, finding.message.partition("; ")[2]) for finding in of_monitors]


@cases(("monitor", "remedy"), MONITORS)
def test_a_monitor_names_a_port_of_its_pods(monitor, remedy):
    findings = found(monitor)
    assert [(code, severity, fix.startswith(remedy)) for code, severity, fix in findings] == [("DYN728", "warning", True)] * bool(remedy)


def test_a_monitor_that_also_selects_other_pods_is_not_judged():
    """A pod beside the graph may have the port."""
    assert found(monitor("metrics", WORKERS), POD) == []


ELSEWHERE = [
    ("in another namespace", {}, f"add namespaceSelector: {{matchNames: [{given.NAMESPACE}]}} to spec"),
    ("for all namespaces", {"namespaceSelector": {"any": True}}, ""),
    ("for this namespace", {"namespaceSelector": {"matchNames": [given.NAMESPACE]}}, ""),
    ("for a third namespace", {"namespaceSelector": {"matchNames": ["other"]}}, ""),
]


@cases(("fields", "remedy"), ELSEWHERE)
def test_a_monitor_in_another_namespace_needs_a_selector_of_namespaces(fields, remedy):
    """The pods of the graph that the labels name are there, and not here."""
    beside = monitor("system", WORKERS)
    beside = {**beside, "metadata": {"name": "monitor", "namespace": "monitoring"}, "spec": {**beside["spec"], **fields}}
    findings = [entry for entry in found(beside) if entry[0] == "DYN728"]
    assert findings == [("DYN728", "warning", remedy)] * bool(remedy)
