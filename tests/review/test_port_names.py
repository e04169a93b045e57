"""`check` fails for a pod that is never ready, because a probe uses a port name that its container lacks. A render warns of it."""

from __future__ import annotations

import pytest

from krm_fn.kubernetes.types import Resource
from krm_fn.render.config import Config
from krm_fn.review import resource_findings
from tests.support import beta, given
from tests.support.cases import cases

HEALTH = {"ports": [{"name": "health", "containerPort": 9090}]}
BESIDE = {"name": "proxy", "image": "proxy", "readinessProbe": {"httpGet": {"path": "/", "port": "http"}}}
CASES = [
    ("other ports than those of the default probes", given.graph({"Worker": given.service("worker", main=HEALTH)})),
    ("a frontend of v1beta1", beta.graph(beta.component("Frontend", "frontend", main=HEALTH))),
    ("a sidecar that uses a port of the main container", beta.graph(beta.component("Frontend", "frontend", beside=[BESIDE]))),
]


@cases("graph", CASES)
@pytest.mark.parametrize("is_configured", [True, False])
def test_check_reports_an_error_where_a_render_warns(is_configured: bool, graph: Resource) -> None:
    """The operator makes these pods, so a render makes them too. An unready pod must not pass a pipeline."""
    checked = resource_findings.check([graph], Config(), is_configured=is_configured)
    assert {each.severity for each in checked if each.code == "DYN127"} == {"error"}
    rendered = given.expanded(graph)
    assert {each.severity for each in rendered.results if each.code == "DYN127"} == {"warning"}
    assert any(resource["kind"] == "Deployment" for resource in rendered.resources)
