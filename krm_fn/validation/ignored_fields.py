"""What the reference ignores or drops without a word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.kube import quantity

if TYPE_CHECKING:
    from krm_fn.plan import ComponentPlan, GraphPlan
    from krm_fn.results import Result


def check_deprecated(plan: GraphPlan, spec: dict[str, Any]) -> Iterator[Result]:
    """Fields that are still there and do nothing."""
    for component, service in _written(plan, spec):
        if service.get("dynamoNamespace") and not plan.standalone:
            message = f"is deprecated and ignored: the value is {component.who.dynamo_namespace}; remove the field"
            yield results.warning("DYN112", message, plan.ref, (*component.path, "dynamoNamespace"))
        if service.get("autoscaling") is not None:
            message = "is deprecated and ignored; set scalingAdapter.enabled and let an autoscaler scale the adapter"
            yield results.warning("DYN113", message, plan.ref, (*component.path, "autoscaling"))


def check_lost(plan: GraphPlan, spec: dict[str, Any]) -> Iterator[Result]:
    """What the reference drops without a word."""
    for component, service in _written(plan, spec):
        path = component.path
        if service.get("labels") and not component.placement.by_graph and not plan.standalone:
            message = "reach no pod in deployment mode; write them under extraPodMetadata.labels"
            yield results.warning("DYN114", message, plan.ref, (*path, "labels"))
        requests = (service.get("resources") or {}).get("requests") or {}
        for field in ("gpu", "gpuType"):
            if requests.get(field):
                message = "reaches no pod, Kubernetes takes the request from the limit; write it under resources.limits"
                yield results.warning("DYN115", message, plan.ref, (*path, "resources", "requests", field))
        memory = service.get("sharedMemory")
        if memory is not None and not memory.get("disabled") and not quantity.value(memory.get("size")):
            message = "is required when disabled is false; set a size such as 16Gi, or disabled: true"
            yield results.error("DYN116", message, plan.ref, (*path, "sharedMemory", "size"))


def _written(plan: GraphPlan, spec: dict[str, Any]) -> Iterator[tuple[ComponentPlan, dict[str, Any]]]:
    """Each component with what the user wrote of it."""
    services = spec.get("services") or {}
    for component in plan.components:
        yield component, spec if plan.standalone else services.get(component.who.service) or {}
