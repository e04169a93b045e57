"""Makes the plan of a DynamoGraphDeployment.

Follows the reference's `internal/dynamo/graph.go` GenerateDynamoComponentsDeployments, and `internal/webhook/defaulting` for the fields
that admission writes.
"""

from __future__ import annotations

from typing import Any

from krm_fn import results
from krm_fn.behaviours import Behaviour
from krm_fn.config import Config
from krm_fn.kube import labels, names
from krm_fn.kube.types import Labels, Resource
from krm_fn.plan import Book, GraphPlan, Identity, Restart
from krm_fn.resolve import cluster, engines, pathway
from krm_fn.resolve.cluster import ClusterFacts
from krm_fn.resolve.context import Shared
from krm_fn.resolve.v1beta1 import features, older, topology
from krm_fn.resolve.v1beta1.component import component
from krm_fn.resolve.v1beta1.generations import Generation, generation_of
from krm_fn.resolve.v1beta1.templates import Graph, Template, is_worker, templates
from krm_fn.results import Result
from krm_fn.schema import defaults


def graph(resource: Resource, config: Config, found: ClusterFacts, release: Behaviour, book: Book) -> tuple[GraphPlan, list[Result]]:
    """The plan of a DynamoGraphDeployment, and the findings about fields that cannot be read.

    `resource` must be well-formed: `krm_fn.schema.check` found no error in it, or the invalid fields have been removed. `book` holds the
    addresses of the resource as its author wrote it.
    """
    spec, annotations = defaults.applied(resource).get("spec") or {}, admitted(labels.notes(resource), config)
    facts = Shared(
        name=results.ref(resource).name,
        namespace=cluster.namespace(resource, config),
        ref=book.ref,
        config=config,
        behaviour=release,
        cluster=found,
        orchestrator=pathway.admitted_orchestrator(annotations, config.orchestrator),
        framework=spec.get("backendFramework") or "",
        envs=[],
        discovery=annotations.get(labels.DISCOVERY_BACKEND, config.discovery_backend),
        book=book,
        found=[],
    )
    restart = _restart(spec.get("restart"))
    kept, separate = older.read(resource), pathway.per_component(facts)
    source = Graph(
        facts.name, facts.namespace, spec, annotations, kept.services, separate, topology.domains(facts, spec), release.ports.http
    )
    current = generation_of(source, facts)
    made = templates(source, current.pods)
    stamp = {labels.RESTART_AT: restart.id} if restart and restart.id and config.restart == "render" else {}
    components = tuple(component(facts, _identity(facts, template, source, current, stamp), template) for template in made)
    engines.check_same(facts, components)
    plan = GraphPlan(
        name=facts.name,
        namespace=facts.namespace,
        config=config,
        ref=facts.ref,
        orchestrator=facts.orchestrator,
        discovery=facts.discovery,
        components=components,
        annotations=annotations,
        claims=kept.claims,
        restart=restart,
        standalone=False,
        fields=book.graph,
        behaviour=release,
        features=features.graph(spec),
    )
    return plan, facts.found


def admitted(annotations: Labels, config: Config) -> Labels:
    """The annotations of a graph with the version of the operator that created it, which admission writes."""
    return {labels.ORIGIN_VERSION: config.operator_version, **annotations}


def _restart(written: dict[str, Any] | None) -> Restart | None:
    """The restart that the graph requests. It is sequential unless its type is Parallel."""
    if written is None:
        return None
    strategy = written.get("strategy") or {}
    parallel = strategy.get("type") == "Parallel"
    return Restart(written.get("id") or "", tuple(strategy.get("order") or ()), sequential=not parallel, parallel=parallel)


def _identity(facts: Shared, template: Template, of: Graph, current: Generation, stamp: Labels) -> Identity:
    generation = current if is_worker(template.component) else Generation()
    written = template.older.get("dynamoNamespace") if pathway.per_component(facts) else None
    who = Identity(
        service=template.name,
        name=names.component(facts.name, template.name),
        graph=facts.name,
        namespace=facts.namespace,
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
        graph_label=facts.name,
        service_labels={},
        standalone=False,
        metrics=pathway.metrics(facts, of.annotations, template.annotations),
        generation=generation.pods,
        suffix=generation.names,
    )
    if pathway.per_component(facts):
        return who
    from krm_fn.resolve.v1beta1 import under_grove  # noqa: PLC0415 - the default pathway does not need it

    return under_grove.identity(who, template, facts.discovery, stamp)
