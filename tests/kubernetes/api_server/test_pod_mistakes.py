"""The schema and the rules for pods give the verdict of a real API server on whole pod templates, in both directions."""

from __future__ import annotations

import copy

from krm_fn.base import results
from krm_fn.kubernetes.api_server import pod_rules
from krm_fn.render.schema import invalid_fields, schema_check
from tests.support import pod_limits, pod_mistakes
from tests.support.cases import cases

_SELECTED = {"selected": "yes"}


def verdict(template):
    """The findings of a check of a template: those of the schema, and those of the rules that do not follow from them."""
    findings = [
        finding._replace(path=("spec", *finding.path)) for finding in schema_check.value(template["spec"], "io.k8s.api.core.v1.PodSpec")
    ]
    readable = invalid_fields.without_errors(template, findings)
    rejections = [
        results.error(rejection.code, rejection.message, None, rejection.path) for rejection in pod_rules.validate_template(readable)
    ]
    return [*findings, *invalid_fields.independent(rejections, invalid_fields.error_paths(findings))]


def sent(plane, template):
    """The answer of the server to a Deployment with this template."""
    metadata = template.get("metadata", {})
    labels = {**metadata.get("labels", {}), **_SELECTED}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "mistake", "namespace": "default"},
        "spec": {"selector": {"matchLabels": _SELECTED}, "template": {**template, "metadata": {**metadata, "labels": labels}}},
    }
    return plane.judge(deployment)


def test_the_table_is_large():
    reasons = [row[0] for row in (*pod_mistakes.MISTAKES, *pod_limits.LIMITS, *pod_mistakes.SILENT)]
    assert len(pod_mistakes.MISTAKES) >= 183
    assert len(pod_limits.LIMITS) >= 100
    assert len({*reasons}) == len(reasons)


@cases(("template", "paths"), pod_mistakes.MISTAKES)
def test_mistake(template, paths):
    """Each mistake is reported once, at its field, with a fix, and the check does not change the template."""
    before = copy.deepcopy(template)
    findings = verdict(template)
    assert template == before
    assert tuple(finding.path for finding in findings) == paths
    assert all("; " in finding.message for finding in findings)


@cases("template", pod_limits.LIMITS)
def test_limit(template):
    """A valid template at the limit of a rule has no finding."""
    assert verdict(template) == []


def test_the_server_agrees(control_plane):
    """The server refuses all mistakes and accepts all limits. It refuses what depends on a feature gate, on which the rules are silent."""
    accepted = [reason for reason, template, _ in pod_mistakes.MISTAKES if sent(control_plane, template).ok]
    answers = {reason: sent(control_plane, template) for reason, template in pod_limits.LIMITS}
    refused = {reason: answer.message for reason, answer in answers.items() if not answer.ok}
    assert (accepted, refused) == ([], {})
    for _, template, _ in pod_mistakes.SILENT:
        assert verdict(template) == []
        assert not sent(control_plane, template).ok
