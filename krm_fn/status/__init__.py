"""The status of Dynamo resources, computed from the resource and its workloads. Pure: the time is an argument.

Follows the reference's `internal/controller/dynamographdeployment_controller.go` and neighbours; `docs/status.md` names the differences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.status import adapter, component, graph, subject
from krm_fn.status.features import DEFAULT, Features

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.status.children import Children
    from krm_fn.status.subject import Subject


def status(resource: Resource, children: Children, now: str, features: Features = DEFAULT, owner: Subject | None = None) -> dict[str, Any]:
    """The status that a graph, a component or an adapter should have. `owner` is the graph of the last two. `now` is an RFC 3339 time.

    Any other resource keeps its status. Never raises for what a user or another program wrote.
    """
    read = subject.read(resource)
    if read.key.kind == subject.GRAPH:
        return graph.status(read, children, now, features)
    if read.key.kind == subject.COMPONENT:
        return component.status(read, children, now, owner, features)
    if read.key.kind == subject.ADAPTER:
        return adapter.status(read, children, now, owner, features)
    return read.status
