"""Component types: each file is a type, and its `COMPONENT` defines the probes, ports, variables and extra objects of that type.

Follows the reference's `internal/dynamo/component_*.go`.
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
    from krm_fn.kube.types import Container, Labels, PodSpec, Resource
    from krm_fn.plan import ComponentPlan
    from krm_fn.results import Result

_NEUTRAL = TypeFigures()


class Component:
    """The hooks of a component type. The defaults are for an unknown or empty type."""

    runs_engine = False
    """True if an inference engine may change the container."""

    scales = False
    """True if this type sets the replicas of the engines of its graph, through their scaling adapters."""

    is_frontend = False
    """True if clients connect to this type: it has a default ingress, and other components do not discover it."""

    singleton = False
    """True if a graph has at most one component of this type."""

    picks_workers = False
    """True if this type chooses the worker of a request: pods of workers then get a label that it finds them by."""

    older_type = ""
    """The type that operators before release 1.0 wrote for this type. Empty if it was the same."""

    annotations: Labels = {}
    """The annotations of pods of this type that have objects of their own, below the user's. Since release 1.0."""

    figures = ""
    """The key under which a release holds the ports, variables and probes of this type (`krm_fn.behaviours`)."""

    app_protocol = ""
    """The `appProtocol` of the Service's port, for workload kinds that set it."""

    enforced: PodSpec = {}
    """The pod fields of this type that override the user's (reference: set when a graph becomes DynamoComponentDeployments)."""

    def service_port(self, plan: ComponentPlan) -> dict[str, Any]:
        """The one port of the component's Service."""
        return {"name": "system", "port": plan.behaviour.ports.system, "targetPort": "system", "protocol": "TCP"}

    def container(self, plan: ComponentPlan) -> Container:
        """The default main container, below the user's. Its `env` overrides the common variables."""
        return {"command": ["/bin/sh", "-c"], **self.standard(plan)}

    def standard(self, plan: ComponentPlan) -> Container:
        """The ports, variables and probes of this type in the release."""
        return _standard(self.facts(plan))

    def facts(self, plan: ComponentPlan) -> TypeFigures:
        """The defaults of this type in the release."""
        return plan.behaviour.types.get(self.figures, _NEUTRAL)

    def pod(self, plan: ComponentPlan) -> PodSpec:
        """The default pod, below the user's."""
        return {"restartPolicy": "Always", "terminationGracePeriodSeconds": self.facts(plan).grace_period}

    def objects(self, plan: ComponentPlan) -> Iterator[Resource]:
        """The objects of this type in addition to workload and Service."""
        yield from ()

    def check(self, plan: ComponentPlan) -> Iterator[Result]:
        """The findings about a component of this type."""
        yield from ()


@lru_cache(maxsize=64)  # all components of a type share one value; it is never changed, because merging makes new objects
def _standard(figures: TypeFigures) -> Container:
    standard: Container = {}
    if figures.ports:
        standard["ports"] = [{"name": name, "containerPort": number, "protocol": "TCP"} for name, number in figures.ports]
    if figures.env:
        standard["env"] = [env.value(name, text) for name, text in figures.env]
    for field, probe in figures.probes:
        standard[field] = probes.written(probe)
    return standard


def names() -> tuple[str, ...]:
    """The names of all component types."""
    return registry.entries(sys.modules[__name__])


def get(name: str) -> Component:
    """The component type of a name, which is case-sensitive. An unknown name gives the default type."""
    if name not in names():
        return Component()
    component: Component = registry.get(sys.modules[__name__], name).COMPONENT
    return component
