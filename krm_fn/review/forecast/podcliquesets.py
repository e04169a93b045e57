"""PodCliqueSets: a changed label, annotation or pod spec of a clique replaces its pods one at a time; each is deleted before its successor.

Follows Grove: `computeGenerationHash`, `ComputePCLQPodTemplateHash`, and the defaults of `admission/pcs/defaulting`. Cliques and scaling
groups are replaced side by side. The refused changes are those of `operator/internal/webhook/admission/pcs/validation/podcliqueset.go`
(validatePodCliqueSetTemplateSpecUpdate).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import stored_templates, values
from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels
from krm_fn.render.schema import object_changes
from krm_fn.render.schema.object_changes import ObjectChange
from krm_fn.review.forecast import gpu_capacity, object_rules
from krm_fn.review.forecast.gpu_capacity import Demand
from krm_fn.review.forecast.object_rules import ClusterState, KindForecast
from krm_fn.review.forecast.rollouts import Rollout, RolloutPods, Service, Steps

_CLIQUE, _INDEX = "grove.io/podclique", "grove.io/podcliquescalinggroup-replica-index"  # labels of pods
_TEMPLATE: Path = ("spec", "template")
_CLIQUES: Path = (*_TEMPLATE, "cliques")
_GROUPS: Path = (*_TEMPLATE, "podCliqueScalingGroups")
_ORDERED = ("CliqueStartupTypeInOrder", "CliqueStartupTypeExplicit")
_ANY_ORDER = "CliqueStartupTypeAnyOrder"
_OF_SETS = ("resourceClaimTemplates", "resourceSharing", "topologyConstraint")
_OF_CLIQUES = ("roleName", "startsAfter")
_OF_GROUPS = ("cliqueNames", "resourceSharing", "topologyConstraint")


class _Unit(NamedTuple):
    """The unit that Grove replaces at once: a pod of a single clique, or a replica of a scaling group with all its cliques.

    `cliques` are the indexes of its cliques in the set. `copies` is the number of units.
    """

    name: str
    cliques: tuple[int, ...]
    copies: int


def forecast(change: ObjectChange, _: ClusterState) -> KindForecast:
    """Forecasts the change of a PodCliqueSet. If the change is refused, the set must be replaced, and all its pods restart."""
    namespace = change.key.namespace
    services = tuple(dict.fromkeys(_services(change.new or change.old or {}, namespace)))
    states = object_rules.differing_states(change)
    if states is None:
        return KindForecast(object_rules.simple_effect(change), services, rollouts=tuple(_rollouts(change, frozenset())))
    if refused := tuple(dict.fromkeys(_refused_fields(*map(_template, states)))):
        return KindForecast("refused", services, services, refused, tuple(_rollouts(change, None)), (_refusal(change, refused[0]),))
    changed, count_warnings = _changed_cliques(*states), tuple(_changed_counts(change))
    causes = tuple(path for paths in changed.values() for path in paths)
    waits = values.mapping(object_rules.spec(states[1]).get("updateStrategy")).get("type") == "OnDelete"
    if waits or not changed:
        return KindForecast("updated", services, (), causes, tuple(_rollouts(change, frozenset())), count_warnings)
    replaced = frozenset(changed)
    empty = {unit.name for unit in _units(states[0]) if not unit.copies}
    units = [unit for unit in _units(states[1]) if replaced.intersection(unit.cliques) and unit.name not in empty]
    restarting = tuple(dict.fromkeys(_services(states[1], namespace, {index for unit in units for index in unit.cliques})))
    return KindForecast("restarts", services, restarting, causes, tuple(_rollouts(change, replaced)), count_warnings)


def service_at(resource: Resource, path: Path, namespace: str) -> Service | None:
    """Returns the service whose pods a field of a set is about: of a clique, or of the first clique of a scaling group.

    None for other fields.
    """
    cliques, index = _cliques(resource), path[3] if len(path) > 3 else None
    groups = values.objects(_template(resource).get("podCliqueScalingGroups"))
    if path[:3] == _CLIQUES and isinstance(index, int) and index < len(cliques):
        return object_rules.service_of_labels(cliques[index], namespace)
    if path[:3] == _GROUPS and isinstance(index, int) and index < len(groups):
        names = groups[index].get("cliqueNames")
        first = [clique for clique in cliques if isinstance(names, list) and names and clique.get("name") == names[0]]
        return object_rules.service_of_labels(first[0], namespace) if first else None
    return None


def scalable_parts(resource: Resource, namespace: str) -> Iterator[tuple[Service | None, dict[str, Any]]]:
    """Yields the parts of a set that have a number of replicas, each with its service: scaling groups, and cliques without a group."""
    cliques = _cliques(resource)
    groups = {f"{group.get('name')}": group for group in values.objects(_template(resource).get("podCliqueScalingGroups"))}
    for unit in _units(resource):
        members = [cliques[index] for index in unit.cliques]
        if members and _is_group(resource, unit):
            yield object_rules.service_of_labels(members[0], namespace), groups[unit.name]
        elif members:
            yield object_rules.service_of_labels(members[0], namespace), values.mapping(members[0].get("spec"))


def _refusal(change: ObjectChange, field: Path) -> Result:
    message = f"Grove refuses a change of {results.field(field)}; delete the PodCliqueSet and apply it again, which stops all its pods"
    return results.error(codes.CHANGE_REFUSED_BY_GROVE, message, results.ref(change.new or {}), field)


def _template(resource: Resource | None) -> dict[str, Any]:
    return values.mapping(object_rules.spec(resource).get("template"))


def _cliques(resource: Resource | None) -> list[dict[str, Any]]:
    return values.objects(_template(resource).get("cliques"))


def _changed_cliques(old: Resource, new: Resource) -> dict[int, tuple[Path, ...]]:
    """Returns the changed fields of each clique that is replaced, by its index in the new set.

    The priority class of the set replaces that of each clique.
    """
    old_cliques = {f"{clique.get('name')}": clique for clique in _cliques(old)}
    changes = {}
    for index, clique in enumerate(_cliques(new)):
        old_pods, new_pods = _pods(old_cliques.get(f"{clique.get('name')}", {}), old), _pods(clique, new)
        paths = tuple(_in_clique(path, index) for path in object_changes.of_parts(old_pods, new_pods))
        if paths:
            changes[index] = paths
    return changes


def _pods(clique: Mapping[str, Any], resource: Resource) -> Any:
    """Returns the pod template of a clique in the form that Grove hashes."""
    metadata = {name: clique[name] for name in ("labels", "annotations") if clique.get(name)}
    pod = {**_pod(clique), "priorityClassName": _template(resource).get("priorityClassName")}
    return stored_templates.clique({"metadata": metadata, "spec": pod})


def _pod(clique: Mapping[str, Any]) -> dict[str, Any]:
    return values.mapping(clique.get("spec"), "podSpec")


def _in_clique(path: Path, index: int) -> Path:
    """Returns the path in the set of a path in the pod template of one clique."""
    if path == ("spec", "priorityClassName"):
        return (*_TEMPLATE, "priorityClassName")
    return (*_CLIQUES, index, *(path[1:] if path[0] == "metadata" else ("spec", "podSpec", *path[1:])))


def _units(resource: Resource | None) -> Iterator[_Unit]:
    """Yields the units of one replica of a set."""
    cliques = _cliques(resource)
    indexes = {f"{clique.get('name')}": index for index, clique in enumerate(cliques)}
    grouped: set[int] = set()
    for group in values.objects(_template(resource).get("podCliqueScalingGroups")):
        names = group.get("cliqueNames")
        members = tuple(indexes[f"{name}"] for name in names if f"{name}" in indexes) if isinstance(names, list) else ()
        grouped.update(members)
        yield _Unit(f"{group.get('name')}", members, object_rules.replica_count(group.get("replicas"), 1))
    for index, clique in enumerate(cliques):
        if index not in grouped:
            yield _Unit(f"{clique.get('name')}", (index,), _copies(clique))


def _copies(clique: Mapping[str, Any]) -> int:
    """Returns the number of pods of a clique; 0 means 1 (defaultPodCliqueTemplateSpecs)."""
    return object_rules.replica_count(values.mapping(clique.get("spec")).get("replicas"), 1) or 1


def _rollouts(change: ObjectChange, replaced: frozenset[int] | None) -> Iterator[Rollout]:
    """Yields one rollout for each unit. `replaced` are the indexes of changed cliques of the new set; None replaces all units at once."""
    old_units = {unit.name: unit for unit in _units(change.old)}
    new_units = {unit.name: unit for unit in _units(change.new)}
    sets = object_rules.replica_count(object_rules.spec(change.new or change.old).get("replicas"), 1)
    for name in dict.fromkeys((*new_units, *old_units)):
        old, new = old_units.get(name), new_units.get(name)
        old_demands, new_demands = _demands(change.old, old), _demands(change.new, new)
        old_count, new_count = (min(sets * unit.copies, object_rules.MOST) if unit else 0 for unit in (old, new))
        replaces = replaced is None or bool(new and replaced.intersection(new.cliques))
        yield Rollout(
            old_count,
            new_count,
            old_demands or new_demands,
            new_demands or old_demands,
            Steps(0, new_count, at_once=True) if replaced is None else Steps(0, 1),
            replaces=replaces and bool(old),
            pruned=change.new is None,
            selector=_selector(change, old),
            service=_service(change, old, new),
        )


def _service(change: ObjectChange, old: _Unit | None, new: _Unit | None) -> Service | None:
    """Returns the service of a unit: the service of its first clique."""
    resource, unit = (change.old, old) if new is None else (change.new, new)
    first = _cliques(resource)[unit.cliques[0]] if unit and unit.cliques else {}
    return object_rules.service_of_labels(first, change.key.namespace)


def _demands(resource: Resource | None, unit: _Unit | None) -> tuple[Demand, ...]:
    """Returns the demands of the pods of one unit."""
    if unit is None:
        return ()
    cliques = [_cliques(resource)[index] for index in unit.cliques]
    grouped = _is_group(resource, unit)
    return tuple(gpu_capacity.pod_demand(_pod(clique)) for clique in cliques for _ in range(_copies(clique) if grouped else 1))


def _selector(change: ObjectChange, unit: _Unit | None) -> RolloutPods | None:
    """Finds the pods of the first replica of the set; a render writes one."""
    if unit is None:
        return None
    name = f"{change.key.name}-0-{unit.name}"
    if _is_group(change.old, unit):
        return RolloutPods(change.key.namespace, ((labels.GROVE_GROUP, name),), _INDEX)
    return RolloutPods(change.key.namespace, ((_CLIQUE, name),))


def _is_group(resource: Resource | None, unit: _Unit) -> bool:
    """True for a scaling group, False for a single clique."""
    return any(group.get("name") == unit.name for group in values.objects(_template(resource).get("podCliqueScalingGroups")))


def _services(resource: Resource, namespace: str, indexes: set[int] | None = None) -> Iterator[Service]:
    """Yields the services of the cliques with these indexes, or of all cliques."""
    for index, clique in enumerate(_cliques(resource)):
        service = object_rules.service_of_labels(clique, namespace)
        if service and (indexes is None or index in indexes):
            yield service


def _changed_counts(change: ObjectChange) -> Iterator[Result]:
    """Warns of changed numbers: Grove reads them only when it creates a clique or a scaling group."""
    old_counts = {unit.name: unit.copies for unit in _units(change.old)}
    changed = [unit for unit in _units(change.new) if old_counts.get(unit.name, unit.copies) != unit.copies]
    if changed:
        shown = ", ".join(f"{unit.name} from {old_counts[unit.name]} to {unit.copies}" for unit in changed)
        message = f"Grove ignores new replica counts of running cliques and scaling groups ({shown})"
        yield results.warning(
            codes.REPLICAS_IGNORED_BY_GROVE,
            f"{message}; run krm-fn sync, which scales them, or scale them yourself",
            results.ref(change.new or {}),
            _TEMPLATE,
        )


def _refused_fields(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Path]:
    """Yields the fields whose change Grove's admission refuses."""
    if (old.get("cliqueStartupType") or _ANY_ORDER) != (new.get("cliqueStartupType") or _ANY_ORDER):
        yield (*_TEMPLATE, "cliqueStartupType")
    yield from ((*_TEMPLATE, name) for name in _OF_SETS if (old.get(name) or None) != (new.get(name) or None))
    ordered = new.get("cliqueStartupType") in _ORDERED
    old_cliques, new_cliques = (_by_name(template.get("cliques")) for template in (old, new))
    if old_cliques.keys() != new_cliques.keys() or (ordered and list(old_cliques) != list(new_cliques)):
        yield _CLIQUES
    for name in [name for name in new_cliques if name in old_cliques]:
        at = (*_CLIQUES, list(new_cliques).index(name))
        yield from ((*at, *path) for path in _refused_in_clique(old_cliques[name], new_cliques[name]))
    old_groups, new_groups = (_by_name(template.get("podCliqueScalingGroups")) for template in (old, new))
    if old_groups.keys() != new_groups.keys():
        yield _GROUPS
    for name in [name for name in new_groups if name in old_groups]:
        old_group, new_group, at = old_groups[name], new_groups[name], (*_GROUPS, list(new_groups).index(name))
        yield from ((*at, field) for field in _OF_GROUPS if (old_group.get(field) or None) != (new_group.get(field) or None))
        if _min_available(old_group) != _min_available(new_group):
            yield (*at, "minAvailable")


def _refused_in_clique(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Path]:
    old_spec, new_spec = (values.mapping(clique.get("spec")) for clique in (old, new))
    yield from (("spec", name) for name in _OF_CLIQUES if (old_spec.get(name) or None) != (new_spec.get(name) or None))
    if _clique_min_available(old_spec) != _clique_min_available(new_spec):
        yield ("spec", "minAvailable")
    if _scheduler(old_spec) != _scheduler(new_spec):
        yield ("spec", "podSpec", "schedulerName")
    yield from ((name,) for name in ("resourceSharing", "topologyConstraint") if (old.get(name) or None) != (new.get(name) or None))


def _min_available(group: Mapping[str, Any]) -> int:
    return object_rules.replica_count(group.get("minAvailable"), 1)


def _clique_min_available(spec: Mapping[str, Any]) -> int:
    """`minAvailable`, which is the number of replicas if it is missing (defaultPodCliqueTemplateSpecs)."""
    return object_rules.replica_count(spec.get("minAvailable"), object_rules.replica_count(spec.get("replicas"), 0))


def _scheduler(spec: Mapping[str, Any]) -> Any:
    return values.mapping(spec.get("podSpec")).get("schedulerName") or ""


def _by_name(value: Any) -> dict[str, dict[str, Any]]:
    return {f"{entry.get('name')}": entry for entry in values.objects(value)}
