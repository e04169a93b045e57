"""LeaderWorkerSets for multinode components: one set and one Volcano PodGroup per replica."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import labels, names
from krm_fn.manifests import pod, services, strata
from krm_fn.manifests.workloads import _sets
from krm_fn.plan import Addressing
from krm_fn.workload_list import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.kube.types import PodTemplate, Resource
    from krm_fn.manifests.assemblies import Pod, Pods
    from krm_fn.plan import ComponentPlan, GraphPlan
    from krm_fn.results import Result

_SCHEDULER = "volcano"


class LeaderWorkerSet(_sets.Sets):
    """A LeaderWorkerSet with one group for each replica of a component."""

    objects = (_sets.GROUP_KIND, ("scheduling.volcano.sh", "PodGroup"))

    def sets(self, plan: ComponentPlan) -> int:
        """One for each replica."""
        return plan.placement.replicas_or_one

    def groups(self, plan: ComponentPlan) -> int:
        """One in each set."""
        return 1

    def addressing(self, plan: ComponentPlan) -> Addressing:
        """The LeaderWorkerSet controller sets variables with the leader's host and each pod's index.

        A shell expands `$NAME`. In a command without a shell, Kubernetes expands only `$(NAME)`. It expands no `$(NAME)` within
        `$((...))`, because it reads `$((` as the start of a name.
        """
        return Addressing(
            leader="$LWS_LEADER_ADDRESS",
            leader_word="$(LWS_LEADER_ADDRESS)",
            workers=_sets.follower_hosts(plan),
            rank="$(LWS_WORKER_INDEX)",
            operand="LWS_WORKER_INDEX",
            waits_for_dns=True,
        )

    def render(self, graph: GraphPlan, made: Sequence[Pods]) -> Iterator[Resource]:
        """A PodGroup and a LeaderWorkerSet per replica."""
        for component in made:
            plan = component.plan
            for index in range(self.sets(plan)):
                marks = {**services.workload_labels(plan), labels.INSTANCE: f"{index}"}
                yield _pod_group(plan, index)
                yield _sets.resource(plan, index, 1, marks, (_template(each, index) for each in component.roles))

    def entries(self, graph: GraphPlan, plan: ComponentPlan) -> Iterator[Entry]:
        """One entry per LeaderWorkerSet."""
        for index in range(self.sets(plan)):
            yield Entry(plan.who.service, _sets.API_VERSION, "LeaderWorkerSet", names.instance(plan.who.workload_name, index), 1)

    def check(self, made: Pods) -> Iterator[Result]:
        """Reports also errors about names, GPUs and scaling adapters that only this number of sets has."""
        plan, main = made.plan, made.main
        if plan.placement.autoscaled:
            message = "the scaling adapter has no effect, because each replica is a LeaderWorkerSet, and only a render makes one"
            off = plan.remedy("scaling_adapter.off")
            mend = f"change replicas in Git, and {off}, or use orchestrator: grove in the configuration"
            yield results.warning("DYN174", f"{message}; {mend}", plan.ref, plan.at("scaling_adapter"))
        if self.sets(plan) == 0:
            return
        yield from super().check(made)
        if main["name"] != strata.MAIN:
            message = f"the main container of a LeaderWorkerSet must be named {strata.MAIN}; rename it, or remove the name"
            yield results.error("DYN160", message, plan.ref, plan.at("main", "name"))
        if not plan.pod.gpus.limit:
            message = "the GPU limit is required in a multinode service, because the engine needs the number of GPUs of one node; set it"
            yield results.error("DYN162", message, plan.ref, plan.at("gpus"))


def _template(made: Pod, index: int) -> PodTemplate:
    """The pod template of one role. Identity labels override the user's labels. Volcano schedules the group as one."""
    role, plan, template = made.role, made.role.component, pod.template(made)
    marks = {**services.workload_labels(plan), labels.ROLE: role.role, labels.INSTANCE: f"{index}"}
    annotations = {**template["metadata"].get("annotations", {}), labels.POD_GROUP: names.instance(plan.who.workload_name, index)}
    return {
        "metadata": {"labels": _sets.labels_of(template, marks), "annotations": annotations},
        "spec": {**template["spec"], "schedulerName": _SCHEDULER},
    }


def _pod_group(plan: ComponentPlan, index: int) -> Resource:
    """The PodGroup, with which Volcano starts all pods of a group or none."""
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {
            "name": names.instance(plan.who.workload_name, index),
            "namespace": plan.who.namespace,
            "labels": {labels.INSTANCE: f"{index}"},
        },
        "spec": {"minMember": plan.placement.nodes},
    }


WORKLOAD = LeaderWorkerSet()
