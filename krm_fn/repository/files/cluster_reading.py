"""Reads the objects of all namespaces with graphs with kubectl, as `krm-fn adopt` needs them. Reads no Secret."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from krm_fn.repository.files import commands

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

_SECONDS = 120


class ReadError(Exception):
    """kubectl cannot read the cluster. The message says why."""


def read(kinds_beside: Sequence[str] = _BESIDE, *, managed_fields: bool = False) -> list[Any]:
    """Returns the Dynamo resources of all namespaces, and the other objects of their namespaces. Raises ReadError.

    Kinds that the cluster does not serve have no objects. With `managed_fields`, the objects have their field managers.
    """
    more = ("--show-managed-fields",) if managed_fields else ()
    served = {*_kubectl("api-resources", "--namespaced", "--verbs=list", "--output=name", partial=True).decode().split()}
    of_users, beside = ([kind for kind in kinds if kind in served] for kinds in (_OF_USERS, kinds_beside))
    if not of_users:
        raise ReadError("the cluster serves no DynamoGraphDeployments; check the context of kubectl")
    objects = _items("--all-namespaces", of_users, *more)
    for namespace in sorted({resource["metadata"]["namespace"] for resource in objects}):
        objects += _items(f"--namespace={namespace}", beside, *more)
    return objects


def _items(where: str, kinds: list[str], *more: str) -> list[Any]:
    items: list[Any] = json.loads(_kubectl("get", ",".join(kinds), where, "--output=json", *more))["items"]
    return items


def _kubectl(*arguments: str, partial: bool = False) -> bytes:
    """The output of kubectl. `partial` accepts the output of a kubectl that fails: one API that does not answer hides no other."""
    result = commands.run(("kubectl", *arguments), Path.cwd(), _SECONDS)
    if result.problem and not (partial and result.data):
        raise ReadError(f"kubectl {arguments[0]} {result.problem}; {result.messages.strip() or 'check the context of kubectl'}")
    return result.data
