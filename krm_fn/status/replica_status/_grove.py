"""Rules that PodCliques and PodCliqueScalingGroups share.

Follows the operator's `internal/dynamo/grove.go` CheckPodCliqueReady and CheckPCSGReady. Their `observedGeneration` does not move when a
template changes. Newer versions of Grove write the hash of all templates into the status of the PodCliqueSet and of each object that
follows it, and the PodCliqueSet observes its generation only at the end of an update.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import labels, values
from krm_fn.status import live_fields, replica_status

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from krm_fn.kube.types import Resource
    from krm_fn.status.replica_status import ReplicaCounts, ReplicaStatus, TemplateStatus

SELECTOR = f"{labels.MANAGED_BY}={labels.GROVE_MANAGER}"
GROUP = "grove.io"
VERSION = "v1alpha1"
MIN_REPLICAS = 1
"""Of an object without `minAvailable`."""


def completed(status: ReplicaStatus, resource: Resource, counts: ReplicaCounts, field: str) -> ReplicaStatus:
    """Completes a replica status. `field` is the count that shows readiness: `ready` or `available`."""
    live_status = values.mapping(resource, "status")
    problem = _problem(status, counts, field)
    return status._replace(
        counts=counts,
        ready=not problem,
        problem=problem,
        updating=status.observed is None or bool(replica_status.unprocessed(status)) or counts.updated != status.desired,
        family=live_fields.label(resource, labels.PART_OF),
        revision=revision(live_status, "currentPodCliqueSetGenerationHash"),
        min_available=live_fields.whole_number(values.mapping(resource, "spec").get("minAvailable")) or MIN_REPLICAS,
    )


def revision(status: dict[str, Any], field: str) -> str:
    """Reads a hash of templates in a status."""
    return live_fields.interned(status.get(field))


def with_set(status: ReplicaStatus, family: Sequence[ReplicaStatus]) -> ReplicaStatus:
    """Makes an object not ready until its PodCliqueSet reports that the newest templates run."""
    clique_set = set_of(family)
    if clique_set is None and status.revision:
        problem = status.problem or f"PodCliqueSet {status.family} not found"
        return status._replace(ready=False, problem=problem, updating=True)
    if clique_set is None or not clique_set.revision:
        return status
    problem = status.problem or _unprocessed(clique_set) or _outdated(status, clique_set) or _remaining(status)
    updating = status.updating or clique_set.updating or status.revision != clique_set.revision
    return status._replace(ready=not problem, problem=problem, updating=updating)


def set_of(family: Sequence[ReplicaStatus]) -> ReplicaStatus | None:
    """Finds the PodCliqueSet of a family; None if it does not exist."""
    return next((status for status in family if status.key.kind == "PodCliqueSet"), None)


def template_of(clique: ReplicaStatus, clique_set: ReplicaStatus) -> TemplateStatus | None:
    """Finds the template of a PodClique. Grove ends the name of a PodClique with the name of the clique."""
    matches = [template for template in clique_set.templates if template.clique and clique.key.name.endswith(f"-{template.clique}")]
    return max(matches, key=lambda template: len(template.clique), default=None)


def _problem(status: ReplicaStatus, counts: ReplicaCounts, field: str) -> str:
    """Returns the first check that fails, in the order and the words of the operator."""
    if status.observed is None:
        return "observedGeneration is nil"
    if unprocessed := replica_status.unprocessed(status):
        return unprocessed
    if status.desired == 0:
        return ""
    count = getattr(counts, field)
    if count != status.desired:
        return f"desired={status.desired}, {field}={count}"
    if counts.updated != status.desired:
        return f"desired={status.desired}, updated={counts.updated}"
    if counts.replicas != status.desired:
        return f"performing rolling update: desired={status.desired}, replicas={counts.replicas}"
    return ""


def _unprocessed(clique_set: ReplicaStatus) -> str:
    name, generation, observed = clique_set.key.name, clique_set.generation, clique_set.observed
    if observed == generation:
        return ""
    return f"PodCliqueSet {name} is not yet updated: generation={generation}, observedGeneration={observed or 0}"


def _outdated(status: ReplicaStatus, clique_set: ReplicaStatus) -> str:
    return "" if status.revision == clique_set.revision else "the templates of the PodCliqueSet are newer than those of its pods"


def _remaining(status: ReplicaStatus) -> str:
    """Replicas that remain after scaling to 0."""
    remaining = status.counts.replicas if status.counts and status.desired == 0 else 0
    return f"desired=0, replicas={remaining}" if remaining else ""
