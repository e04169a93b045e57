"""The pod templates of a component: its pods (`krm_fn.render.manifests.pod_builder`) with their labels and annotations.

Follows the operator's `controller/dynamocomponentdeployment_controller.go` generatePodTemplateSpec.
"""

from __future__ import annotations

from krm_fn.render import labels
from krm_fn.render.manifests import services

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.kubernetes.native_types import Container, ObjectMeta, PodTemplateSpec
    from krm_fn.kubernetes.types import Labels
    from krm_fn.render.manifests.pod_builder import Pod
    from krm_fn.render.plan import ComponentPlan, RolePlan


def template(pod: Pod) -> PodTemplateSpec:
    """Makes the pod template of one role, for all workload kinds except Grove.

    Rule pod.fallback-account: A pod without any other service account uses `default`, or the first one with the label
    `nvidia.com/dynamo-component-pod`. (operator: internal/controller/dynamocomponentdeployment_controller.go generatePodTemplateSpec)
    """
    plan, spec = pod.role.component, pod.spec
    if pod.role.debug or plan.debugs(labels.DEBUG):
        debugger = _debugger(plan.config.debugger_image)
        spec = {**spec, "containers": [*spec["containers"], debugger], "shareProcessNamespace": True}
    if "serviceAccountName" not in spec:
        spec = {**spec, "serviceAccountName": plan.pod.fallback_account}
    metadata: ObjectMeta = {"labels": labels_of(pod.role)}
    if annotations := pod_annotations(plan):
        metadata["annotations"] = annotations
    return {"metadata": metadata, "spec": spec}


def labels_of(role: RolePlan) -> Labels:
    """Returns the labels of the pods of a role.

    `krm_fn.render.rules` reports labels of the user that break a selector.

    Rule metadata.pod-labels: A pod has the labels of its component, of its type and of its workload; the release decides if labels of the
    user win. (operator: internal/controller/dynamocomponentdeployment_controller.go generatePodTemplateSpec)
    """
    plan, facts = role.component, role.component.release.pod_metadata
    debug = {labels.TARGET_TYPE: "debug"} if role.debug else {}
    graph = {labels.GRAPH: plan.identity.graph_label} if plan.identity.graph_label or not facts.protected else {}
    identity = {**graph, labels.SELECTOR: role.target}
    discovery = services.discovery_labels(plan.placement.discovery, discoverable=True) if facts.discovery else {}
    generated = {**services.workload_labels(plan), **debug, **kind_labels(plan), **identity, **discovery}
    if not facts.protected:
        return {**generated, **plan.pod.labels}
    return {**plan.pod.labels, **generated, **{key: value for key, value in plan.identity.selector.items() if value}}


def kind_labels(plan: ComponentPlan) -> Labels:
    """Returns the labels for the type of a component and for its metrics, without empty values.

    Rule metadata.pod-type: A pod has labels with its component type and for metrics, which the annotation `nvidia.com/enable-metrics:
    false` switches off. (operator: internal/controller/dynamocomponentdeployment_controller.go generatePodTemplateSpec)
    """
    values = {
        labels.METRICS_ENABLED: "true" if plan.identity.metrics else "",
        labels.COMPONENT_TYPE: plan.identity.type,
        labels.SUB_COMPONENT_TYPE: plan.identity.sub_type,
    }
    return {key: value for key, value in values.items() if value}


def pod_annotations(plan: ComponentPlan) -> Labels:
    """Returns all annotations of a component, or in older releases the user's annotations of pods and the restart.

    Rule metadata.pod-annotations: A pod has the annotations that the user wrote for pods, and the annotation of a requested restart.
    (operator: internal/controller/dynamocomponentdeployment_controller.go generatePodTemplateSpec)
    """
    if plan.release.pod_metadata.inherited:
        return plan.identity.annotations
    restart = plan.identity.annotations.get(labels.RESTART_AT)
    return {**plan.pod.annotations, **({} if restart is None else {labels.RESTART_AT: restart})}


def _debugger(image: str) -> Container:
    """Makes the debugger container. It shares the process namespace of the main container.

    Rule pod.debugger: In debug mode, a pod has a container `debugger` that may trace the processes of the main container. (operator:
    internal/controller/dynamocomponentdeployment_controller.go generatePodTemplateSpec)
    """
    return {
        "name": "debugger",
        "image": image,
        "command": ["sleep", "infinity"],
        "resources": {"requests": {"cpu": "100m", "memory": "100Mi"}, "limits": {"cpu": "1", "memory": "1000Mi"}},
        "securityContext": {"capabilities": {"add": ["SYS_PTRACE"]}},
        "stdin": True,
        "tty": True,
    }
