"""Components with everything that their graph adds to them, before pods are made of them.

The result has the content of the DynamoComponentDeployments that the operator makes. The operator hashes the templates of workers to
name their generation. Follows its `internal/dynamo/graph.go` (applyDGDTemplateDefaults, GenerateDynamoComponentsDeployments) and
`v1beta1_helpers.go` GetDCDKubeLabels.
"""

from __future__ import annotations

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import merge
from krm_fn.render import labels, names
from krm_fn.render.convert.path_mapping import INHERITED, MAIN
from krm_fn.render.kinds import types
from krm_fn.render.plan import Identity
from krm_fn.render.resolve import cluster_topologies, deployment_config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from krm_fn.kubernetes.types import Labels


_OF_DYNAMO = (
    labels.COMPONENT,
    labels.NAMESPACE,
    labels.GRAPH,
    labels.SUB_COMPONENT_TYPE,
    labels.COMPONENT_CLASS,
    labels.WORKER_HASH,
)
_TOPOLOGY = (labels.TOPOLOGY_KEY, labels.TOPOLOGY_NAME)


class Graph(NamedTuple):
    """A graph of v1beta1 with the defaults that admission writes.

    `v1alpha1_services` holds its components as v1alpha1 services, by name, for fields that only v1alpha1 has; empty if the graph has none.
    `separate` is true if each component has objects of its own, other than on Grove. `domains` are those of the ClusterTopology that the
    policy for key-value caches names. `port` is the port of frontends. `owns_origin` and
    `sidecar_mode` are those of the release.
    """

    name: str
    namespace: str
    spec: dict[str, Any]
    annotations: Labels
    v1alpha1_services: Mapping[str, dict[str, Any]]
    separate: bool
    domains: tuple[str, ...] = ()
    port: int = 0
    owns_origin: bool = False
    sidecar_mode: bool = False


class ComponentTemplate(NamedTuple):
    """One component with everything that its graph adds.

    `component` is its spec, `written` the spec as its author wrote it, and `v1alpha1_service` the service that it is in v1alpha1
    (`Graph.v1alpha1_services`). `labels` and `annotations` are those of its objects. `kind` and `sub_kind` are the values of the labels
    for its type. `user_labels` and `user_annotations` are those that users wrote for the graph, for the service and for its pods.
    `roles` holds a template for each role that has a pod template of its own; `role` is then the position of the role in `roles`.
    """

    component: dict[str, Any]
    kind: str
    sub_kind: str
    dynamo_namespace: str
    labels: Labels
    annotations: Labels
    written: dict[str, Any]
    v1alpha1_service: dict[str, Any]
    user_labels: Labels
    user_annotations: Labels
    roles: Mapping[str, ComponentTemplate] = {}
    role: int | None = None

    @property
    def name(self) -> str:
        """The component's name."""
        return str(self.component.get("name") or "")


def is_worker(component: dict[str, Any]) -> bool:
    """True if the component is of a type that runs an inference engine. Such components have generations."""
    return types.get(component.get("type") or "").runs_engine


def templates(graph: Graph, worker_hash: str) -> tuple[ComponentTemplate, ...]:
    """Returns the templates of all components. `worker_hash` may be empty."""
    components = graph.spec.get("components") or ()
    picked = any(types.get(component.get("type") or "").picks_workers for component in components)
    return tuple(_of_component(graph, component, worker_hash, picked=picked) for component in components)


def with_worker_hash(graph: Graph, listed: Sequence[ComponentTemplate], worker_hash: str) -> tuple[ComponentTemplate, ...]:
    """Returns the templates of all components with another worker hash. `listed` are those with a hash that is not empty."""
    if not any(is_worker(template.component) for template in listed):
        return tuple(listed)
    if not worker_hash or any(template.roles for template in listed):
        return templates(graph, worker_hash)  # _with_labels removes no label, and does not change the pod templates of roles
    return tuple(_with_labels(template, _marks(template.component, worker_hash, picked=False)) for template in listed)


def _with_labels(template: ComponentTemplate, changed: Labels) -> ComponentTemplate:
    """Returns the template with other values of labels that its objects and its pods already have."""
    if not changed:
        return template
    pod = template.component["podTemplate"]
    metadata = {**pod["metadata"], "labels": {**pod["metadata"]["labels"], **changed}}
    component = {**template.component, "podTemplate": {**pod, "metadata": metadata}}
    return template._replace(component=component, labels={**template.labels, **changed})


def role_pods(written: dict[str, Any]) -> Iterator[tuple[int, dict[str, Any], dict[str, Any]]]:
    """Yields the roles that have pod templates of their own: position, role, and the component with the pod template of the role."""
    for index, role in enumerate(written.get("roles") or ()):
        if role.get("podTemplate") is not None:
            yield index, role, {**written, "podTemplate": role["podTemplate"]}


def _of_component(graph: Graph, written: dict[str, Any], worker_hash: str, *, picked: bool) -> ComponentTemplate:
    """Returns one component with everything that its graph adds, also to its roles.

    Rule roles.graph-fields: All that a graph adds to the pods of a component, it adds to the pod template of each role. (operator:
    internal/dynamo/graph.go applyDGDTemplateDefaults)
    """
    roles = {
        role["name"]: _template(graph, component, worker_hash, picked=picked)._replace(role=index)
        for index, role, component in role_pods(written)
    }
    if not roles:
        return _template(graph, written, worker_hash, picked=picked)
    listed = [
        {**role, "podTemplate": roles[role["name"]].component["podTemplate"]} if role["name"] in roles else role
        for role in written["roles"]
    ]
    service = graph.v1alpha1_services.get(written.get("name") or "") or {}
    first = next(iter(roles.values()))
    whole = template({**written, "roles": listed}, service, first.dynamo_namespace, {})
    marks = {**_marks(written, worker_hash, picked=picked), labels.GRAPH: graph.name}
    return whole._replace(
        labels={**whole.labels, **marks},
        written=written,
        user_labels=_users(graph, service, written, "labels"),
        user_annotations=_users(graph, service, written, "annotations"),
        roles=roles,
    )


def _template(graph: Graph, written: dict[str, Any], worker_hash: str, *, picked: bool) -> ComponentTemplate:
    """Returns one component of a graph, or one role, with everything that the graph adds to it.

    Rule metadata.graph-v1beta1: The objects of a v1beta1 component have a label with the name of its graph, whose dots are dashes in the
    Dynamo namespace. (operator: internal/dynamo/graph.go GenerateDynamoComponentsDeployments)
    """
    service = graph.v1alpha1_services.get(written.get("name") or "") or {}
    dynamo_namespace = names.dynamo_namespace(
        graph.namespace, graph.name.replace(".", "-"), shared=bool(written.get("globalDynamoNamespace"))
    )
    marks, defaults = _marks(written, worker_hash, picked=picked), _default_annotations(graph, written)
    policy = cluster_topologies.policy(graph.spec) if is_worker(written) else None
    beside = graph.sidecar_mode and is_worker(written)
    with_env = _with_env(written, graph.spec.get("env") or (), sidecar_mode=beside)
    with_policy = _with_policy(with_env, policy, graph.domains, sidecar_mode=beside)
    component = with_pod(with_policy, lambda pod: _with_metadata(pod, graph, marks, defaults))
    if graph.separate:
        component = _with_settings(component, graph.port)
    resolved = template(component, service, dynamo_namespace, _metadata(written).get("labels") or {})
    return resolved._replace(
        labels={**resolved.labels, labels.GRAPH: graph.name},
        annotations=cluster_topologies.add_topology_annotations(resolved.annotations, policy),
        written=written,
        user_labels=_users(graph, service, written, "labels"),
        user_annotations=_users(graph, service, written, "annotations"),
    )


def template(component: dict[str, Any], service: dict[str, Any], dynamo_namespace: str, before: Labels) -> ComponentTemplate:
    """Returns a component with the labels and annotations of its objects.

    The name of a graph is not among the labels.
    `before` are labels that can come from a workload that an older release made.

    Rule metadata.component-v1beta1: The objects of a v1beta1 component have labels for it, its Dynamo namespace and its model, and the
    metadata of its pod template. (operator: internal/dynamo/v1beta1_helpers.go GetDCDKubeLabels)
    """
    kind, sub_kind = _kinds(component.get("type") or "", service, before)
    metadata = _metadata(component)
    model = (component.get("modelRef") or {}).get("name")
    object_labels = {
        **(service.get("labels") or {}),
        **(metadata.get("labels") or {}),
        **({labels.BASE_MODEL_HASH: names.model_hash(model)} if model else {}),
        **({labels.SUB_COMPONENT_TYPE: sub_kind} if sub_kind else {}),
        labels.COMPONENT: component.get("name") or "",
        labels.NAMESPACE: dynamo_namespace,
    }
    annotations = {
        **(service.get("annotations") or {}),
        **(metadata.get("annotations") or {}),
        **({labels.BASE_MODEL: model} if model else {}),
    }
    annotations.pop(labels.ORIGIN_VERSION, None)
    return ComponentTemplate(component, kind, sub_kind, dynamo_namespace, object_labels, annotations, component, service, {}, {})


def _users(graph: Graph, service: dict[str, Any], written: dict[str, Any], part: str) -> Labels:
    """Returns the user's labels or annotations: those of the graph, below those of the service, below those of the pod template."""
    return {**(graph.spec.get(part) or {}), **(service.get(part) or {}), **(_metadata(written).get(part) or {})}


def _metadata(component: dict[str, Any]) -> dict[str, Any]:
    """Returns the metadata of the pods of a component."""
    return (component.get("podTemplate") or {}).get("metadata") or {}


def _kinds(kind: str, service: dict[str, Any], before: Labels) -> tuple[str, str]:
    """Returns the values of the labels for the type. A pod that an older operator labelled with the type of v1alpha1 keeps that label."""
    v1alpha1_type = types.get(kind).v1alpha1_type
    if not v1alpha1_type:
        return kind, service.get("subComponentType") or ""
    has_v1alpha1_type = before.get(labels.COMPONENT_TYPE) == v1alpha1_type and before.get(labels.SUB_COMPONENT_TYPE) in (None, "", kind)
    return (v1alpha1_type if has_v1alpha1_type else kind), kind


def _marks(written: dict[str, Any], worker_hash: str, *, picked: bool) -> Labels:
    """Returns the labels that a graph adds to the pods of its workers.

    Rule metadata.worker: The pods of a v1beta1 worker have a label with the worker hash, and one with their class if the graph has an
    endpoint picker. (operator: internal/dynamo/graph.go GenerateDynamoComponentsDeployments)
    """
    if not is_worker(written):
        return {}
    return {
        **({labels.WORKER_HASH: worker_hash} if worker_hash else {}),
        **({labels.COMPONENT_CLASS: labels.WORKER_CLASS} if picked else {}),
    }


def _default_annotations(graph: Graph, written: dict[str, Any]) -> Labels:
    """Returns the annotations that the graph writes below those of the component."""
    return types.get(written.get("type") or "").annotations if graph.separate else {}


def with_pod(component: dict[str, Any], change: Any) -> dict[str, Any]:
    """Returns the component with a changed pod template.

    Rule worker-hash.pod: The worker hash reads the pod template of a worker with the fields of its graph. (operator:
    internal/dynamo/graph.go applyDGDTemplateDefaults)
    """
    return {**component, "podTemplate": change(component.get("podTemplate") or {})}


def _with_env(component: dict[str, Any], common: Any, *, sidecar_mode: bool) -> dict[str, Any]:
    """Returns the component with the variables of its graph below its own, sorted by name.

    Without a main container, one is added. In sidecar mode, the container that runs Dynamo beside the engine gets the variables, too.

    Rule env.graph-v1beta1: The variables of a v1beta1 graph are below those of its components, and the joined list is sorted by name.
    (operator: internal/dynamo/graph.go applyDGDTemplateDefaults)
    """
    if not common:
        return component

    def add_env(template: dict[str, Any]) -> dict[str, Any]:
        spec, containers, main = _main(template)
        targets = (main, _dynamo(spec, main, sidecar_mode=sidecar_mode))

        def merge_env(listed: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
            return [
                {**container, "env": merge.envs(common, container.get("env") or ())} if _is_among(container, targets) else container
                for container in listed
            ]

        inits = {"initContainers": merge_env(spec["initContainers"])} if spec.get("initContainers") else {}
        return {**template, "spec": {**spec, **inits, "containers": merge_env(containers)}}

    return with_pod(component, add_env)


def _dynamo(spec: dict[str, Any], main: dict[str, Any], *, sidecar_mode: bool) -> dict[str, Any]:
    """Returns the container that runs Dynamo: the main one, or in sidecar mode the init container beside it."""
    inits = spec.get("initContainers") or () if sidecar_mode else ()
    return next((container for container in inits if container.get("name") == names.RUNTIME), main)


def _is_among(container: dict[str, Any], containers: Sequence[dict[str, Any]]) -> bool:
    return any(container is other for other in containers)


def _with_policy(component: dict[str, Any], policy: dict[str, Any] | None, domains: Sequence[str], *, sidecar_mode: bool) -> dict[str, Any]:
    """Returns the component with the policy for key-value caches. Without a main container, one is added."""
    if policy is None:
        return component

    def add_policy(template: dict[str, Any]) -> dict[str, Any]:
        spec, containers, main = _main(template)
        target = _dynamo(spec, main, sidecar_mode=sidecar_mode)
        return cluster_topologies.laid({**template, "spec": {**spec, "containers": containers}}, target, policy, domains)

    return with_pod(component, add_policy)


def _with_settings(component: dict[str, Any], port: int) -> dict[str, Any]:
    """Returns the component with its settings in the variable `DYN_DEPLOYMENT_CONFIG`."""
    spec, containers, main = _main(component["podTemplate"])
    if deployment_config.variable(main) is None:
        return component
    done = [
        deployment_config.apply_deployment_config(container, component, port) if container is main else container
        for container in containers
    ]
    return with_pod(component, lambda template: {**template, "spec": {**spec, "containers": done}})


def _main(template: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]:
    """Returns the pod of a template, its containers, and the main one of them, which is added if it is missing."""
    spec = template.get("spec") or {}
    containers = list(spec.get("containers") or ())
    main = next((container for container in containers if container.get("name") == MAIN), None)
    if main is None:
        main = {"name": MAIN}
        containers.append(main)
    return spec, containers, main


def _with_metadata(template: dict[str, Any], graph: Graph, marks: Labels, defaults: Labels) -> dict[str, Any]:
    """Returns the pod template with the labels and annotations of its graph. The component's own labels and annotations win.

    Rule metadata.pod-v1beta1: The labels and annotations of a v1beta1 graph are below those of the pod templates of its components.
    (operator: internal/dynamo/graph.go applyDGDTemplateDefaults)
    """
    metadata = template.get("metadata") or {}
    inherited = {key: graph.annotations[key] for key in INHERITED if key in graph.annotations}
    origin = {labels.ORIGIN_VERSION: graph.annotations[labels.ORIGIN_VERSION]} if graph.owns_origin else {}
    labels_and_annotations = {
        "labels": {**(graph.spec.get("labels") or {}), **(metadata.get("labels") or {}), **marks},
        "annotations": {**(graph.spec.get("annotations") or {}), **inherited, **defaults, **(metadata.get("annotations") or {}), **origin},
    }
    return {**template, "metadata": {**metadata, **{key: value for key, value in labels_and_annotations.items() if value}}}


def identity_under_grove(identity: Identity, template: ComponentTemplate, discovery: str, stamp: Labels) -> Identity:
    """Returns the identity of a component under Grove.

    `discovery` is the discovery backend of the graph, `stamp` the annotation of a restart.

    A label of the user overrides the hash of the model, and never those of Dynamo. The annotations of pods name the operator that created
    the graph, but not the model. No name has the worker hash.

    Rule metadata.grove-component: Under Grove, a clique has labels and annotations of its own in place of those of a
    DynamoComponentDeployment. (operator: internal/dynamo/graph.go generateLabels, generateAnnotations)
    """
    written, model = template.component, (template.component.get("modelRef") or {}).get("name")
    on_pods = _metadata(written).get("annotations") or {}
    return identity._replace(
        type=written.get("type") or "",
        selector={**identity.selector, labels.COMPONENT_TYPE: written.get("type") or ""},
        labels={
            **({labels.BASE_MODEL_HASH: names.model_hash(model)} if model else {}),
            **template.user_labels,
            **{key: template.labels[key] for key in _OF_DYNAMO if key in template.labels},
        },
        annotations={
            **merge.without(template.user_annotations, *_TOPOLOGY),
            **{key: on_pods[key] for key in INHERITED if key in on_pods},
            **{key: template.annotations[key] for key in _TOPOLOGY if key in template.annotations},
            **({labels.DISCOVERY_BACKEND: discovery} if discovery else {}),
            **stamp,
        },
        service_labels=template.user_labels,
        service_annotations=template.user_annotations,
        suffix="",
    )
