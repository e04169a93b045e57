"""Rules about fields that krm-fn reads and no release that it knows acts on, and about values that a newer API version does not have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.manifests import components as kinds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.manifests.assemblies import Pods
    from krm_fn.plan import ComponentPlan, GraphPlan
    from krm_fn.results import Path, Result

_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?")
_ELASTIC = "--enable-elastic-ep"


def check(plan: GraphPlan, made: Sequence[Pods]) -> Iterator[Result]:
    """Reports provider overrides, types that v1beta1 does not have, and elastic expert parallelism without a command."""
    if plan.features.overrides_provider:
        yield _overridden(plan, plan.at("provider_override"))
    for component in (each.plan for each in made):
        if component.features.overrides_provider:
            yield _overridden(plan, component.at("provider_override"))
        for role in component.features.overridden_roles:
            yield _overridden(plan, component.at("role_override", role))
        yield from _check_type(component)
        yield from _check_name(component)
        yield from _check_command(component)


def _overridden(plan: GraphPlan, path: Path) -> Result:
    message = "krm-fn does not support provider overrides, which came after the operator that it follows; remove the field"
    return results.error("DYN475", message, plan.ref, path)


def _check_type(plan: ComponentPlan) -> Iterator[Result]:
    """A service of v1alpha1 can have any word as its type. An API server refuses the component that it becomes in v1beta1."""
    if plan.who.type and plan.who.type not in kinds.names():
        message = f"v1beta1 has no type {plan.who.type}, so an API server refuses the converted component"
        message = f"{message}; write one of {', '.join(kinds.names())}, or remove the field"
        yield results.warning("DYN476", message, plan.ref, plan.at("type"))


def _check_name(plan: ComponentPlan) -> Iterator[Result]:
    """A service of v1alpha1 can have names that no component of v1beta1 has, for example with a dot."""
    if plan.who.service and not _NAME.fullmatch(plan.who.service):
        message = f"v1beta1 has no component named {plan.who.service!r}; use letters, digits and dashes, and begin and end with no dash"
        yield results.error("DYN479", message, plan.ref, plan.at("component"))


def _check_command(plan: ComponentPlan) -> Iterator[Result]:
    container = plan.pod.container
    if _ELASTIC in " ".join(container.get("args") or ()) and not container.get("command"):
        message = f"{_ELASTIC} needs the command that starts the engine, because Ray is started before it; set command"
        yield results.error("DYN477", message, plan.ref, plan.at("main", "command"))
