"""Volcano, which starts the gangs of LeaderWorkerSets and of Grove."""

from __future__ import annotations

from krm_fn.kubernetes import identity
from krm_fn.render import labels, names
from krm_fn.render.kinds import WHOLE_GRAPH
from krm_fn.render.manifests.gangs import Gang, GangScheduler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_fn.kubernetes.native_types import PodTemplateSpec
    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.plan import ComponentPlan, GraphPlan


class VolcanoGangs(GangScheduler):
    """Makes a PodGroup of Volcano for a set with one replica. For a set with several, LeaderWorkerSet's controller makes them.

    The controller does so if its configuration has `gangSchedulingManagement.schedulerProvider: volcano` (lws
    `pkg/schedulerprovider/volcano_provider.go`, from 0.7.0 on, which each release needs).
    """

    objects = (("scheduling.volcano.sh", "PodGroup"),)
    scheduler = "volcano"
    """The scheduler of the pods of a LeaderWorkerSet.

    Rule leader-worker-set.scheduler: In Dynamo 0.9, the scheduler `volcano` starts the pods of a group together. (operator:
    internal/controller/dynamocomponentdeployment_controller.go generateLeaderWorkerSet)
    """

    grove_scheduler = "volcano"
    """The scheduler of the pods of Grove.

    Rule grove.volcano-scheduler: Volcano has the name `volcano`. (operator: internal/dynamo/grove.go injectVolcanoSchedulerIfEnabled)
    """
    marks = (labels.VOLCANO_QUEUE_NAME, labels.POD_GROUP, identity.VOLCANO_QUEUE)

    def gather(self, plan: ComponentPlan, index: int, templates: Iterable[PodTemplateSpec]) -> Gang:
        """Returns a PodGroup, and the pod templates, which name it in an annotation.

        Rule leader-worker-set.group-annotation: In Dynamo 0.9, an annotation of the pods names their PodGroup. (operator:
        internal/controller/dynamocomponentdeployment_controller.go generateLeaderPodTemplateSpec, generateWorkerPodTemplateSpec)
        """
        group = {labels.POD_GROUP: names.instance(plan.identity.workload_name, index)}
        return Gang((_pod_group(plan, index),), tuple(_with_annotations(self.mark(template), group) for template in templates))

    def obstacle(self, graph: GraphPlan) -> str:
        """Returns that the release does not use Volcano under Grove."""
        if graph.orchestrator not in WHOLE_GRAPH or graph.release.grove.volcano:
            return ""
        return f"release {graph.release.name} does not use Volcano under Grove; write gangScheduling: kai, or use a newer release"


def _with_annotations(template: PodTemplateSpec, added: dict[str, str]) -> PodTemplateSpec:
    metadata = template["metadata"]
    return {**template, "metadata": {**metadata, "annotations": {**metadata.get("annotations", {}), **added}}}


def _pod_group(plan: ComponentPlan, index: int) -> Resource:
    """Makes the PodGroup of one replica.

    Rule leader-worker-set.pod-group: In Dynamo 0.9, a PodGroup lets Volcano start all pods of a group or none. (operator:
    internal/controller/dynamocomponentdeployment_controller.go generateVolcanoPodGroup)
    """
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {
            "name": names.instance(plan.identity.workload_name, index),
            "namespace": plan.identity.namespace,
            "labels": {labels.INSTANCE: f"{index}"},
        },
        "spec": {"minMember": plan.placement.nodes},
    }


GANG_SCHEDULER = VolcanoGangs()
