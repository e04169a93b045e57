"""Facts of a graph that its components share or inherit. They depend on the orchestrator.

The Dynamo operator has two paths. On the first, each component becomes a DynamoComponentDeployment, from which the objects are made
(`internal/dynamo/graph.go` GenerateDynamoComponentsDeployments). On the second, one object holds the whole graph (`grove.go`).
"""

from __future__ import annotations

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import quantity
from krm_fn.render import labels
from krm_fn.render.kinds import WHOLE_GRAPH
from krm_fn.render.plan import Claim, GraphPlan
from krm_fn.render.resolve import cluster

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.base.results import Ref, Result
    from krm_fn.kubernetes.native_types import EnvVar, PodSpec
    from krm_fn.kubernetes.types import Labels, Resource
    from krm_fn.render.config import Config
    from krm_fn.render.kinds.releases import Release
    from krm_fn.render.kinds.types import ComponentType
    from krm_fn.render.plan import ComponentPlan, SourcePaths
    from krm_fn.render.resolve.cluster import ClusterFacts

_NOTED = {"grove": "grove", "component": "deployment"}
_INHERITED = (labels.ENABLE_METRICS, labels.DISCOVERY_BACKEND)


class GraphContext(NamedTuple):
    """The facts that all components of one resource share. Readers add findings to `findings`.

    `name` is the graph's name, or empty. `written` is the resource in its own API version, which can be another one than the release reads.
    """

    name: str
    namespace: str
    ref: Ref
    config: Config
    release: Release
    cluster: ClusterFacts
    orchestrator: str
    framework: str
    envs: list[EnvVar]
    discovery: str
    paths: SourcePaths
    written: Resource
    findings: list[Result]

    @property
    def per_component(self) -> bool:
        """True if each component has its own objects, as with DynamoComponentDeployments."""
        return self.orchestrator not in WHOLE_GRAPH

    def plan(self, name: str, components: tuple[ComponentPlan, ...]) -> GraphPlan:
        """Returns the plan of a standalone component. The reader of a graph replaces the fields that only graphs have."""
        return GraphPlan(
            name=name,
            namespace=self.namespace,
            config=self.config,
            ref=self.ref,
            orchestrator=self.orchestrator,
            discovery=self.discovery,
            components=components,
            annotations={},
            claims=(),
            restart=None,
            standalone=True,
            paths=self.paths,
            release=self.release,
            devices=self.cluster.devices,
        )


def of_resource(resource: Resource, config: Config, cluster_facts: ClusterFacts, release: Release, paths: SourcePaths) -> GraphContext:
    """Returns the facts that do not depend on the API version of a resource. Its reader replaces the others."""
    return GraphContext(
        name="",
        namespace=cluster.namespace(resource, config),
        ref=paths.ref,
        config=config,
        release=release,
        cluster=cluster_facts,
        orchestrator="deployment",
        framework=(resource.get("spec") or {}).get("backendFramework") or "",
        envs=[],
        discovery=config.discovery_backend,
        paths=paths,
        written=resource,
        findings=[],
    )


def orchestrator(annotations: Mapping[str, Any], configured: str) -> str:
    """Returns the orchestrator of a graph: the configured one, or `deployment` if the graph opts out of Grove."""
    opts_out = configured in WHOLE_GRAPH and str(annotations.get(labels.ENABLE_GROVE, "")).lower() == "false"
    return "deployment" if opts_out else configured


def admitted_orchestrator(annotations: Mapping[str, Any], configured: str) -> str:
    """Returns the orchestrator that admission noted on the graph (since release 1.0), otherwise as above.

    The operator knows no DisaggregatedSets, so its note of objects for each component leaves them to the configuration.
    """
    noted = _NOTED.get(str(annotations.get(labels.WORKLOAD_PROVIDER, "")))
    return noted if noted and (noted in WHOLE_GRAPH or configured in WHOLE_GRAPH) else orchestrator(annotations, configured)


def inherited_annotations(context: GraphContext, annotations: Labels) -> Labels:
    """Returns the annotations that a service takes from its graph.

    Rule metadata.inherited: A service takes annotations such as the discovery backend from its graph, and they win over its own. (operator:
    internal/dynamo/graph.go GenerateDynamoComponentsDeployments)
    """
    if context.per_component:
        return {key: annotations[key] for key in _INHERITED if key in annotations}
    return {labels.DISCOVERY_BACKEND: context.discovery} if context.discovery else {}


def metrics(context: GraphContext, of_graph: Labels, of_service: Labels) -> bool:
    """True if the pods get the label for metrics. `of_service` holds the annotations of the service with the inherited annotations."""
    return (of_service if context.per_component else of_graph).get(labels.ENABLE_METRICS) != "false"


def service_labels(context: GraphContext, written: Labels) -> Labels:
    """Returns the labels of a service that reach its pods. With DynamoComponentDeployments, none of them do."""
    return {} if context.per_component else written


def enforced_pod_fields(context: GraphContext, kind: ComponentType) -> PodSpec:
    """Returns the pod fields of a component type that override the user's."""
    return kind.enforced if context.per_component else {}


def allows_ingress(context: GraphContext, kind: ComponentType) -> bool:
    """True if a component may have an ingress. If one object holds the whole graph, only a frontend may."""
    return kind.is_frontend or context.per_component


def parent(resource: Resource) -> str:
    """Returns the name of the graph that owns a standalone component; empty if there is none.

    Rule metadata.parent: A standalone component belongs to the graph in its owner references, if it has any. (operator:
    internal/controller/dynamocomponentdeployment_controller.go)
    """
    for owner in (resource.get("metadata") or {}).get("ownerReferences") or ():
        if owner.get("kind") == "DynamoGraphDeployment":
            return str(owner.get("name") or "")
    return ""


def claims(spec: dict[str, Any]) -> Iterator[Claim]:
    """Yields the PersistentVolumeClaims that a graph declares. Only v1alpha1 has the field; a conversion to v1beta1 preserves it."""
    for claim in spec.get("pvcs") or ():
        yield Claim(
            name=claim.get("name") or "",
            create=bool(claim.get("create")),
            size=quantity.canonical(claim["size"]) if claim.get("size") is not None else "",
            storage_class=claim.get("storageClass") or "",
            access_mode=claim.get("volumeAccessMode") or "",
        )
