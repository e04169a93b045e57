"""Separates the causes of restarts in one step: renders a part of a fleet with some of its causes only, and compares it with the old state.

A pin replaces each cause that is left out: `behaviour` pins the release, and the annotation of the origin version pins the origin. The
edits of the other causes are not applied (`krm_fn.migration.upgrade.resource_edits`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import combinations

from krm_fn.base import results
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import paths
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.migration.upgrade import origin_versions, resource_edits, upgrade_steps
from krm_fn.migration.upgrade.field_edits import CAUSES, Cause, ResourceEdits
from krm_fn.migration.upgrade.fleet_parts import FleetPart
from krm_fn.render import dynamo_api, dynamo_resources, expand, labels
from krm_fn.render.config import Config
from krm_fn.render.convert import versions
from krm_fn.render.resolve import release_choice
from krm_fn.render.schema import object_changes
from krm_fn.review import forecast
from krm_fn.review.forecast.rollouts import Service

CauseSet = tuple[Cause, ...]
"""Some of the causes, in the order of `CAUSES`."""
_OPTIONAL: tuple[Cause, ...] = ("origin", "api_version")
Objects = Mapping[ObjectKey, Resource]
Restarting = frozenset[Service]
"""The services whose pods are replaced."""


class MovedPart(NamedTuple):
    """A part of a fleet before and after a step.

    `edits` are those of each moved resource, by its number among the resources; resources keep their numbers.
    """

    old: FleetPart
    new: FleetPart
    edits: Mapping[int, ResourceEdits]


class SteppedGraph(NamedTuple):
    """The objects of a graph before a step, all its services, and those that the whole step restarts."""

    objects: Objects
    services: Restarting
    restarting: Restarting


class GraphCauses(NamedTuple):
    """The causes that a step has for one graph, and the services that each set of them restarts.

    A set whose render has errors, or whose result follows from smaller sets, is missing. `optional` has the services that a further move
    of the origin version or of the API version would restart in addition; None if that does not render.
    """

    present: CauseSet
    restarting: Mapping[CauseSet, Restarting]
    optional: Mapping[Cause, Restarting | None]

    def restarts(self, causes: CauseSet, service: Service) -> bool | None:
        """Returns true if a set of causes restarts a service; None if the graph does not render with it."""
        return service in self.restarting[causes] if causes in self.restarting else None

    def smallest(self, service: Service) -> tuple[CauseSet, ...]:
        """Returns the smallest sets of causes that restart a service: no part of such a set restarts it."""
        sets = [causes for causes, services in self.restarting.items() if service in services]
        return tuple(causes for causes in sets if not any(set(other) < set(causes) for other in sets))


def move_part(part: FleetPart, step: upgrade_steps.UpgradeStep, numbers: Collection[int]) -> MovedPart:
    """Returns a part after a step that moves the resources with these numbers."""
    edits = {number: resource_edits.edits(part.resources[number], part.config, step) for number in numbers}
    resources = tuple(
        resource_edits.apply_edits(edits[number], CAUSES) if number in edits else resource for number, resource in enumerate(part.resources)
    )
    config = resource_edits.settings_after(part.config, step) if numbers else part.config
    return MovedPart(part, part._replace(resources=resources, config=config), edits)


def find(part: MovedPart, old: Mapping[int, SteppedGraph]) -> dict[int, GraphCauses]:
    """Returns the causes of each graph by its number. `old` has the graphs that render in both states."""
    present = {number: _present(part, number) for number in old}
    sets: dict[int, dict[CauseSet, Restarting]] = {number: {present[number]: old[number].restarting} for number in old}
    for size in range(1, len(CAUSES)):
        for causes in combinations(CAUSES, size):
            numbers = [number for number in old if _is_open(causes, present[number], sets[number], old[number].restarting)]
            for number, services in _restarting(part, causes, numbers, old).items():
                if services is not None:
                    sets[number][causes] = services
    optional = {cause: _optional(part, cause, old) for cause in _OPTIONAL}
    return {
        number: GraphCauses(present[number], sets[number], {cause: moves[number] for cause, moves in optional.items() if number in moves})
        for number in old
    }


def _present(part: MovedPart, number: int) -> CauseSet:
    """Returns the causes that a step has for a graph."""
    old, new, edits = part.old.resources[number], part.new.resources[number], part.edits.get(number)
    causes: set[Cause] = {edit.cause for edit in edits.fields} - {"origin"} if edits else set()
    if _release(old, part.old.config) != _release(new, part.new.config):
        causes.add("release")
    before, after = origin_versions.origin(old, part.old.config), origin_versions.origin(new, part.new.config)
    if before != after and _has_origin(part, number) and origin_versions.is_read(new, part.new.config):
        causes.add("origin")
    if old.get("apiVersion") != new.get("apiVersion"):
        causes.add("api_version")
    return tuple(cause for cause in CAUSES if cause in causes)


def _is_open(causes: CauseSet, present: CauseSet, known: Mapping[CauseSet, Restarting], full: Restarting) -> bool:
    """True for a set of causes that can be a smallest one of a restarting service, or that has one cause only."""
    if causes in known or not set(causes) <= set(present):
        return False
    explained = {service for smaller, services in known.items() if set(smaller) < set(causes) for service in services}
    return len(causes) == 1 or not full <= explained


def _restarting(part: MovedPart, causes: CauseSet, numbers: Iterable[int], old: Mapping[int, SteppedGraph]) -> dict[int, Restarting | None]:
    """Returns the services that a set of causes restarts, by the number of the graph; None for a graph that does not render."""
    resources = {number: _pin_origin(part, number, causes) for number in numbers}
    releases = {number: _release(*_side(part, number, "release" in causes)) for number in resources}
    config = part.new.config if "release" in causes else part.old.config
    restarting: dict[int, Restarting | None] = {}
    for release in dict.fromkeys(releases.values()):
        group = {number: resource for number, resource in resources.items() if releases[number] == release}
        restarting |= compare_restarts(part.new, _pinned_config(config, release), group, old)
    return restarting


def _side(part: MovedPart, number: int, is_new: bool) -> tuple[Resource, Config]:
    state = part.new if is_new else part.old
    return state.resources[number], state.config


def _pin_origin(part: MovedPart, number: int, causes: CauseSet) -> Resource:
    """Returns a resource with the edits of some causes. The origin version is that of the old state, or of the new one."""
    old, edits = part.old.resources[number], part.edits.get(number)
    edited = resource_edits.apply_edits(edits, [cause for cause in causes if cause != "origin"]) if edits else old
    resource, config = _side(part, number, "origin" in causes)
    if not _has_origin(part, number) or not origin_versions.is_read(*_side(part, number, "release" in causes)):
        return edited
    return origin_versions.with_origin(edited, origin_versions.origin(resource, config))


def _has_origin(part: MovedPart, number: int) -> bool:
    """True if a graph has an origin version of its own in one of the states. Otherwise it moves with the release."""
    return any(paths.at(resources[number], origin_versions.PATH) for resources in (part.old.resources, part.new.resources))


def compare_restarts(
    part: FleetPart, config: Config, resources: Mapping[int, Resource], old: Mapping[int, SteppedGraph]
) -> dict[int, Restarting | None]:
    """Returns the services that restart if some resources of a part replace their old state, by number; None if one does not render."""
    others = [resource for resource in part.resources if not dynamo_resources.is_expanded(resource)]
    expansion = expand.expand([*resources.values(), *others], config)
    failed = {
        (result.ref.kind, result.ref.namespace, result.ref.name)
        for result in expansion.results
        if result.severity == "error" and result.ref
    }
    by_owner = objects_by_owner(part, expansion.resources)
    restarting: dict[int, Restarting | None] = {}
    for number, resource in resources.items():
        ref = results.ref(resource)
        if (ref.kind, ref.namespace, ref.name) in failed:
            restarting[number] = None
            continue
        changes = object_changes.between_states(dict(old[number].objects), by_owner.get(part.key(resource), {}))
        restarting[number] = frozenset(forecast.restarting(changes))
    return restarting


def objects_by_owner(part: FleetPart, objects: Iterable[Resource]) -> dict[ObjectKey, dict[ObjectKey, Resource]]:
    """Returns the objects of each Dynamo resource. An object of several resources belongs to each of them."""
    by_owner: dict[ObjectKey, dict[ObjectKey, Resource]] = {}
    for resource in objects:
        key = part.key(resource)
        for owner in dynamo_resources.owner_keys(resource, key.namespace):
            by_owner.setdefault(owner, {})[key] = labels.without_tool_annotations(resource)
    return by_owner


def _optional(part: MovedPart, cause: Cause, old: Mapping[int, SteppedGraph]) -> dict[int, Restarting | None]:
    """Returns the services that a move which the step leaves out would restart in addition, by the number of the graph.

    If the step restarts all services of a graph, there are no others, and nothing is rendered.
    """
    resources: dict[int, Resource] = {}
    moves: dict[int, Restarting | None] = {}
    for number in old:
        resource = part.new.resources[number]
        changed = _with_new_origin(resource, part.new.config) if cause == "origin" else versions.to(dynamo_api.BETA1, resource)
        if changed != resource and number in part.edits:
            resources[number] = changed
    moves |= {number: frozenset() for number in resources if old[number].services <= old[number].restarting}
    resources = {number: resource for number, resource in resources.items() if number not in moves}
    releases = {number: _release(part.new.resources[number], part.new.config) for number in resources}
    for release in dict.fromkeys(releases.values()):
        group = {number: resource for number, resource in resources.items() if releases[number] == release}
        for number, services in compare_restarts(part.new, _pinned_config(part.new.config, release), group, old).items():
            moves[number] = None if services is None else services - old[number].restarting
    return moves


def _pinned_config(config: Config, release: str) -> Config:
    return config._replace(behaviour=release)  # type: ignore[arg-type]  # names of releases


def _release(resource: Resource, config: Config) -> str:
    return release_choice.release_name(resource, config)


def _with_new_origin(resource: Resource, config: Config) -> Resource:
    if not origin_versions.is_read(resource, config):
        return resource
    return origin_versions.with_origin(resource, origin_versions.lowest(resource, config))
