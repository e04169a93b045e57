"""LeaderWorkerSets for multinode components: one set and one gang per replica."""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.render import labels, names
from krm_fn.render.manifests import gangs, pod_builder, pod_template, services
from krm_fn.render.manifests.workloads import _leaderworkersets
from krm_fn.render.plan import Addressing
from krm_fn.render.workload_list import WorkloadEntry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.base.results import Result
    from krm_fn.kubernetes.native_types import PodTemplateSpec
    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.manifests.pod_builder import Pod, Pods
    from krm_fn.render.plan import ComponentPlan, GraphPlan

_GANGS = "volcano"  # unless the configuration names another gang scheduler


class LeaderWorkerSetWorkload(_leaderworkersets.Sets):
    """A LeaderWorkerSet with one group for each replica of a component."""

    objects = (_leaderworkersets.GROUP_KIND, *gangs.objects())

    def sets(self, plan: ComponentPlan) -> int:
        """Returns one for each replica."""
        return plan.placement.replicas_or_one

    def groups(self, plan: ComponentPlan) -> int:
        """Returns one in each set."""
        return 1

    def addressing(self, plan: ComponentPlan) -> Addressing:
        """Returns the words by which the pods of a group name their leader, their followers and their rank.

        A shell expands `$NAME`. In a command without a shell, Kubernetes expands only `$(NAME)`. It expands no `$(NAME)` within
        `$((...))`, because it reads `$((` as the start of a name.

        Rule leader-worker-set.addressing: The LeaderWorkerSet controller sets variables with the leader's host and the index of each pod.
        (operator: internal/dynamo/lws.go)
        """
        return Addressing(
            leader="$LWS_LEADER_ADDRESS",
            leader_word="$(LWS_LEADER_ADDRESS)",
            workers=_leaderworkersets.follower_hosts(plan),
            rank="$(LWS_WORKER_INDEX)",
            operand="LWS_WORKER_INDEX",
            waits_for_dns=True,
        )

    def render(self, graph: GraphPlan, pods: Sequence[Pods]) -> Iterator[Resource]:
        """Yields a LeaderWorkerSet, and the PodGroup of its gang, for each replica of each component.

        Rule leader-worker-set.per-replica: In Dynamo 0.9, each replica of a component has a LeaderWorkerSet and a PodGroup. (operator:
        internal/controller/dynamocomponentdeployment_controller.go generateLeaderWorkerSet)
        """
        for component in pods:
            plan = component.plan
            for index in range(self.sets(plan)):
                marks = {**services.workload_labels(plan), labels.INSTANCE: f"{index}"}
                gang = gangs.of(plan, _GANGS).gather(plan, index, (_template(pod, index) for pod in component.roles))
                yield from gang.objects
                yield _leaderworkersets.resource(plan, index, 1, marks, gang.templates)

    def entries(self, graph: GraphPlan, plan: ComponentPlan) -> Iterator[WorkloadEntry]:
        """Yields one entry per LeaderWorkerSet.

        Rule leader-worker-set.entries: The workloads of a component on several nodes are its LeaderWorkerSets. (krm-fn)
        """
        for index in range(self.sets(plan)):
            name = names.instance(plan.identity.workload_name, index)
            yield WorkloadEntry(plan.identity.service, _leaderworkersets.API_VERSION, "LeaderWorkerSet", name, 1)

    def check(self, pods: Pods) -> Iterator[Result]:
        """Reports also errors about names, GPUs and scaling adapters that only this number of sets has."""
        plan, main = pods.plan, pods.main
        if plan.placement.autoscaled:
            message = "the scaling adapter has no effect, because each replica is a LeaderWorkerSet, and only a render makes one"
            off = plan.fix("no scaling adapter")
            fix = f"change replicas in Git, and {off}, or use orchestrator: grove in the configuration"
            yield results.warning(codes.SCALING_ADAPTER_WITHOUT_EFFECT, f"{message}; {fix}", plan.ref, plan.at("scalingAdapter"))
        if self.sets(plan) == 0:
            return
        yield from super().check(pods)
        if main["name"] != pod_builder.MAIN:
            message = f"the main container of a LeaderWorkerSet must be named {pod_builder.MAIN}; rename it, or remove the name"
            yield results.error(codes.CONTAINER_NOT_NAMED_MAIN, message, plan.ref, plan.at("main", "name"))
        if not plan.pod.gpus.limit:
            message = "the GPU limit is required in a multinode component, because the engine needs the number of GPUs of one node; set it"
            yield results.error(codes.MULTINODE_WITHOUT_GPUS, message, plan.ref, plan.at("resources", "limits", "gpu"))


def _template(pod: Pod, index: int) -> PodTemplateSpec:
    """Makes the pod template of one role. Identity labels override the user's labels.

    Rule leader-worker-set.template: In Dynamo 0.9, a pod template of a LeaderWorkerSet has labels with its role and its index. (operator:
    internal/controller/dynamocomponentdeployment_controller.go generateLeaderPodTemplateSpec, generateWorkerPodTemplateSpec)
    """
    role, plan, template = pod.role, pod.role.component, pod_template.template(pod)
    marks = {**services.workload_labels(plan), labels.ROLE: role.role, labels.INSTANCE: f"{index}"}
    return {**template, "metadata": {**template["metadata"], "labels": _leaderworkersets.labels_of(template, marks)}}


WORKLOAD = LeaderWorkerSetWorkload()
