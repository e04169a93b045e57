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
    account, facts = names.discovery(plan.name), plan.behaviour.discovery
    label = names.label_value(account) if facts.short_label else account
    yield _account(account, plan.namespace, label)
    yield {
        "apiVersion": f"{_GROUP}/v1",
        "kind": "Role",
        "metadata": _metadata(names.role(account), label, plan.namespace),
        "rules": [
            {"apiGroups": [""], "resources": [*facts.reads], "verbs": [*_READ]},
            {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": [*_READ]},
            {
                "apiGroups": ["nvidia.com"],
                "resources": ["dynamoworkermetadatas"],
                "verbs": ["create", *_READ, "update", "patch", "delete"],
            },
        ],
    }
    yield _binding(account, plan.namespace, ("Role", names.role(account)), label)


def bound_account(account: str, namespace: str, cluster_role: str) -> Iterator[Resource]:
    """A ServiceAccount, and its RoleBinding to a ClusterRole that the platform installs."""
    yield _account(account, namespace, account)
    yield _binding(account, namespace, ("ClusterRole", cluster_role), account)


def _account(account: str, namespace: str, label: str) -> Resource:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _metadata(account, label, namespace)}


def _binding(account: str, namespace: str, role: tuple[str, str], label: str) -> Resource:
    """The RoleBinding of an account to a role, given as kind and name."""
    kind, name = role
    return {
        "apiVersion": f"{_GROUP}/v1",
        "kind": "RoleBinding",
        "metadata": _metadata(names.binding(account), label, namespace),
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": namespace}],
        "roleRef": {"apiGroup": _GROUP, "kind": kind, "name": name},
    }


def _metadata(name: str, label: str, namespace: str) -> dict[str, Any]:
    """The metadata of all three objects. `label` is the account's name as a label."""
    return {"name": name, "namespace": namespace, "labels": {labels.PART: "rbac", labels.APP_NAME: label}}
