"""Reads the objects of all namespaces with graphs with kubectl, as `krm-fn adopt` needs them. Reads no Secret."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from krm_fn.base.yaml import reader
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping
from krm_fn.repository.files import kubectl
from krm_fn.repository.files.kubectl import KubectlError

_OF_USERS = ("dynamographdeployments.nvidia.com", "dynamocomponentdeployments.nvidia.com", "dynamomodels.nvidia.com")
_BESIDE = (
    "deployments.apps",
    "leaderworkersets.leaderworkerset.x-k8s.io",
    "podcliquesets.grove.io",
    "services",
    "ingresses.networking.k8s.io",
    "virtualservices.networking.istio.io",
    "destinationrules.networking.istio.io",
    "serviceaccounts",
    "rolebindings.rbac.authorization.k8s.io",
)
"""The workloads, and the objects that show settings of the operator or that it leaves behind."""

GENERATED = (
    *_BESIDE,
    "dynamographdeploymentscalingadapters.nvidia.com",
    "configmaps",
    "persistentvolumeclaims",
    "inferencepools.inference.networking.k8s.io",
    "podgroups.scheduling.volcano.sh",
    "resourceclaimtemplates.resource.k8s.io",
    "roles.rbac.authorization.k8s.io",
)
"""All kinds of objects that an operator generates."""

_OPERATOR = "app.kubernetes.io/name=dynamo-operator,control-plane=controller-manager"


def read(kinds_beside: Sequence[str] = _BESIDE, namespace: str | None = None, *, managed_fields: bool = False) -> list[Any]:
    """Returns the Dynamo resources of a namespace or of all, and the other objects of their namespaces. Raises KubectlError.

    Kinds that the cluster does not serve have no objects. With `managed_fields`, the objects have their field managers. The operators and
    their configuration are among the objects if the user may read them.
    """
    more = ("--show-managed-fields",) if managed_fields else ()
    served = kubectl.served_resources()
    of_users, beside = ([kind for kind in kinds if kind in served] for kinds in (_OF_USERS, kinds_beside))
    if not of_users:
        raise KubectlError("the cluster serves no DynamoGraphDeployments", "check the context of kubectl")
    where = f"--namespace={namespace}" if namespace else "--all-namespaces"
    objects = kubectl.get(",".join(of_users), where, *more)
    for name in sorted({resource["metadata"]["namespace"] for resource in objects}):
        objects += kubectl.get(",".join(beside), f"--namespace={name}", *more)
    return [*objects, *_operators()]


def _operators() -> list[Any]:
    """The Deployments of operators, and their configuration; empty without the right to read them."""
    try:
        operators = kubectl.get("deployments.apps", "--all-namespaces", f"--selector={_OPERATOR}")
        return [*operators, *(file for operator in operators for file in _configuration(operator))]
    except KubectlError:
        return []


def _configuration(operator: Resource) -> Iterator[Resource]:
    """The OperatorConfiguration in a ConfigMap that the pods of an operator mount, with the name and the namespace of its Deployment."""
    metadata = {field: operator["metadata"][field] for field in ("name", "namespace")}
    volumes = operator["spec"]["template"]["spec"].get("volumes", ())
    names = [volume["configMap"]["name"] for volume in volumes if "configMap" in volume]
    for config_map in kubectl.get("configmaps", *names, f"--namespace={metadata['namespace']}", "--ignore-not-found") if names else ():
        for text in (config_map.get("data") or {}).values():
            values = [document.value for document in reader.read(text)[0]]
            yield from ({**value, "metadata": metadata} for value in values if mapping(value).get("kind") == "OperatorConfiguration")
