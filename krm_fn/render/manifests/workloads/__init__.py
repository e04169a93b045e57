"""Workload kinds, whose objects create pods: each file is a kind, and its `WORKLOAD` makes the objects.

The pods are the same for all kinds (`krm_fn.render.manifests.pod_template`).
"""

from __future__ import annotations

import sys
from functools import cache

from krm_fn.base import registry
from krm_fn.kubernetes import identity
from krm_fn.render.manifests import component_defaults, services
from krm_fn.render.manifests.services import ServiceTemplate
from krm_fn.render.plan import Addressing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from krm_fn.base.results import Result
    from krm_fn.kubernetes.paths import TemplatePath
    from krm_fn.kubernetes.types import Labels, Resource
    from krm_fn.render.manifests.pod_builder import Pods
    from krm_fn.render.plan import ComponentPlan, GraphPlan, RolePlan
    from krm_fn.render.workload_list import WorkloadEntry


class Workload:
    """The hooks of a workload kind. The defaults are for a kind with one object per component."""

    kinds: tuple[str, ...] = ()
    """The kinds of its entries in the annotation `workloads`. Each has a status of its own."""

    objects: tuple[tuple[str, str], ...] = ()
    """Group and kind of the objects that it makes. A later run may replace and remove them."""

    templates: tuple[TemplatePath, ...] = ()
    """The places of the pod templates in its objects."""

    platform = ""
    """The part of the platform whose controller creates the pods, a field of `krm_fn.render.kinds.floors.Floors`; empty for Kubernetes."""

    orchestrator = ""
    """The orchestrator that alone makes objects of this kind; empty if others make some, too."""

    platform_floor = ""
    """The lowest version of this part that has the kind; empty if each version has it that a release needs."""

    replicas_apart = False
    """True if each replica of a component can have an object of its own, so that its pods can name their gang."""

    fixed_services = ""
    """The kind of the object that holds all services of a graph and refuses to add or remove one; empty if services may come and go."""

    always_restarts = True
    """True if its pods must have `restartPolicy: Always`."""

    needs_gpus = False
    """True if operators before 1.4 make no pods of a component whose limits have no GPUs."""

    def lowest_version(self, resource: Resource) -> str:
        """Returns the lowest version of the platform that accepts an object of this kind. By default: the lowest that has the kind."""
        return self.platform_floor

    def addressing(self, plan: ComponentPlan) -> Addressing:
        """Returns the hosts and ranks by which the pods of a multinode group find each other."""
        return Addressing()

    def render(self, graph: GraphPlan, pods: Sequence[Pods]) -> Iterable[Resource]:
        """Returns the objects for some components of a graph, made from their pods."""
        raise NotImplementedError

    def entries(self, graph: GraphPlan, plan: ComponentPlan) -> Iterable[WorkloadEntry]:
        """Returns the component's entries in the annotation `workloads`. The component is ready if these objects are ready."""
        raise NotImplementedError

    def roles(self, plan: ComponentPlan) -> Iterable[RolePlan]:
        """Returns the roles of a component, one for each pod template."""
        raise NotImplementedError

    def service_template(self, plan: ComponentPlan) -> ServiceTemplate:
        """Returns the fields of a component's Services."""
        marks = {**self.service_labels(plan), **self.discovery_labels(plan)}
        return ServiceTemplate(self.services(plan), self.port(plan), self.selector(plan), marks, self.service_annotations(plan))

    def services(self, plan: ComponentPlan) -> Mapping[str, Labels]:
        """Returns the names of the Services, each with the labels that it adds to the selector."""
        discovered = plan.placement.discovery == "kubernetes" or plan.type.is_frontend
        return services.debuggable(plan) if discovered or not plan.release.services.only_discovered else {}

    def port(self, plan: ComponentPlan) -> dict[str, Any]:
        """Returns the one port of each Service of a component.

        Rule service.app-protocol: In Dynamo 1.5, the gRPC port of an endpoint picker's Service has the appProtocol `http2`. (operator:
        internal/controller/dynamocomponentdeployment_controller.go generateService)
        """
        protocol = {"appProtocol": plan.type.app_protocol} if plan.type.app_protocol and plan.release.services.app_protocol else {}
        return {**component_defaults.service_port(plan), **protocol}

    def selector(self, plan: ComponentPlan) -> Labels:
        """Returns the labels by which Services select the pods of a component."""
        return plan.identity.selector

    def discovery_labels(self, plan: ComponentPlan) -> Labels:
        """Returns the labels by which Dynamo's discovery finds the Services."""
        discoverable = plan.release.services.find_frontends or not plan.type.is_frontend
        return services.discovery_labels(plan.placement.discovery, discoverable=discoverable)

    def service_labels(self, plan: ComponentPlan) -> Labels:
        """Returns the other labels of the Services."""
        return services.workload_labels(plan)

    def service_annotations(self, plan: ComponentPlan) -> Labels:
        """Returns the annotations of the Services."""
        return services.workload_annotations(plan)

    def check(self, pods: Pods) -> Iterator[Result]:
        """Yields findings about a component that this kind cannot run."""
        yield from ()

    def check_together(self, graph: GraphPlan, plans: Sequence[ComponentPlan]) -> Iterator[Result]:
        """Yields findings about components of this kind that conflict with each other, or with other components of the graph."""
        yield from ()


def group_by_workload(pods: Iterable[Pods]) -> dict[Workload, list[Pods]]:
    """Returns the pods of components, grouped by workload kind, in the order of the spec."""
    by_workload: dict[Workload, list[Pods]] = {}
    for component in pods:
        by_workload.setdefault(get(component.plan.placement.workload), []).append(component)
    return by_workload


def names() -> tuple[str, ...]:
    """Returns the names of all workload kinds."""
    return registry.entries(sys.modules[__name__])


@cache
def objects() -> frozenset[tuple[str, str]]:
    """Returns group and kind of the objects of all workload kinds."""
    return frozenset(kind for name in names() for kind in get(name).objects)


def is_workload(resource: Resource) -> bool:
    """Returns true for an object of a workload kind. Objects that those create, for example ReplicaSets, do not count."""
    return identity.key(resource)[:2] in objects()


def of_object(resource: Resource) -> Workload | None:
    """Returns the workload kind that makes objects as this one; None for other objects."""
    return _by_object().get(identity.key(resource)[:2])


@cache
def _by_object() -> dict[tuple[str, str], Workload]:
    return {kind: get(name) for name in names() for kind in get(name).objects}


@cache
def get(name: str) -> Workload:
    """Returns the workload kind of a name. Raises KeyError for an unknown name."""
    workload: Workload = registry.get(sys.modules[__name__], name).WORKLOAD
    return workload
