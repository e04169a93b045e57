"""Every Dynamo resource among the items, turned into the native resources it stands for.

Not its business: text, files and streams. `expand` is a function of its arguments: no clock, no environment, no network, and it never
changes what it was given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from krm_fn import graph, ownership, resolve, results, surroundings, validation
from krm_fn.api import check
from krm_fn.config import DYNAMO_GROUP, Config
from krm_fn.kube.types import Resource
from krm_fn.ownership import Generated, Owner
from krm_fn.results import Path, Result
from krm_fn.surroundings import Surroundings

API_VERSION = f"{DYNAMO_GROUP}/v1alpha1"
GRAPH = "DynamoGraphDeployment"
_RESOLVERS = {GRAPH: resolve.graph, "DynamoComponentDeployment": resolve.component}
_OTHERS = {"DynamoGraphDeploymentRequest": "is not expanded"}
_UNTOUCHED = ("DynamoComponentDeployment", "DynamoModel", "DynamoGraphDeploymentScalingAdapter", "DynamoWorkerMetadata")


class Expansion(NamedTuple):
    """The items as they should leave, and what there is to say. With an error among the results the items are not fit for use."""

    resources: list[Resource]
    results: list[Result]


class _Rendered(NamedTuple):
    """One graph: what became of it and what it stands for."""

    kept: list[Resource]
    generated: list[Generated]


def expand(resources: Sequence[Resource], config: Config) -> Expansion:
    """Every Dynamo resource among `resources`, turned into the native resources it stands for.

    Items that are not changed come back as the same objects. Never raises for what a user wrote; a graph with an error does not
    keep the others from being judged.
    """
    around, found = surroundings.read(resources, config)
    kept: list[Resource] = []
    generated: list[Generated] = []
    present: set[Owner] = set()
    for resource in resources:
        address = results.ref(resource)
        if address.api_version.partition("/")[0] != DYNAMO_GROUP:
            kept.append(resource)
            continue
        present.add((address.kind, address.name, surroundings.namespace(resource, config)))
        rendered = _Rendered([resource], [])
        if address.api_version == API_VERSION and address.kind in _RESOLVERS and not ownership.owners(resource):
            rendered = _expanded(resource, config, around, found)
        else:
            found.extend(_other(address))
        kept.extend(rendered.kept)
        generated.extend(rendered.generated)
    placed, more = ownership.place(kept, generated, present)
    return Expansion(placed, sorted(_once([*found, *more]), key=results.order))


def _expanded(resource: Resource, config: Config, around: Surroundings, found: list[Result]) -> _Rendered:
    """One graph, or one component on its own. Where it has errors nothing is rendered, but what can be read is judged all the same."""
    checked = list(check.resource(resource, unknown=config.unknown_fields))
    broken = [result.path for result in checked if result.severity == "error"]
    readable = _without(check.without_nulls(resource), broken)
    plan, unreadable = _RESOLVERS[resource["kind"]](readable, config, around)
    judged = list(validation.graph(plan, readable.get("spec") or {}, around))
    mine = [*checked, *(result for result in [*unreadable, *judged] if not _follows(result.path, broken))]
    mine.extend(_namespace(resource, plan.namespace, config))
    found.extend(mine)
    if results.failed(mine):
        return _Rendered([resource], [])
    notes = graph.notes(plan, resource.get("spec"))
    placed = _in_namespace(resource, plan.namespace)
    objects = [Generated(placed, made) for made in graph.render(plan)]
    return _Rendered(list(ownership.source(placed, notes, config.source)), objects)


def _other(address: results.Ref) -> Iterator[Result]:
    """Dynamo's other kinds pass through."""
    if address.api_version != API_VERSION:
        message = f"{address.api_version} is not a version this function knows; write {API_VERSION}"
        yield results.error("DYN054", message, address, ("apiVersion",))
    elif address.kind in _OTHERS:
        yield results.warning("DYN055", f"{_OTHERS[address.kind]} by this version; it leaves as it came", address, ("kind",))
    elif address.kind not in _UNTOUCHED:
        yield results.error("DYN056", f"{address.kind} is not a kind of {API_VERSION}; write {GRAPH}", address, ("kind",))


def _namespace(resource: Resource, namespace: str, config: Config) -> Iterator[Result]:
    """Pods carry their namespace in their environment, so it must be known now."""
    address = results.ref(resource)
    if not address.namespace and not config.namespace:
        message = (
            f"is not set and counts as {namespace}; set it here, in the layer that holds the function, or as namespace in the configuration"
        )
        yield results.warning("DYN057", message, address, ("metadata", "namespace"))


def _in_namespace(resource: Resource, namespace: str) -> Resource:
    """The graph where its workloads are."""
    if results.ref(resource).namespace:
        return resource
    return {**resource, "metadata": {**resource["metadata"], "namespace": namespace}}


def _without(value: Any, broken: list[Path]) -> Any:
    """A copy without the fields at these paths; entries of lists become empty, so that the others keep their places."""
    here = [path for path in broken if path]
    if not here or not isinstance(value, dict | list):
        return value
    gone = {path[0] for path in here if len(path) == 1}
    if isinstance(value, list):
        return [{} if place in gone else _without(entry, _below(here, place)) for place, entry in enumerate(value)]
    return {key: _without(entry, _below(here, key)) for key, entry in value.items() if key not in gone}


def _below(paths: list[Path], step: str | int) -> list[Path]:
    return [path[1:] for path in paths if path[0] == step]


def _follows(path: Path, broken: list[Path]) -> bool:
    """Whether a finding only repeats, higher up or further down, that a field was unreadable."""
    return any(path[: len(other)] == other or other[: len(path)] == path for other in broken)


def _once(found: list[Result]) -> list[Result]:
    """Findings without repetition: several services can trip over one field of the graph."""
    return list({(result.code, result.message, result.ref, result.path): result for result in found}.values())
