"""What carries pods: a file here is a kind of workload, its `WORKLOAD` writes it.

Not its business: the pods themselves (`krm_fn.manifests.pod`).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from krm_fn import registry
from krm_fn.plan import Addressing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.plan import ComponentPlan, GraphPlan, RolePlan
    from krm_fn.results import Result
    from krm_fn.workload_list import Entry


class Workload:
    """What the expander asks of a carrier. The answers here are those of one object per component."""

    only_always = True
    """Whether its pods must always be restarted."""

    by_graph = False
    """Whether one object carries a whole graph, so that there is nothing between it and the graph (reference: the Grove pathway)."""

    def addressing(self, plan: ComponentPlan) -> Addressing:
        """How the pods of a multinode group find each other."""
        return Addressing()

    def render(self, graph: GraphPlan, plans: Sequence[ComponentPlan]) -> Iterator[Resource]:
        """The objects that carry these components."""
        raise NotImplementedError

    def entries(self, graph: GraphPlan, plan: ComponentPlan) -> Iterator[Entry]:
        """The component's entries in the annotation `workloads`: the objects whose readiness is the component's readiness."""
        raise NotImplementedError

    def roles(self, plan: ComponentPlan) -> Iterator[RolePlan]:
        """The pod templates it writes for a component."""
        raise NotImplementedError

    def check(self, plan: ComponentPlan) -> Iterator[Result]:
        """What this carrier cannot carry."""
        yield from ()

    def check_together(self, plans: Sequence[ComponentPlan]) -> Iterator[Result]:
        """What this carrier cannot carry side by side."""
        yield from ()


def names() -> tuple[str, ...]:
    """The carriers there are."""
    return registry.entries(sys.modules[__name__])


def get(name: str) -> Workload:
    """One carrier. Raises KeyError for an unknown one."""
    workload: Workload = registry.get(sys.modules[__name__], name).WORKLOAD
    return workload
