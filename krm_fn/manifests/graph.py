"""All objects of one graph, and the annotations of the graph itself.

Follows the reference's `internal/controller/dynamographdeployment_controller.go` reconcileResources.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import krm_fn
from krm_fn import workload_list
from krm_fn.kube import digest, labels
from krm_fn.manifests import assemblies, components, ingress, model_services, rbac, scaling_adapters, services, volumes, workloads
from krm_fn.manifests.components_inventory import inventory

if TYPE_CHECKING:
    from krm_fn.kube.types import Labels, Resource
    from krm_fn.manifests.assemblies import Pods
    from krm_fn.plan import GraphPlan


def pods(plan: GraphPlan) -> list[Pods]:
    """The pods of each component, in the order of the spec. They are made once, for the checks and for the render."""
    return [assemblies.pods(component, workloads.get(component.placement.workload).roles(component)) for component in plan.components]


def render(plan: GraphPlan, made: Sequence[Pods]) -> Iterator[Resource]:
    """All objects of a graph or a standalone component, in the order of the spec. `made` holds the pods of each component."""
    if not plan.standalone:
        yield from _shared(plan)
    grouped = next((component for component in plan.components if component.placement.nodes > 1), None)
    if grouped and plan.behaviour.engines.waits_for_leader:
        from krm_fn.manifests import wait_for_leader  # noqa: PLC0415 - a render under the oldest release starts without it

        yield wait_for_leader.config_map(grouped)
    for workload, carried in workloads.carried(made).items():
        yield from workload.render(plan, carried)
    for component in plan.components:
        if component.features.gpu_memory:
            from krm_fn.manifests import gpu_memory  # noqa: PLC0415 - few components share GPUs

            yield gpu_memory.claim_template(component, component.features.gpu_memory)
    for component in plan.components:
        yield from services.for_component(component, workloads.get(component.placement.workload).face(component))
        yield from ingress.of(component)
    yield from model_services.services(plan)
    yield from inventory(plan)


def _shared(plan: GraphPlan) -> Iterator[Resource]:
    """The objects that the components of a graph share. The reference makes none of them for a standalone component."""
    yield from volumes.claims(plan)
    yield from scaling_adapters.adapters(plan)
    if plan.discovery == "kubernetes":
        yield from rbac.discovery(plan)
    for component in plan.components:
        yield from components.get(component.who.type).objects(component)


def own_annotations(plan: GraphPlan, spec: Any) -> Labels:
    """The annotations that a render writes on the graph itself. They depend on the input only, and contain no time."""
    entries = (entry for component in plan.components for entry in workloads.get(component.placement.workload).entries(plan, component))
    return {
        labels.WORKLOADS: workload_list.write(entries),
        labels.SUMMARY: _summary(plan),
        labels.SPEC_HASH: digest.of_value(spec),
        labels.ORCHESTRATOR: plan.orchestrator,
        labels.RENDERED_BY: f"krm-fn {krm_fn.__version__}",
        **({labels.RESTART: plan.config.restart} if plan.restart and plan.restart.id and plan.config.restart == "sync" else {}),
    }


def _summary(plan: GraphPlan) -> str:
    """The size of the graph for people: `2 services, 3 pods, 8 GPUs`."""
    pods = gpus = 0
    for component in plan.components:
        nodes = component.placement.replicas_or_one * component.placement.nodes
        pods, gpus = pods + nodes * component.features.pods_per_node, gpus + nodes * component.pod.gpus.number
    return ", ".join(_counted(*entry) for entry in ((len(plan.components), "service"), (pods, "pod"), (gpus, "GPU")))


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
