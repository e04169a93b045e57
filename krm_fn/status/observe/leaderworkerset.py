"""LeaderWorkerSets. All numbers in their status count groups.

Follows the reference's `internal/controller/dynamocomponentdeployment_controller.go` IsLeaderWorkerSetReady. From version 0.9 on, their
status has an `observedGeneration`, and tells an update that is under way. Their conditions keep the reason of the last success while they
are False, so that only `status` of a condition is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import names, values
from krm_fn.status import fields, observe
from krm_fn.status.observe import Counts, Observation, Observer, _templates

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource

_TEMPLATES = tuple(("spec", "leaderWorkerTemplate", role, "metadata") for role in ("leaderTemplate", "workerTemplate"))


class LeaderWorkerSet(Observer):
    """One set holds all replicas of a multinode service, or one of them."""

    group = "leaderworkerset.x-k8s.io"
    kind = "LeaderWorkerSet"
    resource = "leaderworkersets"
    label_selectors = observe.LABELLED
    least_replicas = 0
    scaled_by_adapters_only = True

    def observe(self, resource: Resource) -> Observation:
        """Ready if all groups are ready, and if all are of the newest template where the status tells it."""
        status = values.mapping(resource, "status")
        own = self.start(resource)
        counts = Counts(*(fields.count(status.get(each)) for each in ("replicas", "updatedReplicas", "readyReplicas")))
        available = fields.condition(status, "Available")
        why = _why(own, counts)
        if not why and own.desired and available.get("status") != "True":
            why = "condition Available is not True"
        rolling = fields.condition(status, "UpdateInProgress").get("status") == "True"
        return own._replace(
            counts=counts,
            ready=not why,
            why=why,
            updating=bool(observe.behind(own)) or rolling or (own.observed is not None and counts.updated != own.desired),
            since=fields.since(available) if (available.get("status") == "True") is not bool(why) else "",
            selector=values.text(status.get("hpaPodSelector")),
            templates=tuple(_templates.read(values.mapping(resource, *path), path) for path in _TEMPLATES),
        )

    def reported(self, graph: str, name: str) -> tuple[str, str]:
        """The component, which may have one set for each replica."""
        return names.component_of(self.kind, name) or name, name

    def available(self, *, ready: bool) -> tuple[str, str]:
        """The reference's words."""
        if ready:
            return "AllLeaderWorkerSetsReady", "All LeaderWorkerSets are ready"
        return "SomeLeaderWorkerSetsNotReady", "Some LeaderWorkerSets are not ready"


def _why(own: Observation, counts: Counts) -> str:
    """The first check that fails."""
    known = own.observed is not None
    ready = counts.ready or 0
    if late := observe.behind(own):
        return late
    if ready < own.desired or (known and ready != own.desired):
        return f"desired={own.desired}, ready={ready}"
    if known and counts.updated != own.desired:
        return f"desired={own.desired}, updated={counts.updated}"
    if known and counts.replicas != own.desired:
        return f"performing rolling update: desired={own.desired}, replicas={counts.replicas}"
    return ""


OBSERVER = LeaderWorkerSet()
