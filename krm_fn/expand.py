"""Every Dynamo resource among the items, turned into the native resources it stands for.

Not its business: text, files and streams. `expand` is a function of its arguments: no clock, no environment, no network, and it never
changes what it was given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from krm_fn import ownership, resolve, results, validation
from krm_fn.config import DYNAMO_GROUP, Config
from krm_fn.convert import older_forms
from krm_fn.kube.admission import fields
from krm_fn.kube.types import Resource
from krm_fn.manifests import components_inventory, graph
from krm_fn.ownership import Generated, Owner
from krm_fn.resolve import cluster
from krm_fn.resolve.cluster import ClusterFacts
from krm_fn.results import Result, Severity
from krm_fn.schema import check, readable
from krm_fn.validation import suppressed

API_VERSION = f"{DYNAMO_GROUP}/v1alpha1"
_RESOLVERS = {"DynamoGraphDeployment": resolve.graph, "DynamoComponentDeployment": resolve.component}
_REQUEST = "DynamoGraphDeploymentRequest"


class Expansion(NamedTuple):
    """The items as they should leave, and what there is to say. With an error among the results the items are not fit for use."""

    resources: list[Resource]
    results: list[Result]


class _Expanded(NamedTuple):
    """One item: what becomes of it, what it stands for, and what there is to say."""

    kept: list[Resource]
    generated: list[Generated]
    results: list[Result]


def expand(resources: Sequence[Resource], config: Config) -> Expansion:
    """Every Dynamo resource among `resources`, turned into the native resources it stands for.

    Items that are not changed come back as the same objects. Never raises for what a user wrote; a graph with an error does not
    keep the others from being judged.
    """
    around, found = cluster.read(resources, config)
    home = config.namespace or cluster.NAMESPACE
    images, unreadable = older_forms.images(resources, home)
    items = [_guarded(resource, config, around, images) for resource in resources]
    kept = [resource for item in items for resource in item.kept]
    generated = [entry for item in items for entry in item.generated]
    present = {ownership.owner(resource, cluster.namespace(resource, config)) for resource in resources if _is_dynamo(resource)}
    placed, misplaced = ownership.place(kept, generated, present, home)
    said = [*found, *unreadable, *_twins(resources, config), *(result for item in items for result in item.results), *misplaced]
    return Expansion(placed, sorted(suppressed.without(_once(said), resources), key=results.order))


def _twins(resources: Sequence[Resource], config: Config) -> Iterator[Result]:
    """Resources of one name of which one gets the other's namespace: they would make each other's objects."""
    by_owner: dict[Owner, list[Resource]] = {}
    for resource in filter(_is_dynamo, resources):
        by_owner.setdefault(ownership.owner(resource, cluster.namespace(resource, config)), []).append(resource)
    for (kind, _, namespace), twins in by_owner.items():
        for twin in twins if len(twins) > 1 else ():
            message = f"another {kind} of this name counts for namespace {namespace}; rename one, or write both their namespaces"
            yield results.error("DYN058", message, results.ref(twin), ("metadata", "name"))


def _is_dynamo(resource: Resource) -> bool:
    version = resource.get("apiVersion")
    return isinstance(version, str) and version.partition("/")[0] == DYNAMO_GROUP


def _guarded(resource: Resource, config: Config, around: ClusterFacts, images: older_forms.Images) -> _Expanded:
    """Expands one item; an internal error about it becomes a finding, so that it hides no finding about the others."""
    try:
        return _item(resource, config, around, images)
    except Exception as problem:  # noqa: BLE001 - as the docstring says
        return _Expanded([resource], [], [results.internal(problem, results.ref(resource))])


def _item(resource: Resource, config: Config, around: ClusterFacts, images: older_forms.Images) -> _Expanded:
    """Expands one item: a graph, or a component that was not generated from a graph."""
    if not _is_dynamo(resource):
        return _Expanded([resource], [], [])
    address = results.ref(resource)
    if address.api_version == API_VERSION and address.kind in _RESOLVERS and not ownership.is_generated(resource):
        converted, notes = older_forms.convert(resource, images)
        item = _expanded(converted, config, around, notes)
        return item if item.generated or not results.failed(item.results) else item._replace(kept=[resource])
    return _passing(resource, config)


def _expanded(resource: Resource, config: Config, around: ClusterFacts, notes: list[Result]) -> _Expanded:
    """One graph or component. Where it has errors nothing is rendered, but what can be read is judged all the same."""
    checked = [*notes, *check.resource(resource, unknown=_unknown(config))]
    broken, kept = readable.broken(checked), readable.usable(check.without_nulls(resource), checked)
    plan, unreadable = _RESOLVERS[resource["kind"]](kept, config, around)
    made = graph.pods(plan)
    judged = [*validation.graph(plan, made, around), *_namespace(resource, plan.namespace, config)]
    found = [*checked, *readable.news([*unreadable, *judged], broken)]
    if results.failed(found):
        return _Expanded([resource], [], found)
    placed = _in_namespace(readable.without_nulls(resource, checked), plan.namespace)
    generated = [*graph.render(plan, made), *components_inventory.components(plan)]
    sources = ownership.source(placed, graph.notes(plan, placed.get("spec")), config.source)
    return _Expanded(list(sources), [Generated(placed, entry) for entry in generated], found)


def _passing(resource: Resource, config: Config) -> _Expanded:
    """Checks a resource of a kind that is not expanded, if the kind has a schema."""
    checked = list(check.resource(resource, unknown=_unknown(config)))
    address, found = results.ref(resource), [*checked]
    if address.api_version == API_VERSION:
        kept = readable.usable(check.without_nulls(resource), checked)
        found.extend(readable.news(validation.other(kept, config), readable.broken(checked)))
    if address.kind == _REQUEST:
        found.append(results.warning("DYN055", "is not expanded by this version; it leaves as it came", address, ("kind",)))
    return _Expanded([readable.without_nulls(resource, checked)], [], found)


def _unknown(config: Config) -> Severity:
    """How native fields newer than our Kubernetes count."""
    return "warning" if config.unknown_fields == "warn" else "error"


def _namespace(resource: Resource, namespace: str, config: Config) -> Iterator[Result]:
    """Pods carry their namespace in their environment, so it must be known now."""
    address = results.ref(resource)
    if not address.namespace and not config.namespace:
        message = f"no namespace is set, using {namespace}; set it here, in the layer of the function or in the configuration, or use -n"
        yield results.warning("DYN057", message, address, ("metadata", "namespace"))
    if not fields.DNS_LABEL.fullmatch(namespace):
        message = f"{namespace!r} is no name of a namespace; use lower-case letters, digits and dashes, at most 63"
        yield results.error("DYN059", message, address, ("metadata", "namespace"))


def _in_namespace(resource: Resource, namespace: str) -> Resource:
    """The graph where its workloads are."""
    if results.ref(resource).namespace:
        return resource
    return {**resource, "metadata": {**resource["metadata"], "namespace": namespace}}


def _once(found: list[Result]) -> list[Result]:
    """Findings without repetition: several services can trip over one field of the graph."""
    return list({(result.code, result.message, result.ref, result.path): result for result in found}.values())
