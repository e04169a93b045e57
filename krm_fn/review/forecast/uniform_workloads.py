"""Workloads whose replicas are all alike, Deployments and LeaderWorkerSets: each has one service and one rollout.

Deployments follow Kubernetes' `pkg/controller/deployment`, and `pkg/apis/apps/validation` for the immutable selector. LeaderWorkerSets
follow `pkg/utils/revision` (getPatch), `pkg/controllers/leaderworkerset_controller.go` (rollingUpdateParameters) and
`pkg/webhooks/leaderworkerset_webhook.go` of LeaderWorkerSet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from krm_fn import results
from krm_fn.kube import labels, stored_templates, values
from krm_fn.kube.types import Resource
from krm_fn.results import Path, Result
from krm_fn.review.forecast import gpu_capacity, object_rules, rollouts
from krm_fn.review.forecast.gpu_capacity import Demand
from krm_fn.review.forecast.object_rules import Choice, ClusterState, KindForecast
from krm_fn.review.forecast.rollouts import Rollout, Selector, Service, Steps
from krm_fn.schema import object_changes
from krm_fn.schema.object_changes import ObjectChange

_PERCENTAGE = re.compile(r"([0-9]{1,9})%")
_DEFAULT_STEP = "25%"


class UniformWorkload:
    """Hooks of one kind of workload, and its forecast."""

    def immutable(self, old: Resource, new: Resource) -> Path | None:
        """Returns the path of a field whose change an API server or a webhook refuses; None if the change is allowed."""
        raise NotImplementedError

    def causes(self, old: Resource, new: Resource) -> tuple[Path, ...]:
        """Returns the paths of the fields that replace the pods."""
        raise NotImplementedError

    def waits(self, new: Resource) -> bool:
        """True if the object replaces no pods until a user resumes it."""
        return False

    def demands(self, resource: Resource) -> tuple[Demand, ...]:
        """Returns the demands of the pods of one replica."""
        raise NotImplementedError

    def steps(self, spec: Mapping[str, Any], replicas: int) -> Steps:
        """Returns the steps of a rollout."""
        raise NotImplementedError

    def selector(self, change: ObjectChange) -> Selector:
        """Labels of the pods that run."""
        raise NotImplementedError

    def findings(self, change: ObjectChange, causes: tuple[Path, ...]) -> Iterator[Result]:
        """Findings about a change that restarts or updates. The default is none."""
        yield from ()

    def forecast(self, change: ObjectChange, cluster_state: ClusterState) -> KindForecast:
        """Forecasts the change of one object."""
        service = object_rules.service_of_workload(change)
        services = () if service is None else (service,)
        states = object_rules.differing_states(change)
        if states is None:
            rollout = self._rollout(change, cluster_state, service, replaces=False)
            return KindForecast(object_rules.simple_effect(change), services, rollouts=(rollout,))
        if (path := self.immutable(*states)) is not None:
            rollout = rollouts.recreated(self._rollout(change, cluster_state, service, replaces=True))
            return KindForecast("refused", services, services, (path,), (rollout,))
        causes = self.causes(*states)
        replaces = bool(causes) and not self.waits(states[1])
        rollout = self._rollout(change, cluster_state, service, replaces=replaces)
        findings = tuple(self.findings(change, causes))
        return KindForecast("restarts" if replaces else "updated", services, services if replaces else (), causes, (rollout,), findings)

    def _rollout(self, change: ObjectChange, cluster_state: ClusterState, service: Service | None, *, replaces: bool) -> Rollout:
        old_replicas = object_rules.replicas(change.old, cluster_state.old_replicas, service)
        new_replicas = object_rules.replicas(change.new, cluster_state.new_replicas, service)
        old, new = (() if resource is None else self.demands(resource) for resource in (change.old, change.new))
        steps = self.steps(object_rules.spec(change.new), new_replicas)
        return Rollout(old_replicas, new_replicas, old or new, new or old, steps, replaces, change.new is None, self.selector(change))


_TEMPLATE: Path = ("spec", "template")
_SELECTOR: Path = ("spec", "selector")


def deployment_steps(strategy: Any, replicas: int) -> Steps:
    """Returns the steps of a Deployment's strategy, as Kubernetes rounds them (ResolveFenceposts): surge up, unavailable down.

    One pod may be missing if both are zero.

    >>> deployment_steps({"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}, 5)
    Steps(surge=2, unavailable=1, at_once=False)
    >>> deployment_steps({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "25%"}}, 1)
    Steps(surge=0, unavailable=1, at_once=False)
    """
    fields = values.mapping(strategy)
    if fields.get("type") == "Recreate":
        return Steps(0, replicas, at_once=True)
    update = values.mapping(fields, "rollingUpdate")
    surge = scaled(update.get("maxSurge"), replicas, up=True)
    unavailable = scaled(update.get("maxUnavailable"), replicas, up=False)
    return Steps(surge, min(unavailable if surge or unavailable else 1, replicas))


def scaled(step: Any, replicas: int, *, up: bool, default: int | str = _DEFAULT_STEP) -> int:
    """Number of units of a step: a number, or a percentage of the replicas, rounded up or down. An invalid step counts as zero."""
    value = default if step is None else step
    if isinstance(value, int):
        return max(value, 0)
    match = _PERCENTAGE.fullmatch(f"{value}")
    if not match:
        return 0
    share = int(match[1]) * replicas
    return -(-share // 100) if up else share // 100


def deployment_choices(replicas: int) -> tuple[Choice, ...]:
    """Returns the other steps that the annotations of a service can choose for its Deployment, the cheapest first."""
    one = f'annotate the service with {labels.MAX_SURGE}: "0" and {labels.MAX_UNAVAILABLE}: "1"'
    recreate = f"annotate the service with {labels.STRATEGY}: Recreate"
    return (
        Choice(Steps(0, 1), one, "one replica stops at a time"),
        Choice(Steps(0, replicas, at_once=True), recreate, "all replicas stop at once"),
    )


class Deployment(UniformWorkload):
    """Pods restart where the stored template differs, step by step as the strategy says. A changed selector is refused."""

    def immutable(self, old: Resource, new: Resource) -> Path | None:
        """Returns the selector, if it differs."""
        return None if object_rules.spec(old).get("selector") == object_rules.spec(new).get("selector") else _SELECTOR

    def causes(self, old: Resource, new: Resource) -> tuple[Path, ...]:
        """Returns the paths of the fields of the pod template that differ as stored."""
        old_template, new_template = (stored_templates.native(object_rules.spec(resource).get("template")) for resource in (old, new))
        return object_changes.of_parts(old_template, new_template, _TEMPLATE)

    def waits(self, new: Resource) -> bool:
        """True while the Deployment is paused."""
        return bool(object_rules.spec(new).get("paused"))

    def demands(self, resource: Resource) -> tuple[Demand, ...]:
        """Returns the demand of one pod."""
        return (gpu_capacity.pod_demand(values.mapping(object_rules.spec(resource).get("template")).get("spec")),)

    def steps(self, spec: Mapping[str, Any], replicas: int) -> Steps:
        """Returns the steps of its strategy."""
        return deployment_steps(spec.get("strategy"), replicas)

    def selector(self, change: ObjectChange) -> Selector:
        """Returns the labels of its selector."""
        match_labels = values.mapping(object_rules.spec(change.old or change.new), "selector", "matchLabels")
        return Selector(change.key.namespace, tuple(match_labels.items()))


_SET, _INDEX = "leaderworkerset.sigs.k8s.io/name", "leaderworkerset.sigs.k8s.io/group-index"  # labels of pods
_GROUP_TEMPLATE: Path = ("spec", "leaderWorkerTemplate")
_SUBGROUPS: Path = (*_GROUP_TEMPLATE, "subGroupPolicy")
_TEMPLATES = ("leaderTemplate", "workerTemplate")
_RESTART_POLICY = "RecreateGroupOnPodRestart"
_OLD_NAMES = {"": _RESTART_POLICY, "Default": "None"}


class LeaderWorkerSet(UniformWorkload):
    """A replica is a group of pods. A change of the stored templates, the size or the network recreates whole groups."""

    def immutable(self, old: Resource, new: Resource) -> Path | None:
        """Returns the subgroups, if they differ."""
        return None if _subgroups(old) == _subgroups(new) else _SUBGROUPS

    def causes(self, old: Resource, new: Resource) -> tuple[Path, ...]:
        """Returns the paths of the fields that recreate the groups."""
        return object_changes.of_parts(_revision(old), _revision(new), ("spec",))

    def demands(self, resource: Resource) -> tuple[Demand, ...]:
        """Returns the demands of the leader, and of the workers, which have the leader's template if they are alone."""
        template = values.mapping(object_rules.spec(resource).get("leaderWorkerTemplate"))
        if not template:
            return ()
        worker = gpu_capacity.pod_demand(values.mapping(template.get("workerTemplate")).get("spec"))
        template_of_leader = template.get("leaderTemplate")
        leader = worker if template_of_leader is None else gpu_capacity.pod_demand(values.mapping(template_of_leader).get("spec"))
        return (leader, *(worker for _ in range(object_rules.replica_count(template.get("size"), 1) - 1)))

    def steps(self, spec: Mapping[str, Any], replicas: int) -> Steps:
        """Returns the steps of its rollout strategy. The default is one group at a time and no surge."""
        update = values.mapping(spec.get("rolloutStrategy"), "rollingUpdateConfiguration")
        surge = min(scaled(update.get("maxSurge"), replicas, up=True, default=0), replicas)
        return Steps(surge, min(scaled(update.get("maxUnavailable"), replicas, up=False, default=1), replicas))

    def selector(self, change: ObjectChange) -> Selector:
        """Returns the label of the set. The pods of a group have the same index."""
        return Selector(change.key.namespace, ((_SET, change.key.name),), _INDEX)

    def findings(self, change: ObjectChange, causes: tuple[Path, ...]) -> Iterator[Result]:
        """Names the releases that refuse another size (ValidateUpdate before v0.7.0)."""
        if (*_GROUP_TEMPLATE, "size") in causes:
            message = "LeaderWorkerSet before v0.7.0 refuses another group size; with such a release, delete the set first"
            yield results.warning("DYN540", message, results.ref(change.new or {}), (*_GROUP_TEMPLATE, "size"))


def _revision(resource: Resource) -> dict[str, Any]:
    """Returns the content of a revision of the set, with the defaults of its definition and its webhook."""
    spec = object_rules.spec(resource)
    template = values.mapping(spec.get("leaderWorkerTemplate"))
    pods = {name: stored_templates.group(template[name]) for name in _TEMPLATES if template.get(name) is not None}
    policy = template.get("restartPolicy") or ""
    named = {"size": object_rules.replica_count(template.get("size"), 1), "restartPolicy": _OLD_NAMES.get(policy, policy)}
    network = {"subdomainPolicy": "Shared", **object_rules.present_fields(spec.get("networkConfig"))}
    return {"leaderWorkerTemplate": {**object_rules.present_fields(template), **named, **pods}, "networkConfig": network}


def _subgroups(resource: Resource) -> Any:
    """Returns the part of the subgroups that the webhook compares: their presence and their size."""
    policy = values.mapping(object_rules.spec(resource).get("leaderWorkerTemplate")).get("subGroupPolicy")
    return None if policy is None else values.mapping(policy).get("subGroupSize")
