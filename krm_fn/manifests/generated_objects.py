"""Recognizes objects that an earlier run generated, and those of them that may be removed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from krm_fn import ownership
from krm_fn.kinds import types
from krm_fn.kube import identity, names
from krm_fn.manifests import workloads

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def owned(owner: Resource, objects: Iterable[Resource]) -> list[ownership.Generated]:
    """Returns the objects that a render generates from a Dynamo resource."""
    return [ownership.Generated(owner, resource, is_shared(resource)) for resource in objects]


def is_shared(resource: Resource) -> bool:
    """Returns true for a service account with a fixed name, which all Dynamo resources of a namespace use, and for its RoleBinding."""
    kind, name = resource["kind"], resource["metadata"]["name"]
    if kind not in ("ServiceAccount", "RoleBinding") or names.is_discovery(name):
        return False
    return (kind, name) in _shared()


@cache
def _shared() -> frozenset[tuple[str, str]]:
    """Returns kind and name of the service accounts with a fixed name, and of their RoleBindings."""
    accounts = {types.get(name).account for name in types.names()} - {""} | {names.PROFILING_ACCOUNT}
    return frozenset({*(("ServiceAccount", name) for name in accounts), *(("RoleBinding", names.binding(name)) for name in accounts)})


def is_generated(resource: Resource) -> bool:
    """Returns true if an earlier run generated this object: it carries both marks and is of a kind that the function generates."""
    if not ownership.is_marked(resource):
        return False
    return identity.key(resource)[:2] in kinds()


def written(resources: Iterable[Resource]) -> list[Resource]:
    """Returns the resources of users, without the objects that an earlier run generated."""
    return [resource for resource in resources if not is_generated(resource)]


def kinds() -> frozenset[tuple[str, str]]:
    """Returns group and kind of all objects that the function generates."""
    return workloads.objects() | _BESIDE_WORKLOADS


def is_prunable(resource: Resource) -> bool:
    """Returns true if the object may be removed when no owner needs it any more. Dynamo resources are never removed."""
    return is_generated(resource) and not identity.is_dynamo(resource)
