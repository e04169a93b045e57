"""Grove: one PodCliqueSet holds a whole graph. Each role of a service is a clique.

Follows the reference's `internal/dynamo/graph.go` GenerateGrovePodCliqueSet and `grove.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import names
from krm_fn.kube import templates as pod_templates
from krm_fn.manifests import components, services
from krm_fn.manifests.workloads import Workload
from krm_fn.manifests.workloads.grove import clique_set, order, roles, rules
from krm_fn.workload_list import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from krm_fn.kube.types import Labels, Resource
    from krm_fn.manifests.assemblies import Pods
    from krm_fn.plan import Addressing, ComponentPlan, GraphPlan, RolePlan
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
        """The hosts that Grove gives to the pods of a scaling group."""
        return roles.addresses(plan)

    def render(self, graph: GraphPlan, made: Sequence[Pods]) -> Iterator[Resource]:
        """One PodCliqueSet."""
        yield clique_set.clique_set(graph, made)

    def entries(self, graph: GraphPlan, plan: ComponentPlan) -> Iterator[Entry]:
        """The PodClique or PodCliqueScalingGroup that Grove makes for the component."""
        kind = "PodCliqueScalingGroup" if roles.in_groups(plan) else "PodClique"
        replicas = None if plan.placement.autoscaled else plan.placement.replicas_or_one
        name = roles.set_name(graph)
        entry = Entry(plan.who.service, "grove.io/v1alpha1", kind, names.grove_workload(name, plan.who.service), replicas)
        yield entry if name == graph.name else entry._replace(graph=graph.name)

    def roles(self, plan: ComponentPlan) -> Iterator[RolePlan]:
        """One role for each clique."""
        yield from roles.roles(plan)

    def services(self, plan: ComponentPlan) -> Mapping[str, Labels]:
        """One Service. Without Kubernetes discovery, only frontends have one."""
        wanted = plan.placement.graph_discovery == "kubernetes" or components.get(plan.who.type).is_frontend
        return {plan.service_name: {}} if wanted else {}

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
        """The user's annotations, where they reach Services."""
        return plan.who.service_annotations

    def check(self, made: Pods) -> Iterator[Result]:
        """Reports fields of one component that Grove's admission refuses or that Grove drops."""
        yield from rules.check(made.plan)

    def check_together(self, graph: GraphPlan, plans: Sequence[ComponentPlan]) -> Iterator[Result]:
        """Reports components that Grove's admission refuses together, and names of cliques that Grove confuses."""
        yield from rules.check_together(graph, plans)
        yield from order.check(graph, plans)


WORKLOAD = Grove()
