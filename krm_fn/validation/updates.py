"""What a change may not do: each difference from an earlier state that a cluster would refuse.

Not its business: what is wrong with the new state on its own (`krm_fn.validation`). Follows ValidateUpdate of the reference's
`internal/webhook/validation/`; the policies in `platform/admission` say the same in the cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from krm_fn import results
from krm_fn.config import DYNAMO_GROUP
from krm_fn.kube import identity, quantity
from krm_fn.results import Result
from krm_fn.schema import check as schema

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.results import Path

SERVICES = "DYN402"
"""The code of services that come or go: the only rule that a cluster may do without."""

_FIXED_IN_CLAIMS = ("storageClass", "volumeAccessMode")
_Rule = Callable[[Any, Any], Iterator[Result]]
"""Findings, without address, about the change from one spec to another."""


class _Fixed(NamedTuple):
    """A field of the spec that stays what it was, and why."""

    code: str
    field: str
    why: str
    default: str = ""


def check(old: Iterable[Resource], new: Iterable[Resource], home: str) -> Iterator[Result]:
    """Every change from the old to the new form of a Dynamo resource that a cluster would refuse; what comes or goes is none.

    Fields of any shape will do. `home` is the namespace of resources that carry none.
    """
    before = _known(old, home)
    for key, resource in _known(new, home).items():
        if key in before:
            was, now = (_fields(schema.without_nulls(each).get("spec")) for each in (before[key], resource))
            for rule in _RULES.get(key.kind, ()):
                yield from (result._replace(ref=results.ref(resource)) for result in rule(was, now))


def compared(old: Iterable[Resource], new: Iterable[Resource], home: str) -> int:
    """How many Dynamo resources are in both states."""
    return len(_known(old, home).keys() & _known(new, home).keys())


def _known(state: Iterable[Resource], home: str) -> dict[identity.ObjectKey, Resource]:
    named = {identity.key(resource, home): resource for resource in state}
    return {key: resource for key, resource in named.items() if key.group == DYNAMO_GROUP}


def _keeps(fixed: _Fixed, was: Any, now: Any) -> Iterator[Result]:
    before, after = (spec.get(fixed.field) or fixed.default for spec in (was, now))
    if before != after:
        message = f"{_shown(before)} cannot become {_shown(after)}, {fixed.why}; set it back, or make a resource of another name"
        yield results.error(fixed.code, message, path=("spec", fixed.field), current=after or None, proposed=before or None)


def _component_nodes(was: Any, now: Any) -> Iterator[Result]:
    yield from _nodes(was, now, ("spec",), "make a component of another name")


def _service_nodes(was: Any, now: Any) -> Iterator[Result]:
    for name, before, after in _both(was, now):
        yield from _nodes(before, after, ("spec", "services", name), "put a service of another name in its place")


def _nodes(was: Any, now: Any, at: Path, instead: str) -> Iterator[Result]:
    """One node or several: another kind of workload carries it. 2 nodes may become 4."""
    before, after = _count(was), _count(now)
    if (before > 1) != (after > 1):
        message = f"{before} cannot become {after}, what runs on one node does not change to several or back; set it back, or {instead}"
        yield results.error("DYN401", message, path=(*at, "multinode", "nodeCount"), current=after, proposed=before)


def _count(component: Any) -> int:
    """How many nodes: one, and where several are asked for without a number, the schema's default."""
    several = component.get("multinode")
    count = several.get("nodeCount", 2) if isinstance(several, dict) else 1
    return count if isinstance(count, int) else 1


def _services(was: Any, now: Any) -> Iterator[Result]:
    """Which services there are. In Git they may come and go; a cluster with an operator may forbid it."""
    before, after = _fields(was.get("services")), _fields(now.get("services"))
    for name in sorted(after.keys() - before.keys()):
        message = "is new, and a graph keeps the services that it began with; take it out, or make a graph of another name"
        yield results.error(SERVICES, message, path=("spec", "services", name))
    for name in sorted(before.keys() - after.keys()):
        message = f"{name} is gone, and a graph keeps the services that it began with; put it back, or make a graph of another name"
        yield results.error(SERVICES, message, path=("spec", "services"))


def _replicas(was: Any, now: Any) -> Iterator[Result]:
    """While a scaling adapter is enabled, nobody else changes the number; absent means 1."""
    for name, before, after in _both(was, now):
        count, wanted = before.get("replicas", 1), after.get("replicas", 1)
        if _fields(after.get("scalingAdapter")).get("enabled") is True and count != wanted:
            message = (
                f"{count} cannot become {wanted}, a scaling adapter owns it; write {count} and scale the "
                "DynamoGraphDeploymentScalingAdapter, or set scalingAdapter.enabled: false in the same change"
            )
            yield results.error("DYN403", message, path=("spec", "services", name, "replicas"), current=wanted, proposed=count)


def _claims(was: Any, now: Any) -> Iterator[Result]:
    """A PersistentVolumeClaim that is there keeps its class and its modes, and only grows."""
    before = {name: claim for _, name, claim in _created(was)}
    for index, name, claim in _created(now):
        for field, why in _refused(before[name], claim) if name in before else ():
            old, new = before[name].get(field), claim.get(field)
            message = f"{_shown(old)} cannot become {_shown(new)}, {why}; set it back, or list a claim of another name"
            yield results.warning("DYN407", message, path=("spec", "pvcs", index, field), current=new, proposed=old)


def _created(spec: Any) -> Iterator[tuple[int, str, Any]]:
    """The claims that a graph makes, with place and name."""
    claims = spec.get("pvcs")
    for index, claim in enumerate(claims if isinstance(claims, list) else ()):
        fields = _fields(claim)
        if fields.get("create") is True and isinstance(fields.get("name"), str):
            yield index, fields["name"], fields


def _refused(old: Any, new: Any) -> Iterator[tuple[str, str]]:
    """The fields in which one claim cannot become the other, and why."""
    yield from ((field, "which a claim keeps") for field in _FIXED_IN_CLAIMS if old.get(field) != new.get(field))
    before, after = old.get("size"), new.get("size")
    if isinstance(before, str | int) and isinstance(after, str | int) and quantity.value(after) < quantity.value(before):
        yield "size", "a claim does not shrink"


def _request(was: Any, now: Any) -> Iterator[Result]:
    """The reference admits the change, and then never looks at the request again."""
    changed = [key for key in (*now, *was) if now.get(key) != was.get(key)]
    if changed:
        message = "differs from before, and nobody looks at a request again once profiling has begun; make a request of another name"
        yield results.warning("DYN406", message, path=("spec", changed[0]))


def _both(was: Any, now: Any) -> Iterator[tuple[str, Any, Any]]:
    """The services that are in both."""
    before, after = _fields(was.get("services")), _fields(now.get("services"))
    return ((name, _fields(before[name]), _fields(after[name])) for name in after if name in before)


def _fields(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _shown(value: Any) -> str:
    return repr(value) if value else "nothing"


_ENGINE = partial(_keeps, _Fixed("DYN400", "backendFramework", "an engine is for life"))
_TYPE = partial(_keeps, _Fixed("DYN404", "modelType", "a model keeps its type", "base"))
_BASE = partial(_keeps, _Fixed("DYN405", "baseModelName", "endpoints are found by it"))
_RULES: dict[str, tuple[_Rule, ...]] = {
    "DynamoGraphDeployment": (_ENGINE, _service_nodes, _services, _replicas, _claims),
    "DynamoComponentDeployment": (_ENGINE, _component_nodes),
    "DynamoModel": (_TYPE, _BASE),
    "DynamoGraphDeploymentRequest": (_request,),
}
