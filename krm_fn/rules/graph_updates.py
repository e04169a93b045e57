"""Changes of a graph or a component: its components, their nodes and replicas, and its PersistentVolumeClaims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.convert import path_mapping, versions
from krm_fn.kube import identity, labels, quantity
from krm_fn.kube.values import mapping, objects
from krm_fn.manifests import workloads
from krm_fn.records import NamedTuple
from krm_fn.resolve import graph_context

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.types import Labels, Resource
    from krm_fn.plan import SourcePaths
    from krm_fn.results import Path, Result


class GraphState(NamedTuple):
    """A graph or a component in v1beta1, whose parts can have any type. A standalone component is the only one, with an empty name.

    `claims` are the PersistentVolumeClaims of a graph, which only v1alpha1 has.
    """

    spec: dict[str, Any]
    components: dict[str, dict[str, Any]]
    annotations: Labels
    claims: list[Any]


class Change(NamedTuple):
    """A change from one state to another. `paths` are the source paths of the new state."""

    was: GraphState
    now: GraphState
    paths: SourcePaths

    def both(self) -> Iterator[tuple[SourcePaths, dict[str, Any], dict[str, Any]]]:
        """Yields the components that are in both states: the source paths in the new one, and both of their specs."""
        for name, after in self.now.components.items():
            if name in self.was.components:
                yield self.paths.component(name), self.was.components[name], after


def change(old: Resource, new: Resource) -> Change:
    """The change between two states of a resource. Any field may have any type."""
    return Change(_state(old), _state(new), path_mapping.of_resource(new))


def entries(value: Any) -> list[Any]:
    """The value if it is a list, otherwise an empty list."""
    return value if isinstance(value, list) else []


def _state(resource: Resource) -> GraphState:
    spec = mapping(versions.to(versions.V1BETA1, resource).get("spec"))
    if results.ref(resource).kind == identity.COMPONENT:
        return GraphState(spec, {"": spec}, labels.annotations(resource), [])
    components = {entry["name"]: entry for entry in objects(spec.get("components")) if isinstance(entry.get("name"), str)}
    claims = entries(mapping(versions.to(versions.V1ALPHA1, resource).get("spec")).get("pvcs"))
    return GraphState(spec, components, labels.annotations(resource), claims)


SERVICES = "DYN402"


def check_nodes(change: Change) -> Iterator[Result]:
    """A component cannot change between 1 node and several nodes, because its workload kind would change. 2 nodes may become 4."""
    for paths, was, now in change.both():
        old, new = _count(was), _count(now)
        if (old > 1) != (new > 1):
            message = (
                f"nodeCount cannot change from {old} to {new}, because the workload kind would change; set it back, or replace the "
                "service by one with another name"
            )
            yield results.error("DYN401", message, path=paths.at("multinode", "nodeCount"), current=new, proposed=old)


def _count(component: dict[str, Any]) -> int:
    """The number of nodes. `multinode` without a number means 2, the schema's default."""
    several = component.get("multinode")
    count = several.get("nodeCount", 2) if isinstance(several, dict) else 1
    return count if isinstance(count, int) else 1


def check_services(change: Change) -> Iterator[Result]:
    """Reports added and removed services, because an operator or a policy in the cluster may reject the change."""
    for name, path in _added(change):
        message = f"service {name} was added, which a running operator refuses; remove it, or make a graph with another name"
        yield results.error(SERVICES, message, path=path)
    for name in _removed(change):
        message = f"service {name} was removed, which a running operator refuses; put it back, or make a graph with another name"
        yield results.error(SERVICES, message, path=change.paths.at("components"))


def check_holder(change: Change, orchestrator: str) -> Iterator[Result]:
    """An object that holds all services of a graph, such as Grove's PodCliqueSet, rejects an added or removed one."""
    of_states = (graph_context.admitted_orchestrator(state.annotations, orchestrator) for state in (change.was, change.now))
    holders = {workloads.get(name).fixed_services for name in of_states}
    holder = "" if len(holders) > 1 else holders.pop()
    if not holder:
        return
    fix = f"delete the {holder} before you apply the change, or make a graph with another name"
    for name, path in _added(change):
        yield results.warning("DYN408", f"service {name} cannot be added to the {holder} of a running graph; {fix}", path=path)
    for name in _removed(change):
        message = f"service {name} cannot be removed from the {holder} of a running graph; {fix}"
        yield results.warning("DYN408", message, path=change.paths.at("components"))


def _added(change: Change) -> Iterator[tuple[str, Path]]:
    for name in sorted(change.now.components.keys() - change.was.components.keys()):
        yield name, change.paths.component(name).at("name")


def _removed(change: Change) -> list[str]:
    return sorted(change.was.components.keys() - change.now.components.keys())


def check_replicas(change: Change) -> Iterator[Result]:
    """While a component has a scaling adapter, replicas are immutable in the graph. Absent replicas mean 1."""
    for paths, was, now in change.both():
        count, wanted = was.get("replicas", 1), now.get("replicas", 1)
        if isinstance(now.get("scalingAdapter"), dict) and count != wanted:
            off = paths.fixes["no scaling adapter"]
            message = (
                f"replicas cannot change from {count} to {wanted}, because a scaling adapter owns them; write {count} and scale the "
                f"DynamoGraphDeploymentScalingAdapter, or {off} in the same change"
            )
            yield results.error("DYN403", message, path=paths.at("replicas"), current=wanted, proposed=count)


def spec_field(state: GraphState, *path: str) -> Any:
    """A field of a graph; None if it is absent or above it is something else."""
    value: Any = state.spec
    for step in path:
        value = mapping(value).get(step)
    return value


_IMMUTABLE = ("storageClass", "volumeAccessMode")


def check_claims(change: Change) -> Iterator[Result]:
    """Warns of a change that Kubernetes rejects. It concerns the claim alone, and the rest of the graph is applied."""
    old_claims = {name: claim for _, name, claim in _created(change.was.claims)}
    for index, name, claim in _created(change.now.claims):
        for key, reason in _rejected(old_claims[name], claim) if name in old_claims else ():
            old, new = old_claims[name].get(key), claim.get(key)
            message = f"{key} cannot change from {shown(old)} to {shown(new)}, {reason}; set it back, or list a claim with another name"
            yield results.warning("DYN407", message, path=change.paths.at("pvcs", index, key), current=new, proposed=old)


def shown(value: Any) -> str:
    """A value of a field in a message."""
    return repr(value) if value else "unset"


def _created(claims: list[Any]) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yields the claims that a graph creates, each with its index and name."""
    for index, claim in enumerate(claims):
        fields = mapping(claim)
        if fields.get("create") is True and isinstance(fields.get("name"), str):
            yield index, fields["name"], fields


def _rejected(old: Any, new: Any) -> Iterator[tuple[str, str]]:
    """Yields the changed fields of a claim that Kubernetes rejects, each with the reason."""
    for key in _IMMUTABLE:
        if old.get(key) != new.get(key):
            yield key, "because it is immutable"
    old_size, new_size = old.get("size"), new.get("size")
    if isinstance(old_size, str | int) and isinstance(new_size, str | int) and quantity.value(new_size) < quantity.value(old_size):
        yield "size", "because a claim cannot shrink"
