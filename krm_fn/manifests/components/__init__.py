"""Component types: a file here is a type, its `COMPONENT` says which probes, ports, env and extra objects it has.

The fragments (`probes`, `env`) know how these are written. Follows the reference's `internal/dynamo/component_*.go`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from krm_fn import registry
from krm_fn.behaviours import TypeFigures
from krm_fn.manifests import env, probes

if TYPE_CHECKING:
    from krm_fn.kube.types import Container, PodSpec, Resource
    from krm_fn.plan import ComponentPlan
    from krm_fn.results import Result

_NEUTRAL = TypeFigures()


class Component:
    """What the expander asks of a component type. The answers here are those for an unknown or empty type."""

    runs_engine = False
    """Whether an inference engine may change the container."""

    is_frontend = False
    """True if clients enter the graph here: it has a default ingress, and other components do not discover it."""

    singleton = False
    """True if a graph has at most one component of this type."""

    figures = ""
    """Under which name a release keeps the ports, variables and probes of this type (`krm_fn.behaviours`)."""

    app_protocol = ""
    """The application protocol of the Service's port, for workload kinds that name it."""

    enforced: PodSpec = {}
    """The fields of a pod that the type sets above the user's (reference: between a graph and its DynamoComponentDeployments)."""

    def service_port(self, plan: ComponentPlan) -> dict[str, Any]:
        """The one port of the component's Service."""
        return {"name": "system", "port": plan.behaviour.ports.system, "targetPort": "system", "protocol": "TCP"}

    def container(self, plan: ComponentPlan) -> Container:
        """The main container below the user's; its `env` comes on top of the common variables."""
        return {"command": ["/bin/sh", "-c"], **self.standard(plan)}

    def standard(self, plan: ComponentPlan) -> Container:
        """The ports, variables and probes that the release gives to containers of this type."""
        return _standard(plan.behaviour.types.get(self.figures, _NEUTRAL))

    def pod(self, plan: ComponentPlan) -> PodSpec:
        """The pod below the user's."""
        figures = plan.behaviour.types.get(self.figures, _NEUTRAL)
        return {"restartPolicy": "Always", "terminationGracePeriodSeconds": figures.grace_period}

    def objects(self, plan: ComponentPlan) -> Iterator[Resource]:
        """Objects of this type beside workload and Service."""
        yield from ()

    def check(self, plan: ComponentPlan) -> Iterator[Result]:
        """What is wrong with a component of this type."""
        yield from ()


@lru_cache(maxsize=64)  # all components of a type share one value, which nothing changes: layering makes new objects
def _standard(figures: TypeFigures) -> Container:
    standard: Container = {}
    if figures.ports:
        standard["ports"] = [{"name": name, "containerPort": number, "protocol": "TCP"} for name, number in figures.ports]
    if figures.env:
        standard["env"] = [env.value(name, text) for name, text in figures.env]
    for field, probe in figures.probes:
        standard[field] = probes.written(probe)
    return standard


def get(name: str) -> Component:
    """One component type; types are compared exactly, and an unknown one has the neutral answers."""
    package = sys.modules[__name__]
    if name not in registry.entries(package):
        return Component()
    component: Component = registry.get(package, name).COMPONENT
    return component
