"""Rules about features of single components.

These are the container `main` and its Dynamo version, frontend sidecars, compilation caches and shared memory, replicas, endpoint pickers,
worker revisions, and features that no release has. Follows the operator's `internal/webhook/validation/shared_v1beta1.go`, and
GenerateBasePodSpec in `internal/dynamo/graph.go`.
"""

from __future__ import annotations

import re

from krm_fn.base import codes, results, spelling
from krm_fn.render import names
from krm_fn.render.kinds import types
from krm_fn.render.manifests import volumes
from krm_fn.render.plan.facts import TOPOLOGY_VARIABLES
from krm_fn.render.resolve import former_types, release_choice
from krm_fn.render.rules.component_rules import cache_without_path
from krm_fn.render.schema import rule_messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.base.results import Path, Result
    from krm_fn.render.manifests.pod_builder import Pods
    from krm_fn.render.plan import ComponentPlan, GraphPlan, Mount

_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?")
_ELASTIC = "--enable-elastic-ep"
_FIRST_WITH_REVISIONS = (1, 0, 0)
_IGNORED_BY_WORKERS = "does not read DYN_NAMESPACE_WORKER_SUFFIX, so old and new workers share a Dynamo namespace during an update"
_IGNORED_BY_FRONTENDS = "does not read DYN_NAMESPACE_PREFIX, so it does not find workers of 1.0 or later"


def check(plan: GraphPlan, _pods: Sequence[Pods]) -> Iterator[Result]:
    """Reports problems of the features of a graph and of each component."""
    yield from _check_roles(plan)
    has_revisions = any(component.identity.generation for component in plan.components)
    for component in plan.components:
        yield from _check_component(component)
        yield from _check_replicas(component)
        for template in component.templates:
            yield from _check_containers(plan, template)
            yield from _check_command(template)
            yield from _check_topology_variables(template)
            yield from _check_foreign_tag(template)
            if has_revisions:
                yield from _check_runtime(template)
        features = component.features
        if features.gpu_memory or features.failover or features.checkpoint:
            from krm_fn.render.rules.by_release import gpu_memory_rules  # noqa: PLC0415 - few components share GPUs

            yield from gpu_memory_rules.check(plan, component)


def _check_roles(plan: GraphPlan) -> Iterator[Result]:
    """Reports problems of roles on several nodes, and of provider overrides."""
    features = [component.features for component in plan.components]
    if any(component.placement.nodes > 1 or component.features.roles for component in plan.components):
        from krm_fn.render.rules.by_release import role_rules  # noqa: PLC0415 - few graphs span nodes

        yield from role_rules.check(plan)
    if plan.features.override or any(part.override or any(role.override for role in part.roles) for part in features):
        from krm_fn.render.rules.by_release import override_rules  # noqa: PLC0415 - few graphs have an override

        yield from override_rules.check(plan)


def _check_component(component: ComponentPlan) -> Iterator[Result]:
    """Reports types and names that v1beta1 does not have."""
    kind, name = component.identity.type, component.identity.service
    if kind and kind not in types.names() and kind != former_types.FORMER:  # a service of v1alpha1 can have any type
        message = f"v1beta1 has no type {kind}, so an API server refuses the converted component"
        near = spelling.nearest(kind, types.names())
        choice = f"one of {', '.join(types.names())}, or remove the field"
        message = f"{message}; write {near or choice}"
        yield results.warning(
            codes.UNKNOWN_COMPONENT_TYPE, message, component.ref, component.at("componentType"), current=kind, proposed=near or None
        )
    if name and not _NAME.fullmatch(name):  # a service of v1alpha1 can have other names, for example with a dot
        message = f"v1beta1 has no component named {name!r}; use letters, digits and dashes, and no dash at either end"
        yield results.error(codes.INVALID_COMPONENT_NAME, message, component.ref, component.at("name"))


def _check_command(plan: ComponentPlan) -> Iterator[Result]:
    """Reports elastic expert parallelism without a command."""
    container = plan.pod.container
    if _ELASTIC in " ".join(container.get("args") or ()) and not container.get("command"):
        message = f"{_ELASTIC} needs the command that starts the engine, because Ray is started before it; set command"
        yield results.error(codes.ELASTIC_EP_WITHOUT_COMMAND, message, plan.ref, plan.at("main", "command"))


def _check_topology_variables(plan: ComponentPlan) -> Iterator[Result]:
    """Reports variables of the user that Dynamo replaces on several nodes."""
    for index, variable in enumerate(plan.pod.container.get("env") or () if plan.placement.names_topology else ()):
        if variable.get("name") in TOPOLOGY_VARIABLES:
            message = "on several nodes, Dynamo sets this variable itself, and replaces the one that you wrote; remove it"
            yield results.warning(codes.VARIABLE_SET_BY_DYNAMO, message, plan.ref, plan.at("main", "env", index))


def _check_replicas(plan: ComponentPlan) -> Iterator[Result]:
    """Reports `minAvailable` above the number of replicas, and a configuration that no endpoint picker reads."""
    least, picker = plan.features.min_available, plan.exposure.picker
    if least is not None and least > plan.placement.replicas_or_one > 0:
        yield rule_messages.error(codes.MIN_AVAILABLE_ABOVE_REPLICAS, plan.ref, plan.at("minAvailable"))
    if (picker.config is not None or picker.by_reference) and not plan.type.singleton:
        yield rule_messages.error(codes.EPP_CONFIG_WITHOUT_PICKER, plan.ref, plan.at("eppConfig"))


def _check_runtime(plan: ComponentPlan) -> Iterator[Result]:
    """Warns of a runtime before 1.0, which does not know the variables of worker revisions."""
    if plan.identity.generation:
        ignored = _IGNORED_BY_WORKERS
    else:
        figures = plan.release.types.get(plan.identity.type)
        ignored = _IGNORED_BY_FRONTENDS if figures and figures.finds_generations else ""
    if not ignored:
        return
    runtime = plan.features.runtime
    if runtime and runtime < _FIRST_WITH_REVISIONS and not plan.features.foreign_tag:
        fix = "use an image of version 1.0 or later, or set workerHash: none in the configuration"
        yield results.warning(
            codes.WORKER_REVISIONS_UNSUPPORTED, f"a Dynamo runtime before 1.0 {ignored}; {fix}", plan.ref, plan.at("main", "image")
        )


def _check_foreign_tag(plan: ComponentPlan) -> Iterator[Result]:
    """Warns of an image without Dynamo whose tag opens gates of this component type: the operator reads it as a version of Dynamo."""
    opened = [gate.name for gate in plan.gates if plan.features.foreign_tag and plan.type.release_key in gate.types]
    if opened:
        message = (
            f"the tag of {plan.pod.container.get('image')} is no version of Dynamo, and the operator reads it as one, which opens "
            f"{', '.join(opened)}; set {plan.word('runtimeVersionOverride')} to the version of Dynamo in the image"
        )
        yield results.warning(codes.IMAGE_TAG_OPENS_GATES, message, plan.ref, plan.at("main", "image"))


def _check_containers(plan: GraphPlan, component: ComponentPlan) -> Iterator[Result]:
    """Reports problems of the containers of a component, of its cache and of its shared memory."""
    if not component.features.written_main:
        from krm_fn.render.rules.by_release import container_names  # noqa: PLC0415 - only a finding needs it

        yield container_names.without_main(component)
    elif not plan.is_release_assumed and (not plan.standalone or component.type.picks_workers):
        yield from _check_version(component)
    if component.features.frontend_sidecar:
        from krm_fn.render.rules.by_release import container_names  # noqa: PLC0415 - few pods have a frontend beside an engine

        yield from container_names.check_sidecar(component)
    if component.pod.cache:
        yield from _check_cache(component, component.pod.cache)
    if component.pod.shared_memory:
        yield from _check_shared_memory(component)


def _check_version(plan: ComponentPlan) -> Iterator[Result]:
    """Reports an image whose tag is not a version of Dynamo, because features depend on the version."""
    inits = plan.pod.spec.get("initContainers") or () if plan.features.sidecar_mode else ()
    beside = next(((index, container) for index, container in enumerate(inits) if container.get("name") == names.RUNTIME), None)
    dynamo, at = (
        (beside[1], plan.at("pod", "initContainers", beside[0], "image")) if beside else (plan.pod.container, plan.at("main", "image"))
    )
    image = dynamo.get("image")
    if image and plan.features.runtime is None and plan.release.needs_runtime:
        field = plan.word("runtimeVersionOverride")
        message = (
            f"the image {image} has no tag with a version such as 1.5.0, and {plan.release.name} depends on the version of Dynamo; "
            f"{release_choice.CORRECT}, or set {field} to the version in the image"
        )
        if "@" in image:
            message += ", or add the tag of the digest (kustomize: newTag beside digest under images)"
        yield results.error(codes.UNKNOWN_IMAGE_VERSION, message, plan.ref, at)


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
            yield results.error(codes.UNMOUNTABLE_COMPILATION_CACHE, message, plan.ref, (*at, "mountPath"))
        elif mount.get("readOnly"):
            yield results.error(
                codes.UNMOUNTABLE_COMPILATION_CACHE,
                "the engine writes into the compilation cache; remove readOnly",
                plan.ref,
                (*at, "readOnly"),
            )


def _check_shared_memory(plan: ComponentPlan) -> Iterator[Result]:
    """Warns of a volume with the name of shared memory, and of a mount in its folder: the operator drops both silently."""
    for index, volume in enumerate(plan.pod.spec.get("volumes") or ()):
        if volume.get("name") == volumes.SHARED_MEMORY:
            yield _warn_of_replaced(plan, "this volume", plan.at("pod", "volumes", index))
    for index, mount in enumerate(plan.pod.container.get("volumeMounts") or ()):
        if mount.get("mountPath") == volumes.SHARED_MEMORY_PATH and mount.get("name") != volumes.SHARED_MEMORY:
            yield _warn_of_replaced(plan, "this mount", plan.at("main", "volumeMounts", index))


def _warn_of_replaced(plan: ComponentPlan, part: str, path: Path) -> Result:
    message = f"the default shared memory replaces {part}; {plan.fix('no shared memory')} to leave out the default, or remove {part}"
    return results.warning(codes.SHARED_MEMORY_REPLACES_VOLUME, message, plan.ref, path)
