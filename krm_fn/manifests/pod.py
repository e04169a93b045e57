"""The pod template of one role: defaults < user < enforced.

The order of the layers is the reference's (`internal/dynamo/graph.go` GenerateBasePodSpec,
`controller/dynamocomponentdeployment_controller.go` generatePodTemplateSpec).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import labels, merge, names
from krm_fn.manifests import backends, components, env, services, volumes

if TYPE_CHECKING:
    from krm_fn.kube.types import Container, Labels, PodSpec, PodTemplate
    from krm_fn.plan import ComponentPlan, RolePlan

MAIN = "main"
_FS_GROUP = 1000  # what the images' cache folders belong to


def template(role: RolePlan) -> PodTemplate:
    """The pods of one role as a component carries them. Later layers win."""
    plan, written = role.component, spec(role)
    if role.debug or plan.says(labels.DEBUG):
        written = _with_debugger(written, plan.config.debugger_image)
    written.setdefault("serviceAccountName", plan.pod.fallback_account)
    return {"metadata": merge.some(labels=_labels(role), annotations=notes(plan) or None), "spec": written}


def spec(role: RolePlan) -> PodSpec:
    """The pod of one role, whatever carries it."""
    plan, backend = role.component, backends.get(role.component.placement.backend)
    return backend.pod(_pod(plan, backend.container(container(plan), role)), role)


def main_container(template: PodTemplate) -> Container:
    """The container that runs Dynamo: the last of those that are not the debugger."""
    found = [entry for entry in template["spec"]["containers"] if entry != _debugger(entry.get("image", ""))]
    main: Container = found[-1]
    return main


def container(plan: ComponentPlan) -> Container:
    """The main container, before the engine changes it."""
    component, cache_dir = components.get(plan.who.type), backends.get(plan.placement.backend).cache_dir
    default = component.container(plan)
    default = {"name": MAIN, **default, "env": merge.envs(env.common(plan), default.get("env") or ())}
    merged = merge.container(default, plan.pod.container)
    merged["env"] = merge.envs(env.platform(plan.config), merged["env"], plan.pod.envs)
    _replace(merged, "livenessProbe", plan.pod.liveness)
    _replace(merged, "readinessProbe", plan.pod.readiness)
    _replace(merged, "resources", _resources(merged.get("resources") or {}, plan.pod.resources) or None)
    if plan.pod.env_from_secret:
        merged["envFrom"] = [*(merged.get("envFrom") or ()), {"secretRef": {"name": plan.pod.env_from_secret}}]
    if found := [*(merged.get("volumeMounts") or ()), *volumes.mounts(plan, cache_dir)]:
        merged["volumeMounts"] = found
    return merged


def _pod(plan: ComponentPlan, main: Container) -> PodSpec:
    """The pod around the main container, which comes after the user's own containers."""
    component = components.get(plan.who.type)
    pod = merge.overlay(component.pod(plan), {key: value for key, value in plan.pod.spec.items() if key != "containers"})
    if pod.get("securityContext") is None:
        pod["securityContext"] = {"fsGroup": _FS_GROUP}
    pod.update(plan.pod.enforced)
    if not pod.get("serviceAccountName"):
        pod.pop("serviceAccountName", None)
        if plan.placement.discovery == "kubernetes" and plan.who.graph:
            pod["serviceAccountName"] = names.discovery(plan.who.graph)
    pod["containers"] = [*(plan.pod.spec.get("containers") or ()), main]
    if found := [*(pod.get("volumes") or ()), *volumes.pod_volumes(plan)]:
        pod["volumes"] = found
    return _with_pull_secrets(pod, plan.pod.pull_secrets)


def _replace(holder: dict[str, Any], key: str, value: Any) -> None:
    """Set a key of an object that is still being written, where there is something to set."""
    if value is not None:
        holder[key] = value


def _resources(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """The component's resources over the container's, key by key; claims add up."""
    merged = merge.overlay(base, {key: over[key] for key in ("limits", "requests") if over.get(key)})
    if claims := [*(base.get("claims") or ()), *(over.get("claims") or ())]:
        merged["claims"] = claims
    return merged


def _with_pull_secrets(spec: PodSpec, found: tuple[str, ...]) -> PodSpec:
    """The user's pull secrets as written, then those found that are not among them."""
    written = spec.get("imagePullSecrets") or []
    known = {entry.get("name") for entry in written}
    added = [{"name": name} for name in found if name not in known]
    return {**spec, "imagePullSecrets": [*written, *added]} if added else spec


def _labels(role: RolePlan) -> Labels:
    """Labels of the pods; what the user adds can override all of them, and `krm_fn.validation` says where that breaks something."""
    plan = role.component
    debug = {labels.TARGET_TYPE: "debug"} if role.debug else {}
    who = {labels.GRAPH: plan.who.graph_label, labels.SELECTOR: role.target}
    return {**services.workload_labels(plan), **debug, **kind_labels(plan), **who, **plan.pod.labels}


def kind_labels(plan: ComponentPlan) -> Labels:
    """What kind of pods these are, where there is something to say."""
    said = {
        labels.METRICS_ENABLED: "true" if plan.who.metrics else "",
        labels.COMPONENT_TYPE: plan.who.type,
        labels.SUB_COMPONENT_TYPE: plan.who.sub_type,
    }
    return {key: value for key, value in said.items() if value}


def notes(plan: ComponentPlan) -> Labels:
    """The user's, and the restart that was asked for; no other annotation of a service reaches its pods."""
    return {**plan.pod.annotations, **{key: plan.who.annotations[key] for key in (labels.RESTART_AT,) if key in plan.who.annotations}}


def _with_debugger(spec: PodSpec, image: str) -> PodSpec:
    return {**spec, "containers": [*spec["containers"], _debugger(image)], "shareProcessNamespace": True}


def _debugger(image: str) -> Container:
    """A container that sees the main one's processes."""
    return {
        "name": "debugger",
        "image": image,
        "command": ["sleep", "infinity"],
        "resources": {"requests": {"cpu": "100m", "memory": "100Mi"}, "limits": {"cpu": "1", "memory": "1000Mi"}},
        "securityContext": {"capabilities": {"add": ["SYS_PTRACE"]}},
        "stdin": True,
        "tty": True,
    }
