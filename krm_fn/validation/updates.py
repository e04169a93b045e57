"""Finds changes between two states of Dynamo resources that a cluster would refuse.

Follows ValidateUpdate of the reference's `internal/webhook/validation/`. The policies in `platform/admission` enforce the same rules in
a cluster. `krm_fn.validation` has the rules for one state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.config import DYNAMO_GROUP
from krm_fn.kube import identity, labels, quantity
from krm_fn.manifests import workloads
from krm_fn.records import NamedTuple
from krm_fn.results import Result
from krm_fn.schema import check as schema

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.results import Path

SERVICES = "DYN402"
"""The code of added and removed services, the only rule that is optional in a cluster."""

_FIXED_IN_CLAIMS = ("storageClass", "volumeAccessMode")
_Rule = Callable[[Any, Any], Iterator[Result]]
"""Yields the findings about a change from one spec to another. They have no resource yet."""


class _Fixed(NamedTuple):
    """An immutable field of the spec, with the reason."""

    code: str
    field: str
    why: str
    default: str = ""


def check(old: Iterable[Resource], new: Iterable[Resource], home: str, orchestrator: str = "deployment") -> Iterator[Result]:
    """Yields the findings about changes of resources that are in both states.

    Any field may have any type. `home` is the namespace of resources without one. `orchestrator` runs all graphs that do not opt out.
    """
    before = _known(old, home)
    for key, resource in _known(new, home).items():
        if key in before:
            was, now = (_fields(schema.without_nulls(each).get("spec")) for each in (before[key], resource))
            for rule in (*_RULES.get(key.kind, ()), *_workload_rules(key.kind, before[key], resource, orchestrator)):
                yield from (result._replace(ref=results.ref(resource)) for result in rule(was, now))


def compared(old: Iterable[Resource], new: Iterable[Resource], home: str) -> int:
    """The number of Dynamo resources that are in both states."""
    return len(_known(old, home).keys() & _known(new, home).keys())


def _known(state: Iterable[Resource], home: str) -> dict[identity.ObjectKey, Resource]:
    named = {identity.key(resource, home): resource for resource in state}
    return {key: resource for key, resource in named.items() if key.group == DYNAMO_GROUP}


def _keeps(fixed: _Fixed, was: Any, now: Any) -> Iterator[Result]:
    before, after = (spec.get(fixed.field) or fixed.default for spec in (was, now))
    if before != after:
        message = f"{fixed.field} cannot change from {_shown(before)} to {_shown(after)}, because {fixed.why}"
        message += "; set it back, or make a resource with another name"
        yield results.error(fixed.code, message, path=("spec", fixed.field), current=after or None, proposed=before or None)


def _component_nodes(was: Any, now: Any) -> Iterator[Result]:
    yield from _nodes(was, now, ("spec",), "make a component with another name")


def _service_nodes(was: Any, now: Any) -> Iterator[Result]:
    for name, before, after in _both(was, now):
        yield from _nodes(before, after, ("spec", "services", name), "replace the service by one with another name")


def _nodes(was: Any, now: Any, at: Path, instead: str) -> Iterator[Result]:
    """A component cannot change between 1 node and several nodes, because its workload kind would change. 2 nodes may become 4."""
    before, after = _count(was), _count(now)
    if (before > 1) != (after > 1):
        message = f"nodeCount cannot change from {before} to {after}, because the workload kind would change; set it back, or {instead}"
        yield results.error("DYN401", message, path=(*at, "multinode", "nodeCount"), current=after, proposed=before)


def _count(component: Any) -> int:
    """The number of nodes. `multinode` without a number means 2, the schema's default."""
    several = component.get("multinode")
    count = several.get("nodeCount", 2) if isinstance(several, dict) else 1
    return count if isinstance(count, int) else 1


def _services(was: Any, now: Any) -> Iterator[Result]:
    """Reports added and removed services, because an operator or a policy in the cluster may refuse the change."""
    before, after = _fields(was.get("services")), _fields(now.get("services"))
    for name in sorted(after.keys() - before.keys()):
        message = f"service {name} was added, which a running operator refuses; remove it, or make a graph with another name"
        yield results.error(SERVICES, message, path=("spec", "services", name))
    for name in sorted(before.keys() - after.keys()):
        message = f"service {name} was removed, which a running operator refuses; put it back, or make a graph with another name"
        yield results.error(SERVICES, message, path=("spec", "services"))


def _workload_rules(kind: str, old: Resource, new: Resource, orchestrator: str) -> tuple[_Rule, ...]:
    """The rules of the workload kind of a graph, if the workload kind does not change."""
    holder = workloads.get(orchestrator).fixed_services if kind == "DynamoGraphDeployment" else ""
    if not holder or any(str(labels.notes(each).get(labels.ENABLE_GROVE, "")).lower() == "false" for each in (old, new)):
        return ()
    return (partial(_fixed_services, holder),)


def _fixed_services(holder: str, was: Any, now: Any) -> Iterator[Result]:
    """An object that holds all services of a graph, such as Grove's PodCliqueSet, refuses to add or remove one."""
    before, after = _fields(was.get("services")), _fields(now.get("services"))
    mend = f"delete the {holder} before you apply the change, or make a graph with another name"
    for name in sorted(after.keys() - before.keys()):
        message = f"service {name} cannot be added to the {holder} of a running graph; {mend}"
        yield results.warning("DYN408", message, path=("spec", "services", name))
    for name in sorted(before.keys() - after.keys()):
        message = f"service {name} cannot be removed from the {holder} of a running graph; {mend}"
        yield results.warning("DYN408", message, path=("spec", "services"))


def _replicas(was: Any, now: Any) -> Iterator[Result]:
    """While a scaling adapter is enabled, replicas are immutable in the graph. Absent replicas mean 1."""
    for name, before, after in _both(was, now):
        count, wanted = before.get("replicas", 1), after.get("replicas", 1)
        if _fields(after.get("scalingAdapter")).get("enabled") is True and count != wanted:
            message = (
                f"replicas cannot change from {count} to {wanted}, because a scaling adapter owns them; write {count} and scale the "
                "DynamoGraphDeploymentScalingAdapter, or set scalingAdapter.enabled: false in the same change"
            )
            yield results.error("DYN403", message, path=("spec", "services", name, "replicas"), current=wanted, proposed=count)


def _claims(was: Any, now: Any) -> Iterator[Result]:
    """The storage class and access mode of a PersistentVolumeClaim are immutable, and its size can only grow."""
    before = {name: claim for _, name, claim in _created(was)}
    for index, name, claim in _created(now):
        for field, why in _refused(before[name], claim) if name in before else ():
            old, new = before[name].get(field), claim.get(field)
            message = f"{field} cannot change from {_shown(old)} to {_shown(new)}, {why}; set it back, or list a claim with another name"
            yield results.warning("DYN407", message, path=("spec", "pvcs", index, field), current=new, proposed=old)


def _created(spec: Any) -> Iterator[tuple[int, str, Any]]:
    """Yields the claims that a graph creates, each with its index and name."""
    claims = spec.get("pvcs")
    for index, claim in enumerate(claims if isinstance(claims, list) else ()):
        fields = _fields(claim)
        if fields.get("create") is True and isinstance(fields.get("name"), str):
            yield index, fields["name"], fields


def _refused(old: Any, new: Any) -> Iterator[tuple[str, str]]:
    """Yields the fields of a claim with a change that Kubernetes refuses, each with the reason."""
    yield from ((field, "because it is immutable") for field in _FIXED_IN_CLAIMS if old.get(field) != new.get(field))
    before, after = old.get("size"), new.get("size")
    if isinstance(before, str | int) and isinstance(after, str | int) and quantity.value(after) < quantity.value(before):
        yield "size", "because a claim cannot shrink"


def _request(was: Any, now: Any) -> Iterator[Result]:
    """Warns of a changed request: the change has no effect if profiling has begun, which only the cluster knows."""
    changed = [key for key in (*now, *was) if now.get(key) != was.get(key)]
    if changed:
        message = f"{changed[0]} was changed, and a request does not change once profiling has begun; make a request with another name"
        yield results.warning("DYN406", message, path=("spec", changed[0]))


def _both(was: Any, now: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yields the services that are in both specs, each with its name and both of its specs."""
    before, after = _fields(was.get("services")), _fields(now.get("services"))
    return ((name, _fields(before[name]), _fields(after[name])) for name in after if name in before)


def _fields(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _shown(value: Any) -> str:
    return repr(value) if value else "unset"


_ENGINE = partial(_keeps, _Fixed("DYN400", "backendFramework", "the engine is immutable"))
_TYPE = partial(_keeps, _Fixed("DYN404", "modelType", "what was loaded for the old type stays loaded", "base"))
_BASE = partial(_keeps, _Fixed("DYN405", "baseModelName", "endpoints are found by it"))
_RULES: dict[str, tuple[_Rule, ...]] = {
    "DynamoGraphDeployment": (_ENGINE, _service_nodes, _services, _replicas, _claims),
    "DynamoComponentDeployment": (_ENGINE, _component_nodes),
    "DynamoModel": (_TYPE, _BASE),
    "DynamoGraphDeploymentRequest": (_request,),
}
