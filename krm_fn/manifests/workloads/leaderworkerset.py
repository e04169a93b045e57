"""LeaderWorkerSets for multinode components: one set and one Volcano PodGroup per replica.

Follows the reference's `internal/controller/dynamocomponentdeployment_controller.go` generateLeaderWorkerSet and neighbours, and
`internal/dynamo/lws.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import labels, names
from krm_fn.kube import templates as pod_templates
from krm_fn.manifests import pod, services, strata
from krm_fn.manifests.workloads import Workload
from krm_fn.plan import Addressing, RolePlan
from krm_fn.workload_list import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.kube.types import Labels, PodTemplate, Resource
    from krm_fn.manifests.pod import Pod, Pods
    from krm_fn.plan import ComponentPlan, GraphPlan
    from krm_fn.results import Result

_SCHEDULER = "volcano"


class LeaderWorkerSet(Workload):
    """Runs multinode components in deployment mode."""

    kinds = ("LeaderWorkerSet",)
    templates = pod_templates.GROUP

    def addressing(self, plan: ComponentPlan) -> Addressing:
        """The set puts the leader's host and each pod's index into the environment.

        A shell expands `$NAME`. In a command without a shell Kubernetes expands `$(NAME)` only.
        """
        others = tuple(rf"""$(echo "$LWS_LEADER_ADDRESS" | sed 's/\./-{index}\./')""" for index in range(1, plan.placement.nodes))
        return Addressing(
            leader="$LWS_LEADER_ADDRESS",
            leader_word="$(LWS_LEADER_ADDRESS)",
            workers=others,
            rank="$(LWS_WORKER_INDEX)",
            waits_for_dns=True,
        )

    def render(self, graph: GraphPlan, made: Sequence[Pods]) -> Iterator[Resource]:
        """A PodGroup and a set per replica."""
        for component in made:
            for index in range(component.plan.placement.replicas_or_one):
                yield _pod_group(component.plan, index)
                yield _set(component.plan, index, *component.roles)

    def roles(self, plan: ComponentPlan) -> Iterator[RolePlan]:
        """The leader and its workers; a component with 0 replicas has no set and no pod."""
        if plan.placement.replicas_or_one == 0:
            return
        addressing = self.addressing(plan)
        yield RolePlan(plan, plan.who.name, "leader", addressing=addressing)
        yield RolePlan(plan, plan.who.name, "worker", addressing=addressing)

    def selector(self, plan: ComponentPlan) -> Labels:
        """Only the leader of a group serves."""
        return {**super().selector(plan), labels.ROLE: "leader"}

    def entries(self, graph: GraphPlan, plan: ComponentPlan) -> Iterator[Entry]:
        """One entry per set, which is one group."""
        for index in range(plan.placement.replicas_or_one):
            yield Entry(plan.who.service, "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", names.instance(plan.who.name, index), 1)

    def check(self, made: Pods) -> Iterator[Result]:
        """What the reference finds only while it makes the set (checkMainContainer, GPU limit)."""
        plan = made.plan
        if plan.placement.replicas_or_one == 0:
            return
        name = names.instance(plan.who.name, plan.placement.replicas_or_one - 1)
        if len(name) > names.GROUP_LIMIT:
            message = (
                f"makes the name {name}, {len(name) - names.GROUP_LIMIT} over the {names.GROUP_LIMIT} characters of a LeaderWorkerSet, "
                "whose followers carry a label made from it; shorten graph or service"
            )
            yield results.error("DYN143", message, plan.ref, plan.path)
        where = (*plan.path, "extraPodSpec", "mainContainer")
        main = made.main
        if main["name"] != strata.MAIN:
            message = f"a LeaderWorkerSet looks for its main container by name; call it {strata.MAIN}, or leave the name out"
            yield results.error("DYN160", message, plan.ref, (*where, "name"))
        for field in ("command", "args"):
            if not main.get(field):
                yield results.error(
                    "DYN161", "a group on several nodes needs it, to add how the nodes find each other; set it", plan.ref, (*where, field)
                )
        if not plan.pod.gpus.limit:
            message = "a group on several nodes needs to know the GPUs of one node; set it"
            yield results.error("DYN162", message, plan.ref, (*plan.path, "resources", "limits", "gpu"))


def _set(plan: ComponentPlan, index: int, leader: Pod, worker: Pod) -> Resource:
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {
            "name": names.instance(plan.who.name, index),
            "namespace": plan.who.namespace,
            "labels": {**services.workload_labels(plan), labels.INSTANCE: f"{index}"},
        },
        "spec": {
            "replicas": 1,
            "startupPolicy": "LeaderCreated",
            "leaderWorkerTemplate": {
                "size": plan.placement.nodes,
                "leaderTemplate": _template(leader, index),
                "workerTemplate": _template(worker, index),
            },
        },
    }


def _template(made: Pod, index: int) -> PodTemplate:
    """The pods of one role. Identity labels override the user's, and Volcano schedules the group as one."""
    role, plan, template = made.role, made.role.component, pod.template(made)
    marks = {**services.workload_labels(plan), labels.ROLE: role.role, labels.INSTANCE: f"{index}"}
    kept = {key: value for key, value in template["metadata"]["labels"].items() if key != labels.SELECTOR}
    notes = {**template["metadata"].get("annotations", {}), labels.POD_GROUP: names.instance(plan.who.name, index)}
    return {
        "metadata": {"labels": {**kept, **marks}, "annotations": notes},
        "spec": {**template["spec"], "schedulerName": _SCHEDULER},
    }


def _pod_group(plan: ComponentPlan, index: int) -> Resource:
    """The PodGroup that makes Volcano start all pods of a group, or none."""
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {
            "name": names.instance(plan.who.name, index),
            "namespace": plan.who.namespace,
            "labels": {labels.INSTANCE: f"{index}"},
        },
        "spec": {"minMember": plan.placement.nodes},
    }


WORKLOAD = LeaderWorkerSet()
