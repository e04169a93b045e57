"""Expands every Dynamo resource among the items to native objects.

A resource becomes a plan, the plan becomes pods, the rules check both, and a render turns them into objects:
`krm_fn.render.resolve` → `krm_fn.render.manifests` (pods) → `krm_fn.render.rules` → `krm_fn.render.manifests` (objects).

The result of `expand` depends on its arguments only. It reads no clock, environment, file or network, and never changes its input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result, Severity
from krm_fn.kubernetes import encryption
from krm_fn.render import dynamo_api, labels, resolve, rules
from krm_fn.render.config import Config
from krm_fn.render.convert import deprecated_fields
from krm_fn.render.manifests import graph_objects, ownership
from krm_fn.render.manifests.ownership import Generated
from krm_fn.render.resolve import cluster, former_types, release_choice
from krm_fn.render.resolve.cluster import ClusterFacts
from krm_fn.render.rules import graph_rules, ignore_rules
from krm_fn.render.schema import invalid_fields, schema_check

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.kubernetes.types import Labels, Resource
    from krm_fn.render.manifests.pod_builder import Pods

API_VERSIONS = (dynamo_api.V1ALPHA1, dynamo_api.V1BETA1)


class Expansion(NamedTuple):
    """The output items and all findings. If a finding is an error, the items must not be used."""

    resources: list[Resource]
    results: list[Result]


class PlannedResource(NamedTuple):
    """A Dynamo resource with its plan, pods and native objects.

    For a graph or a component, `plan` is a `GraphPlan` and `pods` a list of `Pods`. For a request, `plan` is a `RequestPlan` and `pods`
    its profiling Job.
    """

    source: Resource
    plan: Any
    pods: Any
    objects: list[Resource]


class _Expander(NamedTuple):
    """The functions that expand one kind of resource, in the order in which they run. Each kind has its own types of plan and pods.

    `annotations` makes those of the resource itself. `keeps_nulls` is true if nulls in free-form fields reach the plan.
    """

    plan: Callable[[Resource, Config, ClusterFacts], tuple[Any, list[Result]]]
    pods: Callable[[Any], Any]
    check: Callable[[Any, Any, ClusterFacts], Iterator[Result]]
    render: Callable[[Any, Any], Iterable[Resource]]
    annotations: Callable[[Any, Any, Any], Labels]
    keeps_nulls: bool = False


_GRAPH = _Expander(resolve.graph, graph_objects.pods, rules.check_graph, graph_objects.render, graph_objects.own_annotations)


@cache
def _expander(api_version: str, kind: str) -> _Expander | None:
    """Returns the expander of a kind; None for kinds that are not expanded."""
    if api_version not in API_VERSIONS:
        return None
    if kind == dynamo_api.REQUEST:
        from krm_fn.render.manifests import profiling  # noqa: PLC0415 - a render of graphs alone starts without these modules
        from krm_fn.render.rules import request_rules  # noqa: PLC0415

        return _Expander(resolve.request, profiling.job, request_rules.check, profiling.render, profiling.own_annotations, keeps_nulls=True)
    return {dynamo_api.GRAPH: _GRAPH, dynamo_api.COMPONENT: _GRAPH._replace(plan=resolve.component)}.get(kind)


class _Context(NamedTuple):
    """The configuration, and the facts from the other items that the expansion of one item needs. `planned` gets each plan."""

    config: Config
    cluster: ClusterFacts
    images: deprecated_fields.Images
    planned: Callable[[PlannedResource], object] | None = None


class _CheckedPlan(NamedTuple):
    """The plan and the pods of one resource. `findings` are those of the schema and of all rules."""

    plan: Any
    pods: Any
    schema_findings: list[Result]
    findings: list[Result]


class _ExpandedItem(NamedTuple):
    """The expansion of one item: the item itself, unless the output omits it, the objects generated from it, and the findings about it.

    `components` are the pods of a graph or of a standalone component.
    """

    items: list[Resource]
    generated: list[Generated]
    findings: list[Result]
    components: Sequence[Pods] = ()


class KnownItems:
    """The expansions of items in earlier renders, for renders of states that have most items in common.

    An item is expanded once for each text of it and each text of the configuration and of the facts about other items: nothing else decides
    its expansion.
    """

    def __init__(self) -> None:
        self._expansions: dict[tuple[str, str], tuple[_ExpandedItem, list[PlannedResource]]] = {}
        self._plans: dict[tuple[str, str], PlannedResource | None] = {}
        self._used: set[tuple[str, str]] = set()

    def plan(self, resource: Resource, config: Config) -> PlannedResource | None:
        """Returns what `plan` returns."""
        key = repr(config), repr(resource)
        if key not in self._plans:
            self._plans[key] = plan(resource, config)
        return self._plans[key]

    def forget_unused(self) -> None:
        """Forgets the items that no render has had since the last call."""
        self._expansions = {key: entry for key, entry in self._expansions.items() if key in self._used}
        self._plans, self._used = {}, set()

    def expand(self, resources: Sequence[Resource], context: _Context) -> list[_ExpandedItem]:
        """Returns the expansions of all items."""
        facts = repr(context._replace(planned=None))
        return [self._expand(resource, context, facts) for resource in resources]

    def _expand(self, resource: Resource, context: _Context, facts: str) -> _ExpandedItem:
        if not dynamo_api.is_dynamo(resource):
            return _expand_item(resource, context)
        key = facts, repr(resource)
        if key not in self._expansions:
            collected: list[PlannedResource] = []
            self._expansions[key] = _expand_item(resource, context._replace(planned=collected.append)), collected
        self._used.add(key)
        expanded, planned = self._expansions[key]
        if context.planned:
            for plan in planned:
                context.planned(plan)
        return expanded


def expand(
    resources: Sequence[Resource],
    config: Config,
    planned: Callable[[PlannedResource], object] | None = None,
    known: KnownItems | None = None,
) -> Expansion:
    """Expands every Dynamo resource among `resources`. Takes expansions of equal items from `known`, and adds the others to it.

    Items that do not change come back as the same objects, or as equal ones of `known`. The function never raises for user input, and an
    error in one resource does not hide findings about the others. `planned` is called with each plan and its pods, also with those of a
    resource with errors.
    """
    facts, secret_findings = cluster.read(ownership.without_generated(resources), config)
    default_namespace = cluster.default_namespace(config)
    images, image_findings = deprecated_fields.images(resources, default_namespace)
    context = _Context(config, facts, images, planned)
    expanded = known.expand(resources, context) if known else [_expand_item(resource, context) for resource in resources]
    items = [item for expansion in expanded for item in expansion.items]
    generated = [entry for expansion in expanded for entry in expansion.generated]
    by_owner = ownership.owners_among(resources, default_namespace)
    broken = [resource for resource, expansion in zip(resources, expanded, strict=True) if results.has_errors(expansion.findings)]
    failed = ownership.owners_among(broken, default_namespace)
    output, conflicts = ownership.merge(items, generated, by_owner, default_namespace, failed)
    findings = [*secret_findings, *image_findings, *graph_rules.check_duplicates(by_owner), *conflicts]
    findings.extend(graph_rules.check_dynamo_namespaces(by_owner, config))
    if sum(kind == dynamo_api.GRAPH for kind, _, _ in by_owner) > 1:
        from krm_fn.render.rules import shared_discovery  # noqa: PLC0415 - a render of one graph starts without it

        graphs = ([(resource, config)] for listed in by_owner.values() for resource in listed)
        findings.extend(finding for _, finding in shared_discovery.check(graphs))
    checked = [rules.CheckedGraph(item.components, not results.has_errors(item.findings)) for item in expanded if item.components]
    findings.extend(rules.check_together(checked))
    findings.extend(finding for expansion in expanded for finding in expansion.findings)
    return Expansion(output, sorted(ignore_rules.apply(_distinct(findings), resources), key=results.order))


def _expand_item(resource: Resource, context: _Context) -> _ExpandedItem:
    """Expands one item. One finding about placeholders in it, or about its name, replaces the errors that they cause."""
    expanded = _expand_as_written(resource, context)
    if not any(finding.severity == "error" or finding.code in release_choice.WITHOUT_VERSION for finding in expanded.findings):
        return expanded
    from krm_fn.render.rules import placeholders  # noqa: PLC0415 - a render without errors starts without it

    silent = context._replace(planned=None)
    if entries := placeholders.find(resource):
        neutral = _expand_as_written(placeholders.neutral(resource, entries), silent)
        findings = placeholders.replace(resource, entries, expanded.findings, neutral.findings)
        return expanded if findings is None else _ExpandedItem([resource], [], findings)
    renamed = graph_rules.with_valid_name(resource) if results.has_errors(expanded.findings) else None
    if renamed is None:
        return expanded
    others = _expand_as_written(renamed, silent).findings
    return _ExpandedItem([resource], [], graph_rules.check_name(resource, renamed, others))


def _expand_as_written(resource: Resource, context: _Context) -> _ExpandedItem:
    """Expands one item. An internal error becomes a finding, so that it hides no finding about the other items."""
    try:
        if not dynamo_api.is_dynamo(resource):
            return _ExpandedItem([resource], [], schema_check.group(resource) if dynamo_api.is_misplaced(resource) else [])
        if encryption.is_encrypted(resource):
            return _ExpandedItem([resource], [], [_report_encrypted(resource)])
        if dynamo_api.is_search(resource):
            return _check_search(resource, context)
        expander = _expander_of(resource)
        return _check_only(resource, context) if expander is None else _expand_resource(resource, expander, context)
    except Exception as problem:  # noqa: BLE001 - as the docstring says
        return _ExpandedItem([resource], [], [results.internal(problem, results.ref(resource))])


def _report_encrypted(resource: Resource) -> Result:
    """Reports a resource whose values only a key can read. Its objects would have the encrypted values."""
    message = "the resource is encrypted with SOPS, and its objects would have the encrypted values"
    return results.error(
        codes.ENCRYPTED_RESOURCE,
        f"{message}; keep secret values in a Secret, or decrypt the resource before the render",
        results.ref(resource),
        ("sops",),
    )


def _expander_of(resource: Resource) -> _Expander | None:
    """Returns the expander of a resource; None for other kinds, for searches, and for a component that was generated from a graph."""
    ref = results.ref(resource)
    expander = _expander(ref.api_version, ref.kind)
    return None if expander is None or ownership.is_generated(resource) or dynamo_api.is_search(resource) else expander


def _expand_resource(resource: Resource, expander: _Expander, context: _Context) -> _ExpandedItem:
    """Expands one resource. A resource with errors generates nothing."""
    converted, conversion_findings = _in_current_form(resource, context)
    plan, pods, schema_findings, findings = _check_plan(converted, expander, context, conversion_findings)
    if context.planned:
        context.planned(PlannedResource(resource, plan, pods, []))
    components = pods if expander.check is rules.check_graph else ()
    if results.has_errors(findings):
        return _ExpandedItem([resource], [], findings, components)
    written = _in_namespace(invalid_fields.without_reported_nulls(converted, schema_findings), plan.namespace)
    source = release_choice.source(written, context.config)
    items = ownership.source(source, expander.annotations(plan, pods, source.get("spec")), context.config.source)
    objects = release_choice.beside(source, expander.render(plan, pods))
    if labels.is_unsubstituted(written):
        from krm_fn.render.manifests import flux_variables  # noqa: PLC0415 - few graphs have the annotation

        objects = flux_variables.keep(objects)
    findings.extend(release_choice.check_source(written, context.config))
    return _ExpandedItem(list(items), ownership.mark_owned(written, objects), findings, components)


def _in_current_form(resource: Resource, context: _Context) -> tuple[Resource, list[Result]]:
    """Returns a resource without deprecated fields and former names of types, and the findings about both."""
    converted, findings = deprecated_fields.convert(resource, context.images)
    current, about_types = former_types.convert(converted, context.config)
    return current, [*findings, *about_types]


def _check_plan(resource: Resource, expander: _Expander, context: _Context, conversion_findings: list[Result]) -> _CheckedPlan:
    """Makes the plan and the pods of a resource and checks them. The rules also check the readable parts of a resource with errors."""
    schema_findings = [*conversion_findings, *_check_schema(resource, context)]
    keeps_nulls = expander.keeps_nulls
    pruned = invalid_fields.without_reported_nulls(resource, schema_findings) if keeps_nulls else invalid_fields.without_nulls(resource)
    readable = invalid_fields.without_errors(pruned, schema_findings)
    plan, plan_findings = expander.plan(readable, context.config, context.cluster)
    pods = expander.pods(plan)
    rule_findings = [*plan_findings, *graph_rules.check_metadata(readable), *expander.check(plan, pods, context.cluster)]
    rule_findings.extend(graph_rules.check_namespace(results.ref(resource), plan.namespace, context.config))
    invalid = invalid_fields.error_paths(schema_findings)
    independent = release_choice.without_invalid_overrides(invalid_fields.independent(rule_findings, invalid), invalid)
    return _CheckedPlan(plan, pods, schema_findings, [*schema_findings, *independent])


def _check_only(resource: Resource, context: _Context) -> _ExpandedItem:
    """Checks a resource that is not expanded, if its kind has a schema."""
    findings = [*_check_schema(resource, context)]
    item = invalid_fields.without_reported_nulls(resource, findings)
    if results.ref(resource).api_version in API_VERSIONS:
        readable = invalid_fields.without_errors(invalid_fields.without_nulls(resource), findings)
        rule_findings = [*graph_rules.check_metadata(readable), *rules.check_other(readable, context.config, context.cluster)]
        findings += invalid_fields.independent(rule_findings, invalid_fields.error_paths(findings))
    return _ExpandedItem([item if ownership.is_generated(resource) else release_choice.source(item, context.config)], [], findings)


def _check_search(resource: Resource, context: _Context) -> _ExpandedItem:
    """Checks a request of v1beta2, a Run or a Candidate. The output has the resource as it is."""
    from krm_fn.render.rules import search_rules  # noqa: PLC0415 - a render of graphs alone starts without it

    return _ExpandedItem([resource], [], search_rules.check(resource, lambda graph: _check_plan(graph, _GRAPH, context, []).findings))


def _check_schema(resource: Resource, context: _Context) -> Iterable[Result]:
    """Checks the types and names of fields. The configuration sets the severity of native fields that krm-fn's schema does not have."""
    severity: Severity = "warning" if context.config.unknown_fields == "warn" else "error"
    return schema_check.resource(resource, unknown=severity)


def plans(resources: Sequence[Resource], config: Config) -> list[PlannedResource]:
    """Returns every Dynamo resource that a render expands, without those that have errors; `expand` reports the errors."""
    facts, _ = cluster.read(ownership.without_generated(resources), config)
    images, _ = deprecated_fields.images(resources, cluster.default_namespace(config))
    planned = (_plan_resource(resource, _Context(config, facts, images)) for resource in resources)
    return [resource for resource in planned if resource]


def plan(resource: Resource, config: Config) -> PlannedResource | None:
    """Returns the plan of a resource that is rendered alone, also of one with errors; None for one without a plan.

    No rule checks it, and it has no objects: those of a finished build are in the build.
    """
    expander = None if encryption.is_encrypted(resource) else _expander_of(resource)
    if expander is None:
        return None
    facts, _ = cluster.read(ownership.without_generated([resource]), config)
    images, _ = deprecated_fields.images([resource], cluster.default_namespace(config))
    context = _Context(config, facts, images)
    try:
        converted, findings = _in_current_form(resource, context)
        planned = _check_plan(converted, expander._replace(check=lambda *_: iter(())), context, findings)
    except Exception:  # noqa: BLE001 - the render that made the build reported it
        return None
    return PlannedResource(resource, planned.plan, planned.pods, [])


def _plan_resource(resource: Resource, context: _Context) -> PlannedResource | None:
    expander = _expander_of(resource)
    if expander is None:
        return None
    try:
        converted, findings = _in_current_form(resource, context)
        checked = _check_plan(converted, expander, context, findings)
        if results.has_errors(checked.findings):
            return None
        return PlannedResource(resource, checked.plan, checked.pods, list(expander.render(checked.plan, checked.pods)))
    except Exception:  # noqa: BLE001 - `expand` reports it as an internal error
        return None


def own_annotations(resource: Resource, config: Config) -> tuple[Labels, list[Result]]:
    """Returns the annotations that a render writes on a resource that it expands, and the findings about the resource.

    A render writes none on a resource with errors. This function returns them also then, because a resource in a cluster has workloads
    with or without errors. It never raises for user input. The annotations are empty for resources that a render does not expand.
    """
    ref = results.ref(resource)
    expander = None if dynamo_api.is_search(resource) else _expander(ref.api_version, ref.kind)
    if expander is None:
        return {}, []
    context = _Context(config, cluster.read([], config)[0], deprecated_fields.Images({}, cluster.NAMESPACE))
    try:
        converted, findings = _in_current_form(resource, context)
        checked = _check_plan(converted, expander, context, findings)
        return expander.annotations(checked.plan, checked.pods, release_choice.source(converted, config).get("spec")), checked.findings
    except Exception as problem:  # noqa: BLE001 - an internal error about one resource hides no finding about the others
        return {}, [results.internal(problem, ref)]


def _in_namespace(resource: Resource, namespace: str) -> Resource:
    """Sets the namespace of a resource without one.

    Rule metadata.default-namespace: see `krm_fn.render.resolve.cluster`.
    """
    if results.ref(resource).namespace:
        return resource
    return {**resource, "metadata": {**resource["metadata"], "namespace": namespace}}


def _distinct(findings: list[Result]) -> list[Result]:
    """Removes duplicate findings. Several services can report the same field of their graph."""
    return list({(finding.code, finding.message, finding.ref, finding.path): finding for finding in findings}.values())
