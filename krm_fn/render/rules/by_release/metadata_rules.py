"""Rules about labels and annotations: values of Dynamo's annotations, keys of a graph for all its objects, and keys without effect.

Follows the operator's `internal/webhook/validation/` for graphs, and the rules of its `config/crd/bases` for pod templates.
"""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.kubernetes import version
from krm_fn.kubernetes.api_server import name_formats
from krm_fn.render import labels
from krm_fn.render.manifests import pod_template
from krm_fn.render.schema import rule_messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.base.results import Result
    from krm_fn.render.manifests.pod_builder import Pod, Pods
    from krm_fn.render.plan import ComponentPlan, GraphPlan

_EXECUTORS = ("mp", "ray")
_DEBUG_MODES = (labels.DEBUG, labels.STEALING_DEBUG)
_VALUES = {
    labels.DISCOVERY_MODE: ("pod", "container"),
    labels.WORKLOAD_PROVIDER: ("grove", "component"),
}


def check(plan: GraphPlan, pods: Sequence[Pods]) -> Iterator[Result]:
    """Reports labels and annotations that an API server or Dynamo rejects, and those of components that have no effect."""
    yield from _of_graph(plan)
    yield from _check_keys(plan)
    for component in pods:
        for template in component.plan.templates:
            yield from _of_component(template)
        for pod in _with_own_templates(component):
            yield from _overridden(pod)


def _of_graph(plan: GraphPlan) -> Iterator[Result]:
    """Reports annotations of the graph whose value is not one of the known ones."""
    annotations = plan.annotations
    for key, values in {**_VALUES, labels.GROVE_UPDATE_STRATEGY: plan.release.grove.update_strategies}.items():
        if key in annotations and not values:
            message = f"Dynamo {plan.release.name[1:]} does not read this annotation, so it has no effect; remove it"
            yield results.warning(codes.FIELD_WITHOUT_EFFECT, message, plan.ref, ("metadata", "annotations", key))
        elif key in annotations and annotations[key] not in values:
            message = f"{annotations[key]!r} is not a known value; write {' or '.join(values)}"
            yield results.error(codes.INVALID_ANNOTATION_VALUE, message, plan.ref, ("metadata", "annotations", key))
    origin = annotations.get(labels.ORIGIN_VERSION)
    if origin is not None:
        yield from _check_origin(plan, origin)
    if not _is_executor(annotations.get(labels.EXECUTOR_BACKEND)):
        yield rule_messages.error(codes.INVALID_VLLM_EXECUTOR, plan.ref, ("metadata", "annotations", labels.EXECUTOR_BACKEND))


def _check_origin(plan: GraphPlan, origin: str) -> Iterator[Result]:
    """Reports an origin version that is not a version, or that is newer than the release."""
    path, parsed = ("metadata", "annotations", labels.ORIGIN_VERSION), version.of_operator(origin)
    if parsed is None:
        message = f"{origin!r} is not a semantic version; write the version of the operator, for example 1.5.0, or remove the annotation"
        yield results.error(codes.INVALID_ANNOTATION_VALUE, message, plan.ref, path)
    elif parsed[:2] > plan.release.number:
        message = (
            f"an operator of version {origin} created the graph, and the render follows {plan.release.name}, which is older; set "
            "behaviour in the configuration to the release of the operator in the cluster, or remove the annotation"
        )
        yield results.warning(codes.OPERATOR_NEWER_THAN_RELEASE, message, plan.ref, path)


def _of_component(plan: ComponentPlan) -> Iterator[Result]:
    """Reports annotations of pods whose value is not valid, and of debug modes, which this release does not have."""
    annotations = plan.pod.annotations
    if not _is_executor(annotations.get(labels.EXECUTOR_BACKEND)):
        yield rule_messages.error(
            codes.INVALID_VLLM_EXECUTOR, plan.ref, plan.at("podTemplate", "metadata", "annotations", labels.EXECUTOR_BACKEND)
        )
    for key in _DEBUG_MODES:
        if plan.identity.annotations.get(key) == "true":
            message = "the annotation has no effect, because this release of Dynamo has no debug mode; remove it, and use kubectl debug"
            yield results.warning(codes.NO_DEBUG_MODE, message, plan.ref, plan.annotation(key))
    limit = annotations.get(labels.POWER_LIMIT)
    if limit is None:
        return
    at = plan.at("podTemplate", "metadata", "annotations", labels.POWER_LIMIT)
    if not (limit.isascii() and limit.isdigit() and limit.strip("0")):
        yield results.error(
            codes.INVALID_POWER_LIMIT, f"{limit!r} is not a whole number of watts above 0; write for example 500", plan.ref, at
        )
    elif plan.features.gpu_memory or plan.pod.container.get("resources", {}).get("claims"):
        message = "the limit applies to GPUs that the container requests, and this component claims its GPUs; remove the annotation"
        yield results.error(codes.INVALID_POWER_LIMIT, message, plan.ref, at)


def _is_executor(value: str | None) -> bool:
    return value is None or value.lower() in _EXECUTORS


def _check_keys(plan: GraphPlan) -> Iterator[Result]:
    """Reports labels and annotations of the graph that an API server rejects."""
    labels_of_all, annotations = plan.features.labels, plan.features.annotations
    for rejection in name_formats.validate_metadata(labels_of_all, annotations) if labels_of_all or annotations else ():
        yield results.error(rejection.code, rejection.message, plan.ref, plan.at(*rejection.path))


def _with_own_templates(pods: Pods) -> Sequence[Pod]:
    """Returns one pod for each pod template that the author wrote."""
    return pods.roles if pods.plan.roles else pods.roles[:1]


def _overridden(pod: Pod) -> Iterator[Result]:
    """Warns of labels of pods that Dynamo sets itself, because the user's value would be lost silently."""
    plan = pod.role.component
    if not plan.pod.labels:
        return
    final = pod_template.labels_of(pod.role)
    for key, value in plan.pod.labels.items():
        if final.get(key, value) != value:
            message = f"Dynamo sets this label on the pods itself, to {final[key]}; remove it"
            yield results.warning(codes.RESERVED_LABEL, message, plan.ref, plan.at("podTemplate", "metadata", "labels", key))
