"""The cliques of a PodCliqueSet.

Follows the operator's `internal/dynamo/graph.go` buildCliqueForRole, generateLabels and generateAnnotations.
"""

from __future__ import annotations

from krm_fn.kubernetes import merge
from krm_fn.render import engines, labels
from krm_fn.render.manifests import pod_template, services
from krm_fn.render.manifests.workloads.grove import clique_roles, grove_schedulers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from krm_fn.kubernetes.types import Labels
    from krm_fn.render.manifests.pod_builder import Pod, Pods
    from krm_fn.render.plan import ComponentPlan, GraphPlan, RolePlan


def cliques(graph: GraphPlan, pods: Pods) -> Iterator[dict[str, Any]]:
    """Yields the cliques of one component."""
    for pod in pods.roles:
        yield _clique(graph, pod, [other.role for other in pods.roles])


def _clique(graph: GraphPlan, pod: Pod, others: list[RolePlan]) -> dict[str, Any]:
    """Makes the clique of one role. `others` are the roles that can start before it.

    Rule grove.clique: Each role of a component is a clique of the PodCliqueSet. (operator: internal/dynamo/graph.go buildCliqueForRole)
    """
    role, plan = pod.role, pod.role.component
    name, count = clique_roles.clique(role), _count(role)
    spec, queue = grove_schedulers.set_scheduler(graph, plan, pod.spec)
    return merge.present(
        name=name,
        labels={**_labels(role), **queue},
        annotations=_annotations(role) or None,
        topologyConstraint=_topology_of_clique(graph, role),
        spec=merge.present(
            roleName=name,
            replicas=count,
            minAvailable=_least(role, count),
            startsAfter=_after(role, others) or None,
            podSpec=spec,
        ),
    )


def _count(role: RolePlan) -> int:
    """Returns the number of pods of a clique.

    Rule grove.clique-pods: A clique has as many pods as its component has replicas; in a scaling group, as many as its role has in one
    group. (operator: internal/dynamo/graph.go buildCliqueForRole)
    """
    return role.pods_in_replica if clique_roles.in_groups(role.component) else role.component.placement.replicas_or_one


def _least(role: RolePlan, count: int) -> int:
    """Returns the number of pods that must run together in a clique of `count` pods.

    With failover, one engine is enough.

    Rule grove.clique-least: A clique needs `minAvailable` of its pods, or one; in a scaling group of Dynamo 1.5, it needs all. (operator:
    internal/dynamo/graph.go buildCliqueForRole)
    """
    plan = role.component
    if not clique_roles.in_groups(plan):
        return plan.features.least_replicas
    return count if plan.release.grove.whole_groups and plan.features.engine_pods == 1 else 1


def _after(role: RolePlan, others: list[RolePlan]) -> list[str]:
    """Returns the cliques that must be ready before this one: the GPU memory service of the same node, and for some engines the workers."""
    memory = [clique_roles.clique(other) for other in others if other.serves_memory and other.rank == role.rank and not role.serves_memory]
    if not engines.get(role.component.engine).leader_starts_last or role.role != "leader":
        return memory
    return [*memory, *(clique_roles.clique(other) for other in others if other.role == "worker")]


def _annotations(role: RolePlan) -> Labels:
    """Returns the annotations of a clique. The GPU memory service transfers no key-value caches."""
    plan = role.component
    annotations = {**plan.identity.annotations, **pod_template.pod_annotations(plan)}
    return merge.without(annotations, labels.TOPOLOGY_KEY, labels.TOPOLOGY_NAME) if role.serves_memory else annotations


def _labels(role: RolePlan) -> Labels:
    """Returns the labels of a clique.

    Grove copies them to the pods.

    Rule grove.clique-labels: A clique has the labels of its component, and a label by which Services select its pods. (operator:
    internal/dynamo/graph.go generateLabels)
    """
    plan = role.component
    if not plan.release.pod_metadata.protected:
        marks = {labels.SELECTOR: plan.identity.name, **services.workload_labels(plan), **pod_template.kind_labels(plan)}
        return {**marks, **plan.identity.service_labels, **plan.pod.labels}
    kind = {labels.COMPONENT_TYPE: plan.identity.type} if plan.identity.type else {}
    group = {labels.FAILOVER_GROUP: "true"} if plan.features.engine_pods > 1 and not role.serves_memory else {}
    return {
        **pod_template.kind_labels(plan),
        **plan.identity.labels,
        **kind,
        labels.SELECTOR: plan.identity.name,
        **group,
        **_discovery(role),
    }


def _discovery(role: RolePlan) -> Labels:
    """Returns the labels of pods that take part in discovery."""
    plan = role.component
    if role.serves_memory or not plan.release.pod_metadata.discovery:
        return {}
    return services.discovery_labels(plan.placement.graph_discovery, discoverable=True)


def _topology_of_clique(graph: GraphPlan, role: RolePlan) -> dict[str, Any] | None:
    """Returns the constraint of a clique: that of its role's override, or that of a component without a scaling group."""
    settings = role.component.features.role(role.role)
    overridden = settings.override.topology_constraint if settings and settings.override else None
    if overridden is not None or clique_roles.in_groups(role.component):
        return overridden
    return component_topology(graph, role.component)


def graph_topology(graph: GraphPlan) -> dict[str, Any] | None:
    """Returns the topology constraint of a PodCliqueSet; None if it has none.

    Rule grove.topology-override: An override of a graph, of a component or of a role replaces its whole topology constraint. (operator:
    internal/dynamo/grove.go)
    """
    override = graph.features.override
    if override is not None and (constraint := override.of_clique_set) is not None:
        return constraint
    wanted = graph.features.topology
    return _topology_constraint(graph, wanted.name, wanted.domain) if wanted else None


def component_topology(graph: GraphPlan, plan: ComponentPlan) -> dict[str, Any] | None:
    """Returns the constraint of a clique or scaling group. It names the topology if it cannot inherit the name from the PodCliqueSet."""
    override = plan.features.override
    if override is not None and (constraint := override.topology_constraint) is not None:
        return constraint
    graph_topology, topology = graph.features.topology, plan.features.topology
    return (
        _topology_constraint(graph, graph_topology.name if graph_topology and not graph_topology.domain else "", topology.domain)
        if topology
        else None
    )


def _topology_constraint(graph: GraphPlan, name: str, domain: str) -> dict[str, Any] | None:
    """Makes a topology constraint; None without a domain.

    Rule grove.topology: Grove packs the pods of a graph, or of a component, into one domain of a topology. (operator:
    internal/dynamo/grove.go groveTopologyConstraint)
    """
    if not graph.release.grove.names_topology:
        return {"packDomain": domain} if domain else None
    return merge.present(topologyName=name or None, pack={"required": domain}) if domain else None
