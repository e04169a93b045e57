"""Reads the status of DisaggregatedSets. The status of a role is that of the LeaderWorkerSets that the controller makes for it.

The controller of LeaderWorkerSet 0.9 and 0.10 writes no status of a set. A render writes a revision of all pod templates on the roles, and
the controller copies it to each LeaderWorkerSet when it creates it. So the newest ones are known before the controller acts on a new spec.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krm_fn.kubernetes import values
from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels, names
from krm_fn.syncer.status import live_fields, replica_status
from krm_fn.syncer.status.replica_status import ReplicaCounts, ReplicaStatus, StatusReader, TemplateStatus, WorkloadFamily

_TEMPLATE = ("spec", "leaderWorkerTemplate", "workerTemplate", "metadata")


class DisaggregatedSetReader(StatusReader):
    """A DisaggregatedSet. It holds the replicas of several services, which are its roles."""

    group = "disaggregatedset.x-k8s.io"
    kind = "DisaggregatedSet"
    resource = "disaggregatedsets"
    label_selectors = replica_status.WITH_LABEL
    scaled_by_adapters_only = True

    def read(self, resource: Resource) -> ReplicaStatus:
        """Reads the roles of one set. Only `with_family` knows whether a role is ready."""
        result = self.common(resource)
        return result._replace(
            problem="no service of the graph is a role of this set",
            templates=tuple(_roles(resource)),
            family=result.key.name,
            owner=replica_status.owner(resource),
            revision=next(_revisions(resource), ""),
        )

    def with_family(self, status: ReplicaStatus, family: WorkloadFamily, service: str = "") -> ReplicaStatus:
        """Returns the status of the role of a service: that of its newest LeaderWorkerSet, with the counts of all.

        It has no counts until the controller has made one.
        """
        role = next((template for template in status.templates if template.clique == names.set_role(service)), None)
        if role is None:
            return status
        desired = 1 if role.replicas is None else role.replicas
        sets = family.members(role.clique)
        newest = [member for member in sets if member.revision == status.revision]
        problem = _problem(desired, sets, newest)
        shown = newest[-1] if newest else sets[-1] if sets else status
        return shown._replace(
            generation=status.generation,
            observed=None,
            desired=desired,
            counts=_counts(sets, newest) if sets else None,
            ready=not problem,
            problem=f"role {role.clique}: {problem}" if problem else "",
            updating=len(sets) != 1 or len(newest) != 1 or newest[0].updating,
            changes=None,
            templates=() if sets else status.templates,
            family=status.family,
            owner=status.owner,
        )

    def available(self, *, ready: bool) -> tuple[str, str]:
        """Returns the reason and the message that the operator has for LeaderWorkerSets."""
        return replica_status.get("LeaderWorkerSet").available(ready=ready)


def _roles(resource: Resource) -> Iterator[TemplateStatus]:
    """Yields the template of each role. Both templates of a group carry the same labels of Dynamo."""
    for index, role in enumerate(values.objects(values.mapping(resource, "spec").get("roles"))):
        metadata, name = values.mapping(role, *_TEMPLATE), values.text(role.get("name"))
        read = replica_status.template(metadata, ("spec", "roles", index, *_TEMPLATE))
        service = values.text(values.mapping(metadata, "labels").get(labels.COMPONENT))
        replicas = live_fields.desired_replicas(values.mapping(role, "spec"))
        yield read._replace(service=service, clique=live_fields.intern_text(name), replicas=replicas)


def _revisions(resource: Resource) -> Iterator[str]:
    """Yields the revision that a render wrote on each role."""
    for role in values.objects(values.mapping(resource, "spec").get("roles")):
        yield live_fields.intern_text(labels.annotations(role).get(labels.SET_REVISION))


def _counts(sets: Sequence[ReplicaStatus], newest: Sequence[ReplicaStatus]) -> ReplicaCounts:
    """Returns the groups of all revisions, the updated ones of the newest revision, and those that are ready."""
    of_all, of_newest = ([member.counts for member in members if member.counts] for members in (sets, newest))
    numbers = (
        sum(counts.replicas for counts in of_all),
        sum(counts.updated for counts in of_newest),
        sum(counts.ready or 0 for counts in of_all),
    )
    return ReplicaCounts(*(min(number, live_fields.MAX_REPLICAS) for number in numbers))


def _problem(desired: int, sets: Sequence[ReplicaStatus], newest: Sequence[ReplicaStatus]) -> str:
    """Returns the first check that fails."""
    if not newest:
        return "the controller has made no LeaderWorkerSet of the newest revision; LeaderWorkerSet must be 0.9 or newer"
    if len(sets) > 1:
        counts = _counts(sets, newest)
        return f"performing rolling update: desired={desired}, updated={counts.updated}, replicas={counts.replicas}"
    if newest[0].desired != desired:
        return f"desired={desired}, of its LeaderWorkerSet={newest[0].desired}"
    return newest[0].problem


READERS = (DisaggregatedSetReader(),)
