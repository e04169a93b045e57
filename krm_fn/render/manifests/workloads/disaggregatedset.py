"""One DisaggregatedSet for the workers of a graph that roll out together: each component is a role of it.

The controller of LeaderWorkerSets makes one LeaderWorkerSet for each role and each revision of the set. It rolls out all roles in step: the
new revision of every role comes up before the old one goes down. The pods are those of Deployments, and of LeaderWorkerSets for several
nodes. Follows `api/disaggregatedset/v1`, `pkg/utils/disaggregatedset` and `pkg/webhooks/disaggregatedset` of LeaderWorkerSet.
"""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.kubernetes import digest, merge, paths, values
from krm_fn.render import labels, names
from krm_fn.render.kinds import floors
from krm_fn.render.manifests import gangs, pod_template, services, workloads
from krm_fn.render.manifests.workloads import Workload, deployment, leaderworkerset_native
from krm_fn.render.workload_list import WorkloadEntry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from krm_fn.base.results import Result
    from krm_fn.kubernetes.types import Labels, Resource
    from krm_fn.render.manifests.pod_builder import Pods
    from krm_fn.render.plan import Addressing, ComponentPlan, GraphPlan, RolePlan

API_VERSION = "disaggregatedset.x-k8s.io/v1"
"""The API version of a DisaggregatedSet.

Rule disaggregated-set.api-version: DisaggregatedSets have the API version `disaggregatedset.x-k8s.io/v1`. (krm-fn)
"""
MOST_ROLES = 10
"""The most roles of a set (`MaxItems` of `spec.roles`)."""
SCALER_FLOOR = "0.10.0"
"""The lowest version of LeaderWorkerSet whose roles have the field `scaling`."""
_ALL = 100  # percent
_EXTERNAL = {"mode": "External"}
"""The scaling of a role whose replicas its DisaggregatedSetRoleScaler has.

Rule disaggregated-set.scaling: A role whose component has a scaling adapter has `scaling.mode: External`, and no replicas. (krm-fn)
"""


class DisaggregatedSetWorkload(Workload):
    """Runs the prefill and decode workers of a graph, and the workers that its annotation joins to them, in one set."""

    kinds = ("DisaggregatedSet",)
    objects = (("disaggregatedset.x-k8s.io", "DisaggregatedSet"),)
    orchestrator = "disaggregatedSet"
    platform = "leader_worker_set"
    platform_floor = "0.9.0"
    templates = paths.ROLE_TEMPLATES

    def lowest_version(self, resource: Resource) -> str:
        """Returns the version that has the field `scaling` for a set with a scaled role."""
        written = values.objects(values.mapping(resource.get("spec")).get("roles"))
        return SCALER_FLOOR if any(role.get("scaling") for role in written) else self.platform_floor

    def addressing(self, plan: ComponentPlan) -> Addressing:
        """Returns the hosts and ranks of a LeaderWorkerSet."""
        return _pods_of(plan).addressing(plan)

    def roles(self, plan: ComponentPlan) -> Iterable[RolePlan]:
        """Returns the pod templates of a component: one, or those of the leader and the workers of a group."""
        return _pods_of(plan).roles(plan)

    def selector(self, plan: ComponentPlan) -> Labels:
        """Returns the labels by which Services select the pods. They are the same for all revisions of the set."""
        return _pods_of(plan).selector(plan)

    def render(self, graph: GraphPlan, pods: Sequence[Pods]) -> Iterator[Resource]:
        """Yields one DisaggregatedSet.

        Rule disaggregated-set.object: With `orchestrator: disaggregatedSet`, one DisaggregatedSet with the name of the graph holds its
        prefill and decode workers. (krm-fn)
        """
        templates = [_leader_worker_template(component) for component in pods]
        revision = digest.of_value(
            [[component.plan.identity.service, template] for component, template in zip(pods, templates, strict=True)]
        )
        yield {
            "apiVersion": API_VERSION,
            "kind": "DisaggregatedSet",
            "metadata": {"name": graph.name, "namespace": graph.namespace, "labels": {labels.GRAPH: graph.name}},
            "spec": {"roles": [_role(component.plan, template, revision) for component, template in zip(pods, templates, strict=True)]},
        }

    def entries(self, graph: GraphPlan, plan: ComponentPlan) -> Iterator[WorkloadEntry]:
        """Yields one entry, which names the set. Its service tells the role.

        Rule disaggregated-set.entries: The workload of a component in a DisaggregatedSet is the set. (krm-fn)
        """
        replicas = None if plan.placement.autoscaled else plan.placement.replicas_or_one
        yield WorkloadEntry(plan.identity.service, API_VERSION, "DisaggregatedSet", graph.name, replicas, graph.name)

    def check(self, pods: Pods) -> Iterator[Result]:
        """Reports what the controller cannot do for one component: names that are too long, and other strategies and steps."""
        plan = pods.plan
        yield from [*deployment.check_steps(plan)] or _check_amounts(plan)
        name = names.revised_role(plan.identity.graph, plan.identity.service)
        over = names.over_group_limit(name, plan.placement.replicas_or_one)
        if over > 0:
            message = f"the LeaderWorkerSets of this role would have names as {name}, which is {over} over the limit of {len(name) - over}"
            yield results.error(
                codes.NAME_OF_ROLE_TOO_LONG, f"{message} characters; shorten the graph's or the component's name", plan.ref, plan.at("name")
            )
        if deployment.recreates(plan):
            message = "a DisaggregatedSet always rolls out new pods before old ones go, so the strategy Recreate has no effect"
            yield results.warning(codes.STRATEGY_OF_ROLE, f"{message}; remove the annotation", plan.ref, plan.annotation(labels.STRATEGY))

    def check_together(self, graph: GraphPlan, plans: Sequence[ComponentPlan]) -> Iterator[Result]:
        """Reports roles that the API server or the controller refuses together."""
        parts, part = graph.part_words()
        if len(plans) > MOST_ROLES:
            message = f"a DisaggregatedSet has at most {MOST_ROLES} roles, and this graph has {len(plans)}"
            yield results.error(
                codes.TOO_MANY_ROLES, f"{message}; divide the graph, or leave some {parts} out", graph.ref, plans[MOST_ROLES].at("name")
            )
        yield from _check_scaled(graph, plans)
        static = [plan for plan in plans if not plan.placement.autoscaled]
        stopped = [plan for plan in static if plan.placement.replicas_or_one == 0]
        if 0 < len(stopped) < len(static):
            running = next(plan for plan in static if plan.placement.replicas_or_one)
            message = f"this {part} has 0 replicas, and {running.identity.service} of the same DisaggregatedSet has more"
            for plan in stopped:
                fix = "give each role a replica, or none"
                yield results.error(codes.ROLE_WITHOUT_REPLICAS, f"{message}; {fix}", plan.ref, plan.at("replicas"))


def _check_scaled(graph: GraphPlan, plans: Sequence[ComponentPlan]) -> Iterator[Result]:
    """Reports roles that autoscalers scale, if the configuration names a version of LeaderWorkerSet that cannot do it."""
    declared = graph.config.platform.leader_worker_set
    version = floors.parse_version(declared)
    if version is None or version >= (floors.parse_version(SCALER_FLOOR) or ()):
        return
    message = (
        f"the scaling adapter of a role of a DisaggregatedSet needs LeaderWorkerSet {SCALER_FLOOR} or newer, and platform.leaderWorkerSet "
        f"of the configuration is {declared}"
    )
    for plan in plans:
        if plan.placement.autoscaled:
            fix = f"upgrade it, or {plan.fix('no scaling adapter')} and change replicas in Git"
            yield results.error(codes.ADAPTER_OF_ROLE, f"{message}; {fix}", plan.ref, plan.at("scalingAdapter"))


def _check_amounts(plan: ComponentPlan) -> Iterator[Result]:
    """Reports steps with which no rollout ends, and those that the webhook of LeaderWorkerSet 0.10 refuses.

    A step without a surge makes a LeaderWorkerSet with as many replicas as may be missing. Its webhook refuses it if maxUnavailable of this
    number is rounded down to 0. The webhook of DisaggregatedSets counts a scaled role as one replica.
    Follows `pkg/webhooks` (validateRoleMaxSurgeUnavailable and generalValidate).
    """
    steps, replicas = deployment.written_steps(plan), 1 if plan.placement.autoscaled else plan.placement.replicas_or_one
    if not steps or not replicas:
        return
    surge, unavailable = (_percentage(steps[field]) for field in ("maxSurge", "maxUnavailable"))
    for percentage, key in ((surge, labels.MAX_SURGE), (unavailable, labels.MAX_UNAVAILABLE)):
        if percentage is not None and percentage > _ALL:
            message = f"a role of a DisaggregatedSet accepts at most 100%, and this is {percentage}%"
            yield results.error(codes.INVALID_ROLLING_UPDATE, f"{message}; write 100%", plan.ref, plan.annotation(key))
    if steps["maxSurge"] not in (0, "0%") or unavailable is None:
        return
    at_once = unavailable * replicas // _ALL
    if not unavailable * at_once // _ALL:
        of = "one replica, as which a role with a scaling adapter counts," if plan.placement.autoscaled else f"{replicas}"
        message = f"{unavailable}% of {of} is {at_once}, and {unavailable}% of that is 0: without a surge, LeaderWorkerSet refuses it"
        fix = f"write {max(at_once, 1)}"
        yield results.error(codes.INVALID_ROLLING_UPDATE, f"{message}; {fix}", plan.ref, plan.annotation(labels.MAX_UNAVAILABLE))


def _percentage(step: int | str) -> int | None:
    """Returns the number of a percentage; None for a number of replicas."""
    return int(step[:-1]) if isinstance(step, str) else None


def _pods_of(plan: ComponentPlan) -> Workload:
    """Returns the workload kind that a component would have with `orchestrator: deployment`: the pods are those of that kind."""
    return workloads.get("leaderworkerset_native" if plan.placement.nodes > 1 else "deployment")


def _leader_worker_template(pods: Pods) -> dict[str, Any]:
    """Makes the groups of one role.

    A group of one pod is not made again when its container restarts, as with a Deployment.

    Rule disaggregated-set.template: The pod templates of a role are those of a Deployment, or of a LeaderWorkerSet for several nodes.
    (krm-fn)
    """
    if pods.plan.placement.nodes == 1:
        (pod,) = pods.roles[:1]
        return {"size": 1, "restartPolicy": "None", "workerTemplate": pod_template.template(pod)}
    leader, worker = (gangs.of(pods.plan, "none").mark(leaderworkerset_native.template(pod)) for pod in pods.roles)
    return {"size": pods.plan.placement.nodes, "leaderTemplate": leader, "workerTemplate": worker}


def _role(plan: ComponentPlan, template: dict[str, Any], revision: str) -> dict[str, Any]:
    """Makes one role. Its LeaderWorkerSets get the labels of the component, and the revision, by which the syncer knows the newest ones.

    Rule disaggregated-set.role: A component in a DisaggregatedSet is a role with its name in lower case. (krm-fn)
    """
    return merge.present(
        name=names.set_role(plan.identity.service),
        scaling=_EXTERNAL if plan.placement.autoscaled else None,
        metadata={"labels": services.workload_labels(plan), "annotations": {labels.SET_REVISION: revision}},
        spec=merge.present(
            replicas=None if plan.placement.autoscaled else plan.placement.replicas_or_one,
            startupPolicy="LeaderCreated",
            rolloutStrategy=_strategy(plan),
            leaderWorkerTemplate=template,
        ),
    )


def _strategy(plan: ComponentPlan) -> dict[str, Any] | None:
    """Returns the steps of a rollout, if annotations set them. Without them, the controller adds one replica of each role at a time.

    Rule disaggregated-set.steps: The annotations for the steps of a Deployment are those of a role, too. (krm-fn)
    """
    written = deployment.written_steps(plan)
    return {"type": "RollingUpdate", "rollingUpdateConfiguration": written} if written else None


WORKLOAD = DisaggregatedSetWorkload()
