"""The roles of a component under Grove: each is a clique.

Follows the operator's `internal/dynamo/graph.go` expandRolesForComponent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import names
from krm_fn.plan import Addressing, RolePlan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.types import Role
    from krm_fn.plan import ComponentPlan, GraphPlan

_INDEX = "$(GROVE_PCLQ_POD_INDEX)"


def roles(plan: ComponentPlan) -> Iterator[RolePlan]:
    """Yields one role. In a multinode service, one role for the leader and one for the workers.

    If the GPU memory service runs in its own pods, each node has one role for those pods and one for the engine.
    """
    if plan.features.memory_apart:
        yield from _by_rank(plan)
    elif plan.placement.nodes == 1:
        yield RolePlan(plan, plan.identity.name)
    else:
        addressing = addresses(plan)
        yield RolePlan(plan, plan.identity.name, "leader", addressing=addressing)
        yield RolePlan(plan, plan.identity.name, "worker", addressing=addressing)


def addresses(plan: ComponentPlan) -> Addressing:
    """Grove sets variables with the names of the scaling group and of the headless Service in each container.

    Follows the operator's `internal/dynamo/grove.go`.
    Rule: grove.addressing
    """
    leader = names.grove_host(plan.identity.service, "leader", 0)
    workers = tuple(names.grove_host(plan.identity.service, "worker", index) for index in range(plan.placement.nodes - 1))
    rank = "$((GROVE_PCLQ_POD_INDEX + 1))"
    return Addressing(leader, leader, workers, rank, operand=rank)


def in_groups(plan: ComponentPlan) -> bool:
    """Returns true if each replica of a component is a group of pods, which Grove scales as a whole."""
    return plan.placement.nodes > 1 or plan.features.grouped or plan.features.memory_apart


def clique(role: RolePlan) -> str:
    """A clique has the name of its service in lower case.

    Follows the operator's `internal/dynamo/graph.go buildCliqueForRole`.
    Rule: names.clique
    """
    service = role.component.identity.service
    return names.memory_clique(service, role.rank or 0) if role.serves_memory else names.clique(service, role.role, role.rank)


def longest(plan: ComponentPlan) -> int:
    """Returns the characters of a component that Grove counts beside those of the set: the longest clique, and the scaling group."""
    if not in_groups(plan):
        return len(names.clique(plan.identity.service, "main"))
    return len(names.scaling_group(plan.identity.service)) + max(len(clique(role)) for role in roles(plan))


def set_name(graph: GraphPlan) -> str:
    """Returns the name of the PodCliqueSet of a graph."""
    if not graph.release.grove.cuts_names:
        return graph.name
    return names.clique_set(graph.name, max(map(longest, graph.components), default=0))


def _by_rank(plan: ComponentPlan) -> Iterator[RolePlan]:
    """Yields the pods with the same index on all nodes form one engine, so their hosts end with that index."""
    alone = plan._replace(placement=plan.placement._replace(nodes=1))
    hosts = [names.grove_host(plan.identity.service, _engine(plan, rank), _INDEX, rank) for rank in range(plan.placement.nodes)]
    for rank in range(plan.placement.nodes):
        yield RolePlan(alone, plan.identity.name, rank=rank, serves_memory=True)
        addressing = Addressing(hosts[0], hosts[0], tuple(hosts[1:]), str(rank), operand=str(rank), rank_needs_shell=False)
        yield RolePlan(plan, plan.identity.name, _engine(plan, rank), addressing=addressing, rank=rank)


def _engine(plan: ComponentPlan, rank: int) -> Role:
    if plan.placement.nodes == 1:
        return "main"
    return "leader" if rank == 0 else "worker"
