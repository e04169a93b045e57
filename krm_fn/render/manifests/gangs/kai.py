"""The KAI scheduler, which starts the gangs of Grove."""

from __future__ import annotations

from krm_fn.kubernetes import identity
from krm_fn.render import labels
from krm_fn.render.kinds import WHOLE_GRAPH
from krm_fn.render.manifests.gangs import GangScheduler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.render.plan import GraphPlan


class KaiGangs(GangScheduler):
    """Starts the pods of a graph under Grove."""

    grove_scheduler = "kai-scheduler"
    """The scheduler of the pods of Grove.

    Rule grove.kai-scheduler: The KAI scheduler has the name `kai-scheduler`. (operator: internal/dynamo/grove.go
    injectKaiSchedulerIfEnabled)
    """
    marks = (labels.KAI_QUEUE_NAME, identity.KAI_QUEUE)

    def obstacle(self, graph: GraphPlan) -> str:
        """Returns that Grove is not the orchestrator."""
        if graph.orchestrator in WHOLE_GRAPH:
            return ""
        return "the KAI scheduler starts gangs of Grove only; write orchestrator: grove, or gangScheduling: kubernetes or volcano"


GANG_SCHEDULER = KaiGangs()
