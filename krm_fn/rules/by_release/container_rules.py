"""Rules about containers: `main` and its Dynamo version, frontend sidecars, compilation caches and shared memory.

Follows the operator's `internal/webhook/validation/shared_v1beta1.go`, and GenerateBasePodSpec in `internal/dynamo/graph.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import version
from krm_fn.manifests import volumes
from krm_fn.rules.component_rules import cache_without_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.manifests.pod_builder import Pods
    from krm_fn.plan import ComponentPlan, GraphPlan, Mount
    from krm_fn.results import Path, Result


def check(plan: GraphPlan, pods: Sequence[Pods]) -> Iterator[Result]:
    """Reports problems of the containers of each component."""
    for component in (component_pods.plan for component_pods in pods):
        if not component.features.written_main:
            message = "the component has no container named main, which runs Dynamo; add it with an image"
            yield results.error("DYN450", message, component.ref, component.at("podTemplate", "spec", "containers"))
        elif not plan.standalone:
            yield from _check_version(component)
        if component.features.frontend_sidecar:
            yield from _check_sidecar(component)
        if component.pod.cache:
            yield from _check_cache(component, component.pod.cache)
        if component.pod.shared_memory:
            yield from _check_shared_memory(component)


def _check_version(plan: ComponentPlan) -> Iterator[Result]:
    """The version of Dynamo must be known, because features depend on it: from the tag of the image, or from the field."""
    image = plan.pod.container.get("image")
    if image and not plan.features.runtime_version and version.of_image(image) is None:
        field = plan.word("runtimeVersionOverride")
        message = f"the tag of the image {image} is not a version; set {field} to the version of Dynamo in it, for example 1.5.0"
        yield results.error("DYN451", message, plan.ref, plan.at("runtimeVersionOverride"))


def _check_sidecar(plan: ComponentPlan) -> Iterator[Result]:
    """Reports a frontend sidecar that is not one of the containers."""
    name, names = plan.features.frontend_sidecar, plan.features.containers
    if name not in names:
        known = f"write one of {', '.join(names)}, or " if names else ""
        message = f"the pod has no container {name}; {known}add the container"
        yield results.error("DYN460", message, plan.ref, plan.at("frontendSidecar"))


def _check_cache(plan: ComponentPlan, cache: Mount) -> Iterator[Result]:
    """Reports a compilation cache without a folder, and one in the folder of another mount or of a mount that cannot be written."""
    if not cache.path:
        yield cache_without_path(plan, plan.at("compilationCache", "mountPath"))
        return
    for index, mount in enumerate(plan.pod.container.get("volumeMounts") or ()):
        if mount.get("mountPath") != cache.path:
            continue
        at = plan.at("main", "volumeMounts", index)
        if mount.get("name") != cache.name:
            message = f"the compilation cache is mounted at {cache.path}, too; mount one of the two elsewhere"
            yield results.error("DYN459", message, plan.ref, (*at, "mountPath"))
        elif mount.get("readOnly"):
            yield results.error("DYN459", "the engine writes into the compilation cache; remove readOnly", plan.ref, (*at, "readOnly"))


def _check_shared_memory(plan: ComponentPlan) -> Iterator[Result]:
    """Warns of a volume with the name of shared memory, and of a mount in its folder: the operator drops both silently."""
    default = volumes.shared_memory(plan.pod.shared_memory)[1]
    for index, volume in enumerate(plan.pod.spec.get("volumes") or ()):
        if volume.get("name") == default["name"]:
            yield _replaced(plan, "this volume", plan.at("pod", "volumes", index))
    for index, mount in enumerate(plan.pod.container.get("volumeMounts") or ()):
        if mount.get("mountPath") == default["mountPath"] and mount.get("name") != default["name"]:
            yield _replaced(plan, "this mount", plan.at("main", "volumeMounts", index))


def _replaced(plan: ComponentPlan, part: str, path: Path) -> Result:
    message = f"the default shared memory replaces {part}; {plan.fix('no shared memory')} to leave out the default, or remove {part}"
    return results.warning("DYN427", message, plan.ref, path)
