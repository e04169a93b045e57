"""The pod templates of a component: its pods (`krm_fn.manifests.assemblies`) with their labels and annotations.

Follows the reference's `controller/dynamocomponentdeployment_controller.go` generatePodTemplateSpec.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import labels
from krm_fn.manifests import services

if TYPE_CHECKING:
    from krm_fn.kube.types import Container, Labels, Metadata, PodTemplate
    from krm_fn.manifests.assemblies import Pod
    from krm_fn.plan import ComponentPlan, RolePlan


def template(pod: Pod) -> PodTemplate:
    """The pod template of one role, for all workload kinds except Grove."""
    plan, spec = pod.role.component, pod.spec
    if pod.role.debug or plan.debugs(labels.DEBUG):
        debugger = _debugger(plan.config.debugger_image)
        spec = {**spec, "containers": [*spec["containers"], debugger], "shareProcessNamespace": True}
    if "serviceAccountName" not in spec:
        spec = {**spec, "serviceAccountName": plan.pod.fallback_account}
    metadata: Metadata = {"labels": labels_of(pod.role)}
    if found := pod_annotations(plan):
        metadata["annotations"] = found
    return {"metadata": metadata, "spec": spec}


def labels_of(role: RolePlan) -> Labels:
    """The labels of a pod. The release decides if the user's labels win. `krm_fn.validation` reports those that break a selector."""
    plan, facts = role.component, role.component.behaviour.pod_metadata
    debug = {labels.TARGET_TYPE: "debug"} if role.debug else {}
    graph = {labels.GRAPH: plan.who.graph_label} if plan.who.graph_label or not facts.protected else {}
    who = {**graph, labels.SELECTOR: role.target}
    found = services.discovery_labels(plan.placement.discovery, discoverable=True) if facts.discovery else {}
    own = {**services.workload_labels(plan), **debug, **kind_labels(plan), **who, **found}
    if not facts.protected:
        return {**own, **plan.pod.labels}
    return {**plan.pod.labels, **own, **{key: value for key, value in plan.who.selector.items() if value}}


def kind_labels(plan: ComponentPlan) -> Labels:
    """Labels for the type of a component and for its metrics, without empty values."""
    found = {
        labels.METRICS_ENABLED: "true" if plan.who.metrics else "",
        labels.COMPONENT_TYPE: plan.who.type,
        labels.SUB_COMPONENT_TYPE: plan.who.sub_type,
    }
    return {key: value for key, value in found.items() if value}


def pod_annotations(plan: ComponentPlan) -> Labels:
    """The annotations of a pod. The release decides if they are all of its component, or the user's for pods and the requested restart."""
    if plan.behaviour.pod_metadata.inherited:
        return plan.who.annotations
    restart = plan.who.annotations.get(labels.RESTART_AT)
    return {**plan.pod.annotations, **({} if restart is None else {labels.RESTART_AT: restart})}


def _debugger(image: str) -> Container:
    """The debugger container. It shares the process namespace of the main container."""
    return {
        "name": "debugger",
        "image": image,
        "command": ["sleep", "infinity"],
        "resources": {"requests": {"cpu": "100m", "memory": "100Mi"}, "limits": {"cpu": "1", "memory": "1000Mi"}},
        "securityContext": {"capabilities": {"add": ["SYS_PTRACE"]}},
        "stdin": True,
        "tty": True,
    }
