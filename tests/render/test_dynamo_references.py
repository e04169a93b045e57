"""The fields of Dynamo's kinds that name another object, and autoscalers of scaling adapters."""

import yaml

from krm_fn.render import dynamo_references
from tests.support.cases import cases

OBJECTS = [
    (
        "an autoscaler names an adapter by its kind alone",
        """
        apiVersion: autoscaling/v2
        kind: HorizontalPodAutoscaler
        spec: {scaleTargetRef: {kind: DynamoGraphDeploymentScalingAdapter, name: chat-worker}}
        """,
        {("nvidia.com", "DynamoGraphDeploymentScalingAdapter", "chat-worker")},
    ),
    (
        "an autoscaler of a Deployment",
        """
        apiVersion: keda.sh/v1alpha1
        kind: ScaledObject
        spec: {scaleTargetRef: {name: chat}}
        """,
        {("apps", "Deployment", "chat")},
    ),
    (
        "a graph of v1alpha1 names claims and Secrets",
        """
        apiVersion: nvidia.com/v1alpha1
        kind: DynamoGraphDeployment
        spec:
          pvcs: [{name: models}]
          services: {Worker: {envFromSecret: tokens}}
        """,
        {("", "PersistentVolumeClaim", "models"), ("", "Secret", "tokens")},
    ),
    (
        "a graph of v1beta1 names objects in its pod templates",
        """
        apiVersion: nvidia.com/v1beta1
        kind: DynamoGraphDeployment
        spec:
          components:
          - name: Worker
            podTemplate: {spec: {serviceAccountName: runner}}
        """,
        {("", "ServiceAccount", "runner")},
    ),
    (
        "an adapter names its graph",
        """
        apiVersion: nvidia.com/v1alpha1
        kind: DynamoGraphDeploymentScalingAdapter
        spec: {dgdRef: {name: chat}}
        """,
        {("nvidia.com", "DynamoGraphDeployment", "chat")},
    ),
    (
        "a request names the claim of its output",
        """
        apiVersion: nvidia.com/v1alpha1
        kind: DynamoGraphDeploymentRequest
        spec: {profilingConfig: {outputPVC: profiles}}
        """,
        {("", "PersistentVolumeClaim", "profiles")},
    ),
]


@cases(("text", "targets"), OBJECTS)
def test_the_names_in_an_object(text, targets):
    references = dynamo_references.of(yaml.safe_load(text))
    assert {(reference.group, reference.kind, reference.name) for reference in references} == targets
