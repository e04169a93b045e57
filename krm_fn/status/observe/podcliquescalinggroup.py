"""PodCliqueScalingGroups, which Grove makes: the replicas of a multinode service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import values
from krm_fn.status import fields
from krm_fn.status.observe import Counts, Observation, Observer, _grove

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krm_fn.kube.types import Resource


class PodCliqueScalingGroup(Observer):
    """Each of its replicas is a leader with its workers. A replica counts as available while one of several workers is missing."""

    group = _grove.GROUP
    version = _grove.VERSION
    kind = "PodCliqueScalingGroup"
    resource = "podcliquescalinggroups"
    label_selectors = (_grove.SELECTOR,)
    scaled_by_syncer = True
    least_replicas = _grove.LEAST_REPLICAS

    def observe(self, resource: Resource) -> Observation:
        """Ready if all replicas are available and of the newest template."""
        status = values.mapping(resource, "status")
        replicas, updated, available = (fields.count(status.get(each)) for each in ("replicas", "updatedReplicas", "availableReplicas"))
        counts = Counts(replicas, updated, available=available, scheduled=fields.number(status.get("scheduledReplicas")))
        own = _grove.observed(self.start(resource), resource, counts, "available")
        return own._replace(selector=values.text(status.get("selector")))

    def judge(self, own: Observation, family: Sequence[Observation]) -> Observation:
        """Its PodCliqueSet must say the same, and all its PodCliques must be ready."""
        judged = _grove.together(own, family)
        whole = _grove.whole_of(family)
        if not judged.ready or whole is None or not whole.revision:
            return judged
        members = [each for each in family if each.key.kind == "PodClique" and each.member == own.key.name]
        why = _missing(own, members) or _unready([_grove.together(each, [whole]) for each in members]) or _unchanged(whole, members)
        return judged._replace(ready=not why, why=why)

    def reported(self, graph: str, name: str) -> tuple[str, str]:
        """The PodCliqueSet, which is `graph`."""
        return graph, f"pcsg/{name}"


def _missing(own: Observation, members: Sequence[Observation]) -> str:
    """Each replica has at least one PodClique."""
    return f"desired={own.desired}, podcliques={len(members)}" if len(members) < own.desired else ""


def _unready(members: Sequence[Observation]) -> str:
    """The first PodClique that is not ready."""
    return next((f"podclique/{each.key.name}: {each.why}" for each in sorted(members) if not each.ready), "")


def _unchanged(whole: Observation, members: Sequence[Observation]) -> str:
    """Grove gives a PodClique its number of pods when it makes the PodClique, and does not change it afterwards."""
    for each in sorted(members):
        wanted = _grove.template_of(each, whole)
        if wanted is not None and wanted.replicas not in (None, each.desired):
            why = f"desired={each.desired}, in the graph={wanted.replicas}, Grove does not change a PodClique that exists"
            return f"podclique/{each.key.name}: {why}, delete it to have it made anew"
    return ""


OBSERVER = PodCliqueScalingGroup()
