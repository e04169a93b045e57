"""Rules over a graph as a whole: its services, claims and restart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.kube import quantity
from krm_fn.kube.admission import fields
from krm_fn.manifests import components as kinds

if TYPE_CHECKING:
    from krm_fn.plan import GraphPlan
    from krm_fn.results import Path, Result

_ACCESS_MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")


def check_services(plan: GraphPlan) -> Iterator[Result]:
    """At least one service, each with objects of its own."""
    if not plan.components:
        yield results.error("DYN100", "a graph needs at least one service; add one", plan.ref, ("spec", "services"))
    first: dict[str, str] = {}
    for component in plan.components:
        before = first.setdefault(component.who.name, component.who.service)
        if before != component.who.service:
            message = f"makes the same objects as service {before}, since names are written in lower case; rename one of them"
            yield results.error("DYN101", message, plan.ref, component.path)
    if len([component for component in plan.components if kinds.get(component.who.type).only_once]) > 1:
        yield results.error(
            "DYN102", "a graph has at most one endpoint picker; keep one service of type epp", plan.ref, ("spec", "services")
        )


def check_claims(plan: GraphPlan, spec: dict[str, Any]) -> Iterator[Result]:
    """Claims have names, and all that is needed to create them."""
    for index, claim in enumerate(spec.get("pvcs") or ()):
        at: Path = ("spec", "pvcs", index)
        if not claim.get("name"):
            yield results.error("DYN103", "is required; name the claim", plan.ref, (*at, "name"))
        if claim.get("create"):
            for field, example in (("storageClass", "standard"), ("size", "100Gi"), ("volumeAccessMode", "ReadWriteMany")):
                if not (quantity.value(claim.get(field)) if field == "size" else claim.get(field)):
                    message = f"is required when create is true; set it, for example to {example}"
                    yield results.error("DYN105", message, plan.ref, (*at, field))
            for field, message in _unusable(claim):
                yield results.error("DYN117", message, plan.ref, (*at, field))


def _unusable(claim: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Fields of a claim that no API server takes."""
    for field in ("name", "storageClass"):
        if claim.get(field) and not fields.DNS_SUBDOMAIN.fullmatch(claim[field]):
            yield field, f"{claim[field]!r} is no name that Kubernetes takes; use lower-case letters, digits, dashes and dots"
    if claim.get("volumeAccessMode") and claim["volumeAccessMode"] not in _ACCESS_MODES:
        yield "volumeAccessMode", f"{claim['volumeAccessMode']} is none of {', '.join(_ACCESS_MODES)}; write one of them"
    if quantity.value(claim.get("size")) < 0:
        yield "size", f"{claim['size']} is below zero; write an amount"


def check_restart(plan: GraphPlan, spec: dict[str, Any]) -> Iterator[Result]:
    """The order of a restart names every service once."""
    written = spec.get("restart")
    if written is None:
        return
    at: Path = ("spec", "restart")
    strategy = written.get("strategy") or {}
    order, services = strategy.get("order") or [], {component.who.service for component in plan.components}
    where = (*at, "strategy", "order")
    if order and strategy.get("type") == "Parallel":
        yield results.error("DYN107", "cannot be given when type is Parallel; leave one of the two out", plan.ref, where)
    elif order:
        for index, name in enumerate(order):
            if name not in services:
                yield results.error(
                    "DYN108", f"the graph has no service {name}; write one of {', '.join(sorted(services))}", plan.ref, (*where, index)
                )
            elif name in order[:index]:
                yield results.error("DYN109", f"{name} stands twice; name each service once", plan.ref, (*where, index))
        if missing := sorted(services - set(order)):
            yield results.error("DYN110", f"leaves out {', '.join(missing)}; name every service", plan.ref, where)
    if plan.restart and plan.restart.ordered and plan.config.restart == "render":
        message = (
            "all services restart at once, since a build has no order; set restart: sync in the configuration and let the syncer do it"
        )
        yield results.warning("DYN111", message, plan.ref, (*at, "strategy"))
