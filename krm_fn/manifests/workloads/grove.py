"""Grove: one PodCliqueSet holds a whole graph. Each role of a service is a clique.

Follows the reference's `internal/dynamo/graph.go` GenerateGrovePodCliqueSet and `grove.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import duration, labels, merge, names
from krm_fn.kube import templates as pod_templates
from krm_fn.manifests import backends, components, pod, services
from krm_fn.manifests.workloads import Workload, _grove_cliques, _grove_rules
from krm_fn.plan import Addressing, RolePlan
from krm_fn.workload_list import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from krm_fn.kube.types import Labels, PodSpec, Resource
    from krm_fn.manifests.assemblies import Pod, Pods
    from krm_fn.plan import ComponentPlan, GraphPlan
    from krm_fn.results import Result


class Grove(Workload):
    """Runs all components of a graph if Grove is the orchestrator."""

    kinds = names.GROVE_KINDS
    objects = (("grove.io", "PodCliqueSet"),)
    fixed_services = "PodCliqueSet"
    templates = pod_templates.CLIQUES
    always_restarts = False
    per_component = False

    def addressing(self, plan: ComponentPlan) -> Addressing:
        """Grove sets variables with the names of scaling group and headless Service. Kubernetes expands `$(NAME)`."""
        leader = names.grove_host(plan.who.service, "leader", 0)
        workers = tuple(names.grove_host(plan.who.service, "worker", index) for index in range(plan.placement.nodes - 1))
        rank = "$((GROVE_PCLQ_POD_INDEX + 1))"
        return Addressing(leader, leader, workers, rank, operand=rank)

    def render(self, graph: GraphPlan, made: Sequence[Pods]) -> Iterator[Resource]:
        """One PodCliqueSet."""
        cliques = _grove_cliques.ordered(_clique(graph, each) for component in made for each in component.roles)
        groups = [_scaling_group(component.plan) for component in made if component.plan.placement.nodes > 1]
        explicit = any(clique["spec"].get("startsAfter") for clique in cliques)
        template = merge.present(
            headlessServiceConfig={"publishNotReadyAddresses": True},
            cliqueStartupType="CliqueStartupTypeExplicit" if explicit else "CliqueStartupTypeAnyOrder",
            terminationDelay=duration.text(graph.config.grove.termination_delay) or None,
            cliques=cliques,
            podCliqueScalingGroups=groups or None,
        )
        yield {
            "apiVersion": "grove.io/v1alpha1",
            "kind": "PodCliqueSet",
            "metadata": {"name": graph.name, "namespace": graph.namespace},
            "spec": {"replicas": 1, "template": template},
        }

    def entries(self, graph: GraphPlan, plan: ComponentPlan) -> Iterator[Entry]:
        """The PodClique or PodCliqueScalingGroup that Grove makes for the component."""
        kind = "PodCliqueScalingGroup" if plan.placement.nodes > 1 else "PodClique"
        replicas = None if plan.placement.autoscaled else plan.placement.replicas_or_one
        yield Entry(plan.who.service, "grove.io/v1alpha1", kind, names.grove_workload(graph.name, plan.who.service), replicas)

    def roles(self, plan: ComponentPlan) -> Iterator[RolePlan]:
        """One role. In a multinode service, one role for the leader and one for the workers."""
        if plan.placement.nodes == 1:
            yield RolePlan(plan, plan.who.name)
        else:
            addressing = self.addressing(plan)
            yield RolePlan(plan, plan.who.name, "leader", addressing=addressing)
            yield RolePlan(plan, plan.who.name, "worker", addressing=addressing)

    def services(self, plan: ComponentPlan) -> Mapping[str, Labels]:
        """One Service. Without Kubernetes discovery, only frontends have one."""
        wanted = plan.placement.graph_discovery == "kubernetes" or components.get(plan.who.type).is_frontend
        return {plan.who.name: {}} if wanted else {}

    def port(self, plan: ComponentPlan) -> dict[str, Any]:
        """The port with its `appProtocol`, which the reference sets only for Grove."""
        protocol = components.get(plan.who.type).app_protocol
        return {**super().port(plan), **({"appProtocol": protocol} if protocol else {})}

    def discovery_labels(self, plan: ComponentPlan) -> Labels:
        """The labels for the discovery backend of the graph. Discovery finds frontends too."""
        return services.discovery_labels(plan.placement.graph_discovery, discoverable=True)

    def service_labels(self, plan: ComponentPlan) -> Labels:
        """The user's labels only."""
        return plan.who.service_labels

    def service_annotations(self, plan: ComponentPlan) -> Labels:
        """No annotations."""
        return {}

    def check(self, made: Pods) -> Iterator[Result]:
        """Reports fields of one component that Grove's admission refuses or that Grove drops."""
        yield from _grove_rules.check(made.plan)

    def check_together(self, graph: GraphPlan, plans: Sequence[ComponentPlan]) -> Iterator[Result]:
        """Reports components that Grove's admission refuses together, and names of cliques that Grove confuses."""
        yield from _grove_rules.check_together(graph, plans)
        yield from _grove_cliques.check(plans)


def _clique(graph: GraphPlan, made: Pod) -> dict[str, Any]:
    """The clique of one role."""
    role, plan = made.role, made.role.component
    name = names.clique(plan.who.service, role.role)
    spec, queue = _scheduled(graph, plan, made.spec)
    starts_last = backends.get(plan.placement.backend).leader_starts_last and role.role == "leader"
    counts = {"main": plan.placement.replicas_or_one, "leader": 1, "worker": plan.placement.nodes - 1}
    return merge.present(
        name=name,
        labels={**_labels(plan), **queue},
        annotations={**plan.who.annotations, **pod.pod_annotations(plan)} or None,
        spec=merge.present(
            roleName=name,
            replicas=counts[role.role],
            minAvailable=1,
            startsAfter=[names.clique(plan.who.service, "worker")] if starts_last else None,
            podSpec=spec,
        ),
    )


def _labels(plan: ComponentPlan) -> Labels:
    """The labels of a clique, with the service's own labels. Grove copies them to the pods."""
    marks = {labels.SELECTOR: plan.who.name, **services.workload_labels(plan), **pod.kind_labels(plan)}
    return {**marks, **plan.who.service_labels, **plan.pod.labels}


def _scheduled(graph: GraphPlan, plan: ComponentPlan, spec: PodSpec) -> tuple[PodSpec, Labels]:
    """The pod spec and the queue label. KAI, if enabled, schedules all pods without another scheduler (injectKaiSchedulerIfEnabled)."""
    kai = graph.config.grove.kai_scheduler
    if not kai.enabled or _grove_rules.scheduler(plan) != _grove_rules.KAI:
        return spec, {}
    queue = graph.annotations.get(labels.KAI_QUEUE_NAME, "").strip() or kai.queue
    return {**spec, "schedulerName": _grove_rules.KAI}, {labels.KAI_QUEUE: queue}


def _scaling_group(plan: ComponentPlan) -> dict[str, Any]:
    """The scaling group of a multinode service. Each of its replicas is a leader with its workers."""
    return merge.present(
        name=names.scaling_group(plan.who.service),
        cliqueNames=[names.clique(plan.who.service, "leader"), names.clique(plan.who.service, "worker")],
        replicas=plan.placement.replicas,
        minAvailable=1,
    )


WORKLOAD = Grove()
