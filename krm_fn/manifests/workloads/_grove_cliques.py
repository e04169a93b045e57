"""The order of cliques, and the check for clique names that Grove confuses in every order.

Grove takes the first clique of a set whose name is a suffix of the PodClique's name as the template of that PodClique.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.kube import names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from krm_fn.kube.types import Role
    from krm_fn.plan import ComponentPlan
    from krm_fn.results import Result

_HEADLESS_SERVICE = "0"
"""The Service of a service with this name would have the name of the Service that Grove creates for all pods of the set."""


def ordered(cliques: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The cliques in the given order, except that a clique whose name ends with another clique's name comes before that one."""
    placed: list[dict[str, Any]] = []
    for clique in cliques:
        at = (index for index, other in enumerate(placed) if clique["name"].endswith(other["name"]))
        placed.insert(next(at, len(placed)), clique)
    return placed


def check(plans: Sequence[ComponentPlan]) -> Iterator[Result]:
    """Reports names of services for which Grove confuses objects."""
    for index, plan in enumerate(plans):
        if plan.who.service == _HEADLESS_SERVICE:
            message = f"service {plan.who.service} and the pods of the whole graph would have one Service, {plan.who.name}"
            yield results.error("DYN190", f"{message}; rename the service", plan.ref, plan.at("component"))
        for other in plans[:index]:
            if plan.who.name != other.who.name and (_is_mixed_up(plan, other) or _is_mixed_up(other, plan)):
                message = f"Grove cannot tell the cliques of this service from the cliques of service {other.who.service}"
                yield results.error("DYN190", f"{message}; rename one of the services", plan.ref, plan.at("component"))


def _is_mixed_up(plan: ComponentPlan, other: ComponentPlan) -> bool:
    """True if a clique of `plan` has the name of a clique of `other`, or Grove would use it for the pods of `other` in any order."""
    pairs = ((mine, theirs) for mine in _names(plan) for theirs in _names(other))
    return any(mine == theirs or _is_taken_for(mine, theirs, other) for mine, theirs in pairs)


def _names(plan: ComponentPlan) -> list[str]:
    roles: tuple[Role, ...] = ("main",) if plan.placement.nodes == 1 else ("leader", "worker")
    return [names.clique(plan.who.service, role) for role in roles]


def _is_taken_for(name: str, other: str, plan: ComponentPlan) -> bool:
    """True if `name` is a suffix of the name of a PodClique of the clique `other`, and is longer than `other`.

    Grove calls a PodClique `<set>-0-<clique>`, in a scaling group `<set>-0-<group>-<any number>-<clique>`.
    """
    head = name.removesuffix(f"-{other}")
    if head == name:
        return False
    if plan.placement.nodes == 1:
        return f"{plan.who.graph}-0".endswith(head)
    group = names.grove_workload(plan.who.graph, plan.who.service)
    stem = head.rstrip("0123456789")
    return stem != head and f"{group}-".endswith(stem)
