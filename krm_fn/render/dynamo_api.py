"""Dynamo's API: its group, its versions, and its kinds that users write."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.kubernetes.types import Resource

GROUP = "nvidia.com"
ALPHA1, BETA1 = "v1alpha1", "v1beta1"
"""The versions without the group, as CRDs and the configuration name them."""

V1ALPHA1, V1BETA1 = f"{GROUP}/{ALPHA1}", f"{GROUP}/{BETA1}"
"""The versions as `apiVersion` of a resource."""

GRAPH, COMPONENT, ADAPTER = "DynamoGraphDeployment", "DynamoComponentDeployment", "DynamoGraphDeploymentScalingAdapter"
REQUEST, MODEL = "DynamoGraphDeploymentRequest", "DynamoModel"


def is_dynamo(resource: Resource) -> bool:
    """Returns true for a resource of Dynamo's API group, in any version."""
    version = resource.get("apiVersion")
    return isinstance(version, str) and version.partition("/")[0] == GROUP
