"""Joins the strata of a pod, and places the main container after the user's containers.

Follows the reference's `internal/dynamo/graph.go` GenerateBasePodSpec before release 1.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.manifests import backends, strata
from krm_fn.manifests.assemblies import Assembly, Pod, Pods

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_fn.kube.types import PodSpec
    from krm_fn.manifests.strata import Entry, Part
    from krm_fn.plan import ComponentPlan, RolePlan


class MainLast(Assembly):
    """The engine changes the main container after all strata."""

    merges_probes = True

    def pods(self, plan: ComponentPlan, roles: Iterable[RolePlan]) -> Pods:
        """The pods of one component."""
        layers, backend = strata.layers(plan), backends.get(plan.placement.backend)
        around, main = strata.joined(layers)
        made = []
        for role in roles:
            spec: PodSpec = {**around, "containers": [*around["containers"], backend.container(main, role)]}
            made.append(Pod(role, backend.pod(spec, role), len(around["containers"])))
        return Pods(plan, layers, main, tuple(made))

    def entry(self, made: Pods, pod: PodSpec, part: Part, field: str, index: int) -> Entry:
        """The origin of an entry of a list: each stratum adds its entries after those of the lower strata."""
        return strata.entry(made.strata, part, field, index)


ASSEMBLY = MainLast()
