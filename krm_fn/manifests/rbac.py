"""ServiceAccounts with their Roles and RoleBindings.

Follows the operator's `internal/discovery/resource.go` and `internal/rbac/manager.go`.
"""

from __future__ import annotations

from collections.abc import Iterator

from krm_fn.kube import labels, names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.kube.types import Resource
    from krm_fn.plan import GraphPlan

_READ = ["get", "list", "watch"]
"""Kubernetes discovery gets, lists and watches objects.

Follows the operator's `internal/discovery/resource.go`.
Rule: rbac.read
"""
_GROUP = "rbac.authorization.k8s.io"
"""Roles and RoleBindings have the API group `rbac.authorization.k8s.io`.

Follows the operator's `internal/discovery/resource.go, internal/rbac/manager.go`.
Rule: rbac.group
"""


def discovery(plan: GraphPlan) -> Iterator[Resource]:
    """The Role of Kubernetes discovery lets pods find endpoints and write the metadata of workers.

    Yields the ServiceAccount of pods that use Kubernetes discovery, with its Role and RoleBinding.

    Follows the operator's `internal/discovery/resource.go`.
    Rule: rbac.discovery
    """
    account, facts = names.discovery(plan.name), plan.release.discovery
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
    """Planners, endpoint pickers and profiling Jobs have the rights of a ClusterRole that the platform installs.

    Follows the operator's `internal/rbac/manager.go`.
    Rule: rbac.cluster-role
    """
    yield _account(account, namespace, account)
    yield _binding(account, namespace, ("ClusterRole", cluster_role), account)


def _account(account: str, namespace: str, label: str) -> Resource:
    """Pods that use the Kubernetes API have a ServiceAccount.

    Follows the operator's `internal/discovery/resource.go, internal/rbac/manager.go`.
    Rule: rbac.account
    """
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _metadata(account, label, namespace)}


def _binding(account: str, namespace: str, role: tuple[str, str], label: str) -> Resource:
    """A RoleBinding gives a ServiceAccount the rights of a role.

    `role` is a kind and a name.

    Follows the operator's `internal/discovery/resource.go, internal/rbac/manager.go`.
    Rule: rbac.binding
    """
    kind, name = role
    return {
        "apiVersion": f"{_GROUP}/v1",
        "kind": "RoleBinding",
        "metadata": _metadata(names.binding(account), label, namespace),
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": namespace}],
        "roleRef": {"apiGroup": _GROUP, "kind": kind, "name": name},
    }


def _metadata(name: str, label: str, namespace: str) -> dict[str, Any]:
    """Accounts, Roles and RoleBindings have the label `app.kubernetes.io/component: rbac`, and a label with the name of the account.

    Returns the metadata of all three objects. `label` is the account's name as a label.

    Follows the operator's `internal/discovery/resource.go, internal/rbac/manager.go`.
    Rule: rbac.metadata
    """
    return {"name": name, "namespace": namespace, "labels": {labels.PART: "rbac", labels.APP_NAME: label}}
