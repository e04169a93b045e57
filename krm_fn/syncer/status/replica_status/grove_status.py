"""Reads the statuses of Grove's objects: PodCliqueSets (whole graphs), PodCliqueScalingGroups and PodCliques.

Follows the operator's `internal/dynamo/grove.go` CheckPodCliqueReady and CheckPCSGReady. The `observedGeneration` of PodCliques and
PodCliqueScalingGroups does not move when a template changes. Newer versions of Grove write the hash of all templates into the status of the
PodCliqueSet and of each object that follows it, and the PodCliqueSet observes its generation only at the end of an update. No entry of the
annotation `workloads` names a PodCliqueSet, but the objects that Grove makes depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from krm_fn.kubernetes import values
from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels
from krm_fn.syncer.status import live_fields, replica_status
from krm_fn.syncer.status.replica_status import ReplicaCounts, ReplicaStatus, StatusReader, TemplateStatus, WorkloadFamily

_COHERENT = "Coherent"
_MIN_REPLICAS = 1
"""Of an object without `minAvailable`."""


class _GroveReader(StatusReader):
    """A kind of Grove."""

    group = "grove.io"
    version = "v1alpha1"
    labels_services = False


class _ScaledReader(_GroveReader):
    """An object that Grove makes from a PodCliqueSet, and that the syncer scales."""

    label_selectors = (f"{labels.MANAGED_BY}={labels.GROVE_MANAGER}",)
    scaled_by_syncer = True
    min_replicas = _MIN_REPLICAS
    counted: Literal["ready", "available"]
    """The replica count that shows readiness."""
    selector_field: str
    short_name: str

    def read(self, resource: Resource) -> ReplicaStatus:
        """Reads one object. It is ready if all replicas count as ready and are of the newest template."""
        status = values.mapping(resource, "status")
        result = self.common(resource)
        counts = _counts(status, self.counted)._replace(scheduled=live_fields.whole_number(status.get("scheduledReplicas")))
        problem = _problem(result, counts, self.counted)
        return result._replace(
            counts=counts,
            ready=not problem,
            problem=problem,
            updating=result.observed is None or bool(replica_status.explain_unprocessed(result)) or counts.updated != result.desired,
            selector=values.text(status.get(self.selector_field)),
            family=live_fields.label(resource, labels.PART_OF),
            owner=replica_status.owner(resource),
            revision=_revision(status, "currentPodCliqueSetGenerationHash"),
            min_available=live_fields.whole_number(values.mapping(resource, "spec").get("minAvailable")) or _MIN_REPLICAS,
        )

    def with_family(self, status: ReplicaStatus, family: WorkloadFamily, service: str = "") -> ReplicaStatus:
        """Requires that its PodCliqueSet reports the same."""
        return _with_set(status, family.clique_set)

    def reported_as(self, graph: str, name: str) -> tuple[str, str]:
        """Names the PodCliqueSet, which is `graph`."""
        return graph, f"{self.short_name}/{name}"


class PodCliqueReader(_ScaledReader):
    """A single-node service, or one role in one replica of a scaling group."""

    kind = "PodClique"
    resource = "podcliques"
    counted = "ready"
    selector_field = "hpaPodSelector"
    short_name = "podclique"

    def read(self, resource: Resource) -> ReplicaStatus:
        """Reads one object, and the scaling group that it belongs to."""
        return super().read(resource)._replace(member=live_fields.label(resource, labels.GROVE_GROUP))


class PodCliqueScalingGroupReader(_ScaledReader):
    """A multinode service. A replica is a leader with its workers, and counts as available while one of several workers is missing."""

    kind = "PodCliqueScalingGroup"
    resource = "podcliquescalinggroups"
    counted = "available"
    selector_field = "selector"
    short_name = "pcsg"

    def with_family(self, status: ReplicaStatus, family: WorkloadFamily, service: str = "") -> ReplicaStatus:
        """Requires that its PodCliqueSet reports the same, and that all its PodCliques are ready."""
        result = super().with_family(status, family)
        clique_set = family.clique_set
        if not result.ready or clique_set is None or not clique_set.revision:
            return result
        cliques = family.members(status.key.name)
        unready = _unready([_with_set(clique, clique_set) for clique in cliques])
        problem = _missing(status, cliques) or unready or _outdated_counts(family, cliques)
        return result._replace(ready=not problem, problem=problem)


class PodCliqueSetReader(_GroveReader):
    """Holds the pod templates of all services."""

    kind = "PodCliqueSet"
    resource = "podcliquesets"

    def read(self, resource: Resource) -> ReplicaStatus:
        """Reads one object. It is ready if Grove has processed the newest spec."""
        status = values.mapping(resource, "status")
        result = self.common(resource)
        problem = "observedGeneration is nil" if result.observed is None else replica_status.explain_unprocessed(result)
        return result._replace(
            counts=_counts(status, "available"),
            ready=not problem,
            problem=problem,
            updating=bool(problem),
            templates=tuple(_cliques(resource)),
            family=result.key.name,
            owner=replica_status.owner(resource),
            revision=_revision(status, "currentGenerationHash"),
            defers_scaling=_updates_coherently(resource),
        )


def _counts(status: dict[str, Any], counted: Literal["ready", "available"]) -> ReplicaCounts:
    """Reads the replica counts that all of Grove's kinds have, and the ready or the available ones."""
    replicas, updated, count = (live_fields.count(status.get(field)) for field in ("replicas", "updatedReplicas", f"{counted}Replicas"))
    return ReplicaCounts(replicas, updated, **{counted: count})


def _revision(status: dict[str, Any], field: str) -> str:
    """Reads a hash of templates in a status."""
    return live_fields.intern_text(status.get(field))


def _with_set(status: ReplicaStatus, clique_set: ReplicaStatus | None) -> ReplicaStatus:
    """Makes an object not ready until its PodCliqueSet reports that the newest templates run."""
    if clique_set is None and status.revision:
        problem = status.problem or f"PodCliqueSet {status.family} not found"
        return status._replace(ready=False, problem=problem, updating=True)
    if clique_set is not None:
        status = status._replace(defers_scaling=clique_set.defers_scaling)
    if clique_set is None or not clique_set.revision:
        return status
    problem = status.problem or _explain_unprocessed(clique_set) or _explain_outdated(status, clique_set) or _remaining(status)
    updating = status.updating or clique_set.updating or status.revision != clique_set.revision
    return status._replace(ready=not problem, problem=problem, updating=updating)


def _updates_coherently(resource: Resource) -> bool:
    """Returns True while Grove replaces the pods of all cliques together."""
    progress = values.mapping(resource, "status", "updateProgress")
    strategy = values.mapping(resource, "spec", "updateStrategy").get("type")
    return strategy == _COHERENT and bool(progress) and not progress.get("updateEndedAt")


def _problem(status: ReplicaStatus, counts: ReplicaCounts, field: str) -> str:
    """Returns the first check that fails, in the order and the words of the operator."""
    if status.observed is None:
        return "observedGeneration is nil"
    if unprocessed := replica_status.explain_unprocessed(status):
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


def _explain_unprocessed(clique_set: ReplicaStatus) -> str:
    name, generation, observed = clique_set.key.name, clique_set.generation, clique_set.observed
    if observed == generation:
        return ""
    return f"PodCliqueSet {name} is not yet updated: generation={generation}, observedGeneration={observed or 0}"


def _explain_outdated(status: ReplicaStatus, clique_set: ReplicaStatus) -> str:
    return "" if status.revision == clique_set.revision else "the templates of the PodCliqueSet are newer than those of its pods"


def _remaining(status: ReplicaStatus) -> str:
    """Reports replicas that remain after scaling to 0."""
    remaining = status.counts.replicas if status.counts and status.desired == 0 else 0
    return f"desired=0, replicas={remaining}" if remaining else ""


def _missing(group: ReplicaStatus, cliques: Sequence[ReplicaStatus]) -> str:
    """Requires at least one PodClique for each replica."""
    return f"desired={group.desired}, podcliques={len(cliques)}" if len(cliques) < group.desired else ""


def _unready(cliques: Sequence[ReplicaStatus]) -> str:
    """Names the first PodClique that is not ready."""
    return next((f"podclique/{clique.key.name}: {clique.problem}" for clique in sorted(cliques) if not clique.ready), "")


def _outdated_counts(family: WorkloadFamily, cliques: Sequence[ReplicaStatus]) -> str:
    """Names the first PodClique with another pod count than the graph: Grove sets the count only when it makes the PodClique."""
    for clique in sorted(cliques):
        template = family.template_of(clique)
        if template is not None and template.replicas not in (None, clique.desired):
            counts = f"desired={clique.desired}, in the graph={template.replicas}"
            fix = "Grove does not change a PodClique that exists, delete it, and Grove creates it again"
            return f"podclique/{clique.key.name}: {counts}, {fix}"
    return ""


def _cliques(resource: Resource) -> Iterator[TemplateStatus]:
    """Reads the cliques. A clique holds labels and annotations of its pods itself."""
    cliques = values.mapping(resource, "spec", "template").get("cliques")
    for index, clique in enumerate(cliques if isinstance(cliques, list) else ()):
        template = replica_status.template(values.mapping(clique), ("spec", "template", "cliques", index))
        yield template._replace(
            service=live_fields.intern_text(values.mapping(clique, "labels").get(labels.COMPONENT)),
            clique=live_fields.intern_text(values.mapping(clique).get("name")),
            replicas=live_fields.whole_number(values.mapping(clique, "spec").get("replicas")),
        )


READERS = (PodCliqueReader(), PodCliqueScalingGroupReader(), PodCliqueSetReader())
