"""Reads the status of DisaggregatedSets. The status of a role is that of the LeaderWorkerSets that the controller makes for it.

The controller of LeaderWorkerSet 0.9 and 0.10 writes no status of a set. That of a later version tells the spec that it has seen, and has
the same counts as the LeaderWorkerSets. A render writes a revision of all pod templates on the roles, and
the controller copies it to each LeaderWorkerSet when it creates it. So the newest ones are known before the controller acts on a new spec.

A role with a scaling adapter has its replicas in a DisaggregatedSetRoleScaler, which the controller of 0.10 makes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krm_fn.kubernetes import values
from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels, names
from krm_fn.syncer.status import live_fields, replica_status
from krm_fn.syncer.status.replica_status import ReplicaCounts, ReplicaStatus, StatusReader, TemplateStatus, WorkloadFamily

_GROUP, _SET, _SCALER = "disaggregatedset.x-k8s.io", "DisaggregatedSet", "DisaggregatedSetRoleScaler"
_EXTERNAL = "External"
_NO_SCALER = "the controller has made no DisaggregatedSetRoleScaler; LeaderWorkerSet must be 0.10 or newer"
_TEMPLATE = ("spec", "leaderWorkerTemplate", "workerTemplate", "metadata")


class DisaggregatedSetReader(StatusReader):
    """A DisaggregatedSet. It holds the replicas of several services, which are its roles."""

    group = _GROUP
    kind = _SET
    resource = "disaggregatedsets"
    label_selectors = replica_status.WITH_LABEL
    min_replicas = 0
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
        role = _role(status, service)
        if role is None:
            return status
        scaler = _scaler(role, family)
        desired = scaler.desired if scaler else 1 if role.replicas is None else role.replicas
        sets = [member for member in family.members(role.clique) if member.key.kind != _SCALER]
        newest = [member for member in sets if member.revision == status.revision]
        missing = _NO_SCALER if role.is_scaled and scaler is None else ""
        problem = replica_status.explain_unprocessed(status) or missing or _problem(desired, sets, newest)
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

    def scale_target(self, status: ReplicaStatus, family: WorkloadFamily, service: str) -> ReplicaStatus | None:
        """Returns the scaler of the role of a service."""
        role = _role(status, service)
        return _scaler(role, family) if role else None

    def available(self, *, ready: bool) -> tuple[str, str]:
        """Returns the reason and the message that the operator has for LeaderWorkerSets."""
        return replica_status.get("LeaderWorkerSet").available(ready=ready)


class RoleScalerReader(StatusReader):
    """A DisaggregatedSetRoleScaler. Only one that a DisaggregatedSet controls belongs to its role."""

    group = _GROUP
    kind = _SCALER
    resource = "disaggregatedsetrolescalers"
    label_selectors = (labels.SET_NAME,)
    min_replicas = 0

    def read(self, resource: Resource) -> ReplicaStatus:
        """Reads one scaler. Its status counts the groups of all revisions."""
        result = self.common(resource)
        name, owners = live_fields.label(resource, labels.SET_NAME), values.mapping(resource, "metadata").get("ownerReferences")
        controls = any(
            owner.get("controller") is True and (owner.get("kind"), owner.get("name")) == (_SET, name) for owner in values.objects(owners)
        )
        return result._replace(
            counts=ReplicaCounts(live_fields.count(values.mapping(resource, "status").get("replicas"))),
            ready=True,
            family=name if controls else "",
            member=live_fields.label(resource, labels.SET_ROLE),
        )


def _role(status: ReplicaStatus, service: str) -> TemplateStatus | None:
    """Finds the role of a service in a set."""
    return next((template for template in status.templates if template.clique == names.set_role(service)), None)


def _scaler(role: TemplateStatus, family: WorkloadFamily) -> ReplicaStatus | None:
    """Finds the scaler of a role; None for a role with its number in Git, and until the controller has made one."""
    members = family.members(role.clique) if role.is_scaled else ()
    return next((member for member in members if member.key.kind == _SCALER), None)


def _roles(resource: Resource) -> Iterator[TemplateStatus]:
    """Yields the template of each role. Both templates of a group carry the same labels of Dynamo."""
    for index, role in enumerate(values.objects(values.mapping(resource, "spec").get("roles"))):
        metadata, name = values.mapping(role, *_TEMPLATE), values.text(role.get("name"))
        read = replica_status.template(metadata, ("spec", "roles", index, *_TEMPLATE))
        service = values.text(values.mapping(metadata, "labels").get(labels.COMPONENT))
        replicas = live_fields.desired_replicas(values.mapping(role, "spec"))
        is_scaled = values.mapping(role, "scaling").get("mode") == _EXTERNAL
        yield read._replace(service=service, clique=live_fields.intern_text(name), replicas=replicas, is_scaled=is_scaled)


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


READERS = (DisaggregatedSetReader(), RoleScalerReader())
