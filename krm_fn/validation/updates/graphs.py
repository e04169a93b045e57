"""Changes of a graph or a component: its engine, its components, their nodes and replicas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.kube.values import mapping
from krm_fn.manifests import workloads
from krm_fn.resolve import pathway

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.results import Path, Result
    from krm_fn.validation.updates.change import Change, State

SERVICES = "DYN402"


def check_nodes(change: Change) -> Iterator[Result]:
    """A component cannot change between 1 node and several nodes, because its workload kind would change. 2 nodes may become 4."""
    for address, was, now in change.both():
        before, after = _count(was), _count(now)
        if (before > 1) != (after > 1):
            instead = "replace the service by one with another name" if change.book.graph else "make a component with another name"
            message = f"nodeCount cannot change from {before} to {after}, because the workload kind would change; set it back, or {instead}"
            yield results.error("DYN401", message, path=address.at("nodes", "nodeCount"), current=after, proposed=before)


def _count(component: dict[str, Any]) -> int:
    """The number of nodes. `multinode` without a number means 2, the schema's default."""
    several = component.get("multinode")
    count = several.get("nodeCount", 2) if isinstance(several, dict) else 1
    return count if isinstance(count, int) else 1


def check_services(change: Change) -> Iterator[Result]:
    """Reports added and removed services, because an operator or a policy in the cluster may refuse the change."""
    for name, path in _added(change):
        message = f"service {name} was added, which a running operator refuses; remove it, or make a graph with another name"
        yield results.error(SERVICES, message, path=path)
    for name in _removed(change):
        message = f"service {name} was removed, which a running operator refuses; put it back, or make a graph with another name"
        yield results.error(SERVICES, message, path=change.book.at("components"))


def check_holder(change: Change, orchestrator: str) -> Iterator[Result]:
    """An object that holds all services of a graph, such as Grove's PodCliqueSet, refuses to add or remove one."""
    of_states = (pathway.admitted_orchestrator(state.annotations, orchestrator) for state in (change.was, change.now))
    holders = {workloads.get(name).fixed_services for name in of_states}
    holder = "" if len(holders) > 1 else holders.pop()
    if not holder:
        return
    mend = f"delete the {holder} before you apply the change, or make a graph with another name"
    for name, path in _added(change):
        yield results.warning("DYN408", f"service {name} cannot be added to the {holder} of a running graph; {mend}", path=path)
    for name in _removed(change):
        message = f"service {name} cannot be removed from the {holder} of a running graph; {mend}"
        yield results.warning("DYN408", message, path=change.book.at("components"))


def _added(change: Change) -> Iterator[tuple[str, Path]]:
    for name in sorted(change.now.components.keys() - change.was.components.keys()):
        yield name, change.book.component(name).at("component")


def _removed(change: Change) -> list[str]:
    return sorted(change.was.components.keys() - change.now.components.keys())


def check_replicas(change: Change) -> Iterator[Result]:
    """While a component has a scaling adapter, replicas are immutable in the graph. Absent replicas mean 1."""
    for address, was, now in change.both():
        count, wanted = was.get("replicas", 1), now.get("replicas", 1)
        if isinstance(now.get("scalingAdapter"), dict) and count != wanted:
            off = address.remedies["scaling_adapter.off"]
            message = (
                f"replicas cannot change from {count} to {wanted}, because a scaling adapter owns them; write {count} and scale the "
                f"DynamoGraphDeploymentScalingAdapter, or {off} in the same change"
            )
            yield results.error("DYN403", message, path=address.at("replicas"), current=wanted, proposed=count)


def written(state: State, *path: str) -> Any:
    """A field of a graph; None if it is absent or above it is something else."""
    found: Any = state.spec
    for step in path:
        found = mapping(found).get(step)
    return found
