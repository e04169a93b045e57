"""Reports v1alpha1 fields that reach no pod: deprecated ones, those that Dynamo 0.9 does not have, and those that a conversion drops."""

from __future__ import annotations

from collections.abc import Iterator

from krm_fn.base import codes, results, spelling
from krm_fn.kubernetes import quantity
from krm_fn.kubernetes.api_server import name_formats
from krm_fn.render.kinds import types
from krm_fn.render.resolve import former_types, native_resources
from krm_fn.render.schema import rule_messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.base.results import Result
    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.plan import ComponentPlan, GraphPlan, SourcePaths


_NEW_IN_GRAPHS = ("annotations", "labels", "priorityClassName", "topologyConstraint", "experimental", "providerOverride")
_NEW_IN_COMPONENTS = (
    "checkpoint",
    "failover",
    "frontendSidecar",
    "gpuMemoryService",
    "minAvailable",
    "providerOverride",
    "topologyConstraint",
)
_SIDECAR = "sidecar-frontend"
_SUBTYPES = ("prefill", "decode")


def of_component(plan: ComponentPlan, written: dict[str, Any]) -> Iterator[Result]:
    """Yields findings about the fields of one component that its plan does not contain."""
    yield from _of_all_releases(plan, written)
    if written.get("labels") and not plan.identity.standalone and not plan.identity.service_labels:
        message = "labels of a service are not set on its pods in deployment mode; write them under extraPodMetadata.labels"
        yield results.warning(codes.SERVICE_LABELS_NOT_ON_PODS, message, plan.ref, plan.at("labels"))
    yield from _gpu_requests(plan, written)
    kind = written.get("componentType") or ""
    near = "" if kind in ("", *types.names(), former_types.FORMER) else spelling.nearest(kind, types.names()) or _type_with_gpus(written)
    if near:
        message = f"Dynamo has no type {kind}, so the component has the defaults of no type; write {near}"
        yield results.warning(codes.UNREAD_COMPONENT_TYPE, message, plan.ref, plan.at("componentType"), current=kind, proposed=near)


def _type_with_gpus(written: dict[str, Any]) -> str:
    """Returns the type of a component that has GPUs; empty for one without."""
    return "worker" if ((written.get("resources") or {}).get("limits") or {}).get("gpu") else ""


def _of_all_releases(plan: ComponentPlan, written: dict[str, Any]) -> Iterator[Result]:
    """Yields findings about the fields that no release acts on."""
    if written.get("dynamoNamespace") and not plan.identity.standalone:
        message = f"dynamoNamespace is deprecated and ignored, and {plan.identity.dynamo_namespace} is used instead; remove the field"
        yield results.warning(codes.DEPRECATED_DYNAMO_NAMESPACE, message, plan.ref, plan.at("dynamoNamespace"))
    if (subtype := written.get("subComponentType")) and subtype not in _SUBTYPES:
        yield from _unknown_subtype(plan, subtype)
    if written.get("autoscaling") is not None:
        message = (
            "autoscaling is deprecated and ignored; remove it, and set scalingAdapter.enabled so that an autoscaler can scale the adapter"
        )
        yield results.warning(codes.DEPRECATED_AUTOSCALING, message, plan.ref, plan.at("autoscaling"))
    memory = written.get("sharedMemory")
    if memory is not None and not memory.get("disabled") and not quantity.value(memory.get("size")):
        if plan.release.memory_needs_size or memory.get("size"):
            yield rule_messages.error(codes.SHARED_MEMORY_WITHOUT_SIZE, plan.ref, plan.at("sharedMemory", "size"))
            return
        size = plan.release.shared_memory
        message = f"Dynamo {plan.release.name[1:]} takes {size}, but the definitions of krm-fn need a size; set size: {size}"
        yield results.warning(codes.SHARED_MEMORY_WITHOUT_SIZE, message, plan.ref, plan.at("sharedMemory", "size"))


def _unknown_subtype(plan: ComponentPlan, subtype: str) -> Iterator[Result]:
    """Yields the finding about a subtype that is a label of the pods, and nothing else (operator: api/CONVERSION.md)."""
    problem = f"Dynamo reads only the subtypes {' and '.join(_SUBTYPES)}, so {subtype} is a label of the pods and nothing else"
    path, near = plan.at("subComponentType"), spelling.nearest(subtype.strip(), _SUBTYPES)
    if near:
        yield results.warning(codes.UNREAD_COMPONENT_TYPE, f"{problem}; write {near}", plan.ref, path, current=subtype, proposed=near)
    elif name_formats.is_label_value(subtype):
        yield results.info(codes.UNREAD_COMPONENT_TYPE, f"{problem}; remove the field", plan.ref, path, current=subtype)


def _gpu_requests(plan: ComponentPlan, written: dict[str, Any]) -> Iterator[Result]:
    """Reports GPU requests that differ from their limit. GPUs count only as limits; Kubernetes derives the request."""
    sides = written.get("resources") or {}
    requests, limits = sides.get("requests") or {}, sides.get("limits") or {}
    for field in ("gpu", "gpuType"):
        if requests.get(field) and requests[field] != limits.get(field):
            path = plan.at("resources", "requests", field)
            message = f"pods do not get requests.{path[-1]}, because Kubernetes derives the request from the limit; write it under limits"
            yield results.warning(codes.IGNORED_GPU_REQUEST, message, plan.ref, path)


def of_graph(spec: dict[str, Any], paths: SourcePaths) -> Iterator[Result]:
    """Errors about fields of a graph, not of its services, that came to v1alpha1 with 1.0. Pods of Dynamo 0.9 would lack them."""
    for field in _NEW_IN_GRAPHS:
        if _says(spec.get(field)):
            yield _unknown(paths, field, *(("kvTransferPolicy",) if field == "experimental" else ()))


def of_new_fields(written: dict[str, Any], paths: SourcePaths) -> Iterator[Result]:
    """Errors about fields of a component that came with 1.0. `runtimeVersionOverride` changes no pod, so it is not reported."""
    for field in _NEW_IN_COMPONENTS:
        if _says(written.get(field)):
            yield _unknown(paths, field)
    if paths.written.get("roles"):  # of v1beta1 only, so a conversion drops it
        yield _unknown(paths, "roles")


def _says(value: Any) -> bool:
    """False for a field without content, and for a feature that is off."""
    return bool(value) and not (isinstance(value, dict) and value.get("enabled") is False)


def _unknown(paths: SourcePaths, *steps: str) -> Result:
    return results.error(
        codes.FIELD_NOT_IN_DYNAMO_0_9, "Dynamo 0.9 does not have this field; remove it, or set behaviour: v1.5", paths.ref, paths.at(*steps)
    )


def of_conversion(plan: GraphPlan, resource: Resource) -> Iterator[Result]:
    """Yields findings about fields that a conversion to v1beta1 drops silently. `resource` is as its author wrote it."""
    spec = resource.get("spec") or {}
    for component in plan.components:
        written = spec if plan.standalone else (spec.get("services") or {}).get(component.identity.service) or {}
        yield from _of_all_releases(component, written)
        yield from _of_converted(component, written)


def _of_converted(plan: ComponentPlan, written: dict[str, Any]) -> Iterator[Result]:
    findings: list[Result] = []
    native_resources.native(written.get("resources") or {}, plan.ref, plan.paths.path, findings)
    yield from findings
    names = [container.get("name") for container in (written.get("extraPodSpec") or {}).get("containers") or ()]
    if written.get("frontendSidecar") is not None and _SIDECAR in names:
        message = f"the container of the frontend is called {_SIDECAR}, and another container has the name; rename it"
        yield results.error(
            codes.FRONTEND_SIDECAR_NOT_FOUND,
            message,
            plan.ref,
            (*plan.paths.path, "extraPodSpec", "containers", names.index(_SIDECAR), "name"),
        )
