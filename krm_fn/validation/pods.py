"""What an API server would refuse in the pods, at the field where the user can mend it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube.admission import pod as admission
from krm_fn.manifests import backends, pod, workloads
from krm_fn.validation import field_origin

if TYPE_CHECKING:
    from krm_fn.plan import ComponentPlan
    from krm_fn.results import Path, Result


def check_pods(plan: ComponentPlan) -> Iterator[Result]:
    """What an API server would refuse in the pods, at the field where the user can mend it."""
    carrier = workloads.get(plan.placement.workload)
    for role in carrier.roles(plan):
        spec = pod.spec(role)
        for fault in admission.pod(spec):
            at = field_origin.of(plan, spec, fault)
            if at is not None:
                yield results.error(fault.code, fault.message, plan.ref, at)
        policy = spec.get("restartPolicy")
        if carrier.always_restarts and policy != "Always":
            message = f"{policy!r} does not fit pods that are to stay; write Always, or remove it"
            yield results.error("DYN223", message, plan.ref, (*plan.path, "extraPodSpec", "restartPolicy"))


def check_engine(plan: ComponentPlan) -> Iterator[Result]:
    """What the engine finds in the main container, for each of its roles."""
    container = pod.container(plan)
    for role in workloads.get(plan.placement.workload).roles(plan):
        yield from backends.get(plan.placement.backend).check(container, role)


def check_metadata(plan: ComponentPlan) -> Iterator[Result]:
    """Labels and annotations that Kubernetes would not take."""
    where: Path = (*plan.path, "extraPodMetadata")
    checks = (
        (admission.labels(plan.pod.labels), (*where, "labels")),
        (admission.annotation_keys(plan.pod.annotations), (*where, "annotations")),
        (admission.annotation_keys(plan.who.annotations), (*plan.path, "annotations")),
        (admission.labels(plan.who.service_labels), (*plan.path, "labels")),
        (admission.labels({"componentType": plan.who.type, "subComponentType": plan.who.sub_type}), plan.path),
        (admission.labels(plan.edge.ingress.labels or {}), (*plan.path, "ingress", "labels")),
        (admission.annotation_keys(plan.edge.ingress.annotations or {}), (*plan.path, "ingress", "annotations")),
    )
    for faults, at in checks:
        for fault in faults:
            yield results.error(fault.code, fault.message, plan.ref, (*at, *fault.path))
