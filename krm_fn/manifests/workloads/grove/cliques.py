"""The cliques of a PodCliqueSet.

Follows the reference's `internal/dynamo/graph.go` buildCliqueForRole, generateLabels and generateAnnotations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import labels, merge
from krm_fn.manifests import backends, pod, services
from krm_fn.manifests.workloads.grove import roles, scheduling, topology

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.types import Labels
    from krm_fn.manifests.assemblies import Pod, Pods
    from krm_fn.plan import GraphPlan, RolePlan


def cliques(graph: GraphPlan, made: Pods) -> Iterator[dict[str, Any]]:
    """The cliques of one component."""
    for each in made.roles:
        yield _clique(graph, each, [other.role for other in made.roles])


def _clique(graph: GraphPlan, made: Pod, others: list[RolePlan]) -> dict[str, Any]:
    role, plan = made.role, made.role.component
    name, count = roles.clique(role), _count(role)
    spec, queue = scheduling.scheduled(graph, plan, made.spec)
    return merge.present(
        name=name,
        labels={**_labels(role), **queue},
        annotations=_annotations(role) or None,
        topologyConstraint=None if roles.in_groups(plan) else topology.of_component(graph, plan),
        spec=merge.present(
            roleName=name,
            replicas=count,
            minAvailable=_least(role, count),
            startsAfter=_after(role, others) or None,
            podSpec=spec,
        ),
    )


def _count(role: RolePlan) -> int:
    """The number of pods of a clique: in a scaling group, those in one group."""
    plan = role.component
    if role.serves_memory:
        return 1
    if plan.features.memory_apart:
        return plan.features.engine_pods
    if role.role == "worker":
        return plan.placement.nodes - 1
    return 1 if roles.in_groups(plan) else plan.placement.replicas_or_one


def _least(role: RolePlan, count: int) -> int:
    """The number of pods that must run. With failover, one engine is enough."""
    plan = role.component
    if not roles.in_groups(plan):
        return plan.features.min_available or 1
    return count if plan.behaviour.grove.whole_groups and plan.features.engine_pods == 1 else 1


def _after(role: RolePlan, others: list[RolePlan]) -> list[str]:
    """The cliques that must be ready before this one: the GPU memory service of the same node, and for some engines the workers."""
    memory = [roles.clique(other) for other in others if other.serves_memory and other.rank == role.rank and not role.serves_memory]
    if not backends.get(role.component.placement.backend).leader_starts_last or role.role != "leader":
        return memory
    return [*memory, *(roles.clique(other) for other in others if other.role == "worker")]


def _annotations(role: RolePlan) -> Labels:
    """The annotations of a clique. The GPU memory service transfers no key-value caches."""
    plan = role.component
    found = {**plan.who.annotations, **pod.pod_annotations(plan)}
    return merge.without(found, labels.TOPOLOGY_KEY, labels.TOPOLOGY_NAME) if role.serves_memory else found


def _labels(role: RolePlan) -> Labels:
    """The labels of a clique. Grove copies them to the pods."""
    plan = role.component
    if not plan.behaviour.pod_metadata.protected:
        marks = {labels.SELECTOR: plan.who.name, **services.workload_labels(plan), **pod.kind_labels(plan)}
        return {**marks, **plan.who.service_labels, **plan.pod.labels}
    kind = {labels.COMPONENT_TYPE: plan.who.type} if plan.who.type else {}
    group = {labels.FAILOVER_GROUP: "true"} if plan.features.engine_pods > 1 and not role.serves_memory else {}
    return {**pod.kind_labels(plan), **plan.who.labels, **kind, labels.SELECTOR: plan.who.name, **group, **_discovery(role)}


def _discovery(role: RolePlan) -> Labels:
    """The labels of pods that take part in discovery."""
    plan = role.component
    if role.serves_memory or not plan.behaviour.pod_metadata.discovery:
        return {}
    return services.discovery_labels(plan.placement.graph_discovery, discoverable=True)
