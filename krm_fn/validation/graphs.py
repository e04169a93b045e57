"""Rules about a whole graph: its services, claims and restart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import quantity
from krm_fn.kube.admission import fields
from krm_fn.manifests import components as kinds
from krm_fn.schema import sentences

if TYPE_CHECKING:
    from krm_fn.plan import Claim, GraphPlan
    from krm_fn.plan.address import GraphField
    from krm_fn.results import Result

_ACCESS_MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")


def check_services(plan: GraphPlan) -> Iterator[Result]:
    """A graph must have at least one service, each service must have its own objects, and only one may be an endpoint picker."""
    parts, part = _words(plan)
    if not plan.components:
        yield sentences.error("DYN100", plan.ref, plan.at("components"), parts=parts)
    first: dict[str, str] = {}
    for component in plan.components:
        service = component.who.service
        before = first.setdefault(component.who.name, service)
        if before != service:
            yield sentences.error("DYN101", plan.ref, component.at("component"), services=f"{parts} {before} and {service}")
    if len([component for component in plan.components if kinds.get(component.who.type).singleton]) > 1:
        yield sentences.error("DYN102", plan.ref, plan.at("components"), part=part)


def _words(plan: GraphPlan) -> tuple[str, str]:
    """What the author's version calls the components of a graph: `services` and `service`, or `components` and `component`."""
    parts = plan.word("components")
    return parts, parts.removesuffix("s")


def check_claims(plan: GraphPlan) -> Iterator[Result]:
    """A claim must have a name. A claim to be created must have all fields that Kubernetes needs."""
    for index, claim in enumerate(plan.claims):
        if not claim.name:
            yield sentences.error("DYN103", plan.ref, plan.at("claim.name", index))
        for field, value, example in _needed(claim):
            if not value:
                yield sentences.error("DYN105", plan.ref, plan.at(field, index), field=plan.word(field), example=example)
        if claim.create:
            for field, message in _unusable(claim):
                yield results.error("DYN117", message, plan.ref, plan.at(field, index))


def _needed(claim: Claim) -> Iterator[tuple[GraphField, object, str]]:
    """Yields each field that a claim to be created needs, with its value and an example."""
    if claim.create:
        yield "claim.storage_class", claim.storage_class, "standard"
        yield "claim.size", quantity.value(claim.size or None), "100Gi"
        yield "claim.access_mode", claim.access_mode, "ReadWriteMany"


def _unusable(claim: Claim) -> Iterator[tuple[GraphField, str]]:
    """Yields the fields of a claim that an API server refuses, each with its message."""
    names: tuple[tuple[GraphField, str], ...] = (("claim.name", claim.name), ("claim.storage_class", claim.storage_class))
    for field, name in names:
        if name and not fields.DNS_SUBDOMAIN.fullmatch(name):
            yield field, f"{name!r} is not a valid name; use lower-case letters, digits, dashes and dots"
    if claim.access_mode and claim.access_mode not in _ACCESS_MODES:
        yield "claim.access_mode", f"{claim.access_mode} is not an access mode; write one of {', '.join(_ACCESS_MODES)}"
    if quantity.value(claim.size or None) < 0:
        yield "claim.size", f"size {claim.size} is negative; write a positive amount"


def check_restart(plan: GraphPlan) -> Iterator[Result]:
    """The order of a restart must list each service once. Warns that a render restarts all services at once."""
    restart, where = plan.restart, plan.at("restart.order") if plan.restart else ()
    if restart is None:
        return
    if restart.order and restart.parallel:
        yield sentences.error("DYN107", plan.ref, where)
    elif restart.order:
        yield from _check_order(plan, restart.order)
    if restart.id and restart.sequential and plan.config.restart == "render":
        mend = "set restart: sync in the configuration, and the syncer restarts them in order"
        if plan.orchestrator == "grove":
            mend = "write type: Parallel, or remove the strategy"
        message = "all services restart at once, because a build cannot wait between services"
        yield results.warning("DYN111", f"{message}; {mend}", plan.ref, plan.at("restart.strategy"))


def _check_order(plan: GraphPlan, order: tuple[str, ...]) -> Iterator[Result]:
    services, (_, part) = {component.who.service for component in plan.components}, _words(plan)
    for index, name in enumerate(order):
        if name not in services:
            there = ", ".join(sorted(services))
            yield sentences.error("DYN108", plan.ref, plan.at("restart.order", index), part=part, name=name, services=there)
        elif name in order[:index]:
            yield sentences.error("DYN109", plan.ref, plan.at("restart.order", index), name=name, part=part)
    if missing := sorted(services - set(order)):
        yield sentences.error("DYN110", plan.ref, plan.at("restart.order"), part=part, services=", ".join(missing))


def check_planner(plan: GraphPlan) -> Iterator[Result]:
    """Warns about engines that the planner of their graph cannot scale, because they have no scaling adapter."""
    planners = [component.who.service for component in plan.components if kinds.get(component.who.type).scales]
    for component in plan.components if planners else ():
        if kinds.get(component.who.type).runs_engine and not component.placement.autoscaled:
            message = f"{planners[0]} cannot scale this service, because it has no scaling adapter"
            mend = component.remedy("scaling_adapter.on")
            yield results.warning("DYN118", f"{message}; {mend}", plan.ref, component.at("scaling_adapter"))
