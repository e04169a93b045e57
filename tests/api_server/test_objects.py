"""A real API server accepts every native object of every example and layout, with strict validation and without warnings."""

from __future__ import annotations

import pytest

from krm_fn.render import expand
from tests.support import build_checks, golden

# This control plane does not serve Dynamo's kinds.
DYNAMO = (
    *("DynamoGraphDeployment", "DynamoComponentDeployment", "DynamoModel"),
    *("DynamoGraphDeploymentScalingAdapter", "DynamoGraphDeploymentRequest"),
)
OF_OLDER_DEFINITIONS = {("operator-1-3", "PodCliqueSet"): "topologyConstraint.packDomain"}
"""Fields that only older definitions have than those of tests/crds: here those of Grove 0.1.0-alpha.8."""
FILES = sorted([*golden.EXAMPLES.glob("*/expected*.yaml"), *golden.RENDERED.glob("*.yaml")])


def objects(file):
    return [
        each
        for each in build_checks.read(file.read_text())
        if "config.kubernetes.io/local-config" not in each["metadata"].get("annotations", {})
    ]


def test_every_recorded_output_is_here():
    assert {recording.expected for recording in golden.recordings()} <= {*FILES}
    kinds = {each["kind"] for file in FILES for each in objects(file)}
    assert {
        "Deployment",
        "Job",
        "Service",
        "Role",
        "ConfigMap",
        "PersistentVolumeClaim",
        "Ingress",
        "VirtualService",
        "InferencePool",
    } <= kinds
    assert {*DYNAMO} <= kinds


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(golden.EXAMPLES)))
def test_accepted(file, control_plane, crds):
    for each in objects(file):
        if each["kind"] in DYNAMO:
            assert each["apiVersion"] in expand.API_VERSIONS
            continue
        control_plane.namespace(each["metadata"]["namespace"])
        answer = control_plane.judge(each)
        if field := OF_OLDER_DEFINITIONS.get((file.parent.name, each["kind"])):
            assert f"{field}: field not declared in schema" in answer.message
            continue
        assert answer.ok, f"{each['kind']} {each['metadata']['name']}: {answer.message}"
        assert answer.warnings == ()
