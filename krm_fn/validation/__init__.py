"""Rules about a plan. Each rule is a small generator of findings.

`krm_fn.schema.check` checks types and unknown fields before. Component types and workload kinds have their own rules.
Follows the reference's `internal/webhook/validation/shared.go` and `dynamographdeployment.go`, and the errors that it finds at run time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import identity
from krm_fn.manifests import components as kinds
from krm_fn.manifests import workloads
from krm_fn.resolve.cluster import namespace
from krm_fn.validation import components, discovery, graphs, models, pods

if TYPE_CHECKING:
    from krm_fn.config import Config
    from krm_fn.kube.types import Resource
    from krm_fn.manifests.assemblies import Pods
    from krm_fn.plan import GraphPlan
    from krm_fn.resolve.cluster import ClusterFacts
    from krm_fn.results import Result

_RULES = (
    components.check_names,
    components.check_mounts,
    components.check_volumes,
    components.check_ingress,
    components.check_selector,
    components.check_probes,
    pods.check_metadata,
)


def graph(plan: GraphPlan, made: Sequence[Pods], cluster: ClusterFacts) -> Iterator[Result]:
    """All findings about a graph or a standalone component. `made` holds the pods of each component."""
    if not plan.standalone:
        yield from graphs.check_services(plan)
        yield from graphs.check_claims(plan)
        yield from graphs.check_restart(plan)
        yield from graphs.check_planner(plan)
    for component in made:
        yield from _component(component, cluster)
    for workload, carried in workloads.carried(made).items():
        yield from workload.check_together(plan, [component.plan for component in carried])
    yield from _of_release(plan, made)


def _of_release(plan: GraphPlan, made: Sequence[Pods]) -> Iterator[Result]:
    """The findings of the rules that only some releases have."""
    if plan.behaviour.rules:
        from krm_fn.validation import rules  # noqa: PLC0415 - a render under the oldest release starts without it

        for name in plan.behaviour.rules:
            yield from rules.get(name)(plan, made)


def other(resource: Resource, config: Config, cluster: ClusterFacts) -> Iterator[Result]:
    """All findings about a model. Other kinds that are not expanded have none. `resource` must be well-formed."""
    spec, address = resource.get("spec") or {}, results.ref(resource)
    if address.kind == identity.MODEL:
        yield from models.check_model(spec, address, namespace(resource, config), cluster.models)


def _component(made: Pods, cluster: ClusterFacts) -> Iterator[Result]:
    plan = made.plan
    yield from kinds.get(plan.who.type).check(plan)
    yield from workloads.get(plan.placement.workload).check(made)
    for rule in _RULES:
        yield from rule(plan)
    yield from pods.check_pods(made)
    yield from pods.check_engine(made)
    yield from discovery.check_store(made)
    yield from models.check_component(plan, cluster.models)
    yield from components.check_account(plan, cluster)
