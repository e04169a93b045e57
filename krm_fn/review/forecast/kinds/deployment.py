"""Deployments: pods restart where the template as stored differs, step by step as the strategy says.

Follows Kubernetes' `pkg/controller/deployment`, and `pkg/apis/apps/validation` for the immutable selector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import labels, values
from krm_fn.review import fields
from krm_fn.review.forecast import capacity, kinds, rollout, stored
from krm_fn.review.forecast.kinds import Choice, Part
from krm_fn.review.forecast.rollout import Rollout, Selector, Steps

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.results import Path
    from krm_fn.review.changes import Change
    from krm_fn.review.forecast.kinds import World
    from krm_fn.review.forecast.outcome import Service

GROUP = "apps"
_TEMPLATE: Path = ("spec", "template")
_SELECTOR: Path = ("spec", "selector")


def choices(replicas: int) -> tuple[Choice, ...]:
    """The steps that the annotations of a service choose."""
    one = f'annotate the service with {labels.MAX_SURGE}: "0" and {labels.MAX_UNAVAILABLE}: "1"'
    recreate = f"annotate the service with {labels.STRATEGY}: Recreate"
    return (
        Choice(Steps(0, 1), one, "one replica stops at a time"),
        Choice(Steps(0, replicas, at_once=True), recreate, "all replicas stop at once"),
    )


def causes(old: Resource, new: Resource) -> tuple[Path, ...]:
    """The paths of the fields of the pod template that replace the pods."""
    before, after = (stored.native(kinds.spec(each).get("template")) for each in (old, new))
    return fields.of_parts(before, after, _TEMPLATE)


def forecast(change: Change, world: World) -> Part:
    """A Deployment. A changed selector is refused. A paused Deployment replaces no pod."""
    found = kinds.service_of(change)
    services = () if found is None else (found,)
    both = kinds.differing(change)
    if both is None:
        return Part(kinds.simple(change), services, rollouts=(_rollout(change, world, found, replaces=False),))
    old, new = (kinds.spec(each) for each in both)
    if old.get("selector") != new.get("selector"):
        return Part("refused", services, services, (_SELECTOR,), (rollout.again(_rollout(change, world, found, replaces=True)),))
    changed = causes(*both)
    replaces = bool(changed) and not new.get("paused")
    moved = _rollout(change, world, found, replaces=replaces)
    return Part("restarts" if replaces else "updated", services, services if replaces else (), changed, (moved,))


def _rollout(change: Change, world: World, found: Service | None, *, replaces: bool) -> Rollout:
    before, after = kinds.replicas(change.old, world.old, found), kinds.replicas(change.new, world.new, found)
    old, new = (_size(each) for each in (change.old, change.new))
    taken = rollout.steps(kinds.spec(change.new).get("strategy"), after)
    chosen = values.mapping(values.mapping(kinds.spec(change.old or change.new).get("selector")).get("matchLabels"))
    selector = Selector(change.key.namespace, tuple(chosen.items()))
    return Rollout(before, after, old or new, new or old, taken, replaces, change.new is None, selector)


def _size(resource: Resource | None) -> tuple[capacity.Demand, ...]:
    """The demand of one pod; empty if there is no Deployment."""
    if resource is None:
        return ()
    return (capacity.demand(values.mapping(kinds.spec(resource).get("template")).get("spec")),)
