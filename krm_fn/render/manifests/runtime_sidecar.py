"""Sidecar mode: an init container runs Dynamo beside an engine, which the main container runs as its author wrote it.

Follows the operator's `internal/dynamo/component_dynamo_sidecar.go`.
"""

from __future__ import annotations

from krm_fn.kubernetes import merge
from krm_fn.render import names
from krm_fn.render.manifests import component_defaults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.kubernetes.native_types import Container, PodSpec
    from krm_fn.render.plan import ComponentPlan


def applied(plan: ComponentPlan, pod: PodSpec) -> PodSpec:
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
