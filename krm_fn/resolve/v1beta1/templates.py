"""What a graph adds to each of its components, before pods are made of them.

The result has the content of the DynamoComponentDeployments that the reference makes. The reference hashes the templates of workers to
name their generation. Follows its `internal/dynamo/graph.go` (applyDGDTemplateDefaults, GenerateDynamoComponentsDeployments) and
`v1beta1_helpers.go` GetDCDKubeLabels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import labels, merge, names
from krm_fn.manifests import components
from krm_fn.records import NamedTuple
from krm_fn.resolve.v1beta1 import configured, kv_transfer
from krm_fn.resolve.v1beta1.fields import INHERITED, MAIN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from krm_fn.kube.types import Labels


class Graph(NamedTuple):
    """A graph of v1beta1 with the defaults that admission writes.

    `older` holds the fields of its components in v1alpha1, by name, for fields that only v1alpha1 has; empty if the graph has none.
    `separate` is true if each component has objects of its own, other than on Grove. `domains` are those of the ClusterTopology that the
    policy for key-value caches names. `port` is the port of frontends.
    """

    name: str
    namespace: str
    spec: dict[str, Any]
    annotations: Labels
    older: Mapping[str, dict[str, Any]]
    separate: bool
    domains: tuple[str, ...] = ()
    port: int = 0


class Template(NamedTuple):
    """One component with everything that its graph adds.

    `component` is its spec, `written` the spec as its author wrote it, and `older` holds its fields in v1alpha1 (`Graph.older`). `labels`
    and `annotations` are those of its objects. `kind` and `sub_kind` are the values of the labels for its type. `user_labels` and
    `user_annotations` are those that users wrote for the graph, for the service and for its pods.
    """

    component: dict[str, Any]
    kind: str
    sub_kind: str
    dynamo_namespace: str
    labels: Labels
    annotations: Labels
    written: dict[str, Any]
    older: dict[str, Any]
    user_labels: Labels
    user_annotations: Labels

    @property
    def name(self) -> str:
        """The component's name."""
        return str(self.component.get("name") or "")


def is_worker(component: dict[str, Any]) -> bool:
    """True if the component is of a type that runs an inference engine. Such components have generations."""
    return components.get(component.get("type") or "").runs_engine


def templates(graph: Graph, generation: str) -> tuple[Template, ...]:
    """The templates of all components. `generation` is the worker hash, or empty."""
    listed = graph.spec.get("components") or ()
    picked = any(components.get(component.get("type") or "").picks_workers for component in listed)
    return tuple(_template(graph, component, generation, picked=picked) for component in listed)


def _template(graph: Graph, written: dict[str, Any], generation: str, *, picked: bool) -> Template:
    """One component of a graph, with everything that the graph adds to it."""
    older = graph.older.get(written.get("name") or "") or {}
    dynamo_namespace = names.dynamo_namespace(
        graph.namespace, graph.name.replace(".", "-"), shared=bool(written.get("globalDynamoNamespace"))
    )
    marks, defaults = _marks(written, generation, picked=picked), _default_annotations(graph, written)
    policy = kv_transfer.policy(graph.spec) if is_worker(written) else None
    with_policy = _with_policy(_with_env(written, graph.spec.get("env") or ()), policy, graph.domains)
    component = with_pod(with_policy, lambda pod: _with_metadata(pod, graph, marks, defaults))
    if graph.separate:
        component = _with_settings(component, graph.port)
    found = template(component, older, dynamo_namespace, _metadata(written).get("labels") or {})
    return found._replace(
        labels={**found.labels, labels.GRAPH: graph.name},
        annotations=kv_transfer.annotated(found.annotations, policy),
        written=written,
        user_labels=_users(graph, older, written, "labels"),
        user_annotations=_users(graph, older, written, "annotations"),
    )


def template(component: dict[str, Any], older: dict[str, Any], dynamo_namespace: str, before: Labels) -> Template:
    """One component with the labels and annotations of its objects. The name of a graph is not among the labels.

    `before` are labels that can come from a workload that an older release made.
    """
    kind, sub_kind = _kinds(component.get("type") or "", older, before)
    metadata = _metadata(component)
    model = (component.get("modelRef") or {}).get("name")
    own = {
        **(older.get("labels") or {}),
        **(metadata.get("labels") or {}),
        **({labels.BASE_MODEL_HASH: names.model_hash(model)} if model else {}),
        **({labels.SUB_COMPONENT_TYPE: sub_kind} if sub_kind else {}),
        labels.COMPONENT: component.get("name") or "",
        labels.NAMESPACE: dynamo_namespace,
    }
    annotations = {
        **(older.get("annotations") or {}),
        **(metadata.get("annotations") or {}),
        **({labels.BASE_MODEL: model} if model else {}),
    }
    annotations.pop(labels.ORIGIN_VERSION, None)
    return Template(component, kind, sub_kind, dynamo_namespace, own, annotations, component, older, {}, {})


def _users(graph: Graph, older: dict[str, Any], written: dict[str, Any], part: str) -> Labels:
    """The user's labels or annotations: those of the graph, below those of the service, below those of the pod template."""
    return {**(graph.spec.get(part) or {}), **(older.get(part) or {}), **(_metadata(written).get(part) or {})}


def _metadata(component: dict[str, Any]) -> dict[str, Any]:
    """The metadata of the pods of a component."""
    return (component.get("podTemplate") or {}).get("metadata") or {}


def _kinds(kind: str, older: dict[str, Any], before: Labels) -> tuple[str, str]:
    """The values of the labels for the type. A pod that an older operator labelled with an older type keeps that label."""
    older_type = components.get(kind).older_type
    if not older_type:
        return kind, older.get("subComponentType") or ""
    is_older = before.get(labels.COMPONENT_TYPE) == older_type and before.get(labels.SUB_COMPONENT_TYPE) in (None, "", kind)
    return (older_type if is_older else kind), kind


def _marks(written: dict[str, Any], generation: str, *, picked: bool) -> Labels:
    """The labels that the graph writes into the pod templates of workers."""
    if not is_worker(written):
        return {}
    return {
        **({labels.WORKER_HASH: generation} if generation else {}),
        **({labels.COMPONENT_CLASS: labels.WORKER_CLASS} if picked else {}),
    }


def _default_annotations(graph: Graph, written: dict[str, Any]) -> Labels:
    """The annotations that the graph writes below those of the component."""
    return components.get(written.get("type") or "").annotations if graph.separate else {}


def with_pod(component: dict[str, Any], change: Any) -> dict[str, Any]:
    """The component with a changed pod template."""
    return {**component, "podTemplate": change(component.get("podTemplate") or {})}


def _with_env(component: dict[str, Any], common: Any) -> dict[str, Any]:
    """The component with the variables of its graph below its own, sorted by name. Without a main container, one is added."""
    if not common:
        return component

    def changed(template: dict[str, Any]) -> dict[str, Any]:
        spec, containers, main = _main(template)
        done = [
            {**container, "env": merge.envs(common, container.get("env") or ())} if container is main else container
            for container in containers
        ]
        return {**template, "spec": {**spec, "containers": done}}

    return with_pod(component, changed)


def _with_policy(component: dict[str, Any], policy: dict[str, Any] | None, domains: Sequence[str]) -> dict[str, Any]:
    """The component with the policy for key-value caches. Without a main container, one is added."""
    if policy is None:
        return component

    def changed(template: dict[str, Any]) -> dict[str, Any]:
        spec, containers, main = _main(template)
        return kv_transfer.laid({**template, "spec": {**spec, "containers": containers}}, main, policy, domains)

    return with_pod(component, changed)


def _with_settings(component: dict[str, Any], port: int) -> dict[str, Any]:
    """The component with its settings in the variable `DYN_DEPLOYMENT_CONFIG`."""
    spec, containers, main = _main(component["podTemplate"])
    if configured.variable(main) is None:
        return component
    done = [configured.applied(container, component, port) if container is main else container for container in containers]
    return with_pod(component, lambda template: {**template, "spec": {**spec, "containers": done}})


def _main(template: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]:
    """The pod of a template, its containers, and the main one of them, which is added if it is missing."""
    spec = template.get("spec") or {}
    containers = list(spec.get("containers") or ())
    main = next((container for container in containers if container.get("name") == MAIN), None)
    if main is None:
        main = {"name": MAIN}
        containers.append(main)
    return spec, containers, main


def _with_metadata(template: dict[str, Any], graph: Graph, marks: Labels, defaults: Labels) -> dict[str, Any]:
    """The pod template with the labels and annotations of its graph. The component's own labels and annotations win."""
    metadata = template.get("metadata") or {}
    inherited = {key: graph.annotations[key] for key in INHERITED if key in graph.annotations}
    own = {
        "labels": {**(graph.spec.get("labels") or {}), **(metadata.get("labels") or {}), **marks},
        "annotations": {**(graph.spec.get("annotations") or {}), **inherited, **defaults, **(metadata.get("annotations") or {})},
    }
    return {**template, "metadata": {**metadata, **{key: value for key, value in own.items() if value}}}
