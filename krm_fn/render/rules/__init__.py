"""Rules about a plan and its pods. Each rule is a small generator of findings.

`krm_fn.render.schema` checks types and unknown fields before. Component types and workload kinds have their own rules.
Follows the operator's `internal/webhook/validation/shared.go` and `dynamographdeployment.go`, and the errors that it raises at run time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krm_fn.base import registry, results
from krm_fn.base.records import NamedTuple
from krm_fn.render import dynamo_api
from krm_fn.render.kinds import ROLLOUT_GROUP
from krm_fn.render.manifests import workloads
from krm_fn.render.resolve.cluster import namespace
from krm_fn.render.rules import (
    component_rules,
    frontends,
    gpu_names,
    graph_rules,
    model_rules,
    pod_template_rules,
    port_names,
    server_ports,
    service_selectors,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.base.results import Result
    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.config import Config
    from krm_fn.render.manifests.pod_builder import Pods
    from krm_fn.render.plan import GraphPlan
    from krm_fn.render.resolve.cluster import ClusterFacts


def check_graph(plan: GraphPlan, pods: Sequence[Pods], cluster: ClusterFacts) -> Iterator[Result]:
    """Yields the findings about a graph or a standalone component. `pods` holds those of each component."""
    if not plan.standalone:
        yield from graph_rules.check(plan)
    if plan.config.orchestrator in ROLLOUT_GROUP and not plan.standalone:
        from krm_fn.render.rules import rollout_group_rules  # noqa: PLC0415 - few graphs have such an orchestrator

        yield from rollout_group_rules.check(plan)
    for component in pods:
        yield from _check_component(component, cluster)
        yield from pod_template_rules.check_object_labels(component.plan, plan.features.labels)
    yield from component_rules.check_stores(pods)
    for workload, components in workloads.group_by_workload(pods).items():
        yield from workload.check_together(plan, [component.plan for component in components])
    if any(plan.config.platform):
        from krm_fn.render.rules import platform_rules  # noqa: PLC0415 - few configurations describe their platform

        yield from platform_rules.check(plan)
    if plan.config.gang_scheduling:
        from krm_fn.render.rules import gang_rules  # noqa: PLC0415 - few configurations name a gang scheduler

        yield from gang_rules.check(plan, pods)
    if any(component.plan.type.scales for component in pods):
        from krm_fn.render.rules import planner_budget  # noqa: PLC0415 - few graphs have a planner

        yield from planner_budget.check(pods)
    if plan.release.rules:
        from krm_fn.render.rules import by_release  # noqa: PLC0415 - a render under the oldest release starts without it

        for group in registry.modules(by_release, plan.release.rules):
            yield from group.check(plan, pods)


class CheckedGraph(NamedTuple):
    """The pods of the components of a graph, or of a standalone component. `is_valid` is false if a finding about it is an error."""

    components: Sequence[Pods]
    is_valid: bool


def check_together(graphs: Sequence[CheckedGraph]) -> Iterator[Result]:
    """Yields the findings about all graphs and standalone components of a build together.

    They are about valid graphs only: a misspelt field of another graph may be the cause.
    """
    yield from service_selectors.check([pods for graph in graphs if graph.is_valid for pods in graph.components])
    yield from frontends.check([graph.components for graph in graphs if graph.is_valid])


def check_other(resource: Resource, config: Config, cluster: ClusterFacts) -> Iterator[Result]:
    """Yields the findings about a resource of a kind that is not expanded: a model. `resource` must be well-formed."""
    spec, ref = resource.get("spec") or {}, results.ref(resource)
    if ref.kind == dynamo_api.MODEL:
        yield from model_rules.check_model(spec, ref, namespace(resource, config), cluster.models)


def _check_component(pods: Pods, cluster: ClusterFacts) -> Iterator[Result]:
    plan = pods.plan
    yield from workloads.get(plan.placement.workload).check(pods)
    yield from component_rules.check(plan, cluster)
    yield from pod_template_rules.check(pods)
    yield from port_names.check(pods)
    yield from gpu_names.check(pods)
    yield from server_ports.check(pods)
    yield from model_rules.check_component(plan, cluster.models)
