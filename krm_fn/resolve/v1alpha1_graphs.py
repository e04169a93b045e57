"""Makes the plans of v1alpha1 graphs and standalone components. The plan of a standalone component is that of a graph with one component.

Follows the operator's `internal/dynamo/graph.go` GenerateDynamoComponentsDeployments and
`internal/controller/dynamocomponentdeployment_controller.go`.
"""

from __future__ import annotations

from typing import Any

from krm_fn import results
from krm_fn.config import Config
from krm_fn.kinds.releases import Release
from krm_fn.kube import labels, names
from krm_fn.kube.types import Labels, Resource
from krm_fn.plan import ComponentPlan, GraphPlan, Identity, Restart, SourcePaths
from krm_fn.resolve import cluster, graph_context, v1alpha1_findings
from krm_fn.resolve.cluster import ClusterFacts
from krm_fn.resolve.graph_context import GraphContext
from krm_fn.resolve.v1alpha1_components import component
from krm_fn.results import Result


def graph(
    resource: Resource, config: Config, cluster_facts: ClusterFacts, release: Release, paths: SourcePaths
) -> tuple[GraphPlan, list[Result]]:
    """Plans a graph; the annotation `nvidia.com/restartAt` holds `spec.restart.id`, so that a new id restarts the pods.

    Returns the findings about fields that cannot be read, too.

    `resource` must be well-formed: `krm_fn.schema` found no error in it, or the invalid fields have been removed. `paths` are the
    paths in the resource as its author wrote it.

    Follows the operator's `internal/dynamo/graph.go DetermineRestartState`.
    Rule: metadata.restart
    """
    spec, annotations = resource.get("spec") or {}, labels.annotations(resource)
    restart = _restart(spec.get("restart"))
    context = GraphContext(
        name=results.ref(resource).name,
        namespace=cluster.namespace(resource, config),
        ref=paths.ref,
        config=config,
        release=release,
        paths=paths,
        cluster=cluster_facts,
        orchestrator=graph_context.orchestrator(annotations, config.orchestrator),
        framework=spec.get("backendFramework") or "",
        envs=spec.get("envs") or [],
        discovery=annotations.get(labels.DISCOVERY_BACKEND, config.discovery_backend),
        findings=[],
    )
    stamp = {labels.RESTART_AT: restart.id} if restart and restart.id and config.restart == "render" else {}
    components = tuple(_service(context, name, service or {}, annotations, stamp) for name, service in (spec.get("services") or {}).items())
    context.findings.extend(v1alpha1_findings.of_graph(spec, paths))
    plan = GraphPlan(
        name=context.name,
        namespace=context.namespace,
        config=config,
        ref=context.ref,
        orchestrator=context.orchestrator,
        discovery=context.discovery,
        components=components,
        annotations=annotations,
        claims=tuple(graph_context.claims(spec)),
        restart=restart,
        standalone=False,
        paths=paths,
        release=context.release,
    )
    return plan, context.findings


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


def standalone(
    resource: Resource, config: Config, cluster_facts: ClusterFacts, release: Release, paths: SourcePaths
) -> tuple[GraphPlan, list[Result]]:
    """Plans a standalone component: its labels have no name of a graph.

    Returns findings about unreadable fields, too. `resource` must be well-formed, as for a graph.

    Follows the operator's `internal/controller/dynamocomponentdeployment_controller.go`.
    Rule: metadata.standalone
    """
    spec, address = resource.get("spec") or {}, results.ref(resource)
    annotations = spec.get("annotations") or {}
    own = {key: value for key, value in labels.of(resource).items() if key != labels.MANAGED_BY}
    context = GraphContext(
        name=graph_context.parent(resource),
        namespace=cluster.namespace(resource, config),
        ref=paths.ref,
        config=config,
        release=release,
        paths=paths,
        cluster=cluster_facts,
        orchestrator="deployment",
        framework=spec.get("backendFramework") or "",
        envs=[],
        discovery=annotations.get(labels.DISCOVERY_BACKEND, config.discovery_backend),
        findings=[],
    )
    identity = Identity(
        service=spec.get("serviceName") or address.name,
        name=address.name,
        graph=context.name,
        namespace=context.namespace,
        type=spec.get("componentType") or "",
        sub_type=spec.get("subComponentType") or "",
        dynamo_namespace=names.dynamo_namespace(context.namespace, context.name, shared=bool(spec.get("globalDynamoNamespace"))),
        selector=_selector(spec, own),
        labels={**(spec.get("labels") or {}), **own},
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
    graph = GraphPlan(
        name=address.name,
        namespace=context.namespace,
        config=config,
        ref=paths.ref,
        orchestrator=context.orchestrator,
        discovery=context.discovery,
        components=(plan,),
        annotations={},
        claims=(),
        restart=None,
        standalone=True,
        paths=paths,
        release=context.release,
    )
    return graph, context.findings


def _selector(spec: dict[str, Any], own: Labels) -> Labels:
    """The Service of a standalone component selects pods by the component type and the Dynamo namespace that the pods carry.

    A label that the pods lack is not selected, unless they have neither.

    The operator selects by both labels. Its Service finds no pod unless the user wrote the namespace as a label.

    Follows the operator's `internal/controller/dynamocomponentdeployment_controller.go generateService`.
    Rule: service.selector-standalone
    """
    kind, extra = spec.get("componentType") or "", (spec.get("extraPodMetadata") or {}).get("labels") or {}
    wanted = {labels.COMPONENT_TYPE: kind, labels.NAMESPACE: spec.get("dynamoNamespace") or ""}
    carried = {**(spec.get("labels") or {}), **own, **({labels.COMPONENT_TYPE: kind} if kind else {}), **extra}
    return {key: value for key, value in wanted.items() if carried.get(key) == value} or wanted
