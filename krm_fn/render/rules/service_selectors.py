"""Rules about the labels by which Services select pods: a Service selects the pods of its component, and no others.

An API server accepts other selectors, and an operator writes them. A render warns, because it makes the objects of the operator;
`krm_fn.review.resource_findings` makes an error of a Service that sends requests to the pods of another component.
"""

from __future__ import annotations

from krm_fn.base import codes, report, results
from krm_fn.render import labels
from krm_fn.render.manifests import ingress, workloads
from krm_fn.render.rules import port_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from krm_fn.base.results import Result
    from krm_fn.kubernetes.native_types import Container
    from krm_fn.render.manifests.pod_builder import Pod, Pods
    from krm_fn.render.plan import ComponentPlan

_LISTED = 3
"""The largest number of components in a message."""


def check(components: Sequence[Pods]) -> Iterator[Result]:
    """Yields the findings about the selectors of Services. `components` are those of all graphs of a build."""
    for pods in components:
        yield from _check_type(pods.plan)
    yield from _check_shared(components)


def _check_type(plan: ComponentPlan) -> Iterator[Result]:
    """Warns of a component without a type, whose Service selects no pod: it selects an empty type, and the pods have no label of a type.

    All releases of the operator write this selector.
    """
    written = plan.pod.labels.get(labels.COMPONENT_TYPE)
    if (
        plan.identity.selector.get(labels.COMPONENT_TYPE) != ""
        or written == ""
        or not workloads.get(plan.placement.workload).services(plan)
    ):
        return
    path = plan.at("componentType")
    message = f"the component has no type, so its Service {plan.service_name} selects no pod"
    fix = f"set {path[-1]} to frontend if clients call the component, and to worker if it runs an engine"
    yield results.warning(codes.SERVICE_SELECTS_NO_POD, f"{message}; {fix}", plan.ref, path)


def _check_shared(components: Iterable[Pods]) -> Iterator[Result]:
    """Yields a finding for each component whose clients reach the pods of another one, because both have Services with equal selectors.

    Nobody calls the Services of workers, which only discovery reads: their selectors are equal by design in Dynamo 0.9, which selects pods
    by their type.
    """
    by_selector: dict[tuple[object, ...], list[Pods]] = {}
    for pods in components:
        if pods.roles:
            selector = workloads.get(pods.plan.placement.workload).selector(pods.plan)
            by_selector.setdefault((pods.plan.identity.namespace, *sorted(selector.items())), []).append(pods)
    for sharing in by_selector.values():
        for pods in sharing if len(sharing) > 1 else ():
            if _has_clients(pods.plan):
                yield from _of_shared(pods, [other for other in sharing if other is not pods and _answers_otherwise(pods, other)])


def _of_shared(pods: Pods, others: Sequence[Pods]) -> Iterator[Result]:
    """Reports a component whose Service also selects the pods of others."""
    plan = pods.plan
    if not others:
        return
    names = report.list_first([_name(other.plan, plan) for other in others], _LISTED)
    message = f"the Service {plan.service_name} also selects the pods of {names}, so these get a part of its requests"
    if labels.COMPONENT in plan.identity.selector:
        fix = "give the components different names"
    else:
        newer = "use images of Dynamo 1.0 or later, whose Services select one component"
        fix = f"{newer}, or write another type for a component that is no frontend"
    yield results.warning(codes.SERVICE_SELECTS_OTHER_PODS, f"{message}; {fix}", plan.ref, plan.at("name"))


def _name(other: ComponentPlan, plan: ComponentPlan) -> str:
    """Returns the name of another component, with its resource unless both are of one graph."""
    return other.identity.service if other.ref == plan.ref else f"{other.identity.service} of {other.ref.kind} {other.ref.name}"


def _has_clients(plan: ComponentPlan) -> bool:
    """True for a component whose Service has clients: a frontend, an endpoint picker, and a component with an ingress."""
    return plan.type.is_frontend or plan.type.picks_workers or ingress.makes_ingress(plan) or ingress.makes_virtual_service(plan)


def _answers_otherwise(pods: Pods, other: Pods) -> bool:
    """True if the pods of another component have the port of a Service, and answer its requests with another program."""
    target = workloads.get(pods.plan.placement.workload).port(pods.plan).get("targetPort")
    listens = not isinstance(target, str) or any(port_names.has_port(pod.spec, target) for pod in other.roles)
    return listens and _program(pods.roles[0]) != _program(other.roles[0])


def _program(pod: Pod) -> tuple[object, ...]:
    """Returns what decides the answers of a pod: the main container's image, command, arguments and variables."""
    container: Container = pod.main
    return (container.get("image"), container.get("command"), container.get("args"), container.get("env"), container.get("envFrom"))
