"""Makes the plan of a DynamoGraphDeployment.

Follows the reference's `internal/dynamo/graph.go` GenerateDynamoComponentsDeployments.
"""

from __future__ import annotations

from typing import Any

from krm_fn import results
from krm_fn.behaviours import Behaviour
from krm_fn.config import Config
from krm_fn.kube import labels, names
from krm_fn.kube.types import Labels, Resource
from krm_fn.plan import Book, ComponentPlan, GraphPlan, Identity, Restart
from krm_fn.resolve import cluster, pathway
from krm_fn.resolve.claims import claims
from krm_fn.resolve.cluster import ClusterFacts
from krm_fn.resolve.context import Shared
from krm_fn.resolve.v1alpha1 import newer_fields
from krm_fn.resolve.v1alpha1.component import component
from krm_fn.results import Result


def graph(resource: Resource, config: Config, found: ClusterFacts, release: Behaviour, book: Book) -> tuple[GraphPlan, list[Result]]:
    """The plan of a DynamoGraphDeployment, and the findings about fields that cannot be read.

    `resource` must be well-formed: `krm_fn.schema.check` found no error in it, or the invalid fields have been removed. `book` holds the
    addresses of the resource as its author wrote it.
    """
    spec, annotations = resource.get("spec") or {}, labels.notes(resource)
    restart = _restart(spec.get("restart"))
    facts = Shared(
        name=results.ref(resource).name,
        namespace=cluster.namespace(resource, config),
        ref=book.ref,
        config=config,
        behaviour=release,
        book=book,
        cluster=found,
        orchestrator=pathway.orchestrator(annotations, config.orchestrator),
        framework=spec.get("backendFramework") or "",
        envs=spec.get("envs") or [],
        discovery=annotations.get(labels.DISCOVERY_BACKEND, config.discovery_backend),
        found=[],
    )
    stamp = {labels.RESTART_AT: restart.id} if restart and restart.id and config.restart == "render" else {}
    components = tuple(_component(facts, name, service or {}, annotations, stamp) for name, service in (spec.get("services") or {}).items())
    facts.found.extend(newer_fields.of_graph(spec, book))
    plan = GraphPlan(
        name=facts.name,
        namespace=facts.namespace,
        config=config,
        ref=facts.ref,
        orchestrator=facts.orchestrator,
        discovery=facts.discovery,
        components=components,
        annotations=annotations,
        claims=tuple(claims(spec)),
        restart=restart,
        standalone=False,
        fields=book.graph,
        behaviour=facts.behaviour,
    )
    return plan, facts.found


def _restart(written: dict[str, Any] | None) -> Restart | None:
    """The restart that the graph requests (reference: DetermineRestartState). A render restarts all services at once."""
    if written is None:
        return None
    strategy = written.get("strategy") or {}
    order, kind = tuple(strategy.get("order") or ()), strategy.get("type") or ""
    return Restart(written.get("id") or "", order, sequential=kind == "Sequential" or bool(not kind and order), parallel=kind == "Parallel")


def _component(facts: Shared, name: str, service: dict[str, Any], of_graph: Labels, stamp: Labels) -> ComponentPlan:
    """The plan of one service, with the facts that it takes from its graph."""
    annotations = {**(service.get("annotations") or {}), **pathway.inherited(facts, of_graph), **stamp}
    dynamo_namespace = names.dynamo_namespace(facts.namespace, facts.name, shared=bool(service.get("globalDynamoNamespace")))
    who = Identity(
        service=name,
        name=names.component(facts.name, name),
        graph=facts.name,
        namespace=facts.namespace,
        type=service.get("componentType") or "",
        sub_type=service.get("subComponentType") or "",
        dynamo_namespace=dynamo_namespace,
        selector={labels.COMPONENT_TYPE: service.get("componentType") or "", labels.NAMESPACE: dynamo_namespace},
        labels={labels.COMPONENT: name, labels.NAMESPACE: dynamo_namespace, labels.GRAPH: facts.name},
        annotations=annotations,
        graph_label=facts.name,
        service_labels=pathway.service_labels(facts, service.get("labels") or {}),
        standalone=False,
        metrics=pathway.metrics(facts, of_graph, annotations),
    )
    return component(facts, who, service)
