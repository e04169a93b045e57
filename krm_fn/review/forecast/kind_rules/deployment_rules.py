"""Deployments: pods restart where the template as stored differs, step by step as the strategy says.

Follows Kubernetes' `pkg/controller/deployment`, and `pkg/apis/apps/validation` for the immutable selector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import labels, values
from krm_fn.provenance import object_changes
from krm_fn.review.forecast import capacity, kind_rules, rollout, stored_templates
from krm_fn.review.forecast.kind_rules import Choice, _uniform_workload
from krm_fn.review.forecast.rollout import Selector, Steps

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from krm_fn.kube.types import Resource
    from krm_fn.provenance.object_changes import ObjectChange
    from krm_fn.results import Path

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


class Deployment(_uniform_workload.UniformWorkload):
    """A changed selector is refused. A paused Deployment replaces no pod."""

    def immutable(self, old: Resource, new: Resource) -> Path | None:
        """The selector, if it differs."""
        return None if kind_rules.spec(old).get("selector") == kind_rules.spec(new).get("selector") else _SELECTOR

    def causes(self, old: Resource, new: Resource) -> tuple[Path, ...]:
        """The paths of the fields of the pod template that differ as stored."""
        before, after = (stored_templates.native(kind_rules.spec(resource).get("template")) for resource in (old, new))
        return object_changes.of_parts(before, after, _TEMPLATE)

    def waits(self, new: Resource) -> bool:
        """True while it is paused."""
        return bool(kind_rules.spec(new).get("paused"))

    def size(self, resource: Resource) -> tuple[capacity.Demand, ...]:
        """The demand of one pod."""
        return (capacity.demand(values.mapping(kind_rules.spec(resource).get("template")).get("spec")),)

    def steps(self, spec: Mapping[str, Any], replicas: int) -> Steps:
        """The steps of its strategy."""
        return rollout.steps(spec.get("strategy"), replicas)

    def selector(self, change: ObjectChange) -> Selector:
        """The labels of its selector."""
        chosen = values.mapping(values.mapping(kind_rules.spec(change.old or change.new).get("selector")).get("matchLabels"))
        return Selector(change.key.namespace, tuple(chosen.items()))


forecast = Deployment().forecast
