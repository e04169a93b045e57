"""Grove: one PodCliqueSet holds a whole graph. Each role of a service is a clique.

Follows the operator's `internal/dynamo/graph.go` GenerateGrovePodCliqueSet and `grove.go`.
"""

from __future__ import annotations

from krm_fn.kubernetes import paths
from krm_fn.render import names
from krm_fn.render.manifests import services
from krm_fn.render.manifests.workloads import Workload
from krm_fn.render.manifests.workloads.grove import clique_roles, clique_set, set_constraints
from krm_fn.render.workload_list import WorkloadEntry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from krm_fn.base.results import Result
    from krm_fn.kubernetes.types import Labels, Resource
    from krm_fn.render.manifests.pod_builder import Pods
    from krm_fn.render.plan import Addressing, ComponentPlan, GraphPlan, RolePlan


class GroveWorkload(Workload):
    """Runs all components of a graph if Grove is the orchestrator."""

    kinds = names.GROVE_KINDS
    objects = (("grove.io", "PodCliqueSet"),)
    orchestrator = platform = "grove"
    fixed_services = "PodCliqueSet"
    templates = paths.CLIQUE_TEMPLATES
    always_restarts = False

    def addressing(self, plan: ComponentPlan) -> Addressing:
        """Returns the hosts that Grove gives to the pods of a scaling group."""
        return clique_roles.addresses(plan)

    def render(self, graph: GraphPlan, pods: Sequence[Pods]) -> Iterator[Resource]:
        """Yields one PodCliqueSet."""
        yield clique_set.clique_set(graph, pods)

    def entries(self, graph: GraphPlan, plan: ComponentPlan) -> Iterator[WorkloadEntry]:
        """Yields the PodClique or PodCliqueScalingGroup that Grove makes for the component.

        Rule grove.entry: The workload of a component is the PodClique or the PodCliqueScalingGroup that Grove makes for it. (krm-fn)
        """
        kind = "PodCliqueScalingGroup" if clique_roles.in_groups(plan) else "PodClique"
        replicas = None if plan.placement.autoscaled else plan.placement.replicas_or_one
        name = clique_roles.set_name(graph)
        entry = WorkloadEntry(plan.identity.service, "grove.io/v1alpha1", kind, names.grove_workload(name, plan.identity.service), replicas)
        yield entry if name == graph.name else entry._replace(graph=graph.name)

    def roles(self, plan: ComponentPlan) -> Iterator[RolePlan]:
        """Yields one role for each clique."""
        yield from clique_roles.roles(plan)

    def services(self, plan: ComponentPlan) -> Mapping[str, Labels]:
        """Returns the labels that each Service of a component adds to its selector, by the name of the Service.

        Without Kubernetes discovery, only frontends have a Service.

        Rule grove.services: With Grove, a component has one Service. (operator: internal/dynamo/graph.go GenerateComponentService)
        """
        wanted = plan.placement.graph_discovery == "kubernetes" or plan.type.is_frontend
        return {plan.service_name: {}} if wanted else {}

    def port(self, plan: ComponentPlan) -> dict[str, Any]:
        """Returns the port with its `appProtocol`, which the operator sets only for Grove.

        Rule grove.app-protocol: With Grove, the port of a Service has the appProtocol of its component type. (operator:
        internal/dynamo/graph.go GenerateComponentService)
        """
        protocol = plan.type.app_protocol
        return {**super().port(plan), **({"appProtocol": protocol} if protocol else {})}

    def discovery_labels(self, plan: ComponentPlan) -> Labels:
        """Returns the labels for the discovery backend of the graph. Discovery finds frontends too."""
        return services.discovery_labels(plan.placement.graph_discovery, discoverable=True)

    def service_labels(self, plan: ComponentPlan) -> Labels:
        """Returns the user's labels only."""
        return plan.identity.service_labels

    def service_annotations(self, plan: ComponentPlan) -> Labels:
        """Returns the user's annotations, where they reach Services."""
        return plan.identity.service_annotations if plan.release.services.annotated else {}

    def check(self, pods: Pods) -> Iterator[Result]:
        """Reports fields of one component that Grove's admission refuses or that Grove drops."""
        yield from set_constraints.check(pods.plan)

    def check_together(self, graph: GraphPlan, plans: Sequence[ComponentPlan]) -> Iterator[Result]:
        """Reports components that Grove's admission refuses together, and names of cliques that Grove confuses."""
        yield from set_constraints.check_together(graph, plans)
        yield from clique_roles.check_names(graph, plans)


WORKLOAD = GroveWorkload()
