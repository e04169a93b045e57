"""What carries pods: a file here is a kind of workload, with `render` to write it.

Not its business: the pods themselves (`krm_fn.pod`).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple, Protocol

from krm_fn import registry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.types import Resource
    from krm_fn.plan import ComponentPlan


class Summary(NamedTuple):
    """One entry of the workloads annotation, the contract with the status syncer. `replicas` None: an autoscaler's business."""

    service: str
    api_version: str
    kind: str
    name: str
    replicas: int | None


class Workload(Protocol):
    """What the expander asks of a carrier."""

    def render(self, plan: ComponentPlan) -> Iterator[Resource]:
        """The objects that carry one component's pods."""

    def summaries(self, plan: ComponentPlan) -> Iterator[Summary]:
        """The workloads whose readiness is the component's."""


def names() -> tuple[str, ...]:
    """The carriers there are."""
    return registry.names(sys.modules[__name__])


def get(name: str) -> Workload:
    """One carrier. Raises KeyError for an unknown one."""
    workload: Workload = registry.get(sys.modules[__name__], name).WORKLOAD
    return workload
