"""LeaderWorkerSets: a difference in the stored templates, their size or the network recreates whole groups.

Follows `pkg/utils/revision` (getPatch), `pkg/controllers/leaderworkerset_controller.go` (rollingUpdateParameters) and
`pkg/webhooks/leaderworkerset_webhook.go` of LeaderWorkerSet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.kube import values
from krm_fn.provenance import object_changes
from krm_fn.review.forecast import capacity, kind_rules, rollout, stored_templates
from krm_fn.review.forecast.kind_rules import _uniform_workload
from krm_fn.review.forecast.rollout import Selector, Steps

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from krm_fn.kube.types import Resource
    from krm_fn.provenance.object_changes import ObjectChange
    from krm_fn.results import Path, Result

GROUP = "leaderworkerset.x-k8s.io"
_SET, _INDEX = "leaderworkerset.sigs.k8s.io/name", "leaderworkerset.sigs.k8s.io/group-index"  # labels of pods
_TEMPLATE: Path = ("spec", "leaderWorkerTemplate")
_SUBGROUPS: Path = (*_TEMPLATE, "subGroupPolicy")
_TEMPLATES = ("leaderTemplate", "workerTemplate")
_RESTART_POLICY = "RecreateGroupOnPodRestart"
_OLD_NAMES = {"": _RESTART_POLICY, "Default": "None"}


class LeaderWorkerSet(_uniform_workload.UniformWorkload):
    """A replica is a group of pods. Subgroups cannot come, go or change their size."""

    def immutable(self, old: Resource, new: Resource) -> Path | None:
        """The subgroups, if they differ."""
        return None if _subgroups(old) == _subgroups(new) else _SUBGROUPS

    def causes(self, old: Resource, new: Resource) -> tuple[Path, ...]:
        """The paths of the fields that recreate the groups."""
        return object_changes.of_parts(_revision(old), _revision(new), ("spec",))

    def size(self, resource: Resource) -> tuple[capacity.Demand, ...]:
        """The demands of the leader, and of the workers, which have the leader's template if they are alone."""
        template = values.mapping(kind_rules.spec(resource).get("leaderWorkerTemplate"))
        if not template:
            return ()
        worker = capacity.demand(values.mapping(template.get("workerTemplate")).get("spec"))
        leader = template.get("leaderTemplate")
        first = worker if leader is None else capacity.demand(values.mapping(leader).get("spec"))
        return (first, *(worker for _ in range(kind_rules.number(template.get("size"), 1) - 1)))

    def steps(self, spec: Mapping[str, Any], replicas: int) -> Steps:
        """One group at a time and no surge, if nothing is written."""
        update = values.mapping(spec.get("rolloutStrategy"), "rollingUpdateConfiguration")
        surge = min(rollout.scaled(update.get("maxSurge"), replicas, up=True, default=0), replicas)
        return Steps(surge, min(rollout.scaled(update.get("maxUnavailable"), replicas, up=False, default=1), replicas))

    def selector(self, change: ObjectChange) -> Selector:
        """The label of the set. The pods of a group have the same index."""
        return Selector(change.key.namespace, ((_SET, change.key.name),), _INDEX)

    def findings(self, change: ObjectChange, causes: tuple[Path, ...]) -> Iterator[Result]:
        """Names the releases that refuse another size (ValidateUpdate before v0.7.0)."""
        if (*_TEMPLATE, "size") in causes:
            message = "LeaderWorkerSet before v0.7.0 refuses another size of the groups; with such a release, delete the set first"
            yield results.warning("DYN540", message, results.ref(change.new or {}), (*_TEMPLATE, "size"))


forecast = LeaderWorkerSet().forecast


def _revision(resource: Resource) -> dict[str, Any]:
    """The content of a revision of the set, with the defaults of its definition and its webhook."""
    spec = kind_rules.spec(resource)
    template = values.mapping(spec.get("leaderWorkerTemplate"))
    pods = {name: stored_templates.group(template[name]) for name in _TEMPLATES if template.get(name) is not None}
    policy = template.get("restartPolicy") or ""
    named = {"size": kind_rules.number(template.get("size"), 1), "restartPolicy": _OLD_NAMES.get(policy, policy)}
    network = {"subdomainPolicy": "Shared", **kind_rules.present(spec.get("networkConfig"))}
    return {"leaderWorkerTemplate": {**kind_rules.present(template), **named, **pods}, "networkConfig": network}


def _subgroups(resource: Resource) -> Any:
    """The part of the subgroups that the webhook compares: their presence and their size."""
    policy = values.mapping(kind_rules.spec(resource).get("leaderWorkerTemplate")).get("subGroupPolicy")
    return None if policy is None else values.mapping(policy).get("subGroupSize")
