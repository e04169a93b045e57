"""Makes the plan of a DynamoComponentDeployment without a graph, which is a graph of one component.

Follows the reference's `internal/controller/dynamocomponentdeployment_controller.go`.
"""

from __future__ import annotations

from typing import Any

from krm_fn import results
from krm_fn.behaviours import Behaviour
from krm_fn.config import Config
from krm_fn.kube import labels, names
from krm_fn.kube.types import Labels, Resource
from krm_fn.plan import Book, GraphPlan, Identity
from krm_fn.resolve import cluster, context
from krm_fn.resolve.cluster import ClusterFacts
from krm_fn.resolve.context import Shared
from krm_fn.resolve.v1alpha1.component import component as resolved
from krm_fn.results import Result


def component(resource: Resource, config: Config, found: ClusterFacts, release: Behaviour, book: Book) -> tuple[GraphPlan, list[Result]]:
    """The plan of a DynamoComponentDeployment, and findings about unreadable fields. `resource` must be well-formed, as for a graph."""
    spec, address = resource.get("spec") or {}, results.ref(resource)
    annotations = spec.get("annotations") or {}
    own = {key: value for key, value in labels.of(resource).items() if key != labels.MANAGED_BY}
    facts = Shared(
        name=context.parent(resource),
        namespace=cluster.namespace(resource, config),
        ref=book.ref,
        config=config,
        behaviour=release,
        book=book,
        cluster=found,
        orchestrator="deployment",
        framework=spec.get("backendFramework") or "",
        envs=[],
        discovery=annotations.get(labels.DISCOVERY_BACKEND, config.discovery_backend),
        found=[],
    )
    who = Identity(
        service=spec.get("serviceName") or address.name,
        name=address.name,
        graph=facts.name,
        namespace=facts.namespace,
        type=spec.get("componentType") or "",
        sub_type=spec.get("subComponentType") or "",
        dynamo_namespace=names.dynamo_namespace(facts.namespace, facts.name, shared=bool(spec.get("globalDynamoNamespace"))),
        selector=_selector(spec, own),
        labels={**(spec.get("labels") or {}), **own},
        annotations=annotations,
        graph_label=(spec.get("labels") or {}).get(labels.GRAPH, ""),
        service_labels=spec.get("labels") or {},
        standalone=True,
        metrics=annotations.get(labels.ENABLE_METRICS) != "false",
    )
    plan = resolved(facts, who, spec)
    if spec.get("dynamoNamespace") is None:
        message = "dynamoNamespace is required for a component without a graph, because its Service is found by it; set it"
        facts.found.append(results.error("DYN124", message, book.ref, ("spec", "dynamoNamespace")))
    graph = GraphPlan(
        name=address.name,
        namespace=facts.namespace,
        config=config,
        ref=book.ref,
        orchestrator=facts.orchestrator,
        discovery=facts.discovery,
        components=(plan,),
        annotations={},
        claims=(),
        restart=None,
        standalone=True,
        fields=book.graph,
        behaviour=facts.behaviour,
    )
    return graph, facts.found


def _selector(spec: dict[str, Any], own: Labels) -> Labels:
    """The selector of the Service: component type and Dynamo namespace, each only if the pods have the label, or both if they have neither.

    The reference selects by both labels. Its Service finds no pod unless the user wrote the namespace as a label.
    """
    kind, extra = spec.get("componentType") or "", (spec.get("extraPodMetadata") or {}).get("labels") or {}
    wanted = {labels.COMPONENT_TYPE: kind, labels.NAMESPACE: spec.get("dynamoNamespace") or ""}
    carried = {**(spec.get("labels") or {}), **own, **({labels.COMPONENT_TYPE: kind} if kind else {}), **extra}
    return {key: value for key, value in wanted.items() if carried.get(key) == value} or wanted
