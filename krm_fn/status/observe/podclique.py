"""PodCliques, which Grove makes: the pods of one role."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import labels, values
from krm_fn.status import fields
from krm_fn.status.observe import Counts, Observation, Observer, _grove

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krm_fn.kube.types import Resource


class PodClique(Observer):
    """A single-node service, or one role in one replica of a scaling group."""

    group = _grove.GROUP
    version = _grove.VERSION
    kind = "PodClique"
    resource = "podcliques"
    label_selectors = (_grove.SELECTOR,)
    scaled_by_syncer = True
    least_replicas = _grove.LEAST_REPLICAS

    def observe(self, resource: Resource) -> Observation:
        """Ready if all pods are ready and of the newest template."""
        status = values.mapping(resource, "status")
        replicas, updated, ready = (fields.count(status.get(each)) for each in ("replicas", "updatedReplicas", "readyReplicas"))
        counts = Counts(replicas, updated, ready, scheduled=fields.number(status.get("scheduledReplicas")))
        own = _grove.observed(self.start(resource), resource, counts, "ready")
        return own._replace(selector=values.text(status.get("hpaPodSelector")), member=fields.label(resource, labels.GROVE_GROUP))

    def judge(self, own: Observation, family: Sequence[Observation]) -> Observation:
        """Its PodCliqueSet must say the same."""
        return _grove.together(own, family)

    def reported(self, graph: str, name: str) -> tuple[str, str]:
        """The PodCliqueSet, which is `graph`."""
        return graph, f"podclique/{name}"


OBSERVER = PodClique()
