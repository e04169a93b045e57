"""LeaderWorkerSets for multinode components: one set per component, whose groups are its replicas.

A gang scheduler can need a set for each replica (`krm_fn.render.manifests.gangs`).
"""

from __future__ import annotations

from krm_fn.render import labels, names
from krm_fn.render.manifests import gangs, pod_template, services
from krm_fn.render.manifests.workloads import _leaderworkersets
from krm_fn.render.plan import Addressing
from krm_fn.render.workload_list import WorkloadEntry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.kubernetes.native_types import PodTemplateSpec
    from krm_fn.kubernetes.types import Labels, Resource
    from krm_fn.render.manifests.pod_builder import Pod, Pods
    from krm_fn.render.plan import ComponentPlan, GraphPlan

_INDEX = 0  # of the only set, whose name ends with it as the name of an older set does
"""The index in the name of a LeaderWorkerSet.

Rule leader-worker-set.index: In Dynamo 1.5, the only LeaderWorkerSet of a component has the index 0. (operator:
internal/controller/dynamocomponentdeployment_controller.go generateLeaderWorkerSet)
"""
_GANGS = "none"  # unless the configuration names another gang scheduler


class NativeLeaderWorkerSetWorkload(_leaderworkersets.Sets):
    """A LeaderWorkerSet with a group for each replica of a component."""

    objects = (_leaderworkersets.GROUP_KIND, *gangs.objects())
    needs_gpus = True

    def sets(self, plan: ComponentPlan) -> int:
        """Returns one, also for 0 replicas; or one for each replica if its pods name their gang."""
        return plan.placement.replicas_or_one if gangs.of(plan, _GANGS).per_replica else 1

    def groups(self, plan: ComponentPlan) -> int:
        """Returns one for each replica in the only set, and one in each of several sets."""
        return 1 if gangs.of(plan, _GANGS).per_replica else plan.placement.replicas_or_one

    def addressing(self, plan: ComponentPlan) -> Addressing:
        """Returns the words by which the pods of a group name their leader, their followers and their rank.

        Kubernetes expands no `$(NAME)` within `$((...))`, because it reads `$((` as the start of a name. A shell reads the variable there.

        Rule leader-worker-set.addressing: see `krm_fn.render.manifests.workloads.leaderworkerset`.
        """
        return Addressing(
            leader="$(LWS_LEADER_ADDRESS)",
            leader_word="$(LWS_LEADER_ADDRESS)",
            workers=_leaderworkersets.follower_hosts(plan),
            rank="$(LWS_WORKER_INDEX)",
            any_rank="$(LWS_WORKER_INDEX)",
            operand="LWS_WORKER_INDEX",
            rank_needs_shell=False,
            waits_for_dns=True,
        )

    def render(self, graph: GraphPlan, pods: Sequence[Pods]) -> Iterator[Resource]:
        """Yields a LeaderWorkerSet per component. If the component has a scaling adapter, an autoscaler sets the replicas.

        If the pods name their gang, each replica has a LeaderWorkerSet and the objects of its gang.

        Rule gangs.set-per-replica: With `gangScheduling: kubernetes`, each replica of a component on several nodes is a LeaderWorkerSet,
        because its pods name their PodGroup. (krm-fn)
        """
        for component in pods:
            plan, templates = component.plan, [template(pod) for pod in component.roles]
            scheduler, marks = gangs.of(plan, _GANGS), services.workload_labels(plan)
            if not scheduler.per_replica:
                yield _leaderworkersets.resource(plan, _INDEX, _replicas(plan), marks, map(scheduler.mark, templates))
                continue
            for index in range(self.sets(plan)):
                gang = scheduler.gather(plan, index, templates)
                yield from gang.objects
                yield _leaderworkersets.resource(plan, index, 1, marks, gang.templates)

    def entries(self, graph: GraphPlan, plan: ComponentPlan) -> Iterator[WorkloadEntry]:
        """Yields an entry for each LeaderWorkerSet.

        Rule leader-worker-set.entries: see `krm_fn.render.manifests.workloads.leaderworkerset`.
        """
        replicas = 1 if gangs.of(plan, _GANGS).per_replica else _replicas(plan)
        for index in range(self.sets(plan)):
            name = names.instance(plan.identity.workload_name, index)
            yield WorkloadEntry(plan.identity.service, _leaderworkersets.API_VERSION, "LeaderWorkerSet", name, replicas)


def _replicas(plan: ComponentPlan) -> int | None:
    return None if plan.placement.autoscaled else plan.placement.replicas_or_one


def template(pod: Pod) -> PodTemplateSpec:
    """Makes the pod template of one role.

    Rule leader-worker-set.template-v1.5: In Dynamo 1.5, a pod template of a LeaderWorkerSet has a label with its role. (operator:
    internal/controller/dynamocomponentdeployment_controller.go generateLeaderPodTemplateSpec, generateWorkerPodTemplateSpec)
    """
    written, plan = pod_template.template(pod), pod.role.component
    added: Labels = {labels.ROLE: pod.role.role}
    if not plan.release.pod_metadata.follows_selector:
        added[labels.NAMESPACE] = plan.identity.labels[labels.NAMESPACE]
    return {**written, "metadata": {**written["metadata"], "labels": _leaderworkersets.labels_of(written, added)}}


WORKLOAD = NativeLeaderWorkerSetWorkload()
