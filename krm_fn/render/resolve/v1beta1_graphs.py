"""Makes the plan of a DynamoGraphDeployment.

Follows the operator's `internal/dynamo/graph.go` GenerateDynamoComponentsDeployments, and `internal/webhook/defaulting` for the fields
that admission writes.
"""

from __future__ import annotations

from krm_fn.base import results
from krm_fn.base.records import NamedTuple
from krm_fn.render import dynamo_api, labels, names
from krm_fn.render.dynamo_api import V1ALPHA1
from krm_fn.render.plan import GraphPlan, Identity, RestartPlan
from krm_fn.render.resolve import cluster_topologies, component_facts, graph_context, missing_fields, v1beta1_components, v1beta1_templates
from krm_fn.render.resolve.graph_context import GraphContext
from krm_fn.render.resolve.v1beta1_templates import ComponentTemplate, Graph
from krm_fn.render.resolve.worker_hash import PLACEHOLDER
from krm_fn.render.resolve.worker_revisions import WorkerRevision, worker_revision
from krm_fn.render.schema import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from krm_fn.kubernetes.types import Labels, Resource
    from krm_fn.render.plan import Claim, ComponentPlan


class _V1alpha1(NamedTuple):
    """The services of a graph in v1alpha1, by name, and its claims."""

    services: Mapping[str, dict[str, Any]] = {}
    claims: tuple[Claim, ...] = ()


def graph(resource: Resource, context: GraphContext) -> GraphPlan:
    """Plans a v1beta1 graph.

    Findings about fields that cannot be read are added to those of `context`.

    `resource` must be well-formed: `krm_fn.render.schema` found no error in it, or the invalid fields have been removed.

    Rule metadata.restart: see `krm_fn.render.resolve.v1alpha1_graphs`.
    """
    spec = table.with_defaults(resource).get("spec") or {}
    annotations = complete_annotations(labels.annotations(resource), context)
    context = context._replace(
        name=results.ref(resource).name,
        orchestrator=graph_context.admitted_orchestrator(annotations, context.config.orchestrator),
        discovery=annotations.get(labels.DISCOVERY_BACKEND, context.discovery),
    )
    context.findings.extend(missing_fields.of_graph(spec, context.release, context.paths))
    restart = _restart(spec.get("restart"))
    preserved = _preserved_v1alpha1(resource, context)
    source = Graph(
        context.name,
        context.namespace,
        spec,
        annotations,
        preserved.services,
        context.per_component,
        cluster_topologies.domains(context, spec),
        context.release.ports.http,
        context.release.pod_metadata.owns_origin,
        context.release.sidecar_mode,
    )
    drafts = v1beta1_templates.templates(source, PLACEHOLDER)
    workers = [template for template in drafts if v1beta1_templates.is_worker(template.component)]
    current = worker_revision(source, workers, context)
    stamp = {labels.RESTART_AT: restart.id} if restart and restart.id and context.config.restart == "render" else {}
    components = tuple(
        _component(context, template, lambda template: _identity(context, template, source, current, stamp))
        for template in v1beta1_templates.with_worker_hash(source, drafts, current.pods)
    )
    component_facts.check_engines(context, components)
    return context.plan(context.name, components)._replace(
        annotations=annotations,
        claims=preserved.claims,
        restart=restart,
        standalone=False,
        features=v1beta1_components.graph_features(spec),
    )


def _component(context: GraphContext, template: ComponentTemplate, identity: Callable[[ComponentTemplate], Identity]) -> ComponentPlan:
    """Plans one component, or each role of it that has a pod template of its own."""
    if not template.roles:
        return v1beta1_components.component(context, identity(template), template)
    roles = {name: identity(role) for name, role in template.roles.items()}
    return v1beta1_components.of_roles(context, template, identity(template), roles)


def complete_annotations(annotations: Labels, context: GraphContext) -> Labels:
    """Returns the annotations of a graph as the operator's webhook completes them.

    Without a configured version of the operator, the version is the lowest of the release.

    Rule metadata.origin-version: A new graph gets the version of the operator that creates it as an annotation. (operator:
    internal/webhook/defaulting/dynamographdeployment_handler.go)
    """
    lowest = ".".join(map(str, (*context.release.number, 0)))
    return {labels.ORIGIN_VERSION: context.config.operator_version or lowest, **annotations}


def _restart(written: dict[str, Any] | None) -> RestartPlan | None:
    """Returns the restart that the graph requests. It is sequential unless its type is Parallel."""
    if written is None:
        return None
    strategy = written.get("strategy") or {}
    parallel = strategy.get("type") == "Parallel"
    return RestartPlan(written.get("id") or "", tuple(strategy.get("order") or ()), sequential=not parallel, parallel=parallel)


def _identity(context: GraphContext, template: ComponentTemplate, of: Graph, current: WorkerRevision, stamp: Labels) -> Identity:
    """Returns the identity of a component of a graph.

    `current` is the revision of the graph's workers, `stamp` the annotation of a restart.

    Rule metadata.selectors-v1beta1: The Services of a v1beta1 component select pods by its type, its Dynamo namespace and its name.
    (operator: internal/dynamo/graph.go GenerateDynamoComponentsDeployments)
    """
    generation = current if v1beta1_templates.is_worker(template.component) else WorkerRevision()
    written = template.v1alpha1_service.get("dynamoNamespace") if context.per_component else None
    identity = Identity(
        service=template.name,
        name=names.component(context.name, template.name),
        graph=context.name,
        namespace=context.namespace,
        type=template.kind,
        sub_type=template.sub_kind,
        dynamo_namespace=template.dynamo_namespace,
        selector={
            labels.COMPONENT_TYPE: template.kind,
            labels.NAMESPACE: written or template.dynamo_namespace,
            labels.COMPONENT: template.name,
        },
        labels=template.labels,
        annotations={**template.annotations, **stamp},
        graph_label=context.name,
        service_labels={},
        standalone=False,
        metrics=graph_context.metrics(context, of.annotations, template.annotations),
        generation=generation.pods,
        suffix=generation.names,
    )
    if context.per_component:
        return identity
    return v1beta1_templates.identity_under_grove(identity, template, context.discovery, stamp)


_OWNED = (labels.COMPONENT, labels.NAMESPACE, labels.GRAPH, labels.WORKER_HASH, labels.COMPONENT_CLASS)
"""The labels of the resource that no label of its pods overrides."""


def standalone(resource: Resource, context: GraphContext) -> GraphPlan:
    """Plans a DynamoComponentDeployment.

    Findings about unreadable fields are added to those of `context`. `resource` must be well-formed, as for a graph.
    """
    template = _template(resource, context)
    context = context._replace(discovery=template.annotations.get(labels.DISCOVERY_BACKEND, context.discovery))
    component = _component(context, template, lambda template: _standalone_identity(resource, context.namespace, template))
    plan = context.plan(results.ref(resource).name, (component,))
    return plan._replace(features=v1beta1_components.graph_features({"backendFramework": context.framework}))


def _template(resource: Resource, context: GraphContext) -> ComponentTemplate:
    """Returns the component with the labels of its objects. A label of the resource that identifies it wins over all others."""
    spec = table.with_defaults(resource).get("spec") or {}
    whole = _standalone_template(resource, context, spec)
    roles = {
        role["name"]: _standalone_template(resource, context, component)._replace(role=index)
        for index, role, component in v1beta1_templates.role_pods(spec)
    }
    return whole._replace(roles=roles)


def _standalone_template(resource: Resource, context: GraphContext, spec: dict[str, Any]) -> ComponentTemplate:
    service = _preserved_in_component(resource, context)
    name = results.ref(resource).name
    resource_labels = {key: value for key, value in labels.of(resource).items() if key != labels.MANAGED_BY}
    written = {
        **spec,
        "name": spec.get("name") or resource_labels.get(labels.COMPONENT) or name,
        "podTemplate": spec.get("podTemplate") or {},
    }
    graph = graph_context.parent(resource) or resource_labels.get(labels.GRAPH) or name
    computed = _namespace(spec, context.namespace, graph)
    before = resource_labels if resource_labels.get(labels.GRAPH) and resource_labels.get(labels.WORKER_HASH) else {}
    template = v1beta1_templates.template(
        written, service, service.get("dynamoNamespace") or resource_labels.get(labels.NAMESPACE) or computed, before
    )
    above = {key: resource_labels[key] for key in _OWNED if resource_labels.get(key)}
    return template._replace(
        labels={**resource_labels, **template.labels, **above}, annotations={**template.annotations, **_of_topology(resource)}
    )


def _standalone_identity(resource: Resource, namespace: str, template: ComponentTemplate) -> Identity:
    """Returns the identity of a component without a graph among the items.

    Rule names.standalone-graph: The pods of a standalone component belong to the graph that owns it, or to its own name as that of a graph.
    (operator: internal/dynamo/v1beta1_helpers.go)
    """
    address, spec, marks = results.ref(resource), template.component, template.labels
    parent = graph_context.parent(resource) or address.name
    works = v1beta1_templates.is_worker(spec)
    return Identity(
        service=template.name,
        name=address.name,
        graph=parent,
        namespace=namespace,
        type=template.kind,
        sub_type=template.sub_kind,
        dynamo_namespace=_namespace(spec, namespace, parent),
        selector={
            labels.COMPONENT_TYPE: template.kind,
            labels.NAMESPACE: marks[labels.NAMESPACE],
            labels.COMPONENT: marks[labels.COMPONENT],
        },
        labels=marks,
        annotations=template.annotations,
        graph_label=marks.get(labels.GRAPH) or graph_context.parent(resource),
        service_labels={},
        standalone=True,
        metrics=template.annotations.get(labels.ENABLE_METRICS) != "false",
        generation=marks.get(labels.WORKER_HASH, "") if works else "",
    )


def _namespace(spec: dict[str, Any], namespace: str, graph: str) -> str:
    """Returns the Dynamo namespace of a standalone component.

    Rule names.dynamo-namespace-v1beta1: In the Dynamo namespace of a v1beta1 component, dots in the name of its graph are dashes.
    (operator: internal/dynamo/v1beta1_helpers.go)
    """
    return names.dynamo_namespace(namespace, graph.replace(".", "-"), shared=bool(spec.get("globalDynamoNamespace")))


def _of_topology(resource: Resource) -> Labels:
    """Returns the annotations of the resource from which the operator learns which labels of nodes to copy."""
    return {
        key: value for key, value in labels.annotations(resource).items() if key in (labels.TOPOLOGY_KEY, labels.TOPOLOGY_NAME) and value
    }


def _preserved_v1alpha1(resource: Resource, context: GraphContext) -> _V1alpha1:
    """Returns the fields of a v1beta1 graph that only v1alpha1 has; empty if its annotation has none."""
    if labels.PRESERVED_GRAPH not in labels.annotations(resource):
        return _V1alpha1()
    spec = _in_v1alpha1(resource, context).get("spec") or {}
    services = {name: service for name, service in (spec.get("services") or {}).items() if service}
    return _V1alpha1(services, tuple(graph_context.claims(spec)))


def _preserved_in_component(resource: Resource, context: GraphContext) -> dict[str, Any]:
    """Returns the fields of a v1beta1 standalone component in v1alpha1; empty if its annotation has none."""
    if labels.PRESERVED_COMPONENT not in labels.annotations(resource):
        return {}
    spec: dict[str, Any] = _in_v1alpha1(resource, context).get("spec") or {}
    return spec


def _in_v1alpha1(resource: Resource, context: GraphContext) -> Resource:
    """Returns a v1beta1 resource in v1alpha1: as it was written, or converted."""
    if context.ref.api_version == V1ALPHA1:
        return context.written
    from krm_fn.render.convert import versions  # noqa: PLC0415 - few resources have preserved fields

    return versions.to(dynamo_api.ALPHA1, resource)
