"""PodCliqueSets: a clique's labels, annotations and pod spec replace its pods, one at a time, each deleted before it is made again.

Follows Grove: `computeGenerationHash`, `ComputePCLQPodTemplateHash`, and the defaults of `admission/pcs/defaulting`. Cliques and scaling
groups are replaced side by side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.kube import labels, values
from krm_fn.provenance import object_changes
from krm_fn.records import NamedTuple
from krm_fn.review.forecast import capacity, kind_rules, stored_templates
from krm_fn.review.forecast.kind_rules import KindForecast, _clique_updates
from krm_fn.review.forecast.rollout import Rollout, Selector, Steps

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from krm_fn.kube.types import Resource
    from krm_fn.provenance.object_changes import ObjectChange
    from krm_fn.results import Path, Result
    from krm_fn.review.forecast.forecast_types import Service
    from krm_fn.review.forecast.kind_rules import ClusterState

GROUP = "grove.io"
_CLIQUE, _INDEX = "grove.io/podclique", "grove.io/podcliquescalinggroup-replica-index"  # labels of pods
_TEMPLATE: Path = ("spec", "template")
_CLIQUES: Path = (*_TEMPLATE, "cliques")
_GROUPS: Path = (*_TEMPLATE, "podCliqueScalingGroups")


class _Unit(NamedTuple):
    """The unit that Grove replaces at once: a pod of a single clique, or a replica of a scaling group with all its cliques.

    `cliques` are the indexes of its cliques in the set. `copies` is the number of units.
    """

    name: str
    cliques: tuple[int, ...]
    copies: int


def forecast(change: ObjectChange, _: ClusterState) -> KindForecast:
    """A PodCliqueSet. If the change is refused, the set must be replaced, and all its pods restart."""
    namespace = change.key.namespace
    services = tuple(dict.fromkeys(_services(change.new or change.old or {}, namespace)))
    both = kind_rules.differing(change)
    if both is None:
        return KindForecast(kind_rules.simple(change), services, rollouts=tuple(_rollouts(change, frozenset())))
    if refused := tuple(dict.fromkeys(_clique_updates.refused(*map(_template, both)))):
        return KindForecast("refused", services, services, refused, tuple(_rollouts(change, None)), (_refusal(change, refused[0]),))
    changed, counts = _changed(*both), tuple(_counts(change))
    causes = tuple(path for paths in changed.values() for path in paths)
    waits = values.mapping(kind_rules.spec(both[1]).get("updateStrategy")).get("type") == "OnDelete"
    if waits or not changed:
        return KindForecast("updated", services, (), causes, tuple(_rollouts(change, frozenset())), counts)
    replaced = frozenset(changed)
    touched = {index for unit in _units(both[1]) if replaced.intersection(unit.cliques) for index in unit.cliques}
    restarting = tuple(dict.fromkeys(_services(both[1], namespace, touched)))
    return KindForecast("restarts", services, restarting, causes, tuple(_rollouts(change, replaced)), counts)


def service_at(resource: Resource, path: Path, namespace: str) -> Service | None:
    """The service whose pods a field of a set is about: of a clique, or of the first clique of a scaling group. None for other fields."""
    cliques, index = _cliques(resource), path[3] if len(path) > 3 else None
    groups = values.objects(_template(resource).get("podCliqueScalingGroups"))
    if path[:3] == _CLIQUES and isinstance(index, int) and index < len(cliques):
        return kind_rules.service(cliques[index], namespace)
    if path[:3] == _GROUPS and isinstance(index, int) and index < len(groups):
        names = groups[index].get("cliqueNames")
        first = [clique for clique in cliques if isinstance(names, list) and names and clique.get("name") == names[0]]
        return kind_rules.service(first[0], namespace) if first else None
    return None


def _refusal(change: ObjectChange, field: Path) -> Result:
    message = f"Grove refuses a change of {results.field(field)}; delete the PodCliqueSet and apply it again, which stops all its pods"
    return results.error("DYN531", message, results.ref(change.new or {}), field)


def _template(resource: Resource | None) -> dict[str, Any]:
    return values.mapping(kind_rules.spec(resource).get("template"))


def _cliques(resource: Resource | None) -> list[dict[str, Any]]:
    return values.objects(_template(resource).get("cliques"))


def _changed(old: Resource, new: Resource) -> dict[int, tuple[Path, ...]]:
    """The changed fields of each clique that is replaced, by its index in the new set.

    The priority class of the set takes the place of that of every clique.
    """
    before = {f"{clique.get('name')}": clique for clique in _cliques(old)}
    changes = {}
    for index, clique in enumerate(_cliques(new)):
        was, now = _pods(before.get(f"{clique.get('name')}", {}), old), _pods(clique, new)
        paths = tuple(_in_clique(path, index) for path in object_changes.of_parts(was, now))
        if paths:
            changes[index] = paths
    return changes


def _pods(clique: Mapping[str, Any], resource: Resource) -> Any:
    """The pod template of a clique in the form that Grove hashes."""
    metadata = {name: clique[name] for name in ("labels", "annotations") if clique.get(name)}
    pod = {**_pod(clique), "priorityClassName": _template(resource).get("priorityClassName")}
    return stored_templates.clique({"metadata": metadata, "spec": pod})


def _pod(clique: Mapping[str, Any]) -> dict[str, Any]:
    return values.mapping(clique.get("spec"), "podSpec")


def _in_clique(path: Path, index: int) -> Path:
    """The path in the set of a path in the pod template of one clique."""
    if path == ("spec", "priorityClassName"):
        return (*_TEMPLATE, "priorityClassName")
    return (*_CLIQUES, index, *(path[1:] if path[0] == "metadata" else ("spec", "podSpec", *path[1:])))


def _units(resource: Resource | None) -> Iterator[_Unit]:
    """The units of one replica of a set."""
    cliques = _cliques(resource)
    indexes = {f"{clique.get('name')}": index for index, clique in enumerate(cliques)}
    grouped: set[int] = set()
    for group in values.objects(_template(resource).get("podCliqueScalingGroups")):
        names = group.get("cliqueNames")
        members = tuple(indexes[f"{name}"] for name in names if f"{name}" in indexes) if isinstance(names, list) else ()
        grouped.update(members)
        yield _Unit(f"{group.get('name')}", members, kind_rules.number(group.get("replicas"), 1))
    for index, clique in enumerate(cliques):
        if index not in grouped:
            yield _Unit(f"{clique.get('name')}", (index,), _copies(clique))


def _copies(clique: Mapping[str, Any]) -> int:
    """The number of pods of a clique; 0 means 1 (defaultPodCliqueTemplateSpecs)."""
    return kind_rules.number(values.mapping(clique.get("spec")).get("replicas"), 1) or 1


def _rollouts(change: ObjectChange, replaced: frozenset[int] | None) -> Iterator[Rollout]:
    """One rollout for each unit. `replaced` are the indexes of changed cliques of the new set; None replaces all units at once."""
    before = {unit.name: unit for unit in _units(change.old)}
    after = {unit.name: unit for unit in _units(change.new)}
    sets = kind_rules.number(kind_rules.spec(change.new or change.old).get("replicas"), 1)
    for name in dict.fromkeys((*after, *before)):
        was, now = before.get(name), after.get(name)
        old, new = (_size(resource, unit) for resource, unit in ((change.old, was), (change.new, now)))
        counts = [min(sets * unit.copies, kind_rules.MOST) if unit else 0 for unit in (was, now)]
        replaces = replaced is None or bool(now and replaced.intersection(now.cliques))
        steps = Steps(0, counts[1], at_once=True) if replaced is None else Steps(0, 1)
        entry = Rollout(
            counts[0], counts[1], old or new, new or old, steps, replaces and bool(was), change.new is None, _selector(change, was)
        )
        yield entry._replace(service=_service(change, was, now))


def _service(change: ObjectChange, was: _Unit | None, now: _Unit | None) -> Service | None:
    """The service of a unit: that of its first clique."""
    resource, unit = (change.old, was) if now is None else (change.new, now)
    first = _cliques(resource)[unit.cliques[0]] if unit and unit.cliques else {}
    return kind_rules.service(first, change.key.namespace)


def _size(resource: Resource | None, unit: _Unit | None) -> tuple[capacity.Demand, ...]:
    """The demands of the pods of one unit."""
    if unit is None:
        return ()
    cliques = [_cliques(resource)[index] for index in unit.cliques]
    grouped = _is_group(resource, unit)
    return tuple(capacity.demand(_pod(clique)) for clique in cliques for _ in range(_copies(clique) if grouped else 1))


def _selector(change: ObjectChange, unit: _Unit | None) -> Selector | None:
    """Finds the pods of the first replica of the set; a render writes one."""
    if unit is None:
        return None
    name = f"{change.key.name}-0-{unit.name}"
    if _is_group(change.old, unit):
        return Selector(change.key.namespace, ((labels.GROVE_GROUP, name),), _INDEX)
    return Selector(change.key.namespace, ((_CLIQUE, name),))


def _is_group(resource: Resource | None, unit: _Unit) -> bool:
    """True for a scaling group, False for a single clique."""
    return any(group.get("name") == unit.name for group in values.objects(_template(resource).get("podCliqueScalingGroups")))


def _services(resource: Resource, namespace: str, indexes: set[int] | None = None) -> Iterator[Service]:
    """The services of the cliques with these indexes, or of all cliques."""
    for index, clique in enumerate(_cliques(resource)):
        owner = kind_rules.service(clique, namespace)
        if owner and (indexes is None or index in indexes):
            yield owner


def _counts(change: ObjectChange) -> Iterator[Result]:
    """Warns of changed numbers: Grove reads them only when it makes a clique or a scaling group."""
    before = {unit.name: unit.copies for unit in _units(change.old)}
    changed = [unit for unit in _units(change.new) if before.get(unit.name, unit.copies) != unit.copies]
    if changed:
        shown = ", ".join(f"{unit.name} from {before[unit.name]} to {unit.copies}" for unit in changed)
        message = f"Grove does not apply new numbers of replicas to what already runs ({shown})"
        yield results.warning(
            "DYN534", f"{message}; run krm-fn sync, which does, or scale them by hand", results.ref(change.new or {}), _TEMPLATE
        )
