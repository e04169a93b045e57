"""Makes the plans of v1alpha1 graphs and standalone components. The plan of a standalone component is that of a graph with one component.

Follows the operator's `internal/dynamo/graph.go` GenerateDynamoComponentsDeployments and
`internal/controller/dynamocomponentdeployment_controller.go`.
"""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.render import labels, names
from krm_fn.render.plan import ComponentPlan, GraphPlan, Identity, RestartPlan
from krm_fn.render.resolve import graph_context, v1alpha1_findings
from krm_fn.render.resolve.graph_context import GraphContext
from krm_fn.render.resolve.v1alpha1_components import component

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.kubernetes.types import Labels, Resource


def graph(resource: Resource, context: GraphContext) -> GraphPlan:
    """Plans a v1alpha1 graph.

    Findings about fields that cannot be read are added to those of `context`.

    `resource` must be well-formed: `krm_fn.render.schema` found no error in it, or the invalid fields have been removed.

    Rule metadata.restart: The annotation `nvidia.com/restartAt` holds `spec.restart.id`, so that a new id restarts the pods. (operator:
    internal/dynamo/graph.go DetermineRestartState)
    """
    spec, annotations = resource.get("spec") or {}, labels.annotations(resource)
    restart = _restart(spec.get("restart"))
    context = context._replace(
        name=results.ref(resource).name,
        orchestrator=graph_context.orchestrator(annotations, context.config.orchestrator),
        envs=spec.get("envs") or [],
        discovery=annotations.get(labels.DISCOVERY_BACKEND, context.discovery),
    )
    stamp = {labels.RESTART_AT: restart.id} if restart and restart.id and context.config.restart == "render" else {}
    components = tuple(_service(context, name, service or {}, annotations, stamp) for name, service in (spec.get("services") or {}).items())
    context.findings.extend(v1alpha1_findings.of_graph(spec, context.paths))
    return context.plan(context.name, components)._replace(
        annotations=annotations, claims=tuple(graph_context.claims(spec)), restart=restart, standalone=False
    )


def _restart(written: dict[str, Any] | None) -> RestartPlan | None:
    """Returns the restart that the graph requests (reference: DetermineRestartState). A render restarts all services at once."""
    if written is None:
        return None
    strategy = written.get("strategy") or {}
    order, kind = tuple(strategy.get("order") or ()), strategy.get("type") or ""
    return RestartPlan(
        written.get("id") or "", order, sequential=kind == "Sequential" or bool(not kind and order), parallel=kind == "Parallel"
    )


def _service(context: GraphContext, name: str, service: dict[str, Any], of_graph: Labels, stamp: Labels) -> ComponentPlan:
    """Plans one service of a graph. `stamp` is the annotation of a restart.

    Rule metadata.component: The objects of a v1alpha1 service have labels for the component, its Dynamo namespace and its graph, and its
    own metadata. (operator: internal/dynamo/graph.go GenerateDynamoComponentsDeployments)
    """
    annotations = {**(service.get("annotations") or {}), **graph_context.inherited_annotations(context, of_graph), **stamp}
    dynamo_namespace = names.dynamo_namespace(context.namespace, context.name, shared=bool(service.get("globalDynamoNamespace")))
    identity = Identity(
        service=name,
        name=names.component(context.name, name),
        graph=context.name,
        namespace=context.namespace,
        type=service.get("componentType") or "",
        sub_type=service.get("subComponentType") or "",
        dynamo_namespace=dynamo_namespace,
        selector={labels.COMPONENT_TYPE: service.get("componentType") or "", labels.NAMESPACE: dynamo_namespace},
        labels={labels.COMPONENT: name, labels.NAMESPACE: dynamo_namespace, labels.GRAPH: context.name},
        annotations=annotations,
        graph_label=context.name,
        service_labels=graph_context.service_labels(context, service.get("labels") or {}),
        standalone=False,
        metrics=graph_context.metrics(context, of_graph, annotations),
    )
    return component(context, identity, service)


def standalone(resource: Resource, context: GraphContext) -> GraphPlan:
    """Plans a v1alpha1 component without a graph.

    Findings about unreadable fields are added to those of `context`. `resource` must be well-formed, as for a graph.

    Rule metadata.standalone: The labels of a standalone component have no name of a graph. (operator:
    internal/controller/dynamocomponentdeployment_controller.go)
    """
    spec, resource_name = resource.get("spec") or {}, results.ref(resource).name
    annotations = spec.get("annotations") or {}
    resource_labels = {key: value for key, value in labels.of(resource).items() if key != labels.MANAGED_BY}
    context = context._replace(name=graph_context.parent(resource), discovery=annotations.get(labels.DISCOVERY_BACKEND, context.discovery))
    identity = Identity(
        service=spec.get("serviceName") or resource_name,
        name=resource_name,
        graph=context.name,
        namespace=context.namespace,
        type=spec.get("componentType") or "",
        sub_type=spec.get("subComponentType") or "",
        dynamo_namespace=names.dynamo_namespace(context.namespace, context.name, shared=bool(spec.get("globalDynamoNamespace"))),
        selector=_selector(spec, resource_labels),
        labels={**(spec.get("labels") or {}), **resource_labels},
        annotations=annotations,
        graph_label=(spec.get("labels") or {}).get(labels.GRAPH, ""),
        service_labels=spec.get("labels") or {},
        standalone=True,
        metrics=annotations.get(labels.ENABLE_METRICS) != "false",
    )
    plan = component(context, identity, spec)
    if spec.get("dynamoNamespace") is None:
        message = "dynamoNamespace is required for a component without a graph, because its Service is found by it; set it"
        context.findings.append(results.error(codes.MISSING_DYNAMO_NAMESPACE, message, context.ref, ("spec", "dynamoNamespace")))
    return context.plan(resource_name, (plan,))


def _selector(spec: dict[str, Any], resource_labels: Labels) -> Labels:
    """Returns the labels by which the Service of a standalone component selects pods.

    A label that the pods lack is not selected, unless they have neither.

    The operator selects by both labels. Its Service finds no pod unless the user wrote the namespace as a label.

    Rule service.selector-standalone: The Service of a standalone component selects pods by the component type and the Dynamo namespace that
    the pods carry. (operator: internal/controller/dynamocomponentdeployment_controller.go generateService)
    """
    kind, extra = spec.get("componentType") or "", (spec.get("extraPodMetadata") or {}).get("labels") or {}
    wanted = {labels.COMPONENT_TYPE: kind, labels.NAMESPACE: spec.get("dynamoNamespace") or ""}
    pod_labels = {**(spec.get("labels") or {}), **resource_labels, **({labels.COMPONENT_TYPE: kind} if kind else {}), **extra}
    return {key: value for key, value in wanted.items() if pod_labels.get(key) == value} or wanted
