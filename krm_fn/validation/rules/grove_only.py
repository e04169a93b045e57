"""Rules about fields that only Grove acts on. Other orchestrators would ignore them, so the reference refuses them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.manifests import workloads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.manifests.assemblies import Pods
    from krm_fn.plan import ComponentPlan, GraphPlan
    from krm_fn.results import Path, Result


def check(plan: GraphPlan, made: Sequence[Pods]) -> Iterator[Result]:
    """Reports the fields of a graph, and of its components, that need Grove, if its orchestrator is another one."""
    if not workloads.get(plan.orchestrator).per_component:
        return
    paths = [*_of_graph(plan), *(path for each in made for path in _of_component(each.plan))]
    for path in paths:
        message = f"only Grove acts on {path[-1]}; remove it, or set orchestrator: grove in the configuration"
        yield results.error("DYN452", message, plan.ref, path)
    if plan.features.topology and not plan.standalone:
        message = "only Grove places pods by their topology, so this constraint has no effect; remove it, or set orchestrator: grove"
        yield results.warning("DYN453", f"{message} in the configuration", plan.ref, plan.at("topology"))


def _of_graph(plan: GraphPlan) -> Iterator[Path]:
    if plan.features.priority_class:
        yield plan.at("priority_class")
    if plan.features.kv_transfer and plan.features.kv_transfer.topology:
        yield plan.at("kv_transfer.topology")


def _of_component(plan: ComponentPlan) -> Iterator[Path]:
    features = plan.features
    if features.min_available is not None:
        yield plan.at("min_available")
    if features.grouped:
        yield plan.at("grouped")
    if features.gpu_memory and features.gpu_memory.between_pods:
        yield plan.at("gpu_memory.mode")
