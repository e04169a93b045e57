"""Rules about the setting `gangScheduling`: what the platform must have, and what graphs and the configuration must not have."""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.render import config as settings
from krm_fn.render.kinds import WHOLE_GRAPH, floors
from krm_fn.render.manifests import gangs, workloads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.base.results import Result
    from krm_fn.render.manifests.gangs import GangScheduler
    from krm_fn.render.manifests.pod_builder import Pods
    from krm_fn.render.plan import ComponentPlan, GraphPlan

_OF_GROUP = ("schedulerName", "priorityClassName", "preemptionPolicy")
"""Fields that all pods of a PodGroup have alike (kubernetes `pkg/scheduler/schedule_one_podgroup.go` validatePodGroup)."""


def check(plan: GraphPlan, pods: Sequence[Pods]) -> Iterator[Result]:
    """Yields the findings about a graph whose configuration names a gang scheduler. `pods` holds those of each component."""
    name, is_whole = plan.config.gang_scheduling, plan.orchestrator in WHOLE_GRAPH
    scheduler = gangs.get(name)
    members = [component for component in pods if is_whole or component.plan.placement.nodes > 1]
    if is_whole:
        yield from _check_grove(plan, name)
    if not members:
        if name != "none":
            yield _report_no_gangs(plan, name)
    elif problem := scheduler.obstacle(plan) or _find_shared_object(scheduler, members):
        yield results.error(codes.GANG_SCHEDULER_NOT_AVAILABLE, f"gangScheduling is {name}, but {problem}", plan.ref)
    else:
        yield from _check_platform(plan, scheduler)
        yield from _check_marks(plan, members)
        for component in members if not is_whole else ():
            yield from _check_pods(component, scheduler)
            if scheduler.per_replica:
                yield from _check_group(component)


def _find_shared_object(scheduler: GangScheduler, members: Sequence[Pods]) -> str:
    """Returns why pods cannot name the gang of their replica, and what to write instead; empty if they can, or if they need not."""
    kinds = (workloads.get(component.plan.placement.workload) for component in members if scheduler.per_replica)
    kind = next((kind.objects[0][1] for kind in kinds if not kind.replicas_apart), "")
    if not kind:
        return ""
    problem = f"all replicas in a {kind} have one pod template, so no pod can name the PodGroup of its replica"
    return f"{problem}; write gangScheduling: volcano, or orchestrator: deployment"


def _report_no_gangs(plan: GraphPlan, name: str) -> Result:
    parts, part = plan.part_words()
    message = f"gangScheduling: {name} changes no pods here, because no {part} runs on several nodes"
    return results.info(codes.GRAPH_WITHOUT_GANGS, f"{message}; give one of the {parts} several nodes, or remove the setting", plan.ref)


def _check_grove(plan: GraphPlan, name: str) -> Iterator[Result]:
    """Reports settings of Grove that enable another scheduler than `gangScheduling`."""
    for other in gangs.names():
        scheduler = getattr(plan.config.grove, f"{other}_scheduler", None)
        if other == name or not scheduler or not scheduler.enabled:
            continue
        key = f"grove.{other}Scheduler"
        message = f"gangScheduling is {name}, and {key} is enabled, but one scheduler starts all pods"
        yield results.error(codes.SEVERAL_GANG_SCHEDULERS, f"{message}; remove {key}.enabled, or write gangScheduling: {other}", plan.ref)


def _check_platform(plan: GraphPlan, scheduler: GangScheduler) -> Iterator[Result]:
    """Reports each part of the platform that is too old for the gang scheduler, if the configuration names its version."""
    for part, needed in zip(scheduler.floors._fields, scheduler.floors, strict=True):
        declared = getattr(plan.config.platform, part)
        version = floors.parse_version(declared)
        if needed and version and version < (floors.parse_version(needed) or ()):
            message = (
                f"gangScheduling: {plan.config.gang_scheduling} needs {floors.NAMES[part]} {needed} or newer, and "
                f"platform.{settings.key(part)} of the configuration is {declared}; upgrade it, or use gangScheduling: volcano"
            )
            yield results.error(codes.PLATFORM_TOO_OLD_FOR_GANGS, message, plan.ref)


def _check_marks(plan: GraphPlan, members: Sequence[Pods]) -> Iterator[Result]:
    """Warns of labels and annotations that only another gang scheduler reads."""
    templates = [template for component in members for template in component.plan.templates]
    marked = [
        (plan.annotations, ("metadata", "annotations")),
        *((template.pod.labels, template.at("podTemplate", "metadata", "labels")) for template in templates),
        *((template.pod.annotations, template.at("podTemplate", "metadata", "annotations")) for template in templates),
    ]
    name = plan.config.gang_scheduling
    readers = {mark: reader for reader in gangs.names() for mark in gangs.get(reader).marks if reader != name}
    for marks, path in marked:
        for key in (key for key in marks if key in readers):
            message = f"only the gang scheduler {readers[key]} reads {key}, and gangScheduling is {name}"
            fix = f"remove {key}, or write gangScheduling: {readers[key]}"
            yield results.warning(codes.MARK_OF_OTHER_GANG_SCHEDULER, f"{message}; {fix}", plan.ref, (*path, key))


def _check_pods(pods: Pods, scheduler: GangScheduler) -> Iterator[Result]:
    """Reports pods that name another gang scheduler, or a PodGroup of their own."""
    for plan in pods.plan.templates:
        yield from _check_scheduler_name(plan, scheduler)
        if scheduler.per_replica and plan.pod.spec.get("schedulingGroup"):
            message = "gangScheduling: kubernetes gives the pods of each replica a PodGroup, and these pods name one of their own"
            yield results.error(
                codes.POD_GROUP_BESIDE_GANG_SCHEDULING, f"{message}; remove schedulingGroup", plan.ref, plan.at("pod", "schedulingGroup")
            )


def _check_scheduler_name(plan: ComponentPlan, scheduler: GangScheduler) -> Iterator[Result]:
    written = plan.pod.spec.get("schedulerName") or ""
    other = next((name for name in gangs.names() if written and written == gangs.get(name).grove_scheduler), "")
    if written and written != scheduler.scheduler and (other or scheduler.scheduler):
        message = f"gangScheduling is {plan.config.gang_scheduling}, and schedulerName is {written}, but one scheduler starts a group"
        fix = f"remove schedulerName, or write gangScheduling: {other or 'none'}"
        yield results.error(codes.SEVERAL_GANG_SCHEDULERS, f"{message}; {fix}", plan.ref, plan.at("pod", "schedulerName"))


def _check_group(pods: Pods) -> Iterator[Result]:
    """Reports what keeps the pods of a component from being gangs of Kubernetes."""
    plan = pods.plan
    if plan.placement.autoscaled:
        message = "a scaling adapter cannot add a replica, because only a render makes its PodGroup, and its pods would wait for it"
        fix = f"{plan.fix('no scaling adapter')}, or use gangScheduling: volcano"
        yield results.error(codes.GANGS_OF_AUTOSCALED_COMPONENT, f"{message}; {fix}", plan.ref, plan.at("scalingAdapter"))
    leaders, workers = ([pod.spec for pod in pods.roles if pod.role.role == role] for role in ("leader", "worker"))
    for leader, worker in zip(leaders, workers, strict=True):
        for field in _OF_GROUP:
            if leader.get(field) != worker.get(field):
                yield _report_difference(plan, field, f"{leader.get(field) or 'none'}", f"{worker.get(field) or 'none'}")


def _report_difference(plan: ComponentPlan, field: str, leader: str, worker: str) -> Result:
    template = plan.of_role("worker")
    message = f"the {field} of the leader is {leader}, and that of the workers is {worker}, but Kubernetes starts no gang of such pods"
    return results.error(codes.PODS_OF_GANG_DIFFER, f"{message}; write the same {field} for both", plan.ref, template.at("pod", field))
