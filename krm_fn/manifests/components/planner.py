"""The planner, which scales a graph's workers. Follows the reference's `internal/dynamo/component_planner.go`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import names
from krm_fn.manifests import rbac
from krm_fn.manifests.components import Component

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.types import PodSpec, Resource
    from krm_fn.plan import ComponentPlan


class Planner(Component):
    """The planner uses the Kubernetes API. It has its own ServiceAccount, which the user cannot change."""

    scales = True
    figures = "planner"
    enforced = {"serviceAccountName": names.PLANNER_ACCOUNT}

    def pod(self, plan: ComponentPlan) -> PodSpec:
        """The default pod with the planner's ServiceAccount."""
        return {**super().pod(plan), "serviceAccountName": names.PLANNER_ACCOUNT}

    def objects(self, plan: ComponentPlan) -> Iterator[Resource]:
        """The ServiceAccount, and its RoleBinding to the ClusterRole that the platform installs."""
        yield from rbac.bound_account(names.PLANNER_ACCOUNT, plan.who.namespace, plan.config.rbac.planner_role)


COMPONENT = Planner()
