"""Rules about graphs with `orchestrator: disaggregatedSet`: whether a graph has a prefill and a decode worker that can be one set."""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.render import labels
from krm_fn.render.kinds import ROLLOUT_GROUP
from krm_fn.render.resolve import rollout_group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.base.results import Result
    from krm_fn.render.plan import GraphPlan

_ANNOTATIONS = ("metadata", "annotations")


def check(plan: GraphPlan) -> Iterator[Result]:
    """Reports a graph that cannot have a DisaggregatedSet, and an annotation that changes nothing."""
    if plan.orchestrator not in ROLLOUT_GROUP:
        message = "the annotation says that the operator runs this graph with Grove, so it gets no DisaggregatedSet"
        yield results.warning(codes.SET_OF_GROVE, f"{message}; remove the annotation", plan.ref, (*_ANNOTATIONS, labels.WORKLOAD_PROVIDER))
        return
    present = {phase for component in plan.components for phase in rollout_group.phases(component.identity)}
    missing = [phase for phase in rollout_group.PHASES if phase not in present]
    if missing:
        parts, part = plan.part_words()
        message = (
            f"the graph has no {part} of type {' and none of type '.join(missing)}, so there is nothing for a DisaggregatedSet to join"
        )
        fix = f"give the {parts} of the two phases their types, or use orchestrator: deployment"
        yield results.error(codes.NOTHING_TO_JOIN, f"{message}; {fix}", plan.ref, plan.at("components"))
    if not plan.config.leader_worker_set.enabled:
        problem = f"orchestrator: {plan.orchestrator} needs the controller of LeaderWorkerSets, and leaderWorkerSet.enabled is false"
        yield results.error(codes.SET_WITHOUT_CONTROLLER, f"{problem}; set it to true", plan.ref)
    if plan.config.restart == "sync" and plan.restart and plan.restart.id:
        message = "the syncer would restart the roles of the DisaggregatedSet one after the other, and each of them restarts all"
        yield results.error(codes.RESTART_OF_ONE_ROLE, f"{message}; set restart: render in the configuration", plan.ref, plan.at("restart"))
    yield from _check_hash(plan)
    yield from _check_joined(plan)


def _check_hash(plan: GraphPlan) -> Iterator[Result]:
    """Reports workers without a hash: routers find the workers of all revisions in one Dynamo namespace."""
    workers = [component for component in plan.components if rollout_group.phases(component.identity)]
    if workers and not any(component.identity.generation for component in workers):
        message = "the workers have no worker hash, so during a rollout a new prefill worker could serve an old decode worker"
        fix = "use workerHash: pods, and images of Dynamo 1.0 or later; or use orchestrator: deployment"
        yield results.error(codes.ROLES_WITHOUT_WORKER_HASH, f"{message}; {fix}", plan.ref, plan.at("components"))


def _check_joined(plan: GraphPlan) -> Iterator[Result]:
    """Reports names in the annotation that are not those of workers."""
    parts, _ = plan.part_words()
    by_name = {component.identity.service: component for component in plan.components}
    for name in dict.fromkeys(rollout_group.joined_components(plan.annotations)):
        component = by_name.get(name)
        if component is None or not component.type.runs_engine:
            workers = ", ".join(sorted(other for other, plan in by_name.items() if plan.type.runs_engine))
            message = f"{name!r} is not a worker of this graph"
            fix = f"write names of {parts} that run an engine ({workers or 'it has none'}), separated by commas"
            yield results.error(codes.ROLLOUT_GROUP_OF_NO_WORKER, f"{message}; {fix}", plan.ref, (*_ANNOTATIONS, labels.ROLLOUT_GROUP))
