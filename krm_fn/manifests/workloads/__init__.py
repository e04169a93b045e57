"""Workload kinds, whose objects create pods: each file is a kind, and its `WORKLOAD` makes the objects.

The pods are the same for all kinds (`krm_fn.manifests.pod`).
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Any

from krm_fn import registry
from krm_fn.kube import identity
from krm_fn.manifests import components, services
from krm_fn.manifests.services import Face
from krm_fn.plan import Addressing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from krm_fn.kube.templates import Place
    from krm_fn.kube.types import Labels, Resource
    from krm_fn.manifests.assemblies import Pods
    from krm_fn.plan import ComponentPlan, GraphPlan, RolePlan
    from krm_fn.results import Result
    from krm_fn.workload_list import Entry


class Workload:
    """The hooks of a workload kind. The defaults are for a kind with one object per component."""

    kinds: tuple[str, ...] = ()
    """The kinds of its entries in the annotation `workloads`. Each has a status of its own."""

    objects: tuple[tuple[str, str], ...] = ()
    """Group and kind of the objects that it makes. A later run may replace and remove them."""

    templates: tuple[Place, ...] = ()
    """The places of the pod templates in its objects."""

    fixed_services = ""
    """The kind of the object that holds all services of a graph and refuses to add or remove one; empty if services may come and go."""

    always_restarts = True
    """True if its pods must have `restartPolicy: Always`."""

    per_component = True
    """True if each component has its own objects; False if one object holds the whole graph."""

    def addressing(self, plan: ComponentPlan) -> Addressing:
        """The hosts and ranks by which the pods of a multinode group find each other."""
        return Addressing()

    def render(self, graph: GraphPlan, made: Sequence[Pods]) -> Iterator[Resource]:
        """The objects for some components of a graph, made from their pods."""
        raise NotImplementedError

    def entries(self, graph: GraphPlan, plan: ComponentPlan) -> Iterator[Entry]:
        """The component's entries in the annotation `workloads`. The component is ready if these objects are ready."""
        raise NotImplementedError

    def roles(self, plan: ComponentPlan) -> Iterator[RolePlan]:
        """The roles of a component, one for each pod template."""
        raise NotImplementedError

    def face(self, plan: ComponentPlan) -> Face:
        """The fields of a component's Services."""
        marks = {**self.service_labels(plan), **self.discovery_labels(plan)}
        return Face(self.services(plan), self.port(plan), self.selector(plan), marks, self.service_annotations(plan))

    def services(self, plan: ComponentPlan) -> Mapping[str, Labels]:
        """The names of the Services, each with the labels that it adds to the selector."""
        discovered = plan.placement.discovery == "kubernetes" or components.get(plan.who.type).is_frontend
        return services.debuggable(plan) if discovered or not plan.behaviour.services.only_discovered else {}

    def port(self, plan: ComponentPlan) -> dict[str, Any]:
        """The one port of each Service."""
        kind = components.get(plan.who.type)
        protocol = {"appProtocol": kind.app_protocol} if kind.app_protocol and plan.behaviour.services.app_protocol else {}
        return {**kind.service_port(plan), **protocol}

    def selector(self, plan: ComponentPlan) -> Labels:
        """The labels by which Services select the pods of a component."""
        return plan.who.selector

    def discovery_labels(self, plan: ComponentPlan) -> Labels:
        """The labels by which Dynamo's discovery finds the Services."""
        discoverable = plan.behaviour.services.find_frontends or not components.get(plan.who.type).is_frontend
        return services.discovery_labels(plan.placement.discovery, discoverable=discoverable)

    def service_labels(self, plan: ComponentPlan) -> Labels:
        """The other labels of the Services."""
        return services.workload_labels(plan)

    def service_annotations(self, plan: ComponentPlan) -> Labels:
        """The annotations of the Services."""
        return services.workload_annotations(plan)

    def check(self, made: Pods) -> Iterator[Result]:
        """Findings about a component that this kind cannot run."""
        yield from ()

    def check_together(self, graph: GraphPlan, plans: Sequence[ComponentPlan]) -> Iterator[Result]:
        """Findings about components of this kind that conflict with each other, or with other components of the graph."""
        yield from ()


def carried(made: Iterable[Pods]) -> dict[Workload, list[Pods]]:
    """The pods of components, grouped by workload kind, in the order of the spec."""
    found: dict[Workload, list[Pods]] = {}
    for component in made:
        found.setdefault(get(component.plan.placement.workload), []).append(component)
    return found


def names() -> tuple[str, ...]:
    """The names of all workload kinds."""
    return registry.entries(sys.modules[__name__])


@cache
def objects() -> frozenset[tuple[str, str]]:
    """Group and kind of the objects of all workload kinds."""
    return frozenset(each for name in names() for each in get(name).objects)


def is_workload(resource: Resource) -> bool:
    """True for an object of a workload kind. What such objects create, for example ReplicaSets, is not."""
    return identity.key(resource)[:2] in objects()


def get(name: str) -> Workload:
    """The workload kind of a name. Raises KeyError for an unknown name."""
    workload: Workload = registry.get(sys.modules[__name__], name).WORKLOAD
    return workload
