"""Makes the plan of a DynamoComponentDeployment without a graph, which is a graph of one component.

Follows the reference's `internal/dynamo/v1beta1_helpers.go` GetDCDKubeLabels and its neighbours.
"""

from __future__ import annotations

from typing import Any

from krm_fn import results
from krm_fn.behaviours import Behaviour
from krm_fn.config import Config
from krm_fn.kube import labels, names
from krm_fn.kube.types import Labels, Resource
from krm_fn.plan import Book, GraphPlan, Identity
from krm_fn.resolve import cluster
from krm_fn.resolve.cluster import ClusterFacts
from krm_fn.resolve.context import Shared
from krm_fn.resolve.v1beta1 import older
from krm_fn.resolve.v1beta1.component import component as resolved
from krm_fn.resolve.v1beta1.templates import WORKERS, Template, kinds
from krm_fn.results import Result
from krm_fn.schema import defaults

_OF_THE_OPERATOR = (labels.COMPONENT, labels.NAMESPACE, labels.GRAPH, labels.WORKER_HASH, labels.COMPONENT_CLASS)
"""The labels of the resource that no label of its pods overrides."""


def component(resource: Resource, config: Config, found: ClusterFacts, release: Behaviour, book: Book) -> tuple[GraphPlan, list[Result]]:
    """The plan of a DynamoComponentDeployment, and the findings about it. `resource` must be well-formed, as for a graph."""
    spec, address = defaults.applied(resource).get("spec") or {}, results.ref(resource)
    template = _template(resource, spec, cluster.namespace(resource, config))
    facts = Shared(
        name=_parent(resource),
        namespace=cluster.namespace(resource, config),
        ref=book.ref,
        config=config,
        behaviour=release,
        cluster=found,
        orchestrator="deployment",
        framework=spec.get("backendFramework") or "",
        envs=[],
        discovery=template.annotations.get(labels.DISCOVERY_BACKEND, config.discovery_backend),
        book=book,
        found=[],
    )
    plan = resolved(facts, _identity(facts, template, address.name), template)
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
        fields={},
        behaviour=facts.behaviour,
    )
    return graph, facts.found


def _template(resource: Resource, spec: dict[str, Any], namespace: str) -> Template:
    """The component with its labels and annotations. Its name is that of the resource if it has none."""
    kept, own = older.of_component(resource), {key: value for key, value in labels.of(resource).items() if key != labels.MANAGED_BY}
    written = {**spec, "name": spec.get("name") or own.get(labels.COMPONENT) or results.ref(resource).name}
    kind, sub_kind = kinds(written, kept)
    metadata = (written.get("podTemplate") or {}).get("metadata") or {}
    model = (written.get("modelRef") or {}).get("name")
    computed = names.dynamo_namespace(namespace, _parent(resource).replace(".", "-"), shared=bool(written.get("globalDynamoNamespace")))
    users = ({**(kept.get(part) or {}), **(metadata.get(part) or {})} for part in ("labels", "annotations"))
    user_labels, user_annotations = users
    carried = {
        **own,
        **user_labels,
        **({labels.BASE_MODEL_HASH: names.model_hash(model)} if model else {}),
        **({labels.SUB_COMPONENT_TYPE: sub_kind} if sub_kind else {}),
        labels.COMPONENT: written["name"],
        labels.NAMESPACE: kept.get("dynamoNamespace") or computed,
        **{key: own[key] for key in _OF_THE_OPERATOR if own.get(key)},
    }
    annotations = {**user_annotations, **({labels.BASE_MODEL: model} if model else {})}
    annotations.pop(labels.ORIGIN_VERSION, None)
    # Without an ingress of v1alpha1 there is none: the configured ingress is for frontends of graphs.
    kept = {**kept, "ingress": kept.get("ingress") or {}}
    return Template(written, kind, sub_kind, computed, carried, annotations, written, kept, user_labels, user_annotations)


def _identity(facts: Shared, template: Template, name: str) -> Identity:
    carried = template.labels
    return Identity(
        service=template.name,
        name=name,
        graph=facts.name,
        namespace=facts.namespace,
        type=template.kind,
        sub_type=template.sub_kind,
        dynamo_namespace=template.dynamo_namespace,
        selector={
            labels.COMPONENT_TYPE: template.kind,
            labels.NAMESPACE: carried[labels.NAMESPACE],
            labels.COMPONENT: carried[labels.COMPONENT],
        },
        labels=carried,
        annotations=template.annotations,
        graph_label=carried.get(labels.GRAPH, ""),
        service_labels={},
        standalone=True,
        metrics=template.annotations.get(labels.ENABLE_METRICS) != "false",
        generation=_generation(template.component, carried),
    )


def _generation(component: dict[str, Any], carried: Labels) -> str:
    """The hash of a worker that an operator named after it."""
    return carried.get(labels.WORKER_HASH, "") if component.get("type") in WORKERS else ""


def _parent(resource: Resource) -> str:
    """The graph of a component, from its owner references. A component without an owner is its own parent, as in the reference."""
    for owner in (resource.get("metadata") or {}).get("ownerReferences") or ():
        if owner.get("kind") == "DynamoGraphDeployment":
            return str(owner.get("name") or "")
    return results.ref(resource).name
