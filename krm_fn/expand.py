"""Expands every Dynamo resource among the items to native objects.

The result of `expand` depends on its arguments only. It reads no clock, environment, file or network, and never changes its input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from krm_fn import ownership, resolve, results, validation
from krm_fn.config import Config
from krm_fn.convert import older_forms
from krm_fn.kube import identity
from krm_fn.kube.types import Labels, Resource
from krm_fn.manifests import generated, graph
from krm_fn.ownership import Generated
from krm_fn.records import NamedTuple
from krm_fn.resolve import cluster, kept
from krm_fn.resolve.cluster import ClusterFacts
from krm_fn.results import Result, Severity
from krm_fn.schema import check, readable
from krm_fn.validation import identities, suppressed

API_VERSIONS = (identity.V1ALPHA1, identity.V1BETA1)


class Expansion(NamedTuple):
    """The output items and all findings. If a finding is an error, the items must not be used."""

    resources: list[Resource]
    results: list[Result]


class _Expanded(NamedTuple):
    """The expansion of one item: the item itself if it stays, the objects generated from it, and the findings about it."""

    kept: list[Resource]
    generated: list[Generated]
    results: list[Result]


class _Kind(NamedTuple):
    """How resources of one kind are expanded. Each kind has its own type of plan.

    `resolve` makes the plan, and `make` what both the rules and the render need: the pods of a graph, the Job of a request. `judge` has
    the rules, `render` makes the objects, and `annotations` those of the resource itself. `keeps_nulls` is true if nulls in free-form
    fields reach the plan; the others are left out.
    """

    resolve: Callable[[Resource, Config, ClusterFacts], tuple[Any, list[Result]]]
    make: Callable[[Any], Any]
    judge: Callable[[Any, Any, ClusterFacts], Iterator[Result]]
    render: Callable[[Any, Any], Iterator[Resource]]
    annotations: Callable[[Any, Any], Labels]
    keeps_nulls: bool = False


_GRAPH = _Kind(resolve.graph, graph.pods, validation.graph, graph.render, graph.own_annotations)


@cache
def _kind(api_version: str, name: str) -> _Kind | None:
    """How resources of a kind are expanded; None for kinds that are not."""
    if api_version not in API_VERSIONS:
        return None
    if name == identity.REQUEST:
        from krm_fn.manifests import profiling  # noqa: PLC0415 - a render of graphs alone starts without these modules
        from krm_fn.validation import requests  # noqa: PLC0415

        return _Kind(resolve.request, profiling.job, requests.check, profiling.render, profiling.own_annotations, keeps_nulls=True)
    return {identity.GRAPH: _GRAPH, identity.COMPONENT: _GRAPH._replace(resolve=resolve.component)}.get(name)


class Planned(NamedTuple):
    """A Dynamo resource that a render expands. `plan` and `made` have the types of its kind, and `objects` are its native objects.

    For a graph or a component, these types are `GraphPlan` and a list of `Pods`; for a request `RequestPlan` and its Job.
    """

    source: Resource
    plan: Any
    made: Any
    objects: list[Resource]


class _Read(NamedTuple):
    """One resource as it was read. `checked` holds the findings of the schema, `results` those and the findings of all rules."""

    plan: Any
    made: Any
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
    stays = [resource for item in items for resource in item.kept]
    objects = [entry for item in items for entry in item.generated]
    present = {ownership.owner(resource, cluster.namespace(resource, config)) for resource in filter(identity.is_dynamo, resources)}
    placed, misplaced = ownership.place(stays, objects, present, home, generated.is_prunable)
    found = [*unreadable_secrets, *unreadable_images, *identities.check_duplicates(resources, config), *misplaced]
    found.extend(result for item in items for result in item.results)
    return Expansion(placed, sorted(suppressed.without(_distinct(found), resources), key=results.order))


def _guarded(resource: Resource, context: _Input) -> _Expanded:
    """Expands one item. An internal error becomes a finding, so that it hides no finding about the other items."""
    try:
        return _item(resource, context)
    except Exception as problem:  # noqa: BLE001 - as the docstring says
        return _Expanded([resource], [], [results.internal(problem, results.ref(resource))])


def _item(resource: Resource, context: _Input) -> _Expanded:
    """Expands one item of a kind that is expanded. A component that was generated from a graph is not."""
    if not identity.is_dynamo(resource):
        return _Expanded([resource], [], [])
    address = results.ref(resource)
    kind = _kind(address.api_version, address.kind)
    if kind is None or generated.is_generated(resource):
        return _unexpanded(resource, context)
    converted, findings = older_forms.convert(resource, context.images)
    item = _expanded(converted, kind, context, findings)
    return item if item.generated or not results.failed(item.results) else item._replace(kept=[resource])


def plans(resources: Sequence[Resource], config: Config) -> list[Planned]:
    """The plans and objects of all Dynamo resources that a render expands, without those that have errors; `expand` reports the errors."""
    facts, images = cluster.read(resources, config)[0], older_forms.images(resources, config.namespace or cluster.NAMESPACE)[0]
    found = (_planned(resource, _Input(config, facts, images)) for resource in resources)
    return [each for each in found if each]


def _planned(resource: Resource, context: _Input) -> Planned | None:
    address = results.ref(resource)
    kind = _kind(address.api_version, address.kind)
    if kind is None or generated.is_generated(resource):
        return None
    try:
        converted, findings = older_forms.convert(resource, context.images)
        plan, made, _, found = _read(converted, kind, context, findings)
        return None if results.failed(found) else Planned(resource, plan, made, list(kind.render(plan, made)))
    except Exception:  # noqa: BLE001 - `expand` reports it as an internal error
        return None


def own_annotations(resource: Resource, config: Config) -> tuple[Labels, list[Result]]:
    """The annotations that a render writes on a resource that it expands, and the findings about it.

    Other than a render, it makes them also for a resource with errors: a resource in a cluster has workloads whatever a render says.
    Never raises for user input; the annotations are empty for other resources.
    """
    address = results.ref(resource)
    kind = _kind(address.api_version, address.kind)
    if kind is None:
        return {}, []
    context = _Input(config, cluster.read([], config)[0], older_forms.Images({}, cluster.NAMESPACE))
    try:
        converted, findings = older_forms.convert(resource, context.images)
        read = _read(converted, kind, context, findings)
        return kind.annotations(read.plan, kept.source(converted, config).get("spec")), read.results
    except Exception as problem:  # noqa: BLE001 - an internal error about one resource hides no finding about the others
        return {}, [results.internal(problem, address)]


def _read(resource: Resource, kind: _Kind, context: _Input, findings: list[Result]) -> _Read:
    """Reads and checks one resource. A rule judges also the readable parts of a resource with errors."""
    checked = [*findings, *check.resource(resource, unknown=context.unknown)]
    broken, usable = readable.broken(checked), readable.usable(_without_nulls(resource, checked, kind), checked)
    plan, unreadable = kind.resolve(usable, context.config, context.cluster)
    made = kind.make(plan)
    judged = [*kind.judge(plan, made, context.cluster), *identities.check_namespace(resource, plan.namespace, context.config)]
    return _Read(plan, made, checked, [*checked, *readable.news([*unreadable, *judged], broken)])


def _without_nulls(resource: Resource, checked: list[Result], kind: _Kind) -> Resource:
    return readable.without_nulls(resource, checked) if kind.keeps_nulls else check.without_nulls(resource)


def _expanded(resource: Resource, kind: _Kind, context: _Input, findings: list[Result]) -> _Expanded:
    """Expands one resource. A resource with errors generates nothing."""
    plan, made, checked, found = _read(resource, kind, context, findings)
    if results.failed(found):
        return _Expanded([resource], [], found)
    written = _in_namespace(readable.without_nulls(resource, checked), plan.namespace)
    source = kept.source(written, context.config)
    stays = ownership.source(source, kind.annotations(plan, source.get("spec")), context.config.source)
    objects = (kept.beside(source, entry) for entry in kind.render(plan, made))
    said = [*found, *kept.check(written, context.config)]
    return _Expanded(list(stays), [Generated(written, entry, generated.is_shared(entry)) for entry in objects], said)


def _unexpanded(resource: Resource, context: _Input) -> _Expanded:
    """Checks a resource of a kind that is not expanded, if the kind has a schema."""
    checked = list(check.resource(resource, unknown=context.unknown))
    found = [*checked]
    if results.ref(resource).api_version in API_VERSIONS:
        usable = readable.usable(check.without_nulls(resource), checked)
        found.extend(readable.news(validation.other(usable, context.config, context.cluster), readable.broken(checked)))
    stays = readable.without_nulls(resource, checked)
    return _Expanded([stays if generated.is_generated(resource) else kept.source(stays, context.config)], [], found)


def _in_namespace(resource: Resource, namespace: str) -> Resource:
    """Returns the resource with its namespace set."""
    if results.ref(resource).namespace:
        return resource
    return {**resource, "metadata": {**resource["metadata"], "namespace": namespace}}


def _distinct(found: list[Result]) -> list[Result]:
    """Removes duplicate findings. Several services can report the same field of their graph."""
    return list({(result.code, result.message, result.ref, result.path): result for result in found}.values())
