"""The roles of a component under Grove, and the names and the order of their cliques. Each role is a clique.

Follows the operator's `internal/dynamo/graph.go` expandRolesForComponent. If the name of a clique is a suffix of a PodClique's name, Grove
uses the first such clique of the set as the template. So cliques have an order, and names that Grove confuses in every order are errors.
"""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.render import names
from krm_fn.render.plan import Addressing, RolePlan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from krm_fn.base.results import Result
    from krm_fn.kubernetes.types import Role
    from krm_fn.render.plan import ComponentPlan, GraphPlan

_INDEX = "$(GROVE_PCLQ_POD_INDEX)"
_HEADLESS_SERVICE = "0"
"""The Service of a service with this name would have the name of the Service that Grove creates for all pods of the set."""


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
        yield RolePlan(plan.of_role("leader"), plan.identity.name, "leader", addressing=addressing)
        yield RolePlan(plan.of_role("worker"), plan.identity.name, "worker", addressing=addressing)


def addresses(plan: ComponentPlan) -> Addressing:
    """Returns the words by which the pods of a component on several nodes name their leader, their followers and their rank.

    Rule grove.addressing: Grove sets variables with the names of the scaling group and of the headless Service in each container.
    (operator: internal/dynamo/grove.go)
    """
    leader = names.grove_host(plan.identity.service, "leader", 0)
    workers = tuple(names.grove_host(plan.identity.service, "worker", index) for index in range(plan.placement.nodes - 1))
    rank = "$((GROVE_PCLQ_POD_INDEX + 1))"
    return Addressing(leader, leader, workers, rank, any_rank="$(GROVE_PCSG_POD_INDEX)", operand=rank)


def in_groups(plan: ComponentPlan) -> bool:
    """Returns true if each replica of a component is a group of pods, which Grove scales as a whole."""
    return plan.placement.nodes > 1 or plan.features.grouped or plan.features.memory_apart


def clique(role: RolePlan) -> str:
    """Returns the name of the clique of a role.

    Rule names.clique: see `krm_fn.render.names`.
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


def sort_cliques(cliques: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the cliques in the given order, except that a clique whose name ends with another clique's name comes before that one."""
    placed: list[dict[str, Any]] = []
    for clique in cliques:
        at = (index for index, other in enumerate(placed) if clique["name"].endswith(other["name"]))
        placed.insert(next(at, len(placed)), clique)
    return placed


def check_names(graph: GraphPlan, plans: Sequence[ComponentPlan]) -> Iterator[Result]:
    """Reports names of services for which Grove confuses objects."""
    whole, (parts, part) = set_name(graph), graph.part_words()
    for index, plan in enumerate(plans):
        if plan.identity.service == _HEADLESS_SERVICE:
            message = f"{part} {plan.identity.service} and the pods of the whole graph would have one Service, {plan.identity.name}"
            yield results.error(codes.COMPONENTS_NEED_SAME_NAME, f"{message}; rename the {part}", plan.ref, plan.at("name"))
        for other in plans[:index]:
            if plan.identity.name != other.identity.name and (_is_mixed_up(plan, other, whole) or _is_mixed_up(other, plan, whole)):
                message = f"Grove cannot distinguish the cliques of this {part} from the cliques of {part} {other.identity.service}"
                yield results.error(codes.COMPONENTS_NEED_SAME_NAME, f"{message}; rename one of the {parts}", plan.ref, plan.at("name"))


def _by_rank(plan: ComponentPlan) -> Iterator[RolePlan]:
    """Yields the pods with the same index on all nodes form one engine, so their hosts end with that index."""
    alone = plan._replace(placement=plan.placement._replace(nodes=1))
    hosts = [names.grove_host(plan.identity.service, _engine(plan, rank), _INDEX, rank) for rank in range(plan.placement.nodes)]
    for rank in range(plan.placement.nodes):
        yield RolePlan(alone, plan.identity.name, rank=rank, serves_memory=True)
        own = str(rank)
        addressing = Addressing(hosts[0], hosts[0], tuple(hosts[1:]), own, any_rank=own, operand=own, rank_needs_shell=False)
        yield RolePlan(plan, plan.identity.name, _engine(plan, rank), addressing=addressing, rank=rank)


def _engine(plan: ComponentPlan, rank: int) -> Role:
    if plan.placement.nodes == 1:
        return "main"
    return "leader" if rank == 0 else "worker"


def _is_mixed_up(plan: ComponentPlan, other: ComponentPlan, whole: str) -> bool:
    """Returns true if a clique of `plan` has the name of a clique of `other`, or Grove would use it for the pods of `other` in any order.

    `whole` is the name of the PodCliqueSet.
    """
    pairs = ((mine, theirs) for mine in _names(plan) for theirs in _names(other))
    return any(mine == theirs or _is_taken_for(mine, theirs, other, whole) for mine, theirs in pairs)


def _names(plan: ComponentPlan) -> list[str]:
    return [clique(role) for role in roles(plan)]


def _is_taken_for(name: str, other: str, plan: ComponentPlan, whole: str) -> bool:
    """Returns true if `name` is a suffix of the name of a PodClique of the clique `other`, and is longer than `other`.

    Grove calls a PodClique `<set>-0-<clique>`, in a scaling group `<set>-0-<group>-<any number>-<clique>`.
    """
    head = name.removesuffix(f"-{other}")
    if head == name:
        return False
    if not in_groups(plan):
        return f"{whole}-0".endswith(head)
    group = names.grove_workload(whole, plan.identity.service)
    stem = head.rstrip("0123456789")
    return stem != head and f"{group}-".endswith(stem)
