"""A real API server and the function agree on random inputs.

`KRM_FN_SERVER_EXAMPLES` sets the number of inputs for each property.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, assume, settings
from hypothesis import given as drawn
from hypothesis import strategies as st

from krm_fn.base import results
from krm_fn.kubernetes.api_server import pod_rules
from krm_fn.render import expand
from tests.support import build_checks, strategies, unusual_pods, workload_templates

budget = settings(
    max_examples=int(os.environ.get("KRM_FN_SERVER_EXAMPLES", "60")),
    suppress_health_check=[
        HealthCheck.filter_too_much,
        HealthCheck.function_scoped_fixture,
        HealthCheck.data_too_large,
    ],
)
REFUSED_BY_GROVE = {"DYN163", "DYN164", "DYN167", "DYN168"}


@pytest.fixture(scope="module")
def plane(control_plane, crds):
    for namespace in ("team", "default", "other", "prod"):
        control_plane.namespace(namespace)
    return control_plane


@budget
@drawn(st.lists(strategies.graphs(), min_size=1, max_size=1), strategies.configs())
def test_what_leaves_without_an_error_is_accepted(plane, items, config):
    """The server validates the workloads, and their pod templates as PodTemplates."""
    expansion = expand.expand(items, config)
    assume(not results.has_errors(expansion.results))
    assume(not REFUSED_BY_GROVE & {found.code for found in expansion.results})
    for each in expansion.resources:
        if each["apiVersion"] == build_checks.DYNAMO:
            continue
        for sent in (each, *workload_templates.pod_templates(each)):
            answer = plane.judge(sent)
            assert answer.ok, f"{each['kind']} {each['metadata']['name']}: {answer.message}"


@budget
@drawn(unusual_pods.pods())
def test_pods_are_refused_early_exactly_if_the_server_refuses_them(plane, spec):
    found = list(pod_rules.validate(spec))
    answer = unusual_pods.sent(plane, spec)
    assert answer.ok == (not found), answer.message or found
