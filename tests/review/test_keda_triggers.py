"""Triggers of KEDA that it cannot read."""

from __future__ import annotations

from krm_fn.review import keda_triggers
from tests.support.cases import cases

ADDRESS = "http://prometheus.monitoring:9090"
TRIGGERS = [
    ("no scheme", {"serverAddress": "prometheus.monitoring:9090"}, "serverAddress", "write http://prometheus.monitoring:9090"),
    ("a word", {"serverAddress": ADDRESS, "threshold": "four"}, "threshold", "write a number in quotes"),
    ("both", {"serverAddress": ADDRESS, "threshold": "4.5", "activationThreshold": "0"}, "", ""),
    ("a placeholder", {"serverAddress": "$PROMETHEUS", "threshold": "${SIZE}"}, "", ""),
    ("other types", {"serverAddress": 3, "threshold": 4}, "", ""),
]


def scaled(kind, fields):
    spec = {"scaleTargetRef": kind, "triggers": [{"type": "cron", "metadata": {}}, {"type": "prometheus", "metadata": fields}]}
    return {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": {"name": "a"}, "spec": spec}


@cases(("fields", "step", "remedy"), TRIGGERS)
def test_triggers_of_prometheus(fields, step, remedy):
    """An object that scales nothing of Dynamo has no finding."""
    adapter = {"apiVersion": "nvidia.com/v1beta1", "kind": "DynamoGraphDeploymentScalingAdapter", "name": "a"}
    found = [*keda_triggers.check([scaled(adapter, fields)])]
    paths = [(finding.code, finding.path, finding.message.partition("; ")[2]) for finding in found]
    assert paths == [("DYN776", ("spec", "triggers", 1, "metadata", step), remedy)] * bool(step)
    assert [*keda_triggers.check([scaled({"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}, fields)])] == []
