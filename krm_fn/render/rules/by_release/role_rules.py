"""Rules about the roles of a component on several nodes, and about their pod templates.

Follows the operator's `internal/webhook/validation/shared_v1beta1.go`.
"""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.render import labels
from krm_fn.render.kinds import gates, types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.base.results import Path, Result
    from krm_fn.render.plan import ComponentPlan, GraphPlan
    from krm_fn.render.plan.features import RoleSettings

_ROLES = ("leader", "worker")


def check(plan: GraphPlan) -> Iterator[Result]:
    """Reports roles that an operator refuses."""
    for component in plan.components:
        if component.release.engines.only_engines_span_nodes and component.placement.nodes > 1 and not component.type.runs_engine:
            kinds = ", ".join(name for name in types.names() if types.get(name).runs_engine)
            message = f"only components of the types {kinds} can run on several nodes; remove multinode, or change the type"
            yield results.error(codes.ROLES_DO_NOT_FIT_NODES, message, component.ref, component.at("multinode"))
        if component.features.roles:
            yield from _check_roles(component)
            if component.features.has_role_templates:
                yield from _check_templates(component)
    if any(component.features.has_role_templates for component in plan.components):
        yield from _check_planner(plan)


def _check_roles(plan: ComponentPlan) -> Iterator[Result]:
    """Reports the names and numbers of roles."""
    roles, nodes = plan.features.roles, plan.placement.nodes
    if nodes == 1:
        message = "only a component on several nodes has roles; remove roles, or add multinode"
        yield results.error(codes.ROLES_DO_NOT_FIT_NODES, message, plan.ref, plan.at("roles"))
        return
    for role in roles:
        if role.name not in _ROLES:
            message = f"a component on several nodes has the roles leader and worker, and no role {role.name}; rename it"
            yield results.error(codes.ROLES_DO_NOT_FIT_NODES, message, plan.ref, _at(plan, role, "name"))
    for name in _ROLES:
        if plan.features.role(name) is None:
            message = f"the role {name} is missing; write both roles, leader and worker"
            yield results.error(codes.ROLES_DO_NOT_FIT_NODES, message, plan.ref, plan.at("roles"))
    for role in roles:
        number = 1 if role.name == "leader" else nodes - 1
        if role.name in _ROLES and role.replicas not in (None, number):
            message = f"the role {role.name} of a component on {nodes} nodes has {number} replicas; write {number}, or remove the field"
            yield results.error(codes.ROLES_DO_NOT_FIT_NODES, message, plan.ref, _at(plan, role, "replicas"))


def _check_templates(plan: ComponentPlan) -> Iterator[Result]:
    """Reports pod templates of roles together with settings that they exclude."""
    if not plan.release.role_templates:
        message = (
            f"release {plan.release.name} does not read pod templates of roles, which came with Dynamo 1.6; use images of 1.6 or later, "
            "set behaviour: v1.6 in the configuration, or write one pod template for the component"
        )
        yield results.error(codes.REFUSED_ROLE_TEMPLATES, message, plan.ref, plan.at("roles"))
        return
    for role in plan.features.roles:
        if role.template is None:
            message = f"the role {role.name} has no pod template, and the other role has one; write one for both, or one for the component"
            yield results.error(codes.REFUSED_ROLE_TEMPLATES, message, plan.ref, _at(plan, role))
    features = plan.features
    used = {
        plan.at("experimental", "gpuMemoryService"): features.gpu_memory is not None,
        plan.at("experimental", "failover"): features.failover is not None,
    }
    for path in (path for path, is_used in used.items() if is_used):
        message = f"{path[-1]} changes launch lines, and those of roles with pod templates stay as they are; remove one of the two"
        yield results.error(codes.REFUSED_ROLE_TEMPLATES, message, plan.ref, path)
    for template in plan.templates:
        if labels.POWER_LIMIT in template.pod.annotations:
            message = "a planner reads no power limit of a single role; remove the annotation"
            yield results.error(
                codes.REFUSED_ROLE_TEMPLATES, message, plan.ref, template.at("podTemplate", "metadata", "annotations", labels.POWER_LIMIT)
            )


def _check_planner(plan: GraphPlan) -> Iterator[Result]:
    """Reports planners that read `podTemplate` of a component for its GPUs, in place of its status."""
    for component in plan.components:
        if component.type.scales and gates.PLANNER_STATUS not in component.gates:
            message = "a planner before 1.6.0 does not see the GPUs of roles with pod templates of their own; use an image of 1.6 or later"
            yield results.error(codes.REFUSED_ROLE_TEMPLATES, message, component.ref, component.at("main", "image"))


def _at(plan: ComponentPlan, role: RoleSettings, *steps: str) -> Path:
    return (*plan.at("roles"), role.position, *steps)
