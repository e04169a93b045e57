"""Reports fields of a `v1alpha1` component that reach no pod: they are deprecated, or the reference drops them without a message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.kube import quantity
from krm_fn.schema import sentences

if TYPE_CHECKING:
    from krm_fn.plan import ComponentPlan
    from krm_fn.results import Result


def check(plan: ComponentPlan, written: dict[str, Any]) -> Iterator[Result]:
    """Findings about the fields of one component that its plan does not contain."""
    yield from check_everywhere(plan, written)
    if written.get("labels") and not plan.who.standalone and not plan.who.service_labels:
        message = "labels of a service reach no pod in deployment mode; write them under extraPodMetadata.labels"
        yield results.warning("DYN114", message, plan.ref, plan.at("labels"))
    yield from _gpu_requests(plan, written)


def check_everywhere(plan: ComponentPlan, written: dict[str, Any]) -> Iterator[Result]:
    """Findings about the fields that no release acts on."""
    if written.get("dynamoNamespace") and not plan.who.standalone:
        message = f"dynamoNamespace is deprecated and ignored, and {plan.who.dynamo_namespace} is used instead; remove the field"
        yield results.warning("DYN112", message, plan.ref, (*plan.address.path, "dynamoNamespace"))
    if written.get("autoscaling") is not None:
        message = "autoscaling is deprecated and ignored; set scalingAdapter.enabled and let an autoscaler scale the adapter"
        yield results.warning("DYN113", message, plan.ref, (*plan.address.path, "autoscaling"))
    memory = written.get("sharedMemory")
    if memory is not None and not memory.get("disabled") and not quantity.value(memory.get("size")):
        yield sentences.error("DYN116", plan.ref, plan.at("shared_memory.size"))


def _gpu_requests(plan: ComponentPlan, written: dict[str, Any]) -> Iterator[Result]:
    """Reports GPU requests that differ from their limit. GPUs count only as limits; Kubernetes derives the request."""
    sides = written.get("resources") or {}
    requests, limits = sides.get("requests") or {}, sides.get("limits") or {}
    for field in ("gpu", "gpuType"):
        if requests.get(field) and requests[field] != limits.get(field):
            message = f"requests.{field} reaches no pod, because Kubernetes takes the request from the limit; write it under limits"
            yield results.warning("DYN115", message, plan.ref, plan.at("resources", "requests", field))
