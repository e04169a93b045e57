"""Makes the plans of v1alpha1 graphs and standalone components. The plan of a standalone component is that of a graph with one component.

Follows the operator's `internal/dynamo/graph.go` GenerateDynamoComponentsDeployments and
`internal/controller/dynamocomponentdeployment_controller.go`.
"""

from __future__ import annotations

from krm_fn import results
from krm_fn.kube import labels, names
from krm_fn.plan import ComponentPlan, GraphPlan, Identity, Restart
from krm_fn.resolve import graph_context, v1alpha1_findings
from krm_fn.resolve.graph_context import GraphContext
from krm_fn.resolve.v1alpha1_components import component

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.kube.types import Labels, Resource


def graph(resource: Resource, context: GraphContext) -> GraphPlan:
    """Plans a graph; the annotation `nvidia.com/restartAt` holds `spec.restart.id`, so that a new id restarts the pods.

    Findings about fields that cannot be read are added to those of `context`.

    `resource` must be well-formed: `krm_fn.schema` found no error in it, or the invalid fields have been removed.

    Follows the operator's `internal/dynamo/graph.go DetermineRestartState`.
    Rule: metadata.restart
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


def _restart(written: dict[str, Any] | None) -> Restart | None:
    """The restart that the graph requests (reference: DetermineRestartState). A render restarts all services at once."""
    if written is None:
        return None
    strategy = written.get("strategy") or {}
    order, kind = tuple(strategy.get("order") or ()), strategy.get("type") or ""
    return Restart(written.get("id") or "", order, sequential=kind == "Sequential" or bool(not kind and order), parallel=kind == "Parallel")


def _service(context: GraphContext, name: str, service: dict[str, Any], of_graph: Labels, stamp: Labels) -> ComponentPlan:
    """The objects of a v1alpha1 service have labels for the component, its Dynamo namespace and its graph, and its own metadata.

    This is the plan of one service.

    Follows the operator's `internal/dynamo/graph.go GenerateDynamoComponentsDeployments`.
    Rule: metadata.component
    """
    annotations = {**(service.get("annotations") or {}), **graph_context.inherited(context, of_graph), **stamp}
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
    """Plans a standalone component: its labels have no name of a graph.

    Findings about unreadable fields are added to those of `context`. `resource` must be well-formed, as for a graph.

    Follows the operator's `internal/controller/dynamocomponentdeployment_controller.go`.
    Rule: metadata.standalone
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
        context.findings.append(results.error("DYN124", message, context.ref, ("spec", "dynamoNamespace")))
    return context.plan(resource_name, (plan,))


def _selector(spec: dict[str, Any], resource_labels: Labels) -> Labels:
    """The Service of a standalone component selects pods by the component type and the Dynamo namespace that the pods carry.

    A label that the pods lack is not selected, unless they have neither.

    The operator selects by both labels. Its Service finds no pod unless the user wrote the namespace as a label.

    Follows the operator's `internal/controller/dynamocomponentdeployment_controller.go generateService`.
    Rule: service.selector-standalone
    """
    kind, extra = spec.get("componentType") or "", (spec.get("extraPodMetadata") or {}).get("labels") or {}
    wanted = {labels.COMPONENT_TYPE: kind, labels.NAMESPACE: spec.get("dynamoNamespace") or ""}
    pod_labels = {**(spec.get("labels") or {}), **resource_labels, **({labels.COMPONENT_TYPE: kind} if kind else {}), **extra}
    return {key: value for key, value in wanted.items() if pod_labels.get(key) == value} or wanted
