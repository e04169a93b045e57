"""ServiceAccounts with their Roles and RoleBindings.

Follows the reference's `internal/discovery/resource.go` and `internal/rbac/manager.go`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from krm_fn.kube import labels, names

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.plan import GraphPlan

_READ = ["get", "list", "watch"]
_GROUP = "rbac.authorization.k8s.io"


def discovery(plan: GraphPlan) -> Iterator[Resource]:
    """The ServiceAccount of pods that use Kubernetes discovery, with its Role and RoleBinding."""
    account = names.discovery(plan.name)
    yield _account(account, plan.namespace)
    yield {
        "apiVersion": f"{_GROUP}/v1",
        "kind": "Role",
        "metadata": _metadata(names.role(account), account, plan.namespace),
        "rules": [
            {"apiGroups": [""], "resources": ["endpoints"], "verbs": [*_READ]},
            {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": [*_READ]},
            {
                "apiGroups": ["nvidia.com"],
                "resources": ["dynamoworkermetadatas"],
                "verbs": ["create", *_READ, "update", "patch", "delete"],
            },
        ],
    }
    yield _binding(account, plan.namespace, "Role", names.role(account))


def bound_account(account: str, namespace: str, cluster_role: str) -> Iterator[Resource]:
    """A ServiceAccount, and its RoleBinding to a ClusterRole that the platform installs."""
    yield _account(account, namespace)
    yield _binding(account, namespace, "ClusterRole", cluster_role)


def _account(account: str, namespace: str) -> Resource:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _metadata(account, account, namespace)}


def _binding(account: str, namespace: str, kind: str, role: str) -> Resource:
    return {
        "apiVersion": f"{_GROUP}/v1",
        "kind": "RoleBinding",
        "metadata": _metadata(names.binding(account), account, namespace),
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": namespace}],
        "roleRef": {"apiGroup": _GROUP, "kind": kind, "name": role},
    }


def _metadata(name: str, account: str, namespace: str) -> dict[str, Any]:
    """The metadata of all three objects. The account's name is a label."""
    return {"name": name, "namespace": namespace, "labels": {labels.PART: "rbac", labels.APP_NAME: account}}
