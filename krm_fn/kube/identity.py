"""The identity of an object in a cluster: two resources with the same key are the same object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource

DYNAMO_GROUP = "nvidia.com"
V1ALPHA1, V1BETA1 = "nvidia.com/v1alpha1", "nvidia.com/v1beta1"
GRAPH, COMPONENT, ADAPTER = "DynamoGraphDeployment", "DynamoComponentDeployment", "DynamoGraphDeploymentScalingAdapter"
REQUEST, MODEL = "DynamoGraphDeploymentRequest", "DynamoModel"
"""Kinds of Dynamo's API that users write."""


class ObjectKey(NamedTuple):
    """Group, kind, namespace and name. Resources that differ only in their version are the same object."""

    group: str
    kind: str
    namespace: str
    name: str


def key(resource: Resource, default_namespace: str = "") -> ObjectKey:
    """Returns the key of a resource. `default_namespace` is the namespace of resources without one."""
    ref = results.ref(resource)
    return ObjectKey(ref.api_version.rpartition("/")[0], ref.kind, ref.namespace or default_namespace, ref.name)


def is_dynamo(resource: Resource) -> bool:
    """Returns true for a resource of Dynamo's API group, in any version."""
    version = resource.get("apiVersion")
    return isinstance(version, str) and version.partition("/")[0] == DYNAMO_GROUP
