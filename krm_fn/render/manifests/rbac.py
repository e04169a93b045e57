"""ServiceAccounts with their Roles and RoleBindings.

Follows the operator's `internal/discovery/resource.go` and `internal/rbac/manager.go`.
"""

from __future__ import annotations

from collections.abc import Iterator

from krm_fn.render import labels, names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.plan import GraphPlan

_READ = ["get", "list", "watch"]
"""The verbs of a Role that only reads.

Rule rbac.read: Kubernetes discovery gets, lists and watches objects. (operator: internal/discovery/resource.go)
"""
_GROUP = "rbac.authorization.k8s.io"
"""The API group of Roles and RoleBindings.

Rule rbac.group: Roles and RoleBindings have the API group `rbac.authorization.k8s.io`. (operator: internal/discovery/resource.go,
internal/rbac/manager.go)
"""


def discovery(plan: GraphPlan) -> Iterator[Resource]:
    """Yields the ServiceAccount of pods that use Kubernetes discovery, with its Role and RoleBinding.

    Rule rbac.discovery: The Role of Kubernetes discovery lets pods find endpoints and write the metadata of workers. (operator:
    internal/discovery/resource.go)
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
    """Yields a ServiceAccount and the RoleBinding that gives it a ClusterRole.

    Rule rbac.cluster-role: Planners, endpoint pickers and profiling Jobs have the rights of a ClusterRole that the platform installs.
    (operator: internal/rbac/manager.go)
    """
    yield _account(account, namespace, account)
    yield _binding(account, namespace, ("ClusterRole", cluster_role), account)


def _account(account: str, namespace: str, label: str) -> Resource:
    """Makes a ServiceAccount.

    Rule rbac.account: Pods that use the Kubernetes API have a ServiceAccount. (operator: internal/discovery/resource.go,
    internal/rbac/manager.go)
    """
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _metadata(account, label, namespace)}


def _binding(account: str, namespace: str, role: tuple[str, str], label: str) -> Resource:
    """Makes the RoleBinding of a ServiceAccount.

    `role` is a kind and a name.

    Rule rbac.binding: A RoleBinding gives a ServiceAccount the rights of a role. (operator: internal/discovery/resource.go,
    internal/rbac/manager.go)
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
    """Returns the metadata of an account, a Role or a RoleBinding. `label` is the account's name as a label.

    Rule rbac.metadata: Accounts, Roles and RoleBindings have the label `app.kubernetes.io/component: rbac`, and a label with the name of
    the account. (operator: internal/discovery/resource.go, internal/rbac/manager.go)
    """
    return {"name": name, "namespace": namespace, "labels": {labels.PART: "rbac", labels.APP_NAME: label}}
