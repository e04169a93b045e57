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

BETA2, V1BETA2 = "v1beta2", f"{GROUP}/v1beta2"
"""The version of searches, since Dynamo 1.7. Only requests, Runs and Candidates have it."""

NAMESPACE_LEASE = "dynamo-operator-namespace-scope"
"""The name of the Lease whose holder serves a namespace alone."""

GRAPH, COMPONENT, ADAPTER = "DynamoGraphDeployment", "DynamoComponentDeployment", "DynamoGraphDeploymentScalingAdapter"
REQUEST, MODEL = "DynamoGraphDeploymentRequest", "DynamoModel"
RUN, CANDIDATE = "DynamoGraphDeploymentRun", "DynamoGraphDeploymentCandidate"


def is_dynamo(resource: Resource) -> bool:
    """Returns true for a resource of Dynamo's API group, in any version."""
    version = resource.get("apiVersion")
    return isinstance(version, str) and version.partition("/")[0] == GROUP


def is_misplaced(resource: Resource) -> bool:
    """Returns true for a kind of Dynamo in a group whose name resembles that of Dynamo's API group, or without a group.

    >>> versions = [V1BETA1, "ai.nvidia.com/v1", "nvidea.com/v1", "v1", "a.com/v1"]
    >>> [is_misplaced({"kind": GRAPH, "apiVersion": version}) for version in versions]
    [False, True, True, True, False]
    """
    kind, version = resource.get("kind"), resource.get("apiVersion")
    if kind not in (GRAPH, COMPONENT, ADAPTER, REQUEST, MODEL) or not isinstance(version, str):
        return False
    group, separator, _ = version.partition("/")
    if group == GROUP:
        return False
    from krm_fn.base import spelling  # noqa: PLC0415 - few renders need it

    return not separator or group.endswith(f".{GROUP}") or spelling.is_slip(group, GROUP, ".")


def is_search(resource: Resource) -> bool:
    """Returns true for a request in v1beta2, also in a view, and for a Run or a Candidate. A render makes no objects for them."""
    version, kind = resource.get("apiVersion"), resource.get("kind")
    if version == V1BETA2:
        return kind in (REQUEST, RUN, CANDIDATE)
    spec = resource.get("spec")
    return kind == REQUEST and version in (V1ALPHA1, V1BETA1) and isinstance(spec, dict) and BETA2 in spec
