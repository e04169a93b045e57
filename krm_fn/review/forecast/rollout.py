"""Rollouts: how many units of which size take the place of how many others, and in which steps.

A unit is what a controller replaces at once: a pod of a Deployment, a group of a LeaderWorkerSet, or a replica of a scaling group.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from krm_fn.kube import values
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_fn.review.forecast.capacity import Demand
    from krm_fn.review.forecast.forecast_types import Service

_PERCENTAGE = re.compile(r"([0-9]{1,9})%")
_DEFAULT_STEP = "25%"

Placement = tuple[str, ...]
"""The nodes of the pods of one unit, in the order of its pods."""


class Selector(NamedTuple):
    """How the pods of a rollout are found in a cluster: their namespace and labels. Pods with the same value of `unit` are one unit.

    Without `unit`, each pod is a unit.
    """

    namespace: str
    labels: tuple[tuple[str, str], ...]
    unit: str = ""


class Steps(NamedTuple):
    """The units that may run besides the wanted number, and the units that may be missing.

    `at_once` is true if all old units go before the first new one comes.
    """

    surge: int = 0
    unavailable: int = 1
    at_once: bool = False


class Rollout(NamedTuple):
    """One rollout: from `before` units of the old size to `after` units of the new size.

    A size has one demand for each pod of a unit. `replaces` is false if the old units stay and only their number changes. A rollout that is
    `pruned` begins when all others have ended or wait: whoever prunes an object applies the others first. `selector` finds the old pods.
    `placed` are the nodes of the old units that are known; the other old units are placed where they fit. `service` has the pods; None if
    that is the only service of the object.
    """

    before: int
    after: int
    old: tuple[Demand, ...]
    new: tuple[Demand, ...]
    steps: Steps = Steps()
    replaces: bool = True
    pruned: bool = False
    selector: Selector | None = None
    placed: tuple[Placement, ...] = ()
    service: Service | None = None


def again(rollout: Rollout) -> Rollout:
    """The rollout of an object that is deleted and made again: all old units go first."""
    return rollout._replace(steps=Steps(0, rollout.after, at_once=True))


def steps(strategy: Any, replicas: int) -> Steps:
    """The steps of a Deployment's strategy, as Kubernetes rounds them (ResolveFenceposts): surge up, unavailable down.

    One pod may be missing if both are zero.

    >>> steps({"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}, 5)
    Steps(surge=2, unavailable=1, at_once=False)
    >>> steps({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "25%"}}, 1)
    Steps(surge=0, unavailable=1, at_once=False)
    """
    written = values.mapping(strategy)
    if written.get("type") == "Recreate":
        return Steps(0, replicas, at_once=True)
    update = values.mapping(written, "rollingUpdate")
    surge = scaled(update.get("maxSurge"), replicas, up=True)
    unavailable = scaled(update.get("maxUnavailable"), replicas, up=False)
    return Steps(surge, min(unavailable if surge or unavailable else 1, replicas))


def scaled(step: Any, replicas: int, *, up: bool, default: int | str = _DEFAULT_STEP) -> int:
    """A number of units: a number as written, or a percentage of the replicas, rounded up or down. An invalid step counts as zero."""
    written = default if step is None else step
    if isinstance(written, int):
        return max(written, 0)
    match = _PERCENTAGE.fullmatch(f"{written}")
    if not match:
        return 0
    share = int(match[1]) * replicas
    return -(-share // 100) if up else share // 100


def gpus(size: Iterable[Demand]) -> int:
    """The number of GPUs of one unit."""
    return sum(demand.gpus for demand in size)
