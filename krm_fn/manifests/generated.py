"""Recognizes the objects that an earlier run generated, and those of them that may be removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import ownership
from krm_fn.kube import identity, names
from krm_fn.manifests import workloads

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource

_BESIDE_WORKLOADS = {
    ("", "ConfigMap"),
    ("", "PersistentVolumeClaim"),
    ("", "Service"),
    ("", "ServiceAccount"),
    ("batch", "Job"),
    ("inference.networking.k8s.io", "InferencePool"),
    ("networking.istio.io", "DestinationRule"),
    ("networking.istio.io", "VirtualService"),
    ("networking.k8s.io", "Ingress"),
    ("rbac.authorization.k8s.io", "Role"),
    ("rbac.authorization.k8s.io", "RoleBinding"),
    ("resource.k8s.io", "ResourceClaimTemplate"),
    (identity.DYNAMO_GROUP, "DynamoComponentDeployment"),
    (identity.DYNAMO_GROUP, "DynamoGraphDeploymentScalingAdapter"),
}


_ACCOUNTS = (names.PLANNER_ACCOUNT, names.EPP_ACCOUNT, names.PROFILING_ACCOUNT)
_SHARED = {("ServiceAccount", name) for name in _ACCOUNTS} | {("RoleBinding", names.binding(name)) for name in _ACCOUNTS}


def is_shared(resource: Resource) -> bool:
    """True for a service account with a fixed name, which all Dynamo resources of a namespace use, and for its RoleBinding."""
    return (resource["kind"], resource["metadata"]["name"]) in _SHARED


def is_generated(resource: Resource) -> bool:
    """True if an earlier run generated this object: it carries both marks and is of a kind that the function generates."""
    if not ownership.is_marked(resource):
        return False
    return identity.key(resource)[:2] in kinds()


def kinds() -> frozenset[tuple[str, str]]:
    """Group and kind of all objects that the function generates."""
    return workloads.objects() | _BESIDE_WORKLOADS


def is_prunable(resource: Resource) -> bool:
    """True if the object may be removed when no owner needs it any more. Dynamo resources are never removed."""
    return is_generated(resource) and not identity.is_dynamo(resource)
