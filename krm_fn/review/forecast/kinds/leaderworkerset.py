"""LeaderWorkerSets: a difference in the stored templates, their size or the network recreates whole groups.

Follows `pkg/utils/revision` (getPatch), `pkg/controllers/leaderworkerset_controller.go` (rollingUpdateParameters) and
`pkg/webhooks/leaderworkerset_webhook.go` of LeaderWorkerSet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.kube import values
from krm_fn.review import fields
from krm_fn.review.forecast import capacity, kinds, rollout, stored
from krm_fn.review.forecast.kinds import Part
from krm_fn.review.forecast.rollout import Rollout, Selector, Steps

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from krm_fn.kube.types import Resource
    from krm_fn.results import Path, Result
    from krm_fn.review.changes import Change
    from krm_fn.review.forecast.kinds import World
    from krm_fn.review.forecast.outcome import Service

GROUP = "leaderworkerset.x-k8s.io"
_SET, _INDEX = "leaderworkerset.sigs.k8s.io/name", "leaderworkerset.sigs.k8s.io/group-index"  # labels of pods
_TEMPLATE: Path = ("spec", "leaderWorkerTemplate")
_SUBGROUPS: Path = (*_TEMPLATE, "subGroupPolicy")
_TEMPLATES = ("leaderTemplate", "workerTemplate")
_RESTART_POLICY = "RecreateGroupOnPodRestart"
_OLD_NAMES = {"": _RESTART_POLICY, "Default": "None"}


def causes(old: Resource, new: Resource) -> tuple[Path, ...]:
    """The paths of the fields that recreate the groups."""
    return fields.of_parts(_revision(old), _revision(new), ("spec",))


def forecast(change: Change, world: World) -> Part:
    """A LeaderWorkerSet. Subgroups cannot come, go or change their size."""
    found = kinds.service_of(change)
    services = () if found is None else (found,)
    both = kinds.differing(change)
    if both is None:
        return Part(kinds.simple(change), services, rollouts=(_rollout(change, world, found, replaces=False),))
    if _subgroups(both[0]) != _subgroups(both[1]):
        return Part("refused", services, services, (_SUBGROUPS,), (rollout.again(_rollout(change, world, found, replaces=True)),))
    changed = causes(*both)
    moved = _rollout(change, world, found, replaces=bool(changed))
    return Part(
        "restarts" if changed else "updated", services, services if changed else (), changed, (moved,), tuple(_sizes(change, changed))
    )


def _sizes(change: Change, changed: tuple[Path, ...]) -> Iterator[Result]:
    """Names the releases that refuse another size (ValidateUpdate before v0.7.0)."""
    if (*_TEMPLATE, "size") in changed:
        message = "LeaderWorkerSet before v0.7.0 refuses another size of the groups; with such a release, delete the set first"
        yield results.warning("DYN540", message, results.ref(change.new or {}), (*_TEMPLATE, "size"))


def _revision(resource: Resource) -> dict[str, Any]:
    """What a revision of the set holds, with the defaults of its definition and its webhook."""
    spec = kinds.spec(resource)
    template = values.mapping(spec.get("leaderWorkerTemplate"))
    pods = {name: stored.group(template[name]) for name in _TEMPLATES if template.get(name) is not None}
    policy = template.get("restartPolicy") or ""
    named = {"size": kinds.number(template.get("size"), 1), "restartPolicy": _OLD_NAMES.get(policy, policy)}
    network = {"subdomainPolicy": "Shared", **kinds.present(spec.get("networkConfig"))}
    return {"leaderWorkerTemplate": {**kinds.present(template), **named, **pods}, "networkConfig": network}


def _subgroups(resource: Resource) -> Any:
    """What the webhook keeps of the subgroups: whether the set has them, and their size."""
    policy = values.mapping(kinds.spec(resource).get("leaderWorkerTemplate")).get("subGroupPolicy")
    return None if policy is None else values.mapping(policy).get("subGroupSize")


def _rollout(change: Change, world: World, found: Service | None, *, replaces: bool) -> Rollout:
    before, after = kinds.replicas(change.old, world.old, found), kinds.replicas(change.new, world.new, found)
    old, new = (_size(each) for each in (change.old, change.new))
    steps = _steps(kinds.spec(change.new), after)
    selector = Selector(change.key.namespace, ((_SET, change.key.name),), _INDEX)
    return Rollout(before, after, old or new, new or old, steps, replaces, change.new is None, selector)


def _steps(spec: Mapping[str, Any], replicas: int) -> Steps:
    """The steps of a set: one group at a time and no surge, if nothing is written."""
    update = values.mapping(spec.get("rolloutStrategy"), "rollingUpdateConfiguration")
    surge = min(rollout.scaled(update.get("maxSurge"), replicas, up=True, default=0), replicas)
    return Steps(surge, min(rollout.scaled(update.get("maxUnavailable"), replicas, up=False, default=1), replicas))


def _size(resource: Resource | None) -> tuple[capacity.Demand, ...]:
    """The demands of the pods of one group: the leader, and the workers, which have the leader's template if they are alone."""
    template = values.mapping(kinds.spec(resource).get("leaderWorkerTemplate"))
    if not template:
        return ()
    worker = capacity.demand(values.mapping(template.get("workerTemplate")).get("spec"))
    leader = template.get("leaderTemplate")
    first = worker if leader is None else capacity.demand(values.mapping(leader).get("spec"))
    return (first, *(worker for _ in range(kinds.number(template.get("size"), 1) - 1)))
