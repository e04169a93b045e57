"""A real API server accepts all objects that are rendered without an error, and refuses pods that our rules refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, assume, settings
from hypothesis import given as drawn

from krm_fn.base import results
from krm_fn.render import expand, labels
from krm_fn.render.resolve import cluster
from tests.support import faults, given, newer_faults, newer_pod_faults, strategies
from tests.testbed import tier

if TYPE_CHECKING:
    from krm_fn.kubernetes.types import Resource

ALL = [*faults.ALL, *newer_faults.ALL, *newer_pod_faults.ALL]
QUIET = [case for case in ALL if not case.found]
budget = settings(
    max_examples=tier.number(300, 10, "KRM_FN_EXAMPLES") // 10,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture],
)


_SINCE_1_37 = "scheduling.k8s.io/v1beta1"  # PodGroups, which `tests/gangs` applies: the server of these tests is older


def native(resources: list[Resource]) -> list[Resource]:
    """The generated objects of native and third-party kinds that the server knows."""
    generated = [found for found in resources if labels.OWNER in labels.annotations(found) and found["apiVersion"] != _SINCE_1_37]
    return [found for found in generated if not found["apiVersion"].startswith("nvidia.com/")]


def refused(plane, resources):
    """The API server's message for each object that it refuses."""
    said = []
    for found in native(resources):
        plane.namespace(found["metadata"]["namespace"])
        answer = plane.judge(found)
        if not answer.ok:
            said.append(f"{found['kind']} {found['metadata']['name']}: {answer.message}")
    return said


@pytest.mark.parametrize("case", QUIET, ids=[case.reason for case in QUIET])
def test_what_no_rule_objects_to_is_taken(case, control_plane, crds):
    assert refused(control_plane, given.expanded(*case.items, **case.settings).resources) == []


@budget
@drawn(strategies.graphs() | strategies.requests(), strategies.configs())
def test_what_is_rendered_without_an_error_is_taken(control_plane, crds, written, settings):
    expansion = expand.expand([written], settings)
    assume(not results.has_errors(expansion.results))
    assert refused(control_plane, expansion.resources) == []


REFUSED = {
    "DYN117",
    "DYN140",
    "DYN141",
    "DYN142",
    "DYN148",
    "DYN151",
    "DYN157",
    "DYN158",
    "DYN159",
    *(f"DYN{number}" for number in range(200, 300)),
}
LATER = {
    "a label of the graph itself": "an API server checks the graph when it is applied",
    "an annotation of the graph itself": "an API server checks the graph when it is applied",
    "annotations that are too large": "an API server checks the graph when it is applied",
    "5 MB of kept fields": "an API server checks the graph when it is applied",
    "a label of a model": "an API server checks the model when it is applied",
    "a graph whose name starts with a digit": "before Kubernetes 1.34 a Service must start with a letter",
    "an invalid annotation for the graph": "the overrides of a request reach a cluster with the generated graph",
    "an invalid label for the graph": "the overrides of a request reach a cluster with the generated graph",
    "a claim with the name of the engine's volume": "an API server checks the pods of a LeaderWorkerSet when its controller creates them",
}
BROKEN = [
    case for case in ALL if {code for code, _ in case.found} & REFUSED and "orchestrator" not in case.settings and case.reason not in LATER
]


def test_the_exceptions_are_cases():
    assert {*LATER} <= {case.reason for case in ALL}


@pytest.mark.parametrize("case", BROKEN, ids=[case.reason for case in BROKEN])
def test_what_these_rules_refuse_is_refused(case, control_plane, crds):
    expander, settings = (
        expand._expander(case.items[0]["apiVersion"], case.items[0]["kind"]),
        given.settings_of(*case.items, **case.settings),
    )
    assert expander is not None
    plan = expander.plan(case.items[0], settings, cluster.read(case.items, settings)[0])[0]
    assert refused(control_plane, [marked(found) for found in expander.render(plan, expander.pods(plan))])


def marked(made):
    """A generated object with the owner annotation of the expansion."""
    annotations = {**labels.annotations(made), labels.OWNER: "DynamoGraphDeployment/chat"}
    return {**made, "metadata": {**made["metadata"], "annotations": annotations}}
