"""Computes the progress of the restart of a graph (`status.restart`), and the restart annotations that the syncer writes for it.

Follows the operator's `internal/controller/dynamographdeployment_controller.go` computeRestartStatus and `internal/dynamo/graph.go`
DetermineRestartState. One difference: a component counts as restarted only if its pod templates carry the restart.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import values
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.render.workload_list import WorkloadEntry
from krm_fn.syncer.status.cached_object import CachedObject, workload_key
from krm_fn.syncer.status.replica_status import ReplicaStatus, TemplateStatus
from krm_fn.syncer.status.workload_index import WorkloadIndex

RESTARTING, COMPLETED, FAILED = "Restarting", "Completed", "Failed"
_ENDED = (COMPLETED, FAILED, "Superseded")
"""The phases in which a restart ends. An operator writes the last one; a restart that it gave up does not begin again."""
_PARALLEL = "Parallel"


class RestartAnnotation(NamedTuple):
    """The annotation `nvidia.com/restartAt` with the value `id`, for one pod template of the object `key`."""

    key: ObjectKey
    template: TemplateStatus
    id: str


def progress(graph: CachedObject, index: WorkloadIndex) -> dict[str, Any] | None:
    """Computes `status.restart` of a graph; None if it has none.

    If the syncer restarts the components, one follows the other, and a call goes on by one component at most. If the render annotated all
    pod templates, all components restart at once.
    """
    stored = values.mapping(graph.status, "restart")
    id_ = restart_id(graph)
    if not id_:
        return stored if stored.get("phase") in _ENDED else None
    if stored.get("observedID") == id_ and stored.get("phase") in _ENDED:
        return stored
    in_progress = _texts(stored.get("inProgress")) if stored.get("observedID") == id_ else []
    if is_parallel(graph) or not graph.restart_by_syncer:
        components = in_progress or sorted(graph.components)
        entries = graph.entries_by_service()
        return _state(id_, [component for component in components if not _is_restarted(graph, entries.get(component, ()), id_, index)])
    return _state(id_, _next(graph, in_progress, id_, index))


def is_behind(graph: CachedObject, index: WorkloadIndex) -> bool:
    """Returns True if the stored status shows an earlier component than `progress` would now.

    The component may have been restarted before its name was written. No event leads to the next step then.
    """
    stored = values.mapping(graph.status, "restart")
    return bool(stored) and progress(graph, index) != stored


def restart_id(graph: CachedObject) -> str:
    """Returns `spec.restart.id`; empty if the graph requests no restart."""
    return values.text((graph.restart or {}).get("id"))


def is_parallel(graph: CachedObject) -> bool:
    """Returns True if all components restart at once."""
    return values.mapping(graph.restart, "strategy").get("type") == _PARALLEL


def order(graph: CachedObject) -> list[str]:
    """Returns the components in the order of their restart: that of the graph, else sorted."""
    return _texts(values.mapping(graph.restart, "strategy").get("order")) or sorted(graph.components)


def due_annotations(graph: CachedObject, index: WorkloadIndex, status: dict[str, Any] | None) -> list[RestartAnnotation]:
    """Returns the annotations that the templates of a graph need now. `status` is the `status.restart` that holds after this reconcile.

    Only components in progress need one. The templates of earlier components had the id when they were restarted. If they lose it later,
    their pods are replaced by that, and another annotation would replace them again. For the same reason, a restart that is complete
    annotates nothing. Neither does an object that belongs to another graph.
    """
    id_ = restart_id(graph)
    if graph.deleted or not graph.restart_by_syncer or not id_ or not status:
        return []
    if status.get("observedID") != id_ or status.get("phase") != RESTARTING:
        return []
    templates = _templates(graph, index.owned_status, index, _texts(status.get("inProgress")))
    return [RestartAnnotation(owner.key, template, id_) for _, owner, template in templates if template.restart != id_]


def without_restart(graph: CachedObject, index: WorkloadIndex, components: Collection[str]) -> list[str]:
    """Returns those of some components that have a pod template without the restart of the graph, sorted."""
    id_ = restart_id(graph)
    return sorted({component for component, _, template in _templates(graph, index.of_owner, index, components) if template.restart != id_})


def _next(graph: CachedObject, in_progress: list[str], id_: str, index: WorkloadIndex) -> list[str]:
    """Returns the component to restart now; empty if all components are done. A new restart begins with the first."""
    components = order(graph)
    if not in_progress:
        return components[:1]
    current = in_progress[0]
    if not _is_restarted(graph, graph.entries_by_service().get(current, ()), id_, index):
        return [current]
    done = components.index(current) + 1 if current in components else len(components)
    return components[done : done + 1]


def _state(id_: str, in_progress: list[str]) -> dict[str, Any]:
    if not in_progress:
        return {"observedID": id_, "phase": COMPLETED}
    return {"observedID": id_, "phase": RESTARTING, "inProgress": in_progress}


def _is_restarted(graph: CachedObject, entries: Iterable[WorkloadEntry], id_: str, index: WorkloadIndex) -> bool:
    """Returns True if all workloads of a component are ready, and all their pod templates carry the restart."""
    by_owner: dict[ObjectKey, list[TemplateStatus]] = {}
    for entry in entries:
        workload = index.of_owner(workload_key(entry, graph.key.namespace), graph.key, entry.service)
        owner, templates = index.templates(workload, entry.service) if workload is not None and workload.ready else (None, [])
        if owner is None or not owner.ready:  # its controller has not processed the newest templates
            return False
        by_owner[owner.key] = templates
    return all(templates and all(template.restart == id_ for template in templates) for templates in by_owner.values())


def _templates(
    graph: CachedObject,
    find: Callable[[ObjectKey, ObjectKey], ReplicaStatus | None],
    index: WorkloadIndex,
    components: Iterable[str],
) -> Iterator[tuple[str, ReplicaStatus, TemplateStatus]]:
    """Yields each pod template of some components with its component and the object that holds it.

    `find` finds a workload by its key and that of the graph; None for an object of another owner.
    """
    chosen, done = set(components), set()
    for entry in graph.entries or ():
        workload = find(workload_key(entry, graph.key.namespace), graph.key) if entry.service in chosen else None
        if workload is None:
            continue
        owner, templates = index.templates(workload, entry.service)
        if owner is not None and (owner.key, entry.service) not in done:
            done.add((owner.key, entry.service))
            yield from ((entry.service, owner, template) for template in templates)


def _texts(value: Any) -> list[str]:
    """Returns the texts in a list."""
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []
