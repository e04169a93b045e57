"""The order of cliques, and the check for clique names that Grove confuses in every order.

Grove takes the first clique of a set whose name is a suffix of the PodClique's name as the template of that PodClique.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.kube import names
from krm_fn.manifests.workloads.grove import clique_roles

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from krm_fn.plan import ComponentPlan, GraphPlan
    from krm_fn.results import Result

_HEADLESS_SERVICE = "0"
"""The Service of a service with this name would have the name of the Service that Grove creates for all pods of the set."""


def ordered(cliques: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the cliques in the given order, except that a clique whose name ends with another clique's name comes before that one."""
    placed: list[dict[str, Any]] = []
    for clique in cliques:
        at = (index for index, other in enumerate(placed) if clique["name"].endswith(other["name"]))
        placed.insert(next(at, len(placed)), clique)
    return placed


def check(graph: GraphPlan, plans: Sequence[ComponentPlan]) -> Iterator[Result]:
    """Reports names of services for which Grove confuses objects."""
    whole = clique_roles.set_name(graph)
    for index, plan in enumerate(plans):
        if plan.identity.service == _HEADLESS_SERVICE:
            message = f"service {plan.identity.service} and the pods of the whole graph would have one Service, {plan.identity.name}"
            yield results.error("DYN190", f"{message}; rename the service", plan.ref, plan.at("name"))
        for other in plans[:index]:
            if plan.identity.name != other.identity.name and (_is_mixed_up(plan, other, whole) or _is_mixed_up(other, plan, whole)):
                message = f"Grove cannot distinguish the cliques of this service from the cliques of service {other.identity.service}"
                yield results.error("DYN190", f"{message}; rename one of the services", plan.ref, plan.at("name"))


def _is_mixed_up(plan: ComponentPlan, other: ComponentPlan, whole: str) -> bool:
    """Returns true if a clique of `plan` has the name of a clique of `other`, or Grove would use it for the pods of `other` in any order.

    `whole` is the name of the PodCliqueSet.
    """
    pairs = ((mine, theirs) for mine in _names(plan) for theirs in _names(other))
    return any(mine == theirs or _is_taken_for(mine, theirs, other, whole) for mine, theirs in pairs)


def _names(plan: ComponentPlan) -> list[str]:
    return [clique_roles.clique(role) for role in clique_roles.roles(plan)]


def _is_taken_for(name: str, other: str, plan: ComponentPlan, whole: str) -> bool:
    """Returns true if `name` is a suffix of the name of a PodClique of the clique `other`, and is longer than `other`.

    Grove calls a PodClique `<set>-0-<clique>`, in a scaling group `<set>-0-<group>-<any number>-<clique>`.
    """
    head = name.removesuffix(f"-{other}")
    if head == name:
        return False
    if not clique_roles.in_groups(plan):
        return f"{whole}-0".endswith(head)
    group = names.grove_workload(whole, plan.identity.service)
    stem = head.rstrip("0123456789")
    return stem != head and f"{group}-".endswith(stem)
