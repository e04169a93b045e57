"""Expands every Dynamo resource among the items to native objects.

The result of `expand` depends on its arguments only. It reads no clock, environment, file or network, and never changes its input.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krm_fn import ownership, resolve, results, validation
from krm_fn.config import DYNAMO_GROUP, Config
from krm_fn.convert import older_forms
from krm_fn.kube import identity
from krm_fn.kube.admission import fields
from krm_fn.kube.types import Labels, Resource
from krm_fn.manifests import components_inventory, generated, graph
from krm_fn.manifests.pod import Pods
from krm_fn.ownership import Generated, Owner
from krm_fn.plan import GraphPlan
from krm_fn.records import NamedTuple
from krm_fn.resolve import cluster
from krm_fn.resolve.cluster import ClusterFacts
from krm_fn.results import Result, Severity
from krm_fn.schema import check, readable
from krm_fn.validation import suppressed

API_VERSION = f"{DYNAMO_GROUP}/v1alpha1"
_RESOLVERS = {"DynamoGraphDeployment": resolve.graph, "DynamoComponentDeployment": resolve.component}
_REQUEST = "DynamoGraphDeploymentRequest"


class Expansion(NamedTuple):
    """The output items and all findings. If a finding is an error, the items must not be used."""

    resources: list[Resource]
    results: list[Result]


class _Expanded(NamedTuple):
    """The expansion of one item: the item itself if it stays, the objects generated from it, and the findings about it."""

    kept: list[Resource]
    generated: list[Generated]
    results: list[Result]


class _Read(NamedTuple):
    """One graph or component as it was read. `checked` holds the findings of the schema, `results` those and the findings of all rules."""

    plan: GraphPlan
    pods: list[Pods]
    checked: list[Result]
    results: list[Result]


class _Input(NamedTuple):
    """The configuration, and the facts from the other items that the expansion of one item needs."""

    config: Config
    cluster: ClusterFacts
    images: older_forms.Images

    @property
    def unknown(self) -> Severity:
        """The severity of native fields that krm-fn's Kubernetes schema does not have."""
        return "warning" if self.config.unknown_fields == "warn" else "error"


def expand(resources: Sequence[Resource], config: Config) -> Expansion:
    """Expands every Dynamo resource among `resources`.

    Items that do not change come back as the same objects. The function never raises for user input, and an error in one resource does
    not hide findings about the others.
    """
    facts, unreadable_secrets = cluster.read(resources, config)
    home = config.namespace or cluster.NAMESPACE
    images, unreadable_images = older_forms.images(resources, home)
    items = [_guarded(resource, _Input(config, facts, images)) for resource in resources]
    kept = [resource for item in items for resource in item.kept]
    objects = [entry for item in items for entry in item.generated]
    present = {ownership.owner(resource, cluster.namespace(resource, config)) for resource in filter(identity.is_dynamo, resources)}
    placed, misplaced = ownership.place(kept, objects, present, home, generated.is_prunable)
    found = [*unreadable_secrets, *unreadable_images, *_duplicates(resources, config), *misplaced]
    found.extend(result for item in items for result in item.results)
    return Expansion(placed, sorted(suppressed.without(_distinct(found), resources), key=results.order))


def _duplicates(resources: Sequence[Resource], config: Config) -> Iterator[Result]:
    """Reports Dynamo resources of the same kind and name that resolve to the same namespace, one written and one defaulted.

    They would generate the same objects.
    """
    by_owner: dict[Owner, list[Resource]] = {}
    for resource in filter(identity.is_dynamo, resources):
        by_owner.setdefault(ownership.owner(resource, cluster.namespace(resource, config)), []).append(resource)
    for (kind, _, namespace), same in by_owner.items():
        for resource in same if len(same) > 1 else ():
            message = f"another {kind} has the same name and is also in namespace {namespace}; rename one, or set the namespace of both"
            yield results.error("DYN058", message, results.ref(resource), ("metadata", "name"))


def _guarded(resource: Resource, context: _Input) -> _Expanded:
    """Expands one item. An internal error becomes a finding, so that it hides no finding about the other items."""
    try:
        return _item(resource, context)
    except Exception as problem:  # noqa: BLE001 - as the docstring says
        return _Expanded([resource], [], [results.internal(problem, results.ref(resource))])


def _item(resource: Resource, context: _Input) -> _Expanded:
    """Expands one item: a graph, or a component that was not generated from a graph."""
    if not identity.is_dynamo(resource):
        return _Expanded([resource], [], [])
    address = results.ref(resource)
    if address.api_version != API_VERSION or address.kind not in _RESOLVERS or generated.is_generated(resource):
        return _unexpanded(resource, context)
    converted, findings = older_forms.convert(resource, context.images)
    item = _expanded(converted, context, findings)
    return item if item.generated or not results.failed(item.results) else item._replace(kept=[resource])


def own_annotations(resource: Resource, config: Config) -> tuple[Labels, list[Result]]:
    """The annotations that a render writes on a graph or component, and the findings about it.

    Other than a render, it makes them also for a resource with errors: a resource in a cluster has workloads whatever a render says.
    Never raises for user input; the annotations are empty for other resources.
    """
    address = results.ref(resource)
    if address.api_version != API_VERSION or address.kind not in _RESOLVERS:
        return {}, []
    context = _Input(config, cluster.read([], config)[0], older_forms.Images({}, cluster.NAMESPACE))
    try:
        converted, findings = older_forms.convert(resource, context.images)
        read = _read(converted, context, findings)
        return graph.own_annotations(read.plan, converted.get("spec")), read.results
    except Exception as problem:  # noqa: BLE001 - an internal error about one resource hides no finding about the others
        return {}, [results.internal(problem, address)]


def _read(resource: Resource, context: _Input, findings: list[Result]) -> _Read:
    """Reads and checks one graph or component. A rule judges also the readable parts of a resource with errors."""
    checked = [*findings, *check.resource(resource, unknown=context.unknown)]
    broken, usable = readable.broken(checked), readable.usable(check.without_nulls(resource), checked)
    plan, unreadable = _RESOLVERS[resource["kind"]](usable, context.config, context.cluster)
    pods = graph.pods(plan)
    judged = [*validation.graph(plan, pods, context.cluster), *_namespace(resource, plan.namespace, context.config)]
    return _Read(plan, pods, checked, [*checked, *readable.news([*unreadable, *judged], broken)])


def _expanded(resource: Resource, context: _Input, findings: list[Result]) -> _Expanded:
    """Expands one graph or component. A resource with errors generates nothing."""
    plan, pods, checked, found = _read(resource, context, findings)
    if results.failed(found):
        return _Expanded([resource], [], found)
    source = _in_namespace(readable.without_nulls(resource, checked), plan.namespace)
    objects = [*graph.render(plan, pods), *components_inventory.components(plan)]
    kept = ownership.source(source, graph.own_annotations(plan, source.get("spec")), context.config.source)
    return _Expanded(list(kept), [Generated(source, entry) for entry in objects], found)


def _unexpanded(resource: Resource, context: _Input) -> _Expanded:
    """Checks a resource of a kind that is not expanded, if the kind has a schema."""
    checked = list(check.resource(resource, unknown=context.unknown))
    address, found = results.ref(resource), [*checked]
    if address.api_version == API_VERSION:
        usable = readable.usable(check.without_nulls(resource), checked)
        found.extend(readable.news(validation.other(usable, context.config, context.cluster), readable.broken(checked)))
    if address.kind == _REQUEST:
        message = f"this version does not expand a {_REQUEST}, so the resource leaves unchanged; the operator or a later version handles it"
        found.append(results.warning("DYN055", message, address, ("kind",)))
    return _Expanded([readable.without_nulls(resource, checked)], [], found)


def _namespace(resource: Resource, namespace: str, config: Config) -> Iterator[Result]:
    """Checks the namespace. A render needs it, because it writes the namespace into the environment of pods."""
    address = results.ref(resource)
    if not address.namespace and not config.namespace:
        message = f"no namespace is set, using {namespace}; set it here, in the layer of the function or in the configuration, or use -n"
        yield results.warning("DYN057", message, address, ("metadata", "namespace"))
    if not fields.DNS_LABEL.fullmatch(namespace):
        message = f"{namespace!r} is not a valid namespace; use lower-case letters, digits and dashes, at most 63"
        yield results.error("DYN059", message, address, ("metadata", "namespace"))


def _in_namespace(resource: Resource, namespace: str) -> Resource:
    """Returns the resource with its namespace set."""
    if results.ref(resource).namespace:
        return resource
    return {**resource, "metadata": {**resource["metadata"], "namespace": namespace}}


def _distinct(found: list[Result]) -> list[Result]:
    """Removes duplicate findings. Several services can report the same field of their graph."""
    return list({(result.code, result.message, result.ref, result.path): result for result in found}.values())
