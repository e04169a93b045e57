"""Reports the parts of pods that an API server would refuse, at the field that the user wrote."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube.admission import metadata
from krm_fn.kube.admission import pod as admission
from krm_fn.manifests import backends, workloads
from krm_fn.validation import field_origin

if TYPE_CHECKING:
    from krm_fn.kube.admission import Refusal
    from krm_fn.kube.types import Labels, PodSpec
    from krm_fn.manifests.assemblies import Pods
    from krm_fn.plan import ComponentPlan
    from krm_fn.plan.address import Field
    from krm_fn.results import Result


def check_pods(pods: Pods) -> Iterator[Result]:
    """Reports pods that an API server would refuse, or that the workload cannot restart."""
    plan = pods.plan
    always_restarts = workloads.get(plan.placement.workload).always_restarts
    for pod in pods.roles:
        for refusal in admission.refusals(pod.spec, plan.word("pod")):
            at = field_origin.path(pods, pod.spec, refusal)
            if at is not None:
                yield results.error(refusal.code, _message(pods, pod.spec, refusal), plan.ref, at)
        policy = pod.spec.get("restartPolicy")
        if always_restarts and policy != "Always":
            message = f"restartPolicy is {policy!r}, but the pods of this workload must restart; write Always, or remove the field"
            yield results.error("DYN223", message, plan.ref, plan.at("pod", "restartPolicy"))


def check_engine(pods: Pods) -> Iterator[Result]:
    """Findings of the engine about the main container, for each role."""
    backend = backends.get(pods.plan.placement.backend)
    for pod in pods.roles:
        yield from backend.check(pods.main, pod.role)


def check_metadata(plan: ComponentPlan) -> Iterator[Result]:
    """Reports labels and annotations that an API server refuses."""
    ingress = plan.edge.ingress
    checks: tuple[tuple[Iterator[Refusal], Field], ...] = (
        (metadata.labels(plan.pod.labels), "pod.labels"),
        (metadata.annotation_keys(plan.pod.annotations), "pod.annotations"),
        (metadata.annotation_keys(_of_service(plan)), "annotations"),
        (metadata.labels(plan.who.service_labels), "labels"),
        (metadata.labels({plan.word("type"): plan.who.type, plan.word("sub_type"): plan.who.sub_type}), "component"),
        (metadata.labels(ingress.labels or {}), "ingress.labels"),
        (metadata.annotation_keys(ingress.annotations or {}), "ingress.annotations"),
    )
    for refusals, field in checks:
        for refusal in refusals:
            yield results.error(refusal.code, refusal.message, plan.ref, plan.at(field, *refusal.path))


def _of_service(plan: ComponentPlan) -> Labels:
    """The annotations of the component itself, without those that it has from its pods or from its graph."""
    if not plan.behaviour.pod_metadata.inherited:
        return plan.who.annotations
    others = {*plan.pod.annotations, *plan.address.inherited}
    return {key: value for key, value in plan.who.annotations.items() if key not in others}


def _message(pods: Pods, spec: PodSpec, refusal: Refusal) -> str:
    """The message of a refusal. If a mount collides with the default shared memory, the fix is to remove one of the two."""
    if refusal.code != "DYN209" or not field_origin.is_shared_memory(pods, spec, refusal):
        return refusal.message
    off = pods.plan.remedy("shared_memory.off")
    return f"{refusal.message.partition(';')[0]}, and the second is the default shared memory; remove this mount, or {off}"
