"""Component types: a file here is a type, its `COMPONENT` says which probes, ports, env and extra objects it has.

The fragments (`probes`, `env`) know how these are written. Follows the reference's `internal/dynamo/component_*.go`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from krm_fn import registry

if TYPE_CHECKING:
    from krm_fn.kube.types import Container, PodSpec, Resource
    from krm_fn.plan import ComponentPlan
    from krm_fn.results import Result

SYSTEM_PORT = 9090


class Component:
    """What the expander asks of a component type. The answers here are those for an unknown or empty type."""

    runs_engine = False
    """Whether an inference engine may change the container."""

    is_entrance = False
    """Whether clients come in here: a default ingress, and no discovery by other components."""

    only_once = False
    """Whether a graph has at most one of them."""

    service_port: dict[str, Any] = {"name": "system", "port": SYSTEM_PORT, "targetPort": "system", "protocol": "TCP"}
    """The one port of the component's Service."""

    def container(self, plan: ComponentPlan) -> Container:
        """The main container below the user's; its `env` comes on top of the common variables."""
        return {"command": ["/bin/sh", "-c"]}

    def pod(self, plan: ComponentPlan) -> PodSpec:
        """The pod below the user's."""
        return {"restartPolicy": "Always", "terminationGracePeriodSeconds": 60}

    def enforce(self, pod: PodSpec) -> PodSpec:
        """What the type insists on above the user's."""
        return pod

    def objects(self, plan: ComponentPlan) -> Iterator[Resource]:
        """Objects of this type beside workload and Service."""
        yield from ()

    def check(self, plan: ComponentPlan) -> Iterator[Result]:
        """What is wrong with a component of this type."""
        yield from ()


def get(name: str) -> Component:
    """One component type; types are compared exactly, and an unknown one has the neutral answers."""
    package = sys.modules[__name__]
    if name not in registry.entries(package):
        return Component()
    component: Component = registry.get(package, name).COMPONENT
    return component
