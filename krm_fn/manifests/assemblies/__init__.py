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
    from krm_fn.manifests.strata import Entry, Part, Stratum
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

    merges_probes = False
    """True if a probe of the user is merged with the default probe; False if it replaces the default probe."""

    def pods(self, plan: ComponentPlan, roles: Iterable[RolePlan]) -> Pods:
        """The pods of one component, one for each of these roles."""
        raise NotImplementedError

    def entry(self, made: Pods, pod: PodSpec, part: Part, field: str, index: int) -> Entry:
        """The origin of an entry in a list of one of these pods, or of its main container."""
        raise NotImplementedError


def pods(plan: ComponentPlan, roles: Iterable[RolePlan]) -> Pods:
    """The pods of one component, one for each of these roles, as the plan's release joins them."""
    return get(plan).pods(plan, roles)


def entry(made: Pods, pod: PodSpec, part: Part, field: str, index: int) -> Entry:
    """The origin of an entry in a list of one of these pods, or of its main container. The main container itself is the engine's."""
    return get(made.plan).entry(made, pod, part, field, index)


def get(plan: ComponentPlan) -> Assembly:
    """The assembly of the plan's release."""
    assembly: Assembly = registry.get(sys.modules[__name__], plan.behaviour.assembly).ASSEMBLY
    return assembly
