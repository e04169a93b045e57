"""Rules that span facts: each is a small generator of findings over a plan.

Not its business: types and unknown fields (`krm_fn.schema.check`), and what concerns one component type or carrier only (its `check`).
Follows the reference's `internal/webhook/validation/shared.go` and `dynamographdeployment.go`, with the errors it finds at run time only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.manifests import components as kinds
from krm_fn.manifests import workloads
from krm_fn.validation import components, graphs, ignored_fields, models, pods, requests

if TYPE_CHECKING:
    from krm_fn.config import Config
    from krm_fn.kube.types import Resource
    from krm_fn.plan import ComponentPlan, GraphPlan
    from krm_fn.resolve.cluster import ClusterFacts
    from krm_fn.results import Result

_RULES = (
    components.check_names,
    components.check_mounts,
    components.check_volumes,
    components.check_ingress,
    components.check_selector,
    components.check_probes,
    pods.check_pods,
    pods.check_engine,
    pods.check_metadata,
)


def graph(plan: GraphPlan, spec: dict[str, Any], around: ClusterFacts) -> Iterator[Result]:
    """Everything wrong with a graph or a component alone, not only the first. `spec` is the resource's, for what no plan keeps."""
    if not plan.standalone:
        yield from graphs.check_services(plan)
        yield from graphs.check_claims(plan, spec)
        yield from graphs.check_restart(plan, spec)
    yield from ignored_fields.check_deprecated(plan, spec)
    yield from ignored_fields.check_lost(plan, spec)
    for component in plan.components:
        yield from _component(component, around)
    for carrier, carried in plan.carried().items():
        yield from workloads.get(carrier).check_together(carried)


def other(resource: Resource, config: Config) -> Iterator[Result]:
    """Everything wrong with a model or a request; nothing for other kinds. `resource` must be well-formed."""
    spec, address = resource.get("spec") or {}, results.ref(resource)
    if address.kind == "DynamoModel":
        yield from models.check_model(spec, address)
    elif address.kind == "DynamoGraphDeploymentRequest":
        yield from requests.check_request(spec, address, config)


def _component(plan: ComponentPlan, around: ClusterFacts) -> Iterator[Result]:
    yield from kinds.get(plan.who.type).check(plan)
    yield from workloads.get(plan.placement.workload).check(plan)
    for rule in _RULES:
        yield from rule(plan)
    yield from components.check_account(plan, around)
