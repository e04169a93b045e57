"""Rules about pod templates: those of an API server and those of an engine, reported at the field that the user wrote."""

from __future__ import annotations

from collections.abc import Iterator

from krm_fn.base import codes, results
from krm_fn.kubernetes.api_server import by_field, name_formats, pod_rules
from krm_fn.render import engines, labels, names
from krm_fn.render.manifests import workloads
from krm_fn.render.rules import field_origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.base.results import Path, Result
    from krm_fn.kubernetes.api_server.rejections import Rejection
    from krm_fn.kubernetes.native_types import PodSpec
    from krm_fn.kubernetes.types import Labels
    from krm_fn.render.manifests.pod_builder import Pods
    from krm_fn.render.plan import ComponentPlan

_CHECKED_AS_NAMES = (labels.GRAPH, labels.COMPONENT, labels.COMPONENT_TYPE, labels.SUB_COMPONENT_TYPE)
"""Labels with names of the graph and its components, which other rules check."""


def check(pods: Pods) -> Iterator[Result]:
    """Yields the findings about the labels, annotations and pods of a component."""
    for template in pods.plan.templates:
        yield from _check_metadata(template)
    yield from _check_pods(pods)
    yield from _check_engine(pods)


def _check_pods(pods: Pods) -> Iterator[Result]:
    """Reports pods that an API server would reject, or that the workload cannot restart."""
    always_restarts = workloads.get(pods.plan.placement.workload).always_restarts
    for pod in pods.roles:
        plan = pods.plan.of_role(pod.role.role)
        of_role = pods._replace(plan=plan)
        for rejection in pod_rules.validate(pod.spec, lambda: plan.word("pod")):  # noqa: B023 - called before the next turn
            path = field_origin.path(of_role, pod.spec, rejection)
            if path is not None:
                yield results.error(
                    rejection.code, _message(of_role, pod.spec, rejection), plan.ref, path, proposed=rejection.proposed, edit=rejection.edit
                )
        for rejection in by_field.validate_annotations(plan.pod.annotations or {}, by_field.Context(pod.spec)):
            path = plan.at("podTemplate", "metadata", "annotations", *rejection.path)
            yield results.error(rejection.code, rejection.message, plan.ref, path, proposed=rejection.proposed, edit=rejection.edit)
        policy = pod.spec.get("restartPolicy")
        if always_restarts and policy != "Always" and plan.pod.spec.get("restartPolicy"):  # failover sets it too, and DYN452 reports that
            message = f"restartPolicy is {policy!r}, but the pods of this workload must restart; write Always, or remove the field"
            yield results.error(codes.RESTART_POLICY_NOT_ALWAYS, message, plan.ref, plan.at("pod", "restartPolicy"))


def _check_engine(pods: Pods) -> Iterator[Result]:
    """Yields the findings of the engine about the main container of each role."""
    for pod in pods.roles:
        plan = pod.role.component
        engine = engines.get(plan.engine)
        if plan.features.has_role_templates:
            yield from engine.check_launched(plan.pod.container, pod.role)
        else:
            yield from engine.check(pods.main, pod.role)


def _check_metadata(plan: ComponentPlan) -> Iterator[Result]:
    """Reports labels and annotations that an API server rejects."""
    ingress, identity = plan.exposure.ingress, plan.identity
    checks: tuple[tuple[Labels | None, Labels | None, Path], ...] = (
        (plan.pod.labels, plan.pod.annotations, ("podTemplate", "metadata")),
        (identity.service_labels, _of_service(plan), ()),
        (ingress.labels, ingress.annotations, ("ingress",)),
    )
    for written_labels, written_annotations, field in checks:
        if not written_labels and not written_annotations:
            continue
        for rejection in name_formats.validate_metadata(written_labels, written_annotations):
            yield results.error(rejection.code, rejection.message, plan.ref, plan.at(*field, *rejection.path))
    types = {"componentType": identity.type, "subComponentType": identity.sub_type}
    for rejection in name_formats.validate_labels(types):
        yield results.error(rejection.code, rejection.message, plan.ref, plan.at("name", *map(plan.word, rejection.path)))


def check_object_labels(plan: ComponentPlan, of_graph: Labels) -> Iterator[Result]:
    """Yields findings about labels of a component's objects that `check` does not find: its own labels, and its Dynamo namespace.

    `of_graph` holds the user's labels of the graph, which other rules check.
    """
    identity = plan.identity
    others = {*identity.service_labels, *plan.pod.labels, *of_graph, *_CHECKED_AS_NAMES}
    for rejection in name_formats.validate_labels({key: value for key, value in identity.labels.items() if key not in others}):
        (key,) = rejection.path
        if key != labels.NAMESPACE:
            yield results.error(rejection.code, rejection.message, plan.ref, plan.at("labels", key))
        elif identity.standalone and not _is_too_long(identity.labels[key], identity.dynamo_namespace):
            yield results.error(rejection.code, rejection.message, plan.ref, ("spec", "dynamoNamespace"))


def _is_too_long(label: str, dynamo_namespace: str) -> bool:
    """True for a Dynamo namespace that another rule reports, because it is too long."""
    return label == dynamo_namespace and len(label) > names.LABEL_LIMIT


def _of_service(plan: ComponentPlan) -> Labels:
    """Returns the annotations of the component itself, without those that it has from its pods or from its graph."""
    if not plan.release.pod_metadata.inherited:
        return plan.identity.annotations
    others = {*plan.pod.annotations, *plan.paths.inherited}
    return {key: value for key, value in plan.identity.annotations.items() if key not in others}


def _message(pods: Pods, spec: PodSpec, rejection: Rejection) -> str:
    """Returns the message of a rejection with the fix for a component.

    If a mount collides with the default shared memory, the fix is to remove one of the two. Resources that a pod as a whole does not have
    belong to the component.
    """
    match rejection.path:
        case ("resources", "limits" | "requests", name) if rejection.code == codes.UNKNOWN_RESOURCE and (
            name == "gpu" or pod_rules.is_resource(str(name))
        ):
            right = "resources of the service" if pods.plan.word("pod") == "extraPodSpec" else "resources of the container main"
            return f"{name} is not a resource of a whole pod; move it to {right}"
    if rejection.code != codes.DUPLICATE_MOUNT_PATH or not field_origin.is_shared_memory(pods, spec, rejection):
        return rejection.message
    off = pods.plan.fix("no shared memory")
    return f"{rejection.message.partition(';')[0]}, and the second is the default shared memory; remove this mount, or {off}"
