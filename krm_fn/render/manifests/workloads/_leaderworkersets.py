"""The parts of LeaderWorkerSets that are the same in all releases of the operator: their roles, their fields and the rules about names.

Follows the operator's `internal/controller/dynamocomponentdeployment_controller.go` generateLeaderWorkerSet and neighbours, and
`internal/dynamo/lws.go`.
"""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.kubernetes import paths
from krm_fn.render import labels, names
from krm_fn.render.manifests.workloads import Workload
from krm_fn.render.plan import RolePlan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from krm_fn.base.results import Result
    from krm_fn.kubernetes.native_types import PodTemplateSpec
    from krm_fn.kubernetes.types import Labels, Resource
    from krm_fn.render.manifests.pod_builder import Pods
    from krm_fn.render.plan import ComponentPlan, GraphPlan

API_VERSION = "leaderworkerset.x-k8s.io/v1"
"""The API version of a LeaderWorkerSet.

Rule leader-worker-set.api-version: LeaderWorkerSets have the API version `leaderworkerset.x-k8s.io/v1`. (operator:
internal/controller/dynamocomponentdeployment_controller.go generateLeaderWorkerSet)
"""
GROUP_KIND = ("leaderworkerset.x-k8s.io", "LeaderWorkerSet")


class Sets(Workload):
    """Runs multinode components in deployment mode. A release decides how many sets a component has."""

    kinds = ("LeaderWorkerSet",)
    platform = "leader_worker_set"
    replicas_apart = True
    templates = paths.GROUP_TEMPLATES

    def sets(self, plan: ComponentPlan) -> int:
        """Returns the number of LeaderWorkerSets of a component."""
        raise NotImplementedError

    def groups(self, plan: ComponentPlan) -> int:
        """Returns the number of groups in the last LeaderWorkerSet of a component."""
        raise NotImplementedError

    def roles(self, plan: ComponentPlan) -> Iterator[RolePlan]:
        """Yields the leader and the worker of a component; none if it has no LeaderWorkerSet.

        Rule leader-worker-set.roles: A group of a LeaderWorkerSet has one leader and a worker for each other node. (operator:
        internal/controller/dynamocomponentdeployment_controller.go generateLeaderPodTemplateSpec, generateWorkerPodTemplateSpec)
        """
        if self.sets(plan) == 0:
            return
        addressing = self.addressing(plan)
        yield RolePlan(plan.of_role("leader"), plan.identity.workload_name, "leader", addressing=addressing)
        yield RolePlan(plan.of_role("worker"), plan.identity.workload_name, "worker", addressing=addressing)

    def selector(self, plan: ComponentPlan) -> Labels:
        """Returns the labels by which the Service of a component selects pods.

        Rule leader-worker-set.selector: The Service of a component with LeaderWorkerSets selects only the leaders, because only they serve
        requests. (operator: internal/controller/dynamocomponentdeployment_controller.go generateService)
        """
        return {**super().selector(plan), labels.ROLE: "leader"}

    def check_together(self, graph: GraphPlan, plans: Sequence[ComponentPlan]) -> Iterator[Result]:
        """Reports services whose name is also a name that the LeaderWorkerSet controller uses.

        The controller creates a headless Service with the name of each LeaderWorkerSet. If a component's Service has that name, the pods of
        the group have no host names. If a multinode service has that name, its leaders cannot start, because the StatefulSet of the other
        service's followers has the name of their StatefulSet.
        """
        for plan in plans:
            for other in graph.components:
                index = names.instance_of(plan.identity.workload_name, other.service_name)
                if index is not None and index < self.sets(plan):
                    parts, part = graph.part_words()
                    message = f"{part} {plan.identity.service} and this {part} would both have the Service {other.service_name}"
                    yield results.error(
                        codes.COMPONENTS_NEED_SAME_NAME, f"{message}; rename one of the {parts}", other.ref, other.at("name")
                    )

    def check(self, pods: Pods) -> Iterator[Result]:
        """Reports errors that the operator finds when it makes the LeaderWorkerSet (checkMainContainer), and long names."""
        plan = pods.plan
        if self.sets(plan) == 0:
            return
        name = names.instance(plan.identity.workload_name, self.sets(plan) - 1)
        over = names.over_group_limit(name, self.groups(plan))
        if over > 0:
            message = f"the LeaderWorkerSet would be named {name}, which is {over} over the limit of {len(name) - over} characters"
            yield results.error(
                codes.LEADER_WORKER_SET_NAME_TOO_LONG, f"{message}; shorten the graph's or the component's name", plan.ref, plan.at("name")
            )
        elif names.SERVICE.fullmatch(plan.service_name) and not names.SERVICE.fullmatch(name):
            message = f"the LeaderWorkerSet would be named {name}, which is not a valid name of a Service; use letters, digits and dashes"
            yield results.error(codes.INVALID_SERVICE_NAME, message, plan.ref, plan.at("name"))
        for field in ("command", "args"):
            if not pods.main.get(field) and not plan.features.has_role_templates:
                message = f"{field} is required in a multinode component, because the flags for the other nodes are added to it; set it"
                yield results.error(codes.MULTINODE_WITHOUT_COMMAND, message, plan.ref, plan.at("main", field))


def resource(plan: ComponentPlan, index: int, replicas: int | None, marks: Labels, templates: Iterable[PodTemplateSpec]) -> Resource:
    """Makes one LeaderWorkerSet. `marks` are its labels; `replicas` is None if an autoscaler sets it. `templates` has one for each role.

    Rule leader-worker-set.object: A component on several nodes has LeaderWorkerSets. (operator:
    internal/controller/dynamocomponentdeployment_controller.go generateLeaderWorkerSet)
    """
    leader, worker = templates
    return {
        "apiVersion": API_VERSION,
        "kind": "LeaderWorkerSet",
        "metadata": {"name": names.instance(plan.identity.workload_name, index), "namespace": plan.identity.namespace, "labels": marks},
        "spec": {
            **({} if replicas is None else {"replicas": replicas}),
            "startupPolicy": "LeaderCreated",
            "leaderWorkerTemplate": {"size": plan.placement.nodes, "leaderTemplate": leader, "workerTemplate": worker},
        },
    }


def labels_of(template: PodTemplateSpec, added: Labels) -> Labels:
    """Returns the labels of a template with others, without the selector of a Deployment."""
    return {**{key: value for key, value in template["metadata"]["labels"].items() if key != labels.SELECTOR}, **added}


def follower_hosts(plan: ComponentPlan) -> tuple[str, ...]:
    """Returns the hosts of the followers as words of a shell line that the leader runs.

    The name of a follower is the leader's name with the follower's index.

    Rule leader-worker-set.follower-hosts: The hosts of the followers are counted by the shell of the leader. (operator:
    internal/dynamo/lws.go)
    """
    return tuple(rf"""$(echo "$LWS_LEADER_ADDRESS" | sed 's/\./-{index}\./')""" for index in range(1, plan.placement.nodes))
