"""LeaderWorkerSets: a replica is a group of pods.

Follows `pkg/utils/revision` (getPatch), `pkg/controllers/leaderworkerset_controller.go` (rollingUpdateParameters) and
`pkg/webhooks/leaderworkerset_webhook.go` of LeaderWorkerSet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import stored_templates, values
from krm_fn.kubernetes.types import Resource
from krm_fn.render.schema import object_changes
from krm_fn.render.schema.object_changes import ObjectChange
from krm_fn.review.forecast import gpu_capacity, object_rules, uniform_workloads
from krm_fn.review.forecast.gpu_capacity import Demand
from krm_fn.review.forecast.rollouts import RolloutPods, Steps
from krm_fn.review.forecast.uniform_workloads import UniformWorkload

_SET, INDEX = "leaderworkerset.sigs.k8s.io/name", "leaderworkerset.sigs.k8s.io/group-index"  # labels of pods
_GROUP_TEMPLATE: Path = ("spec", "leaderWorkerTemplate")
_SUBGROUPS: Path = (*_GROUP_TEMPLATE, "subGroupPolicy")
_TEMPLATES = ("leaderTemplate", "workerTemplate")
_RESTART_POLICY = "RecreateGroupOnPodRestart"
_OLD_NAMES = {"": _RESTART_POLICY, "Default": "None"}


class LeaderWorkerSet(UniformWorkload):
    """A replica is a group of pods. A change of the stored templates, the size or the network recreates whole groups."""

    def refused_fields(self, change: ObjectChange, old: Resource, new: Resource) -> tuple[Path, ...]:
        """Returns the subgroups, if they differ."""
        return () if _subgroups(old) == _subgroups(new) else (_SUBGROUPS,)

    def causes(self, old: Resource, new: Resource) -> tuple[Path, ...]:
        """Returns the paths of the fields that recreate the groups."""
        return object_changes.of_parts(_revision(old), _revision(new), ("spec",))

    def demands(self, resource: Resource) -> tuple[Demand, ...]:
        """Returns the demands of the leader, and of the workers, which have the leader's template if they are alone."""
        return demands_of(object_rules.spec(resource))

    def steps(self, spec: Mapping[str, Any], replicas: int) -> Steps:
        """Returns the steps of its rollout strategy. The default is one group at a time and no surge."""
        update = values.mapping(spec.get("rolloutStrategy"), "rollingUpdateConfiguration")
        surge = min(uniform_workloads.scale_step(update.get("maxSurge"), replicas, up=True, default=0), replicas)
        unavailable = min(uniform_workloads.scale_step(update.get("maxUnavailable"), replicas, up=False, default=1), replicas)
        return Steps(surge, unavailable, numbered=True)

    def selector(self, change: ObjectChange) -> RolloutPods:
        """Returns the label of the set. The pods of a group have the same index."""
        return RolloutPods(change.key.namespace, ((_SET, change.key.name),), INDEX)

    def findings(self, change: ObjectChange, causes: tuple[Path, ...]) -> Iterator[Result]:
        """Names the releases that refuse another size (ValidateUpdate before v0.7.0)."""
        if (*_GROUP_TEMPLATE, "size") in causes:
            message = "LeaderWorkerSet before v0.7.0 refuses another group size; with such a release, delete the set first"
            yield results.warning(codes.GROUP_SIZE_REFUSED, message, results.ref(change.new or {}), (*_GROUP_TEMPLATE, "size"))


def demands_of(spec: Mapping[str, Any]) -> tuple[Demand, ...]:
    """Returns the demands of the pods of one group of a LeaderWorkerSet with this spec; empty without a template."""
    template = values.mapping(spec.get("leaderWorkerTemplate"))
    if not template:
        return ()
    worker = gpu_capacity.pod_demand(values.mapping(template.get("workerTemplate")).get("spec"))
    template_of_leader = template.get("leaderTemplate")
    leader = worker if template_of_leader is None else gpu_capacity.pod_demand(values.mapping(template_of_leader).get("spec"))
    return (leader, *(worker for _ in range(object_rules.replica_count(template.get("size"), 1) - 1)))


def stored_group(template: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the templates of a group as they are stored, with the defaults of their definition and of the webhook."""
    pods = {name: stored_templates.group(template[name]) for name in _TEMPLATES if template.get(name) is not None}
    policy = template.get("restartPolicy") or ""
    named = {"size": object_rules.replica_count(template.get("size"), 1), "restartPolicy": _OLD_NAMES.get(policy, policy)}
    return {**object_rules.present_fields(template), **named, **pods}


def _revision(resource: Resource) -> dict[str, Any]:
    """Returns the content of a revision of the set, with the defaults of its definition and its webhook."""
    spec = object_rules.spec(resource)
    group = stored_group(values.mapping(spec.get("leaderWorkerTemplate")))
    network = {"subdomainPolicy": "Shared", **object_rules.present_fields(spec.get("networkConfig"))}
    return {"leaderWorkerTemplate": group, "networkConfig": network}


def _subgroups(resource: Resource) -> Any:
    """Returns the part of the subgroups that the webhook compares: their presence and their size."""
    policy = values.mapping(object_rules.spec(resource).get("leaderWorkerTemplate")).get("subGroupPolicy")
    return None if policy is None else values.mapping(policy).get("subGroupSize")
