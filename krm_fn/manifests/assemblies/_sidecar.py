"""A frontend beside the main container, in the same pod.

Follows the reference's `internal/dynamo/graph.go` mergeFrontendSidecarDefaults.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import merge
from krm_fn.manifests import components, env

if TYPE_CHECKING:
    from krm_fn.kube.types import Container, VolumeMount
    from krm_fn.plan import ComponentPlan

_TYPE = "frontend"


def defaulted(plan: ComponentPlan, container: Container, main: Container) -> Container:
    """A container of the user, with the defaults of a frontend below it if it is the frontend of the pod.

    It gets each mount of the main container whose volume it does not mount. Its probes merge with the default probes.
    """
    if container.get("name") != plan.features.frontend_sidecar:
        return container
    kind = components.get(_TYPE)
    default: Container = {"name": plan.features.frontend_sidecar, **kind.container(plan)}
    merged = merge.overlay(default, merge.without(container, "env", *merge.PROBES))
    for name in merge.PROBES:
        written, below = container.get(name), default.get(name)
        if written is not None:
            merged[name] = written if below is None else merge.probe(below, written)
    common = [*env.platform(plan.config), *env.common(plan, _TYPE, kind.facts(plan))]
    merged["env"] = merge.envs(common, default.get("env") or (), container.get("env") or ())
    if mounts := _mounts(merged, main):
        merged["volumeMounts"] = mounts
    return merged


def _mounts(container: Container, main: Container) -> list[VolumeMount]:
    """The mounts of the container, then the first mount of each other volume of the main container."""
    found = list(container.get("volumeMounts") or ())
    names = {mount.get("name") for mount in found}
    for mount in main.get("volumeMounts") or ():
        if mount.get("name") not in names:
            names.add(mount.get("name"))
            found.append(mount)
    return found
