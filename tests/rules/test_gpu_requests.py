"""A request for GPUs is reported only where Kubernetes would not derive the same request from the limit."""

from __future__ import annotations

import pytest

from tests.support import given

CASES = [
    ("a request without a limit is lost", {"requests": {"gpu": "2"}}, True),
    ("a request that differs from its limit is lost", {"requests": {"gpu": "2"}, "limits": {"gpu": "4"}}, True),
    ("a request that equals its limit is what Kubernetes derives", {"requests": {"gpu": "2"}, "limits": {"gpu": "2"}}, False),
    ("a limit alone is complete", {"limits": {"gpu": "2"}}, False),
]


@pytest.mark.parametrize(("resources", "lost"), [row[1:] for row in CASES], ids=[row[0] for row in CASES])
def test_a_gpu_request_is_reported_only_if_it_is_lost(resources, lost):
    found = given.findings(given.expanded(given.graph({"Worker": given.service("worker", resources=resources)})).results)
    assert ("DYN115" in {code for code, _ in found}) is lost
