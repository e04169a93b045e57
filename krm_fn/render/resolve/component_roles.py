"""Roles of a v1beta1 component on several nodes, and overrides of the objects that Grove reads.

Follows the operator's `api/v1beta1/common.go` and `internal/webhook/defaulting`.
"""

from __future__ import annotations

from krm_fn.kubernetes.values import mapping
from krm_fn.render.plan.features import OverridePlan, RoleSettings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

CLIQUE, SCALING_GROUP, CLIQUE_SET = "PodCliqueTemplateSpec", "PodCliqueScalingGroupConfig", "PodCliqueSet"
"""The types whose fields a provider override sets: of a component on one node or of a role, of other components, and of a graph.

Rule overrides.targets: The target of a provider override is the type that its graph, component or role has in Grove. (operator:
internal/webhook/defaulting)
"""


def of_component(component: Mapping[str, Any]) -> tuple[RoleSettings, ...]:
    """Returns the roles as their author wrote them."""
    return tuple(
        RoleSettings(role.get("name") or "", index, role.get("replicas"), override(role), role.get("podTemplate"))
        for index, role in enumerate(component.get("roles") or ())
    )


def override(part: Mapping[str, Any]) -> OverridePlan | None:
    """Returns the override of a graph, of a component or of a role; None without one."""
    written = part.get("providerOverride")
    if written is None:
        return None
    return OverridePlan(written.get("apiVersion") or "", written.get("target") or "", written.get("value"))


def target(component: Mapping[str, Any]) -> str:
    """Returns the type whose fields an override of this component sets."""
    experimental = mapping(component.get("experimental"))
    grouped = mapping(experimental.get("grove")).get("forceScalingGroup") is True
    apart = mapping(experimental.get("gpuMemoryService")).get("mode") == "InterPod"
    return SCALING_GROUP if component.get("multinode") is not None or grouped or apart else CLIQUE


def hash_input(component: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a component as the worker hash reads it. The overrides have their target.

    Rule worker-hash.roles: The worker hash reads the roles in the order of their names, unless they say no more than their names and
    replicas. (operator: internal/dynamo/hash.go)
    """
    roles = [_with_target(role, CLIQUE) for role in component.get("roles") or ()]
    says_more = any(role.keys() - {"name", "replicas"} for role in roles)
    listed = {"roles": sorted(roles, key=lambda role: str(role.get("name")))} if says_more else {}
    return {**{key: value for key, value in _with_target(component, target(component)).items() if key != "roles"}, **listed}


def _with_target(part: Mapping[str, Any], default: str) -> dict[str, Any]:
    written = part.get("providerOverride")
    return {**part, **({} if written is None else {"providerOverride": {"target": default, **written}})}
