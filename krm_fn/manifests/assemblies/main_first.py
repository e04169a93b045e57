"""Joins the parts of a pod step by step, with the main container first.

Follows the reference's `internal/dynamo/graph.go` GenerateBasePodSpec since release 1.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import merge
from krm_fn.manifests import backends, components, env, gpu_memory, strata
from krm_fn.manifests.assemblies import Assembly, Pod, Pods, _volumes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_fn.kube.types import Container, LocalReference, PodSpec
    from krm_fn.manifests.strata import Entry, Part
    from krm_fn.plan import ComponentPlan, RolePlan


class MainFirst(Assembly):
    """The engine changes the main container before shared memory is added, and the pod after that."""

    def pods(self, plan: ComponentPlan, roles: Iterable[RolePlan]) -> Pods:
        """The pods of one component."""
        main = _main(plan)
        return Pods(plan, (), main, tuple(Pod(role, _pod(plan, role, main), 0) for role in roles))

    def entry(self, made: Pods, pod: PodSpec, part: Part, field: str, index: int) -> Entry:
        """The origin of an entry of a list, by its name."""
        from krm_fn.manifests.assemblies import _origins  # noqa: PLC0415 - only findings need it

        return _origins.entry(made.plan, pod, part, field, index)


def _main(plan: ComponentPlan) -> Container:
    """The main container before the engine changes it. Each probe of the user replaces the whole default probe."""
    kind, user = components.get(plan.who.type), plan.pod.container
    default: Container = {"name": strata.MAIN, **kind.container(plan)}
    merged = merge.overlay(default, merge.without(user, "name", "env", *merge.PROBES))
    for name in merge.PROBES:
        if user.get(name) is not None:
            merged[name] = user[name]
    common = [*env.platform(plan.config), *env.common(plan, plan.who.type, kind.facts(plan))]
    merged["env"] = merge.envs(common, default.get("env") or (), user.get("env") or ())
    cache = plan.pod.cache
    return _volumes.with_cache(merged, cache) if cache and cache.path else merged


def _pod(plan: ComponentPlan, role: RolePlan, before: Container) -> PodSpec:
    """The pod of one role. `before` is the main container before the engine changes it."""
    backend, default = backends.get(plan.placement.backend), components.get(plan.who.type).pod(plan)
    main = backend.container(before, role)
    unset = () if plan.pod.spec.get("serviceAccountName") else ("serviceAccountName",)
    pod = merge.overlay(default, merge.without(plan.pod.spec, "containers", *unset))
    pod = {**pod, **strata.account(plan, default)}
    if plan.pod.cache is not None:
        pod = _volumes.with_claim(pod, plan.pod.cache.name)
    if plan.pod.shared_memory:
        pod, main = _volumes.with_shared_memory(pod, main, plan.pod.shared_memory)
    pod = backend.pod({**pod, "containers": [main, *_beside(plan, before)]}, role)
    pod = _with_pull_secrets(_volumes.in_order_of_mounts(pod, pod["containers"][0]), plan)
    return gpu_memory.applied(pod, role)


def _beside(plan: ComponentPlan, before: Container) -> list[Container]:
    """The containers beside the main one, of which one can be a frontend."""
    listed = list(plan.pod.spec.get("containers") or ())
    if not plan.features.frontend_sidecar:
        return listed
    from krm_fn.manifests.assemblies import _sidecar  # noqa: PLC0415 - few components have a frontend beside them

    return [_sidecar.defaulted(plan, container, before) for container in listed]


def _with_pull_secrets(pod: PodSpec, plan: ComponentPlan) -> PodSpec:
    """The pod with the pull secrets of all its images, after those that the user names."""
    written = list(pod.get("imagePullSecrets") or ())
    known = {secret.get("name") for secret in written}
    found: list[LocalReference] = [{"name": name} for name in plan.pod.pull_secrets if name not in known]
    return {**pod, "imagePullSecrets": [*written, *found]} if found else pod


ASSEMBLY = MainFirst()
