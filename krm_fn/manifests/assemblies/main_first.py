"""Joins the parts of a pod step by step, with the main container first.

Follows the reference's `internal/dynamo/graph.go` GenerateBasePodSpec since release 1.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import merge
from krm_fn.manifests import backends, components, env, strata, volumes
from krm_fn.manifests.assemblies import Assembly, Pod, Pods

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_fn.kube.types import Container, PodSpec
    from krm_fn.plan import ComponentPlan, RolePlan


class MainFirst(Assembly):
    """The engine changes the main container before shared memory is added, and the pod after that."""

    def pods(self, plan: ComponentPlan, roles: Iterable[RolePlan]) -> Pods:
        """The pods of one component."""
        backend, main = backends.get(plan.placement.backend), _main(plan)
        made = []
        for role in roles:
            container = backend.container(main, role)
            made.append(Pod(role, _pod(plan, role, container), 0))
        return Pods(plan, (), main, tuple(made))


def _main(plan: ComponentPlan) -> Container:
    """The user's main container over the default one. Each probe of the user replaces the default probe."""
    default: Container = components.get(plan.who.type).container(plan)
    user = plan.pod.container
    merged = merge.overlay(default, merge.without(user, "env", *merge.PROBES))
    merged["name"] = strata.MAIN
    for name in merge.PROBES:
        if user.get(name) is not None:
            merged[name] = user[name]
    common = [*env.platform(plan.config), *env.common(plan)]
    merged["env"] = merge.envs(common, default.get("env") or (), user.get("env") or ())
    return merged


def _pod(plan: ComponentPlan, role: RolePlan, main: Container) -> PodSpec:
    default = components.get(plan.who.type).pod(plan)
    pod = merge.overlay(default, merge.without(plan.pod.spec, "containers"))
    pod = {**pod, **strata.account(plan, default)}
    if plan.pod.shared_memory:
        around, mounts = volumes.shared_memory(plan.pod.shared_memory)
        pod = merge.added(pod, around)
        main = merge.added(main, mounts)
    pod = {**pod, "containers": [main, *(plan.pod.spec.get("containers") or ())]}
    return backends.get(plan.placement.backend).pod(pod, role)


ASSEMBLY = MainFirst()
