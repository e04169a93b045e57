"""Makes the plan of one component, which is a service of a graph or stands alone.

Follows the reference's `internal/dynamo/graph.go` GenerateDynamoComponentsDeployments and its helpers.
"""

from __future__ import annotations

from typing import Any

from krm_fn import results
from krm_fn.kube import labels, merge
from krm_fn.manifests import components
from krm_fn.plan import ComponentPlan, Identity, Placement
from krm_fn.resolve import deployment_config, edge, engines, pathway, placement
from krm_fn.resolve.context import Shared
from krm_fn.resolve.deployment_config import Override
from krm_fn.resolve.v1alpha1 import ignored_fields, inventory, newer_fields, pod
from krm_fn.resolve.v1alpha1.pod import Variables
from krm_fn.results import Path


def component(facts: Shared, who: Identity, written: dict[str, Any]) -> ComponentPlan:
    """The plan of one component."""
    address = facts.book.component(who.service)
    path = address.path
    variables = _variables(facts, who, path, written)
    pods = pod.facts(facts, who, path, written, variables)
    placed = Placement(
        workload=placement.name(facts, written),
        backend=engines.backend(facts, who.type, pods.container, address),
        nodes=placement.nodes(written),
        replicas=written["replicas"] if written.get("replicas") is not None else variables.override.replicas,
        autoscaled=bool((written.get("scalingAdapter") or {}).get("enabled")) and not who.standalone,
        discovery=who.annotations.get(labels.DISCOVERY_BACKEND, facts.config.discovery_backend),
        graph_discovery=facts.discovery,
    )
    outside = edge.edge(facts, who, written)
    plan = ComponentPlan(
        ref=facts.ref,
        address=address,
        config=facts.config,
        behaviour=facts.behaviour,
        who=who,
        placement=placed,
        pod=pods,
        edge=outside,
        inventory=inventory.spec(facts, who, (placed, pods, outside), written),
    )
    facts.found.extend([*ignored_fields.check(plan, written), *newer_fields.of_component(written, address, facts.book)])
    return plan


def _variables(facts: Shared, who: Identity, path: Path, written: dict[str, Any]) -> Variables:
    """The component's variables, and the override in the variable `DYN_DEPLOYMENT_CONFIG`."""
    own = written.get("envs") or []
    envs = merge.envs(facts.envs, own) if facts.envs else list(own)
    place = next((index for index, variable in enumerate(envs) if variable.get("name") == deployment_config.NAME), None)
    if place is None or not facts.name or not pathway.per_component(facts):
        return Variables(tuple(envs), Override())
    try:
        content = deployment_config.parse(envs[place].get("value") or "")
        if components.get(who.type).is_frontend:
            envs[place] = {**envs[place], "value": deployment_config.with_port(content, who.service, facts.behaviour.ports.http)}
        return Variables(tuple(envs), deployment_config.override(content, who.service))
    except (ValueError, RecursionError) as problem:
        at = (*path, "envs") if any(variable.get("name") == deployment_config.NAME for variable in own) else ("spec", "envs")
        message = f"{deployment_config.NAME} cannot be read: {problem}; write a JSON object"
        facts.found.append(results.error("DYN120", message, facts.ref, at))
        return Variables(tuple(envs), Override())
