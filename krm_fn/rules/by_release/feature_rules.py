"""Rules about features of single components: replicas, endpoint pickers, worker revisions, and features that no release has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kinds import types
from krm_fn.kube import version
from krm_fn.schema import rule_messages

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.manifests.pod_builder import Pods
    from krm_fn.plan import ComponentPlan, GraphPlan
    from krm_fn.results import Path, Result

_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?")
_ELASTIC = "--enable-elastic-ep"
_FIRST_WITH_REVISIONS = (1, 0, 0)
_IGNORED_BY_WORKERS = "does not read DYN_NAMESPACE_WORKER_SUFFIX, so old and new workers share a Dynamo namespace during an update"
_IGNORED_BY_FRONTENDS = "does not read DYN_NAMESPACE_PREFIX, so it does not find workers of 1.0 or later"


def check(plan: GraphPlan, _pods: Sequence[Pods]) -> Iterator[Result]:
    """Reports problems of the features of a graph and of each component."""
    if plan.features.overrides_provider:
        yield _overridden(plan, plan.at("providerOverride"))
    has_revisions = any(component.identity.generation for component in plan.components)
    for component in plan.components:
        yield from _check_component(plan, component)
        yield from _check_replicas(component)
        if has_revisions:
            yield from _check_runtime(component)


def _check_component(plan: GraphPlan, component: ComponentPlan) -> Iterator[Result]:
    """Reports provider overrides, types and names that v1beta1 does not have, and elastic expert parallelism without a command."""
    if component.features.overrides_provider:
        yield _overridden(plan, component.at("providerOverride"))
    for role in component.features.overridden_roles:
        yield _overridden(plan, component.at("multinode", role, "providerOverride"))
    kind, name, container = component.identity.type, component.identity.service, component.pod.container
    if kind and kind not in types.names():  # a service of v1alpha1 can have any type
        message = f"v1beta1 has no type {kind}, so an API server refuses the converted component"
        message = f"{message}; write one of {', '.join(types.names())}, or remove the field"
        yield results.warning("DYN476", message, component.ref, component.at("componentType"))
    if name and not _NAME.fullmatch(name):  # a service of v1alpha1 can have other names, for example with a dot
        message = f"v1beta1 has no component named {name!r}; use letters, digits and dashes, and no dash at either end"
        yield results.error("DYN479", message, component.ref, component.at("name"))
    if _ELASTIC in " ".join(container.get("args") or ()) and not container.get("command"):
        message = f"{_ELASTIC} needs the command that starts the engine, because Ray is started before it; set command"
        yield results.error("DYN477", message, component.ref, component.at("main", "command"))


def _overridden(plan: GraphPlan, path: Path) -> Result:
    message = "krm-fn does not support provider overrides, which came after the operator that it follows; remove the field"
    return results.error("DYN475", message, plan.ref, path)


def _check_replicas(plan: ComponentPlan) -> Iterator[Result]:
    """Reports `minAvailable` above the number of replicas, and a configuration that no endpoint picker reads."""
    least, picker = plan.features.min_available, plan.exposure.picker
    if least is not None and least > plan.placement.replicas_or_one > 0:
        yield rule_messages.error("DYN454", plan.ref, plan.at("minAvailable"))
    if (picker.config is not None or picker.by_reference) and not plan.type.singleton:
        yield rule_messages.error("DYN455", plan.ref, plan.at("eppConfig"))


def _check_runtime(plan: ComponentPlan) -> Iterator[Result]:
    """Warns of a runtime before 1.0, which does not know the variables of worker revisions."""
    if plan.identity.generation:
        ignored = _IGNORED_BY_WORKERS
    else:
        figures = plan.release.types.get(plan.identity.type)
        ignored = _IGNORED_BY_FRONTENDS if figures and figures.finds_generations else ""
    runtime = version.core(plan.features.runtime_version) or version.of_image(plan.pod.container.get("image") or "")
    if ignored and runtime and runtime < _FIRST_WITH_REVISIONS:
        fix = "use an image of version 1.0 or later, or set workerHash: none in the configuration"
        yield results.warning("DYN417", f"a Dynamo runtime before 1.0 {ignored}; {fix}", plan.ref, plan.at("main", "image"))
