"""Restarts by the syncer: which pod templates get the id of the restart.

Follows the reference's `internal/dynamo/graph.go` DetermineRestartState.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.records import NamedTuple
from krm_fn.status import restart, scaling
from krm_fn.status.subject import workload

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

    from krm_fn.kube.identity import ObjectKey
    from krm_fn.status.children import Children
    from krm_fn.status.observe import Observation, Template
    from krm_fn.status.subject import Subject


class Stamp(NamedTuple):
    """The annotation `nvidia.com/restartAt` with the value `id`, for one pod template of the object `key`."""

    key: ObjectKey
    template: Template
    id: str


def due(graph: Subject, children: Children, progress: dict[str, Any] | None) -> list[Stamp]:
    """The templates of a graph that need the id now. `progress` is the `status.restart` that holds after this look.

    Only services in progress are due. The templates of earlier services had the id when they were restarted. If they lose it later, their
    pods are replaced by that, and another stamp would replace them again. For the same reason, a restart that is complete stamps nothing.
    A graph that shares a workload with another graph stamps nothing, because the two would stamp it in turn.
    """
    wanted = restart.identifier(graph)
    if graph.deleted or not graph.restart_by_syncer or not wanted or not progress or scaling.contested(graph, children):
        return []
    if progress.get("observedID") != wanted or progress.get("phase") != restart.RESTARTING:
        return []
    found = _templates(graph, children, progress.get("inProgress") or ())
    return [Stamp(owner.key, template, wanted) for owner, template in found if template.restarted != wanted]


def _templates(graph: Subject, children: Children, services: Collection[str]) -> Iterator[tuple[Observation, Template]]:
    """The pod templates of services, each with the object that holds it."""
    for entry in graph.entries or ():
        own = children.get(workload(entry, graph.key.namespace))
        if entry.service not in services or own is None:
            continue
        holder = children.holder(own)
        if holder is not None:
            yield from ((holder, template) for template in holder.templates if template.serves(entry.service))
