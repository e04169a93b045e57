"""Containers of Dynamo beside the main container: a frontend, or the runtime of Dynamo for an engine without it.

Follows the operator's `internal/dynamo/graph.go` mergeFrontendSidecarDefaults, and `internal/dynamo/component_dynamo_sidecar.go`.
"""

from __future__ import annotations

from krm_fn.kubernetes import merge, version
from krm_fn.render import names
from krm_fn.render.kinds import gates, types
from krm_fn.render.manifests import component_defaults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.kubernetes.native_types import Container, PodSpec, VolumeMount
    from krm_fn.render.plan import ComponentPlan


_TYPE = "frontend"
"""The component type of a frontend sidecar.

Rule container.sidecar: see `krm_fn.render.manifests.sidecars`.
"""


def with_frontend_defaults(plan: ComponentPlan, container: Container, main: Container) -> Container:
    """Returns a container of a pod, with defaults if it is the frontend sidecar.

    All other containers stay as they are. The version of the sidecar's own image opens its gates. The sidecar gets each mount of the main
    container whose volume it does not mount. Its probes merge with the default probes.

    Rule container.sidecar: A frontend sidecar has the defaults of a frontend below its own fields. (operator: internal/dynamo/graph.go
    mergeFrontendSidecarDefaults)
    """
    if container.get("name") != plan.features.frontend_sidecar:
        return container
    frontend, runtime = types.get(_TYPE), version.of_image(container.get("image") or "")
    opened = gates.open_gates(plan.release.number, runtime, origin="")
    defaults = gates.apply_gates(frontend.defaults_in(plan.release, frontend.release_key), frontend.release_key, opened)
    default: Container = {"name": plan.features.frontend_sidecar, **component_defaults.container(plan, frontend, defaults)}
    merged = merge.overlay(default, merge.without(container, "env", *merge.PROBES))
    for name in merge.PROBES:
        written, below = container.get(name), default.get(name)
        if written is not None:
            merged[name] = written if below is None else merge.probe(below, written)
    sidecar = plan.features.frontend_sidecar if plan.release.names_sidecar else ""
    common = component_defaults.common_variables(plan, _TYPE, defaults, sidecar)
    merged["env"] = merge.envs(common, default.get("env") or (), container.get("env") or ())
    if mounts := _mounts(merged, main):
        merged["volumeMounts"] = mounts
    return merged


def _mounts(container: Container, main: Container) -> list[VolumeMount]:
    """Returns the mounts of the container, then the first mount of each other volume of the main container."""
    mounts = list(container.get("volumeMounts") or ())
    names = {mount.get("name") for mount in mounts}
    for mount in main.get("volumeMounts") or ():
        if mount.get("name") not in names:
            names.add(mount.get("name"))
            mounts.append(mount)
    return mounts


def with_runtime(plan: ComponentPlan, pod: PodSpec) -> PodSpec:
    """Returns a pod spec with the defaults of the container that runs Dynamo.

    Rule sidecar-mode.pod: In sidecar mode, the init container `runtime` has the defaults of Dynamo; other init containers and the engine
    stay as written. (operator: internal/dynamo/component_dynamo_sidecar.go)
    """
    inits = pod.get("initContainers") or ()
    return {
        **pod,
        "initContainers": [_runtime(plan, container) if container.get("name") == names.RUNTIME else container for container in inits],
    }


def _runtime(plan: ComponentPlan, written: Container) -> Container:
    """Returns the container that runs Dynamo with its defaults.

    Each probe of the user replaces the whole default probe. The container has no default command.

    Rule sidecar-mode.container: The container that runs Dynamo has the variables of a component, a port and probes below its own fields.
    (operator: internal/dynamo/component_dynamo_sidecar.go)
    """
    standard = component_defaults.standard(plan.defaults)
    merged = merge.overlay(standard, merge.without(written, "env", *merge.PROBES))
    for name in merge.PROBES:
        if written.get(name) is not None:
            merged[name] = written[name]
    common = component_defaults.common_variables(plan, plan.identity.type, plan.defaults, names.RUNTIME)
    merged["env"] = merge.envs(common, standard.get("env") or (), written.get("env") or ())
    return merged
