"""Restarts of a graph: `status.restart`.

Follows the reference's `internal/controller/dynamographdeployment_controller.go` computeRestartStatus. One difference: a service counts as
restarted only if its pod templates carry the restart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import values
from krm_fn.status import subject

if TYPE_CHECKING:
    from krm_fn.status.children import Children
    from krm_fn.status.observe import Observation
    from krm_fn.status.subject import Subject

RESTARTING, COMPLETED, FAILED = "Restarting", "Completed", "Failed"
_PARALLEL = "Parallel"


def progress(graph: Subject, children: Children) -> dict[str, Any] | None:
    """`status.restart` of a graph; None if it has none.

    If the syncer restarts the services, one service follows the other, and each call goes on by one service at most. If the render stamped
    all pod templates, all services restart at once.
    """
    stored = values.mapping(graph.status, "restart")
    wanted = identifier(graph)
    if not wanted:
        return stored if stored.get("phase") in (COMPLETED, FAILED) else None
    if stored.get("observedID") == wanted and stored.get("phase") in (COMPLETED, FAILED):
        return stored
    under_way = _services(stored.get("inProgress")) if stored.get("observedID") == wanted else []
    if parallel(graph) or not graph.restart_by_syncer:
        return _state(wanted, [each for each in under_way or sorted(graph.services) if not _restarted(graph, each, wanted, children)])
    return _state(wanted, _step(graph, under_way, wanted, children))


def identifier(graph: Subject) -> str:
    """`spec.restart.id`; empty if the graph asks for no restart."""
    return values.text((graph.restart or {}).get("id"))


def parallel(graph: Subject) -> bool:
    """True if all services restart at once."""
    return values.mapping(graph.restart, "strategy").get("type") == _PARALLEL


def order(graph: Subject) -> list[str]:
    """The services in the order of their restart: as the graph says, else sorted."""
    return _services(values.mapping(graph.restart, "strategy").get("order")) or sorted(graph.services)


def _step(graph: Subject, under_way: list[str], wanted: str, children: Children) -> list[str]:
    """The service to restart now; empty if all services are done. A new restart begins with the first."""
    services = order(graph)
    if not under_way:
        return services[:1]
    current = under_way[0]
    if not _restarted(graph, current, wanted, children):
        return [current]
    done = services.index(current) + 1 if current in services else len(services)
    return services[done : done + 1]


def _state(wanted: str, services: list[str]) -> dict[str, Any]:
    if not services:
        return {"observedID": wanted, "phase": COMPLETED}
    return {"observedID": wanted, "phase": RESTARTING, "inProgress": services}


def _restarted(graph: Subject, service: str, wanted: str, children: Children) -> bool:
    """True if all workloads of a service are ready, and all their pod templates carry the restart."""
    keys = [subject.workload(entry, graph.key.namespace) for entry in graph.entries or () if entry.service == service]
    return all(_is_restarted(children.get(key), service, wanted, children) for key in keys)


def _is_restarted(own: Observation | None, service: str, wanted: str, children: Children) -> bool:
    if own is None or not own.ready:
        return False
    holder = children.holder(own)
    if holder is None or not holder.ready:  # its controller has not processed the newest templates
        return False
    templates = [template for template in holder.templates if template.serves(service)]
    return bool(templates) and all(template.restarted == wanted for template in templates)


def _services(value: Any) -> list[str]:
    """The names of services in a list."""
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
