"""Changes of a graph or a component: its components, their nodes and replicas, its PersistentVolumeClaims, and features of newer releases.

Follows ValidateUpdate of the operator's `internal/webhook/validation/`.
"""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import quantity
from krm_fn.kubernetes.values import mapping, objects, text
from krm_fn.render import dynamo_api, labels, render_mark
from krm_fn.render.convert import path_mapping, versions
from krm_fn.render.kinds import ROLLOUT_GROUP, WHOLE_GRAPH
from krm_fn.render.manifests import workloads
from krm_fn.render.resolve import graph_context, rollout_group
from krm_fn.render.schema import rule_messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from krm_fn.base.results import Path, Result
    from krm_fn.kubernetes.types import Labels, Resource
    from krm_fn.render.plan import SourcePaths

_GROUPS = "the pods of the component are grouped in another way, and Grove cannot regroup running ones"
_MOVES = "Grove does not move running pods"
_BETWEEN_PODS = "InterPod"


class ComparedGraph(NamedTuple):
    """A graph or a component in v1beta1, whose parts can have any type. A standalone component is the only one, with an empty name.

    `claims` are the PersistentVolumeClaims of a graph, which only v1alpha1 has.
    """

    spec: dict[str, Any]
    components: dict[str, dict[str, Any]]
    annotations: Labels
    claims: list[Any]


class Change(NamedTuple):
    """A change from one state to another. `paths` are the source paths of the new state."""

    was: ComparedGraph
    now: ComparedGraph
    paths: SourcePaths

    def both(self) -> Iterator[tuple[str, SourcePaths, dict[str, Any], dict[str, Any]]]:
        """Yields the components that are in both states: their names, the source paths in the new one, and both of their specs."""
        for name, component in self.now.components.items():
            if name in self.was.components:
                yield name, self.paths.component(name), self.was.components[name], component


def change(old: Resource, new: Resource) -> Change:
    """Returns the change between two states of a resource. Any field may have any type."""
    return Change(_state(old), _state(new), path_mapping.of_resource(new))


def entries(value: Any) -> list[Any]:
    """Returns the value if it is a list, otherwise an empty list."""
    return value if isinstance(value, list) else []


def _state(resource: Resource) -> ComparedGraph:
    spec = mapping(versions.to(dynamo_api.BETA1, resource).get("spec"))
    if results.ref(resource).kind == dynamo_api.COMPONENT:
        return ComparedGraph(spec, {"": spec}, labels.annotations(resource), [])
    components = {entry["name"]: entry for entry in objects(spec.get("components")) if isinstance(entry.get("name"), str)}
    claims = entries(mapping(versions.to(dynamo_api.ALPHA1, resource).get("spec")).get("pvcs"))
    return ComparedGraph(spec, components, labels.annotations(resource), claims)


def check_nodes(change: Change, orchestrator: str) -> Iterator[Result]:
    """Reports a change between one node and several nodes, because the workload kind would change. 2 nodes may become 4.

    `orchestrator` is that of the configuration. A role of a DisaggregatedSet stays one, whatever the number of its nodes.
    """
    grouped = _grouped_workers(change.was, orchestrator) & _grouped_workers(change.now, orchestrator)
    for name, paths, was, now in change.both():
        old, new = _count(was), _count(now)
        if (old > 1) != (new > 1) and name not in grouped:
            message = (
                f"nodeCount cannot change from {old} to {new}, because the workload kind would change; set it back, or replace the "
                "service by one with another name"
            )
            yield results.error(codes.IMMUTABLE_MULTINODE, message, path=paths.at("multinode", "nodeCount"), current=new, proposed=old)


def _orchestrator(state: ComparedGraph, configured: str) -> str:
    """Returns the orchestrator of a state: a finished build names the settings that made it, and others have the configured one."""
    made_with = render_mark.read(text(state.annotations.get(labels.RENDERED_BY)))
    return graph_context.admitted_orchestrator(state.annotations, made_with.orchestrator if made_with else configured)


def _grouped_workers(state: ComparedGraph, orchestrator: str) -> set[str]:
    """Returns the workers of a graph that roll out together with others, in one object."""
    if _orchestrator(state, orchestrator) not in ROLLOUT_GROUP:
        return set()
    joined = rollout_group.joined_components(state.annotations)
    return {name for name, entry in state.components.items() if name and (entry.get("type") in rollout_group.PHASES or name in joined)}


def _count(component: dict[str, Any]) -> int:
    """Returns the number of nodes. `multinode` without a number means 2, the schema's default."""
    several = component.get("multinode")
    count = several.get("nodeCount", 2) if isinstance(several, dict) else 1
    return count if isinstance(count, int) else 1


def check_services(change: Change) -> Iterator[Result]:
    """Reports added and removed services, because an operator or a policy in the cluster may reject the change."""
    for name, path in _added_components(change):
        message = f"service {name} was added, which a running operator refuses; remove it, or make a graph with another name"
        yield results.error(codes.SERVICE_ADDED_OR_REMOVED, message, path=path)
    for name in _removed_components(change):
        message = f"service {name} was removed, which a running operator refuses; put it back, or make a graph with another name"
        yield results.error(codes.SERVICE_ADDED_OR_REMOVED, message, path=change.paths.at("components"))


def check_holder(change: Change, orchestrator: str) -> Iterator[Result]:
    """Reports added and removed services of a graph whose services are in one object, such as Grove's PodCliqueSet."""
    of_states = (_orchestrator(state, orchestrator) for state in (change.was, change.now))
    holders = {workloads.get(name).fixed_services if name in WHOLE_GRAPH else "" for name in of_states}
    holder = "" if len(holders) > 1 else holders.pop()
    if not holder:
        return
    fix = f"delete the {holder} before you apply the change, or make a graph with another name"
    for name, path in _added_components(change):
        yield results.warning(
            codes.IMMUTABLE_GROVE_SERVICES, f"service {name} cannot be added to the {holder} of a running graph; {fix}", path=path
        )
    for name in _removed_components(change):
        message = f"service {name} cannot be removed from the {holder} of a running graph; {fix}"
        yield results.warning(codes.IMMUTABLE_GROVE_SERVICES, message, path=change.paths.at("components"))


def _added_components(change: Change) -> Iterator[tuple[str, Path]]:
    for name in sorted(change.now.components.keys() - change.was.components.keys()):
        yield name, change.paths.component(name).at("name")


def _removed_components(change: Change) -> list[str]:
    return sorted(change.was.components.keys() - change.now.components.keys())


def check_replicas(change: Change) -> Iterator[Result]:
    """Reports other replicas of a component with a scaling adapter. Absent replicas mean 1."""
    for _, paths, was, now in change.both():
        count, wanted = was.get("replicas", 1), now.get("replicas", 1)
        if isinstance(now.get("scalingAdapter"), dict) and count != wanted:
            off = paths.fixes["no scaling adapter"]
            message = (
                f"replicas cannot change from {count} to {wanted}, because a scaling adapter owns them; write {count} and scale the "
                f"DynamoGraphDeploymentScalingAdapter, or {off} in the same change"
            )
            yield results.error(codes.REPLICAS_OF_SCALING_ADAPTER, message, path=paths.at("replicas"), current=wanted, proposed=count)


def spec_field(state: ComparedGraph, *path: str) -> Any:
    """Returns a field of a graph; None if it is absent or above it is something else."""
    value: Any = state.spec
    for step in path:
        value = mapping(value).get(step)
    return value


_IMMUTABLE = ("storageClass", "volumeAccessMode")


def check_claims(change: Change) -> Iterator[Result]:
    """Warns of a change that Kubernetes rejects. It concerns the claim alone, and the rest of the graph is applied."""
    old_claims = {name: claim for _, name, claim in _created_claims(change.was.claims)}
    for index, name, claim in _created_claims(change.now.claims):
        for key, reason in _rejected_fields(old_claims[name], claim) if name in old_claims else ():
            old, new = old_claims[name].get(key), claim.get(key)
            message = (
                f"{key} cannot change from {show_value(old)} to {show_value(new)}, {reason}; set it back, or list a claim with another name"
            )
            yield results.warning(codes.IMMUTABLE_PVC_FIELD, message, path=change.paths.at("pvcs", index, key), current=new, proposed=old)


def show_value(value: Any) -> str:
    """Returns a value of a field in a message."""
    return repr(value) if value else "unset"


def _created_claims(claims: list[Any]) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yields the claims that a graph creates, each with its index and name."""
    for index, claim in enumerate(claims):
        fields = mapping(claim)
        if fields.get("create") is True and isinstance(fields.get("name"), str):
            yield index, fields["name"], fields


def _rejected_fields(old: Any, new: Any) -> Iterator[tuple[str, str]]:
    """Yields the changed fields of a claim that Kubernetes rejects, each with the reason."""
    for key in _IMMUTABLE:
        if old.get(key) != new.get(key):
            yield key, "because it is immutable"
    old_size, new_size = old.get("size"), new.get("size")
    if isinstance(old_size, str | int) and isinstance(new_size, str | int) and quantity.value(new_size) < quantity.value(old_size):
        yield "size", "because a claim cannot shrink"


def check_features(change: Change) -> Iterator[Result]:
    """Reports changes that the CRD or Grove rejects, and warns of changes that only a running operator rejects."""
    yield from _check_graph_features(change)
    for _, paths, was, now in change.both():
        if _min_available(was) != _min_available(now):
            message = rule_messages.of(codes.IMMUTABLE_MIN_AVAILABLE)
            form = "minAvailable" if "minAvailable" in now or now.get("providerOverride") is None else "providerOverride"
            yield results.error(
                codes.IMMUTABLE_MIN_AVAILABLE, message, path=paths.at(form), current=_min_available(now), proposed=_min_available(was)
            )
        grove: tuple[tuple[Path, Any, Any, str], ...] = (
            (("topologyConstraint",), was.get("topologyConstraint"), now.get("topologyConstraint"), _MOVES),
            (("experimental", "gpuMemoryService"), _has_pods(was, "gpuMemoryService"), _has_pods(now, "gpuMemoryService"), _GROUPS),
            (("experimental", "failover"), _has_pods(was, "failover"), _has_pods(now, "failover"), _GROUPS),
            (("experimental", "grove", "forceScalingGroup"), _is_grouped(was), _is_grouped(now), _GROUPS),
        )
        for field, old, new, reason in grove:
            if old != new:
                yield _report_fixed(paths.at(*field), reason)
        if _power(was) != _power(now):
            yield _rejected_by_operator(paths.at("podTemplate", "metadata", "annotations", labels.POWER_LIMIT))


def check_roles(change: Change) -> Iterator[Result]:
    """Reports what an operator refuses since Dynamo 1.6: another number of nodes, another type, and other roles of a component."""
    for _, paths, was, now in change.both():
        old, new = _count(was), _count(now)
        if old != new and old > 1 and new > 1:
            yield _rejected_by_operator(paths.at("multinode", "nodeCount"))
        if was.get("type") and was["type"] != now.get("type"):
            yield _rejected_by_operator(paths.at("type"))
        switches = _has_templates(was) != _has_templates(now) and (old, was.get("type")) != (new, now.get("type"))
        renames = bool(_roles(was) and _roles(now)) and _roles(was) != _roles(now)
        if switches or renames:
            yield _rejected_by_operator(paths.at("roles"))


def _roles(component: dict[str, Any]) -> set[Any]:
    return {str(role.get("name")) for role in objects(component.get("roles"))}


def _has_templates(component: dict[str, Any]) -> bool:
    return any(role.get("podTemplate") is not None for role in objects(component.get("roles")))


def _check_graph_features(change: Change) -> Iterator[Result]:
    if spec_field(change.was, "topologyConstraint") != spec_field(change.now, "topologyConstraint"):
        yield _report_fixed(change.paths.at("topologyConstraint"), _MOVES)
    if spec_field(change.was, "experimental", "kvTransferPolicy") != spec_field(change.now, "experimental", "kvTransferPolicy"):
        yield _rejected_by_operator(change.paths.at("experimental", "kvTransferPolicy"))
    old, new = (state.annotations.get(labels.WORKLOAD_PROVIDER) for state in (change.was, change.now))
    if old is not None and old != new:
        yield _rejected_by_operator(("metadata", "annotations", labels.WORKLOAD_PROVIDER))


def _report_fixed(path: Path, reason: str) -> Result:
    message = f"{path[-1]} cannot change, because {reason}; set it back, or make a graph with another name"
    return results.error(codes.IMMUTABLE_POD_CLIQUE_SET_FIELD, message, path=path)


def _rejected_by_operator(path: Path) -> Result:
    message = f"{path[-1]} was changed, which a running operator refuses; set it back, or make a graph with another name"
    return results.warning(codes.CHANGE_REFUSED_BY_OPERATOR, message, path=path)


def _min_available(component: dict[str, Any]) -> Any:
    """Returns the number of replicas that Grove starts together: that of the field, or that of the override. Absent means 1."""
    value = mapping(mapping(component.get("providerOverride")).get("value"))
    overridden = value.get("minAvailable", mapping(value.get("spec")).get("minAvailable", 1))
    return component.get("minAvailable", overridden)


def _has_pods(component: dict[str, Any], feature: str) -> bool:
    """Returns true if a feature runs in separate pods."""
    return mapping(mapping(component.get("experimental")).get(feature)).get("mode") == _BETWEEN_PODS


def _is_grouped(component: dict[str, Any]) -> bool:
    """Returns true if a scaling group always contains the component."""
    return mapping(mapping(component.get("experimental")).get("grove")).get("forceScalingGroup") is True


def _power(component: dict[str, Any]) -> Any:
    metadata = mapping(mapping(component.get("podTemplate")).get("metadata"))
    return mapping(metadata.get("annotations")).get(labels.POWER_LIMIT)
