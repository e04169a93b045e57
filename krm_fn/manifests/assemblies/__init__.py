"""Assemblies: each file is a way to join the parts of a pod, and its `ASSEMBLY` makes the pods of a component.

The release of the reference decides which one joins (`Behaviour.assembly`).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from krm_fn import registry
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_fn.kube.types import Container, PodSpec
    from krm_fn.manifests.strata import Stratum
    from krm_fn.plan import ComponentPlan, RolePlan


class Pod(NamedTuple):
    """The pod of one role. `main_at` is the index of the container that runs Dynamo."""

    role: RolePlan
    spec: PodSpec
    main_at: int

    @property
    def main(self) -> Container:
        """The container that runs Dynamo."""
        return self.spec["containers"][self.main_at]


class Pods(NamedTuple):
    """The pods of one component, one for each role. `main` is their main container before the engine changes it."""

    plan: ComponentPlan
    strata: tuple[Stratum, ...]
    main: Container
    roles: tuple[Pod, ...]


class Assembly:
    """A way to join the parts of a pod."""

    def pods(self, plan: ComponentPlan, roles: Iterable[RolePlan]) -> Pods:
        """The pods of one component, one for each of these roles."""
        raise NotImplementedError


def pods(plan: ComponentPlan, roles: Iterable[RolePlan]) -> Pods:
    """The pods of one component, one for each of these roles, as the plan's release joins them."""
    assembly: Assembly = registry.get(sys.modules[__name__], plan.behaviour.assembly).ASSEMBLY
    return assembly.pods(plan, roles)
