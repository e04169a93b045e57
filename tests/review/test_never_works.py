"""`check` fails for pods and Services of the operator that cannot work. A render makes them too, and warns."""

from __future__ import annotations

import pytest

from krm_fn.kubernetes.types import Resource
from krm_fn.review import resource_findings
from tests.support import beta, given
from tests.support.cases import cases

KV = {"args": ["--router-mode", "kv"], "command": ["python3", "-m", "dynamo.frontend"]}
MOVED = {"env": [{"name": "DYN_SYSTEM_PORT", "value": "8081"}]}
CASES = [
    ("two frontends of one graph", "DYN126", [given.graph({"A": given.service("frontend"), "B": given.service("frontend", main=KV)})]),
    (
        "frontends of two graphs that share a Dynamo namespace",
        "DYN126",
        [
            beta.graph(beta.component("Frontend", "frontend", main=main, globalDynamoNamespace=True), name=name)
            for name, main in (("chat", {}), ("code", KV))
        ],
    ),
    ("a server on another port", "DYN129", [beta.graph(beta.component("A", main=MOVED), beta.component("B", main=MOVED))]),
]


@cases(("code", "graphs"), CASES)
@pytest.mark.parametrize("is_configured", [True, False])
def test_check_reports_an_error_where_a_render_warns(is_configured: bool, code: str, graphs: list[Resource]) -> None:
    """The operator makes these objects, so a render makes them too. They must not pass a pipeline."""
    checked = resource_findings.check(graphs, given.settings_of(*graphs), is_configured=is_configured)
    assert [result.severity for result in checked if result.code == code] == ["error", "error"]
    rendered = given.expanded(*graphs)
    assert [result.severity for result in rendered.results if result.code == code] == ["warning", "warning"]
    assert {resource["kind"] for resource in rendered.resources} > {"Deployment", "Service"}
