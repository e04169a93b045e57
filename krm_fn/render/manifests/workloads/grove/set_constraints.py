"""Fields that Grove's admission refuses, and fields that Grove drops (grove `operator/internal/webhook/admission/pcs/validation`)."""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.kubernetes import identity
from krm_fn.render import names
from krm_fn.render.manifests.workloads.grove import clique_roles, cliques, grove_schedulers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.base.results import Path, Result
    from krm_fn.render.plan import ComponentPlan, GraphPlan


def check(plan: ComponentPlan) -> Iterator[Result]:
    """Yields findings about one component."""
    yield from _check_replicas(plan)
    for template in plan.templates:
        yield from _check_pod(template)
        yield from _check_scheduler(template)


def _check_scheduler(plan: ComponentPlan) -> Iterator[Result]:
    known, name = plan.config.grove.schedulers, grove_schedulers.scheduler(plan)
    if known and name not in (*known, grove_schedulers.enabled_scheduler(plan)):
        message = f"Grove does not know the scheduler {name}, only {', '.join(known)}"
        fix = "use one of them, or list it under grove.schedulers in the configuration if your Grove knows it"
        yield _report_refused(plan, codes.SCHEDULER_UNKNOWN_TO_GROVE, f"{message}; {fix}", plan.at("pod", "schedulerName"))


def check_together(graph: GraphPlan, plans: Sequence[ComponentPlan]) -> Iterator[Result]:
    """Yields findings about the components of one graph.

    KAI accepts pods without a queue (KAI-Scheduler `pkg/podgrouper/podgrouper/plugins/defaultgrouper`), and so does Grove
    0.1.0-alpha.3. Newer releases of Grove refuse them (grove `operator/internal/scheduler/kai/backend.go`).
    """
    yield from _check_restart(graph)
    yield from _check_schedulers(graph)
    yield from _check_topology(graph, plans)
    whole = clique_roles.set_name(graph)
    for plan in plans:
        yield from _check_length(plan, whole)
    expected = grove_schedulers.scheduler(plans[0])
    for plan in plans[1:]:
        if (name := grove_schedulers.scheduler(plan)) != expected:
            message = f"schedulerName is {name}, but the pods of {plans[0].identity.service} have {expected}, and Grove allows one"
            yield _report_refused(
                plan,
                codes.SEVERAL_SCHEDULERS_FOR_GROVE,
                f"{message}; use one scheduler for all {graph.part_words()[0]}",
                plan.at("pod", "schedulerName"),
            )
    if expected == grove_schedulers.KAI and not any(map(_has_queue, plans)):
        message = "the pods name no queue, so the KAI scheduler puts them into default-queue, and newer releases of Grove refuse them"
        fix = f"set grove.kaiScheduler.enabled in the configuration, or the label {identity.KAI_QUEUE} on the pods of a component"
        yield results.warning(codes.KAI_PODS_WITHOUT_QUEUE, f"{message}; {fix}", plans[0].ref, plans[0].at("pod", "schedulerName"))


def _check_schedulers(graph: GraphPlan) -> Iterator[Result]:
    """Yields all pods of a graph have one scheduler."""
    grove = graph.config.grove
    if graph.release.grove.volcano and grove.kai_scheduler.enabled and grove.volcano_scheduler.enabled:
        message = "the configuration enables the KAI scheduler and the Volcano scheduler, and one of them schedules all pods"
        yield results.error(
            codes.TWO_SCHEDULERS_ENABLED_FOR_GROVE, f"{message}; disable grove.kaiScheduler or grove.volcanoScheduler", graph.ref
        )


def _check_topology(graph: GraphPlan, plans: Sequence[ComponentPlan]) -> Iterator[Result]:
    """Reports a topology constraint that Grove rejects unless its configuration has topology-aware scheduling."""
    setting, path = graph.config.grove.topology_aware_scheduling, next(_constraints(graph, plans), None)
    if path is None or setting == "enabled":
        return
    fix = "set config.topologyAwareScheduling.enabled in the values of Grove's chart, and grove.topologyAwareScheduling: enabled here"
    if setting == "disabled":
        message = f"Grove rejects a graph with a topology constraint, because its topology-aware scheduling is off; {fix}"
        yield results.error(codes.GROVE_REJECTS_TOPOLOGY, f"{message}, or remove the constraint", graph.ref, path)
    else:
        message = (
            f"Grove rejects a graph with a topology constraint, unless its topology-aware scheduling is on, and its chart has it off; {fix}"
        )
        yield results.warning(codes.GROVE_MAY_REJECT_TOPOLOGY, message, graph.ref, path)


def _constraints(graph: GraphPlan, plans: Sequence[ComponentPlan]) -> Iterator[Path]:
    """Yields the fields of the author that become topology constraints of a PodCliqueSet."""
    if cliques.graph_topology(graph):
        override = graph.features.override
        yield graph.at("providerOverride" if override and override.of_clique_set is not None else "topologyConstraint")
    for plan in plans:
        if cliques.component_topology(graph, plan):
            override = plan.features.override
            yield plan.at("providerOverride" if override and override.topology_constraint is not None else "topologyConstraint")
        for role in plan.features.roles:
            if role.override and role.override.topology_constraint:
                yield (*plan.at("roles"), role.position, "providerOverride")


def _report_refused(plan: ComponentPlan, code: str, message: str, at: Path) -> Result:
    """Returns a finding about a field that Grove's admission refuses."""
    tell = results.error if plan.release.grove.refusals == "error" else results.warning
    return tell(code, message, plan.ref, at)


def _check_restart(graph: GraphPlan) -> Iterator[Result]:
    """Warns about a restart by the syncer. The list of cliques has no keys, so that an apply replaces it as a whole."""
    if graph.restart and graph.restart.id and graph.config.restart == "sync":
        parts, _ = graph.part_words()
        message = f"each apply removes the restart that the syncer writes into the PodCliqueSet, so {parts} restart again"
        fix = "set restart: render in the configuration of graphs that run on Grove"
        yield results.warning(codes.GROVE_RESTART_UNDONE, f"{message}; {fix}", graph.ref, graph.at("restart"))


def _check_length(plan: ComponentPlan, whole: str) -> Iterator[Result]:
    """Reports names of pods that Grove rejects as too long. `whole` is the name of the PodCliqueSet."""
    grouped, total = clique_roles.in_groups(plan), len(whole) + clique_roles.longest(plan)
    over = total - names.GROVE_LIMIT
    if over > 0:
        what = "graph, scaling group and clique" if grouped else "graph and clique"
        message = f"the names of {what} have {total} characters together, and Grove allows {names.GROVE_LIMIT}"
        of_component = f"the component's name, which counts twice, by {(over + 1) // 2}" if grouped else f"the component's name by {over}"
        if plan.release.grove.cuts_names:
            message = f"{message}, although the name of the graph is cut to {whole}"
            fix = f"shorten {of_component}"
        elif grouped:
            fix = f"shorten the graph's name by {over}, or {of_component}"
        else:
            fix = f"shorten the graph's or the component's name by {over}"
        yield results.error(codes.GROVE_NAMES_TOO_LONG, f"{message}; {fix}", plan.ref, plan.at("name"))


def _check_replicas(plan: ComponentPlan) -> Iterator[Result]:
    if plan.placement.replicas == 0:
        fix = "write 1, or remove the component"
        if clique_roles.in_groups(plan):
            what = "a multinode component" if plan.placement.nodes > 1 else "a scaling group"
            yield _report_refused(plan, codes.GROVE_WITH_ZERO_REPLICAS, f"Grove refuses {what} with 0 replicas; {fix}", plan.at("replicas"))
        else:
            yield results.warning(
                codes.GROVE_WITH_ZERO_REPLICAS, f"Grove runs 1 pod where replicas is 0; {fix}", plan.ref, plan.at("replicas")
            )


def _check_pod(plan: ComponentPlan) -> Iterator[Result]:
    spec = plan.pod.spec
    # Grove refuses an empty list of constraints, too.
    refused = {"nodeName": bool(spec.get("nodeName")), "topologySpreadConstraints": "topologySpreadConstraints" in spec}
    for field in (field for field, is_set in refused.items() if is_set):
        message = f"Grove refuses pods with {field}, because it places them itself; remove the field"
        yield _report_refused(plan, codes.POD_FIELD_REFUSED_BY_GROVE, message, plan.at("pod", field))
    for index, volume in enumerate(spec.get("volumes") or ()):
        template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate") or {}
        if template.get("metadata"):
            message = "Grove drops the labels and annotations of an ephemeral volume's claim; remove them, or mount a claim of your own"
            at = plan.at("pod", "volumes", index, "ephemeral", "volumeClaimTemplate", "metadata")
            yield results.warning(codes.GROVE_DROPS_CLAIM_METADATA, message, plan.ref, at)


def _has_queue(plan: ComponentPlan) -> bool:
    """Returns true if the cliques of the component have the label or annotation of a queue."""
    by_user = (plan.identity.service_labels, plan.pod.labels, plan.identity.annotations, plan.pod.annotations)
    return grove_schedulers.enabled_scheduler(plan) == grove_schedulers.KAI or any(identity.KAI_QUEUE in marks for marks in by_user)
