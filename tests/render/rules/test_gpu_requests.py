"""A request for GPUs is reported only where Kubernetes would not derive the same request from the limit."""

from __future__ import annotations

from krm_fn.base import results
from tests.support import beta, given
from tests.support.cases import cases

CASES = [
    ("a request without a limit is lost", {"requests": {"gpu": "2"}}, True),
    ("a request that differs from its limit is lost", {"requests": {"gpu": "2"}, "limits": {"gpu": "4"}}, True),
    ("a request that equals its limit is what Kubernetes derives", {"requests": {"gpu": "2"}, "limits": {"gpu": "2"}}, False),
    ("a limit alone is complete", {"limits": {"gpu": "2"}}, False),
]


@cases(("resources", "lost"), CASES)
def test_a_gpu_request_is_reported_only_if_it_is_lost(resources, lost):
    found = given.findings(given.expanded(given.graph({"Worker": given.service("worker", resources=resources)})).results)
    assert ("DYN115" in {code for code, _ in found}) is lost


def test_the_finding_names_the_field_of_the_resource_as_written():
    """Dynamo 0.9 reads a v1beta1 component as a service, whose GPUs have another name."""
    resources = {"requests": {"nvidia.com/gpu": "2"}}
    graph = beta.graph(beta.component("Worker", main={"resources": resources}))
    (result,) = (result for result in given.expanded(graph, behaviour="v0.9").results if result.code == "DYN115")
    assert results.field(result.path).endswith(".containers[0].resources.requests['nvidia.com/gpu']")
    assert result.message.startswith("pods do not get requests.nvidia.com/gpu,")
