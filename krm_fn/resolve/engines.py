"""The engine of a component: the one that its command line starts, otherwise that of its graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.manifests import backends, components

if TYPE_CHECKING:
    from krm_fn.kube.types import Container
    from krm_fn.plan import Address, ComponentPlan
    from krm_fn.resolve.context import Shared


def backend(facts: Shared, kind: str, container: Container, address: Address) -> str:
    """The engine of a component of type `kind` (reference: determineBackendFramework). Findings are added to `facts.found`."""
    if not components.get(kind).runs_engine:
        return backends.NONE
    detected = backends.detect([*(container.get("command") or ()), *(container.get("args") or ())])
    where = address.at("main", "args")
    if len(detected) == 1 and facts.framework and facts.framework != detected[0]:
        message = f"the command starts {detected[0]}, but spec.backendFramework is {facts.framework}; change one of the two"
        facts.found.append(results.error("DYN121", message, facts.ref, where))
    if len(detected) > 1 and not facts.framework:
        message = f"the command starts {' and '.join(detected)}; set spec.backendFramework to the engine of the graph"
        facts.found.append(results.error("DYN122", message, facts.ref, where))
    return detected[0] if len(detected) == 1 else facts.framework or backends.NONE


def check_same(facts: Shared, plans: tuple[ComponentPlan, ...]) -> None:
    """Reports components of a graph that run different engines. From 1.0 on the reference refuses them, because workers share a hash."""
    engines = {plan.placement.backend: plan for plan in reversed(plans) if plan.placement.backend != backends.NONE}
    if len(engines) < 2 or facts.framework:
        return
    first, *others = sorted(engines.values(), key=plans.index)
    for plan in others:
        message = f"this component runs {plan.placement.backend}, and {first.who.service} runs {first.placement.backend}"
        mend = "use one engine in each graph"
        facts.found.append(results.error("DYN478", f"{message}; {mend}", facts.ref, plan.at("main", "args")))
