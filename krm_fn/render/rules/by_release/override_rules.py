"""Rules about provider overrides: fields of the objects that Grove reads.

Follows the operator's `internal/webhook/validation/shared_v1beta1.go`.
"""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.kubernetes.values import mapping
from krm_fn.render.kinds import WHOLE_GRAPH
from krm_fn.render.manifests.workloads.grove import clique_roles
from krm_fn.render.resolve import component_roles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.base.results import Path, Ref, Result
    from krm_fn.render.plan import ComponentPlan, GraphPlan
    from krm_fn.render.plan.features import OverridePlan

_API_VERSION = "grove.io/v1alpha1"
_BETA = "grove.io/v1beta1"
"""Grove 0.2.0 serves it. Its fields were not read."""
_TOPOLOGY = ("topologyConstraint",)
_MINIMUM: Mapping[str, Path] = {component_roles.CLIQUE: ("spec", "minAvailable"), component_roles.SCALING_GROUP: ("minAvailable",)}


def check(plan: GraphPlan) -> Iterator[Result]:
    """Reports overrides with another target, or with fields that no override sets."""
    if plan.features.override:
        fields = (("spec", "template", *_TOPOLOGY),)
        yield from _check(plan.features.override, component_roles.CLIQUE_SET, fields, plan.ref, plan.at("providerOverride"))
    for component in plan.components:
        yield from _of_component(plan, component)
    yield from _check_forms(plan)


def _of_component(graph: GraphPlan, plan: ComponentPlan) -> Iterator[Result]:
    override = plan.features.override
    if override:
        at = plan.at("providerOverride")
        if graph.standalone:
            message = "only a component of a graph has an override, because Grove runs whole graphs; remove the field"
            yield results.error(codes.REFUSED_PROVIDER_OVERRIDE, message, plan.ref, at)
            return
        target = component_roles.SCALING_GROUP if clique_roles.in_groups(plan) else component_roles.CLIQUE
        fields = (_TOPOLOGY, _MINIMUM[target]) if plan.release.grove.overridden_minimum else (_TOPOLOGY,)
        yield from _check(override, target, fields, plan.ref, at)
        yield from _check_minimum(plan, override, (*at, "value", *_MINIMUM[target]))
    for role in plan.features.roles:
        if role.override:
            at = (*plan.at("roles"), role.position, "providerOverride")
            yield from _check(role.override, component_roles.CLIQUE, (_TOPOLOGY,), plan.ref, at)


def _check(override: OverridePlan, target: str, fields: tuple[Path, ...], ref: Ref, at: Path) -> Iterator[Result]:
    """Checks one override. `fields` are the paths that its value may have."""
    if override.api_version == _BETA:
        message = f"krm-fn does not know the fields of {_BETA}, and writes objects of {_API_VERSION}; write {_API_VERSION}"
        yield results.warning(codes.UNKNOWN_GROVE_VERSION_IN_OVERRIDE, message, ref, (*at, "apiVersion"))
    elif override.api_version != _API_VERSION:
        message = f"an override has the apiVersion {_API_VERSION}; write it"
        yield results.error(codes.REFUSED_PROVIDER_OVERRIDE, message, ref, (*at, "apiVersion"))
    if override.target not in ("", target):
        message = f"the override at this place sets fields of {target}; write {target}, or remove target"
        yield results.error(codes.REFUSED_PROVIDER_OVERRIDE, message, ref, (*at, "target"))
    allowed = " and ".join(results.field(field) for field in fields)
    for path in _leaves(override.value, fields):
        message = f"an override of {target} can set {allowed} only; remove this field"
        yield results.error(codes.REFUSED_PROVIDER_OVERRIDE, message, ref, (*at, "value", *path))


def _leaves(value: Any, fields: tuple[Path, ...], above: Path = ()) -> Iterator[Path]:
    """Yields the highest paths of a value that are no part of one of these fields."""
    if above in fields:
        return
    if not isinstance(value, dict) or not any(field[: len(above)] == above for field in fields):
        yield above
        return
    for key, entry in value.items():
        yield from _leaves(entry, fields, (*above, key))


def _check_minimum(plan: ComponentPlan, override: OverridePlan, at: Path) -> Iterator[Result]:
    """Reports a minimum that is no positive number, or above the number of replicas."""
    written = _written_minimum(override)
    if written is None:
        return
    if override.min_available is None or override.min_available < 1:
        yield results.error(codes.REFUSED_PROVIDER_OVERRIDE, "the minimum of replicas is a whole number above 0; correct it", plan.ref, at)
    elif override.min_available > plan.placement.replicas_or_one > 0:
        message = f"the minimum is {override.min_available}, and the component has {plan.placement.replicas_or_one} replicas; lower it"
        yield results.error(codes.REFUSED_PROVIDER_OVERRIDE, message, plan.ref, at)


def _written_minimum(override: OverridePlan) -> Any:
    value = mapping(override.value)
    return value.get("minAvailable", mapping(value.get("spec")).get("minAvailable"))


def _check_forms(plan: GraphPlan) -> Iterator[Result]:
    """Reports a graph with minimums in both forms: as `minAvailable` of components, and in overrides."""
    if plan.orchestrator not in WHOLE_GRAPH:
        return
    fields = [component for component in plan.components if component.features.min_available is not None]
    overridden = [component for component in plan.components if component.features.override and component.features.override.min_available]
    if fields and overridden:
        for component in overridden:
            message = (
                f"{fields[0].identity.service} has minAvailable, and a graph has its minimums in one form; write all of them in overrides"
            )
            yield results.error(codes.REFUSED_PROVIDER_OVERRIDE, message, plan.ref, component.at("providerOverride"))
