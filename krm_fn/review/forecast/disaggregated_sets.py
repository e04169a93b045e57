"""DisaggregatedSets: a changed pod template of one role replaces the pods of all roles, in step, and new ones are ready before old ones go.

Follows `pkg/utils/disaggregatedset` (ComputeRevision) and `pkg/controllers/disaggregatedset` of LeaderWorkerSet. `role_steps` has the
steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import values
from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels
from krm_fn.render.schema import object_changes
from krm_fn.render.schema.object_changes import ObjectChange
from krm_fn.review.forecast import leader_worker_sets, object_rules, role_steps, uniform_workloads
from krm_fn.review.forecast.object_rules import ClusterState, KindForecast
from krm_fn.review.forecast.rollouts import Rollout, RolloutPods, Service, Steps

_ROLES: Path = ("spec", "roles")


def forecast(change: ObjectChange, cluster_state: ClusterState) -> KindForecast:
    """Forecasts the change of a DisaggregatedSet. Its revision covers the names and the pod templates of all roles."""
    services = tuple(dict.fromkeys(_services(change.new or change.old or {}, change.key.namespace)))
    states = object_rules.differing_states(change)
    if states is None:
        return KindForecast(object_rules.simple_effect(change), services, rollouts=tuple(_rollouts(change, cluster_state, replaces=False)))
    causes = () if _keeps_old_roles(change) else tuple(_causes(*states))
    rollouts = tuple(_rollouts(change, cluster_state, replaces=bool(causes)))
    restarting = tuple(rollout.service for rollout in rollouts if rollout.service in services and rollout.old_units) if causes else ()
    return KindForecast("restarts" if causes else "updated", services, restarting, causes, rollouts, tuple(_findings(change)))


def scalable_parts(resource: Resource, namespace: str) -> Iterator[tuple[Service | None, dict[str, Any]]]:
    """Yields the spec of each role, which has its number of replicas, with its service."""
    for role in roles(resource):
        yield _service(role, namespace), values.mapping(role.get("spec"))


def service_at(resource: Resource, path: Path, namespace: str) -> Service | None:
    """Returns the service of the role that a field belongs to; None for other fields."""
    listed, index = roles(resource), path[2] if len(path) > 2 else None
    if path[:2] == _ROLES and isinstance(index, int) and index < len(listed):
        return _service(listed[index], namespace)
    return None


def roles(resource: Resource | None) -> list[dict[str, Any]]:
    """Returns the roles of a set."""
    return values.objects(object_rules.spec(resource).get("roles"))


def _service(role: Mapping[str, Any], namespace: str) -> Service | None:
    return object_rules.service_of_labels(role.get("metadata"), namespace)


def _services(resource: Resource, namespace: str) -> Iterator[Service]:
    yield from (service for role in roles(resource) if (service := _service(role, namespace)))


def _by_name(resource: Resource | None) -> dict[str, dict[str, Any]]:
    return {f"{role.get('name')}": role for role in roles(resource)}


def _keeps_old_roles(change: ObjectChange) -> bool:
    """Returns true if no role keeps its name: the controller then finds no old replicas, and never removes those that run (Reconcile)."""
    old, new = _by_name(change.old), _by_name(change.new)
    return bool(new) and any(map(_replicas, old.values())) and old.keys().isdisjoint(new)


def _findings(change: ObjectChange) -> Iterator[Result]:
    """Names the old roles that run on."""
    if _keeps_old_roles(change):
        old = " and ".join(_by_name(change.old))
        message = f"no role keeps its name, so the controller starts new pods, and never stops those of {old}"
        fix = "rename one role after the other, or delete the old LeaderWorkerSets yourself"
        yield results.warning(codes.OLD_ROLES_STAY, f"{message}; {fix}", results.ref(change.new or {}), _ROLES)


def _causes(old: Resource, new: Resource) -> Iterator[Path]:
    """Yields the paths of the fields that change the revision: the pod templates of a role, and the list of roles."""
    old_roles = _by_name(old)
    if [*old_roles] != [*_by_name(new)]:
        yield _ROLES
    for index, role in enumerate(roles(new)):
        before = old_roles.get(f"{role.get('name')}")
        if before is not None:
            at = (*_ROLES, index, "spec", "leaderWorkerTemplate")
            yield from object_changes.of_parts(_template(before), _template(role), at)


def _template(role: Mapping[str, Any]) -> dict[str, Any]:
    return leader_worker_sets.stored_group(values.mapping(role.get("spec"), "leaderWorkerTemplate"))


def _rollouts(change: ObjectChange, cluster_state: ClusterState, *, replaces: bool) -> Iterator[Rollout]:
    """Yields one rollout for each role. Its surge is the one that the steps of all roles together need."""
    old_roles, new_roles = _by_name(change.old), _by_name(change.new)
    names = [*dict.fromkeys((*new_roles, *old_roles))]
    slices = object_rules.replica_count(object_rules.spec(change.new or change.old).get("slices"), 1)
    states = [(old_roles.get(name), new_roles.get(name)) for name in names]
    services = [_service(new or old or {}, change.key.namespace) for old, new in states]
    counts = [_counts(old, new, service, cluster_state) for (old, new), service in zip(states, services, strict=True)]
    planned = [_steps(new, *count) for (_, new), count in zip(states, counts, strict=True)]
    if _keeps_old_roles(change):
        planned = [role if role.new else role._replace(new=role.old) for role in planned]
    peaks = role_steps.peaks(planned) if replaces else [role.new for role in planned]
    for name, service, (old, new), role, peak in zip(names, services, states, planned, peaks, strict=True):
        old_demands, new_demands = (leader_worker_sets.demands_of(values.mapping((state or {}).get("spec"))) for state in (old, new))
        yield Rollout(
            min(role.old * slices, object_rules.MOST),
            min(role.new * slices, object_rules.MOST),
            old_demands or new_demands,
            new_demands or old_demands,
            Steps(max(peak - role.new, 0) * slices, role.unavailable * slices),
            replaces=replaces and old is not None,
            pruned=change.new is None,
            selector=_pods(change, name),
            service=service,
            together=f"{change.key.namespace}/{change.key.name}" if replaces else "",
        )


def _replicas(role: Mapping[str, Any] | None) -> int:
    return 0 if role is None else object_rules.replica_count(values.mapping(role.get("spec")).get("replicas"), 1)


def _counts(
    old: Mapping[str, Any] | None, new: Mapping[str, Any] | None, service: Service | None, cluster_state: ClusterState
) -> tuple[int, int]:
    """Returns the replicas of a role before and after.

    A scaled role has those of the adapter of its service. A role that becomes scaled keeps its replicas, because its scaler begins with
    them (seedForRole).
    """
    before, after = _replicas(old), _replicas(new)
    if is_scaled(old) and service:
        before = max(before, cluster_state.old_replicas.get(service, 1))
    if is_scaled(new) and service:
        after = max(after, cluster_state.new_replicas.get(service, 1), 0 if is_scaled(old) else before)
    return before, after


def is_scaled(role: Mapping[str, Any] | None) -> bool:
    """Returns true if a DisaggregatedSetRoleScaler has the replicas of a role."""
    return values.mapping(role or {}, "scaling").get("mode") == "External"


def _pods(change: ObjectChange, role: str) -> RolloutPods:
    """Returns the labels of the pods of a role. Those of a group have the same index."""
    pod_labels = ((labels.SET_NAME, change.key.name), (labels.SET_ROLE, role))
    return RolloutPods(change.key.namespace, pod_labels, leader_worker_sets.INDEX)


def _steps(new: Mapping[str, Any] | None, was: int, wanted: int) -> role_steps.Role:
    """Returns the numbers of a role. Without a strategy, one replica more may run and none may be missing (extractRollingUpdateConfig)."""
    written = values.mapping(new or {}, "spec", "rolloutStrategy", "rollingUpdateConfiguration")
    if not written:
        return role_steps.Role(was, wanted)
    surge = uniform_workloads.scale_step(written.get("maxSurge"), wanted, up=True, default=0)
    unavailable = uniform_workloads.scale_step(written.get("maxUnavailable"), wanted, up=False, default=1)
    return role_steps.Role(was, wanted, surge if surge or unavailable else 1, unavailable)
