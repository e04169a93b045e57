"""Makes the plan of a DynamoComponentDeployment without a graph, which is a graph of one component.

Follows the reference's `internal/dynamo/v1beta1_helpers.go` (GetDCDKubeLabels, GetDCDDynamoNamespace and neighbours).
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
from krm_fn.resolve.v1beta1 import features, older, templates
from krm_fn.resolve.v1beta1.component import component as resolved
from krm_fn.resolve.v1beta1.templates import Template
from krm_fn.results import Result
from krm_fn.schema import defaults

_OWNED = (labels.COMPONENT, labels.NAMESPACE, labels.GRAPH, labels.WORKER_HASH, labels.COMPONENT_CLASS)
"""The labels of the resource that no label of its pods overrides."""


def component(resource: Resource, config: Config, found: ClusterFacts, release: Behaviour, book: Book) -> tuple[GraphPlan, list[Result]]:
    """The plan of a DynamoComponentDeployment, and findings about unreadable fields. `resource` must be well-formed, as for a graph."""
    address, namespace = results.ref(resource), cluster.namespace(resource, config)
    template = _template(resource, namespace)
    facts = Shared(
        name="",
        namespace=namespace,
        ref=book.ref,
        config=config,
        behaviour=release,
        cluster=found,
        orchestrator="deployment",
        framework=template.component.get("backendFramework") or "",
        envs=[],
        discovery=template.annotations.get(labels.DISCOVERY_BACKEND, config.discovery_backend),
        book=book,
        found=[],
    )
    plan = GraphPlan(
        name=address.name,
        namespace=facts.namespace,
        config=config,
        ref=facts.ref,
        orchestrator=facts.orchestrator,
        discovery=facts.discovery,
        components=(resolved(facts, _identity(resource, namespace, template), template),),
        annotations={},
        claims=(),
        restart=None,
        standalone=True,
        fields=book.graph,
        behaviour=release,
        features=features.graph({"backendFramework": facts.framework}),
    )
    return plan, facts.found


def _template(resource: Resource, namespace: str) -> Template:
    """The component with the labels of its objects. A label of the resource that says who it is wins over all others."""
    spec, kept = defaults.applied(resource).get("spec") or {}, older.of_component(resource)
    name = results.ref(resource).name
    own = {key: value for key, value in labels.of(resource).items() if key != labels.MANAGED_BY}
    written = {**spec, "name": spec.get("name") or own.get(labels.COMPONENT) or name, "podTemplate": spec.get("podTemplate") or {}}
    graph = context.parent(resource) or own.get(labels.GRAPH) or name
    computed = _namespace(spec, namespace, graph)
    before = own if own.get(labels.GRAPH) and own.get(labels.WORKER_HASH) else {}
    found = templates.template(written, kept, kept.get("dynamoNamespace") or own.get(labels.NAMESPACE) or computed, before)
    above = {key: own[key] for key in _OWNED if own.get(key)}
    return found._replace(labels={**own, **found.labels, **above}, annotations={**found.annotations, **_of_topology(resource)})


def _identity(resource: Resource, namespace: str, template: Template) -> Identity:
    """The identity of the component. Its pods belong to the graph that owns it; without one, its own name stands for a graph."""
    address, spec, marks = results.ref(resource), template.component, template.labels
    parent = context.parent(resource) or address.name
    works = templates.is_worker(spec)
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
        graph_label=marks.get(labels.GRAPH) or context.parent(resource),
        service_labels={},
        standalone=True,
        metrics=template.annotations.get(labels.ENABLE_METRICS) != "false",
        generation=marks.get(labels.WORKER_HASH, "") if works else "",
    )


def _namespace(spec: dict[str, Any], namespace: str, graph: str) -> str:
    return names.dynamo_namespace(namespace, graph.replace(".", "-"), shared=bool(spec.get("globalDynamoNamespace")))


def _of_topology(resource: Resource) -> Labels:
    """The annotations of the resource from which the operator learns which labels of nodes to copy."""
    return {key: value for key, value in labels.notes(resource).items() if key in (labels.TOPOLOGY_KEY, labels.TOPOLOGY_NAME) and value}
