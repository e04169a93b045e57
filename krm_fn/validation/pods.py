"""What an API server would refuse in the pods, at the field where the user can mend it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from krm_fn import backends, pod, results, workloads
from krm_fn.kube import admission

if TYPE_CHECKING:
    from krm_fn.plan import ComponentPlan
    from krm_fn.results import Path, Result


def check_pods(plan: ComponentPlan) -> Iterator[Result]:
    """What an API server would refuse in the pods, at the field where the user can mend it."""
    carrier = workloads.get(plan.workload)
    mine = {mount.name for mount in plan.mounts}
    for role in carrier.roles(plan):
        spec = pod.spec(role)
        for fault in admission.pod(spec):
            if fault.code == "DYN207" and fault.path[0] == "volumes" and spec["volumes"][fault.path[1]].get("name") in mine:
                continue  # said already, of the mount
            yield results.error(fault.code, fault.message, plan.ref, _origin(plan, fault.path))
        policy = spec.get("restartPolicy")
        if carrier.only_always and policy != "Always":
            message = f"{policy!r} does not fit pods that are to stay; write Always, or remove it"
            yield results.error("DYN223", message, plan.ref, (*plan.path, "extraPodSpec", "restartPolicy"))


def check_engine(plan: ComponentPlan) -> Iterator[Result]:
    """What the engine finds in the main container, for each of its roles."""
    container = pod.container(plan)
    for role in workloads.get(plan.workload).roles(plan):
        yield from backends.get(plan.backend).check(container, role)


def _origin(plan: ComponentPlan, path: Path) -> Path:
    """Where in the user's resource a field of the finished pod comes from."""
    extra: Path = (*plan.path, "extraPodSpec")
    if path[:2] != ("containers", len(plan.pod.get("containers") or ())):
        return (*extra, *path)
    rest, main = path[2:], (*extra, "mainContainer")
    if (rest[:1] == ("livenessProbe",) and plan.liveness is not None) or (rest[:1] == ("readinessProbe",) and plan.readiness is not None):
        return (*plan.path, *rest)
    if rest[:1] == ("resources",) and not plan.container.get("resources"):
        return (*plan.path, *rest)
    if rest[:1] == ("env",):
        return (*plan.path, "envs")
    return (*main, *rest)


def check_metadata(plan: ComponentPlan) -> Iterator[Result]:
    """Labels and annotations that Kubernetes would not take."""
    where: Path = (*plan.path, "extraPodMetadata")
    checks = (
        (admission.labels(plan.pod_labels), (*where, "labels")),
        (admission.annotation_keys(plan.pod_annotations), (*where, "annotations")),
        (admission.annotation_keys(plan.annotations), (*plan.path, "annotations")),
        (admission.labels(plan.service_labels if plan.by_graph or plan.alone else {}), (*plan.path, "labels")),
        (admission.labels({"componentType": plan.type, "subComponentType": plan.sub_type}), plan.path),
        (admission.labels(plan.ingress.labels), (*plan.path, "ingress", "labels")),
        (admission.annotation_keys(plan.ingress.annotations), (*plan.path, "ingress", "annotations")),
    )
    for faults, at in checks:
        for fault in faults:
            yield results.error(fault.code, fault.message, plan.ref, (*at, *fault.path))
