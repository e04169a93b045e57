"""The scheduler of the pods, and its queue.

Follows the operator's `internal/dynamo/grove.go` (injectKaiSchedulerIfEnabled, injectVolcanoSchedulerIfEnabled).
"""

from __future__ import annotations

from krm_fn.kubernetes import identity
from krm_fn.render import labels
from krm_fn.render.manifests import gangs
from krm_fn.render.manifests.gangs import kai, volcano

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.kubernetes.native_types import PodSpec
    from krm_fn.kubernetes.types import Labels
    from krm_fn.render.plan import ComponentPlan, GraphPlan

KAI, VOLCANO = kai.GANG_SCHEDULER.grove_scheduler, volcano.GANG_SCHEDULER.grove_scheduler
_DEFAULT = "default-scheduler"


def enabled_scheduler(plan: ComponentPlan | GraphPlan) -> str:
    """Returns the scheduler that the configuration enables for Grove; empty for the default scheduler.

    Rule grove.gang-scheduling: The setting `gangScheduling` decides which scheduler starts the gangs of Grove. (krm-fn)
    """
    if plan.config.gang_scheduling:
        return gangs.get(plan.config.gang_scheduling).grove_scheduler
    if plan.config.grove.kai_scheduler.enabled:
        return KAI
    return VOLCANO if plan.release.grove.volcano and plan.config.grove.volcano_scheduler.enabled else ""


def scheduler(plan: ComponentPlan) -> str:
    """Returns the scheduler of a component's pods: the user's, otherwise the enabled one."""
    return plan.pod.spec.get("schedulerName") or enabled_scheduler(plan) or _DEFAULT


def set_scheduler(graph: GraphPlan, plan: ComponentPlan, spec: PodSpec) -> tuple[PodSpec, Labels]:
    """Returns the pod spec of a clique with its scheduler, and the label of its queue.

    The enabled scheduler gets all pods without another scheduler.

    Rule grove.queue: A clique has the scheduler of the configuration and the label of its queue, unless the user names another scheduler.
    (operator: internal/dynamo/grove.go injectKaiSchedulerIfEnabled, injectVolcanoSchedulerIfEnabled)
    """
    name = enabled_scheduler(plan)
    if not name or scheduler(plan) != name:
        return spec, {}
    queue = _queue(graph, labels.KAI_QUEUE_NAME) or plan.config.grove.kai_scheduler.queue
    return {**spec, "schedulerName": name}, {identity.KAI_QUEUE: queue} if name == KAI else {}


def queue_annotation(graph: GraphPlan) -> Labels:
    """Returns the annotation of a PodCliqueSet with the queue of Volcano, if the graph names one."""
    queue = _queue(graph, labels.VOLCANO_QUEUE_NAME)
    return {identity.VOLCANO_QUEUE: queue} if queue and enabled_scheduler(graph) == VOLCANO else {}


def _queue(graph: GraphPlan, annotation: str) -> str:
    return graph.annotations.get(annotation, "").strip()
