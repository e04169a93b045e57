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
    from krm_fn.manifests.assemblies import Pod, Pods
    from krm_fn.plan import ComponentPlan, GraphPlan
    from krm_fn.results import Result

_SCHEDULER = "volcano"


class LeaderWorkerSet(Workload):
    """Runs multinode components in deployment mode."""

    kinds = ("LeaderWorkerSet",)
    objects = (("leaderworkerset.x-k8s.io", "LeaderWorkerSet"), ("scheduling.volcano.sh", "PodGroup"))
    templates = pod_templates.GROUP

    def addressing(self, plan: ComponentPlan) -> Addressing:
        """The LeaderWorkerSet controller sets variables with the leader's host and each pod's index.

        A shell expands `$NAME`. In a command without a shell, Kubernetes expands only `$(NAME)`.
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
        """A PodGroup and a LeaderWorkerSet per replica."""
        for component in made:
            for index in range(component.plan.placement.replicas_or_one):
                yield _pod_group(component.plan, index)
                yield _set(component.plan, index, *component.roles)

    def roles(self, plan: ComponentPlan) -> Iterator[RolePlan]:
        """The leader and its workers. A component with 0 replicas has no LeaderWorkerSet and no pod."""
        if plan.placement.replicas_or_one == 0:
            return
        addressing = self.addressing(plan)
        yield RolePlan(plan, plan.who.name, "leader", addressing=addressing)
        yield RolePlan(plan, plan.who.name, "worker", addressing=addressing)

    def selector(self, plan: ComponentPlan) -> Labels:
        """Selects only the leader of each group, which serves requests."""
        return {**super().selector(plan), labels.ROLE: "leader"}

    def entries(self, graph: GraphPlan, plan: ComponentPlan) -> Iterator[Entry]:
        """One entry per LeaderWorkerSet."""
        for index in range(plan.placement.replicas_or_one):
            yield Entry(plan.who.service, "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", names.instance(plan.who.name, index), 1)

    def check_together(self, graph: GraphPlan, plans: Sequence[ComponentPlan]) -> Iterator[Result]:
        """Reports services whose name is also a name that the LeaderWorkerSet controller uses.

        The controller creates a headless Service with the name of each LeaderWorkerSet. If a component's Service has that name, the pods of
        the group have no host names. If a multinode service has that name, its leaders cannot start, because the StatefulSet of the other
        service's followers has the name of their StatefulSet.
        """
        for plan in plans:
            for other in graph.components:
                index = names.instance_of(plan.who.name, other.who.name)
                if index is not None and index < plan.placement.replicas_or_one:
                    message = f"service {plan.who.service} and this service would both have the Service {other.who.name}"
                    yield results.error("DYN190", f"{message}; rename one of the services", other.ref, other.at("component"))

    def check(self, made: Pods) -> Iterator[Result]:
        """Reports errors that the reference finds when it makes the LeaderWorkerSet (checkMainContainer, GPU limit), and long names."""
        plan, main = made.plan, made.main
        if plan.placement.autoscaled:
            message = "the scaling adapter has no effect, because each replica is a LeaderWorkerSet, and only a render makes one"
            off = f"{plan.word('scaling_adapter', 'enabled')}: false"
            mend = f"change replicas in Git, and set {off}, or use orchestrator: grove in the configuration"
            yield results.warning("DYN174", f"{message}; {mend}", plan.ref, plan.at("scaling_adapter"))
        if plan.placement.replicas_or_one == 0:
            return
        name = names.instance(plan.who.name, plan.placement.replicas_or_one - 1)
        over = len(name) - names.GROUP_LIMIT
        if over > 0:
            message = f"the LeaderWorkerSet would be named {name}, which is {over} over the limit of {names.GROUP_LIMIT} characters"
            yield results.error("DYN143", f"{message}; shorten the graph's or the service's name", plan.ref, plan.at("component"))
        if main["name"] != strata.MAIN:
            message = f"the main container of a LeaderWorkerSet must be named {strata.MAIN}; rename it, or remove the name"
            yield results.error("DYN160", message, plan.ref, plan.at("main", "name"))
        for field in ("command", "args"):
            if not main.get(field):
                message = f"{field} is required in a multinode service, because the flags for the other nodes are added to it; set it"
                yield results.error("DYN161", message, plan.ref, plan.at("main", field))
        if not plan.pod.gpus.limit:
            message = "the GPU limit is required in a multinode service, because the engine needs the number of GPUs of one node; set it"
            yield results.error("DYN162", message, plan.ref, plan.at("gpus"))


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
    """The pod template of one role. Identity labels override the user's labels. Volcano schedules the group as one."""
    role, plan, template = made.role, made.role.component, pod.template(made)
    marks = {**services.workload_labels(plan), labels.ROLE: role.role, labels.INSTANCE: f"{index}"}
    kept = {key: value for key, value in template["metadata"]["labels"].items() if key != labels.SELECTOR}
    annotations = {**template["metadata"].get("annotations", {}), labels.POD_GROUP: names.instance(plan.who.name, index)}
    return {
        "metadata": {"labels": {**kept, **marks}, "annotations": annotations},
        "spec": {**template["spec"], "schedulerName": _SCHEDULER},
    }


def _pod_group(plan: ComponentPlan, index: int) -> Resource:
    """The PodGroup, with which Volcano starts all pods of a group or none."""
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
