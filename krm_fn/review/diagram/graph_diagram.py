"""Makes the diagram of graphs from their plans and objects, and from the objects that users write beside them.

The diagram of a change marks new and removed nodes, and the services that restart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from krm_fn.base import report, results
from krm_fn.kubernetes import identity, paths, references
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, dynamo_references, dynamo_resources, expand, names
from krm_fn.render.config import Config
from krm_fn.render.expand import PlannedResource
from krm_fn.render.manifests import ingress, workloads
from krm_fn.render.manifests.pod_builder import Pods
from krm_fn.render.plan import ComponentPlan, GraphPlan
from krm_fn.render.resolve import cluster
from krm_fn.review import forecast
from krm_fn.review.diagram import Diagram, DiagramEdge, DiagramNode, NodeKey, NodeState
from krm_fn.review.diff import comparison
from krm_fn.review.diff.rendered_state import Render

_BROKERS = {"NATS_SERVER": ("nats", "NATS", "messages"), "ETCD_ENDPOINTS": ("etcd", "etcd", "stores keys")}
"""The variables with the addresses of other programs: the kind and the title of the node, and the label of the edge."""
_CREDENTIALS = re.compile(r"//[^/,]*@")  # more people read a diagram than the graph


def diagram(resources: Sequence[Resource], config: Config) -> Diagram:
    """Draws all graphs and components among the resources. Resources with errors are left out."""
    planned = [entry for entry in expand.plans(resources, config) if isinstance(entry.plan, GraphPlan)]
    default_namespace = cluster.default_namespace(config)
    parts = [part for entry in planned for part in _graph(entry)]
    parts += [part for entry in planned for part in _between(entry.plan, planned)]
    parts += _of_written_objects(resources, default_namespace)
    nodes = {part.key: part for part in reversed(parts) if isinstance(part, DiagramNode)}
    order = dict.fromkeys(part.key for part in parts if isinstance(part, DiagramNode))
    edges = dict.fromkeys(part for part in parts if isinstance(part, DiagramEdge) and part.source in nodes and part.target in nodes)
    return Diagram(tuple(nodes[key] for key in order), tuple(edges))


def change_diagram(old: Render, new: Render) -> Diagram:
    """Draws both states together. Nodes that are only in the old state come last.

    A Dynamo resource that does not render in one of the states is left out, because the change of its services is not known.
    """
    old_diagram, new_diagram = (_state_diagram(state, old.failed | new.failed) for state in (old, new))
    restarting = set(_restarting(old, new))
    old_nodes, old_edges = {node.key: node for node in old_diagram.nodes}, {edge[:3] for edge in old_diagram.edges}
    new_keys, new_edges = {node.key for node in new_diagram.nodes}, {edge[:3] for edge in new_diagram.edges}
    nodes = [node._replace(state=_state(node, old_nodes.get(node.key), restarting)) for node in new_diagram.nodes]
    nodes += [node._replace(state="removed") for node in old_diagram.nodes if node.key not in new_keys]
    edges = [edge._replace(state="" if edge[:3] in old_edges else "new") for edge in new_diagram.edges]
    edges += [edge._replace(state="removed") for edge in old_diagram.edges if edge[:3] not in new_edges]
    return Diagram(tuple(nodes), tuple(edges))


def key(plan: ComponentPlan) -> NodeKey:
    """Returns the key of the node of a component."""
    return group(plan.ref.kind, plan.identity.namespace, plan.ref.name), "service", plan.identity.service


def group(kind: str, namespace: str, name: str) -> str:
    """Returns the title of the nodes of one graph, or of one standalone component."""
    return f"{kind} {namespace}/{name}"


def _graph(planned: PlannedResource) -> Iterator[DiagramNode | DiagramEdge]:
    """The nodes of one graph, and the edges that begin or end at its services."""
    plan = planned.plan
    for pods in planned.pods:
        yield _service(plan, pods)
    for pods in planned.pods:
        yield from _entry_points(pods.plan)
        yield from _scaling(plan, pods.plan)
        yield from _brokers(pods)
        yield from _claims(plan, pods)
        if pods.plan.exposure.model:
            model: NodeKey = (plan.namespace, "model", pods.plan.exposure.model)
            yield DiagramNode(model, "model", pods.plan.exposure.model, ("base model",))
            yield DiagramEdge(key(pods.plan), model, "serves")


def _service(graph: GraphPlan, pods: Pods) -> DiagramNode:
    plan = pods.plan
    return DiagramNode(key(plan), "service", plan.identity.service, tuple(_service_lines(graph, pods)), key(plan)[0])


def _service_lines(graph: GraphPlan, pods: Pods) -> Iterator[str]:
    """The lines about a service: its type and engine, its pods, its GPUs and its ports."""
    plan = pods.plan
    kind, sub_type = plan.identity.type or "no type", plan.identity.sub_type
    engine = plan.engine if _runs_engine(plan) else ""
    yield ", ".join(part for part in (kind, sub_type if sub_type != kind else "", engine) if part)
    number = plan.placement.replicas_or_one
    workload_kinds = dict.fromkeys(entry.kind for entry in workloads.get(plan.placement.workload).entries(graph, plan))
    autoscaled = " at first, then autoscaled" if plan.placement.autoscaled else ""
    nodes = f" on {plan.placement.nodes} nodes each" if plan.placement.nodes > 1 else ""
    yield f"{report.pluralize(number, 'replica')}{nodes}{autoscaled}"
    if workload_kinds:
        yield ", ".join(workload_kinds)
    if plan.gpus:
        yield f"{report.pluralize(plan.gpus * number, 'GPU')}{f', {plan.gpus} each' if number > 1 else ''}"
    ports = [f"{port.get('name') or ''} {port['containerPort']}".strip() for pod in pods.roles[:1] for port in pod.main.get("ports") or ()]
    if ports:
        yield f"ports {', '.join(ports)}"


def _runs_engine(plan: ComponentPlan) -> bool:
    return plan.type.runs_engine


def _entry_points(plan: ComponentPlan) -> Iterator[DiagramNode | DiagramEdge]:
    """The host of an Ingress or a VirtualService."""
    exposure = plan.exposure.ingress
    if ingress.makes_ingress(plan):
        yield from _entry_point(plan, "Ingress", f"class {exposure.class_name}{', TLS' if exposure.tls else ''}")
    if ingress.makes_virtual_service(plan):
        yield from _entry_point(plan, "VirtualService", f"gateway {exposure.gateway}")


def _entry_point(plan: ComponentPlan, kind: str, detail: str) -> Iterator[DiagramNode | DiagramEdge]:
    host = ingress.host(plan)
    entry_point: NodeKey = (plan.identity.namespace, kind, host)
    yield DiagramNode(entry_point, "entry point", host, (f"{kind}, {detail}",))
    yield DiagramEdge(entry_point, key(plan), "requests")


def _scaling(graph: GraphPlan, plan: ComponentPlan) -> Iterator[DiagramNode | DiagramEdge]:
    """The scaling adapter of a service, and the component that scales all engines of the graph."""
    if not plan.placement.autoscaled or graph.standalone:
        return
    adapter = _adapter_key(plan.identity.namespace, plan.identity.name)
    yield DiagramNode(adapter, "adapter", plan.identity.name, ("scaling adapter",), key(plan)[0])
    yield DiagramEdge(adapter, key(plan), "sets replicas")
    for other in graph.components:
        if other.type.scales and _runs_engine(plan):
            yield DiagramEdge(key(other), adapter, "scales")


def _brokers(pods: Pods) -> Iterator[DiagramNode | DiagramEdge]:
    """NATS and etcd, whose addresses are in variables of the main container."""
    listed: Any = pods.roles[0].main.get("env") or () if pods.roles else ()
    for variable in listed:
        if variable.get("name") in _BROKERS and isinstance(address := variable.get("value"), str) and address:
            kind, title, label = _BROKERS[variable["name"]]
            broker: NodeKey = ("", kind, address)
            yield DiagramNode(broker, "nats" if kind == "nats" else "etcd", title, (_CREDENTIALS.sub("//", address),))
            yield DiagramEdge(key(pods.plan), broker, label)


def _claims(graph: GraphPlan, pods: Pods) -> Iterator[DiagramNode | DiagramEdge]:
    """The PersistentVolumeClaims of the pods, with the folders at which the main container mounts them."""
    declared = {claim.name: claim for claim in graph.claims}
    for pod in pods.roles[:1]:
        volumes: Any = pod.spec.get("volumes") or ()
        mounts: Any = pod.main.get("volumeMounts") or ()
        for volume in volumes:
            name = (volume.get("persistentVolumeClaim") or {}).get("claimName")
            if not name:
                continue
            claim = declared.get(name)
            detail = f"claim of {claim.size}" if claim and claim.create else "claim, not made by the graph"
            node_key: NodeKey = (pods.plan.identity.namespace, "claim", name)
            folders = [mount.get("mountPath") or "" for mount in mounts if mount.get("name") == volume.get("name")]
            yield DiagramNode(node_key, "claim", name, (detail,))
            yield DiagramEdge(key(pods.plan), node_key, f"mounts {', '.join(folders)}" if folders else "mounts")


def _between(graph: GraphPlan, planned: Sequence[PlannedResource]) -> Iterator[DiagramNode | DiagramEdge]:
    """The connections between services of one Dynamo namespace, which can have several graphs."""
    components: list[ComponentPlan] = [component for entry in planned for component in entry.plan.components]
    for plan in graph.components:
        near = [other for other in components if _namespaces(other) == _namespaces(plan)]
        engines = [other for other in near if _runs_engine(other)]
        if plan.type.is_frontend:
            yield from (DiagramEdge(key(plan), key(other), f"discovery by {plan.placement.discovery}") for other in engines)
        if _phase(plan) == "prefill":
            yield from (DiagramEdge(key(plan), key(other), "key-value cache") for other in engines if _phase(other) == "decode")
        if plan.type.picks_workers:
            yield from _pool(plan, near, engines)


def _namespaces(plan: ComponentPlan) -> tuple[str, str]:
    return plan.identity.namespace, plan.identity.dynamo_namespace


def _phase(plan: ComponentPlan) -> str:
    """`prefill` or `decode` for an engine that does one half of the work."""
    return plan.identity.sub_type or plan.identity.type


def _pool(plan: ComponentPlan, near: Sequence[ComponentPlan], engines: Sequence[ComponentPlan]) -> Iterator[DiagramNode | DiagramEdge]:
    """The InferencePool of an endpoint picker, and the components that it selects."""
    name = names.pool(plan.identity.graph)
    pool = _pool_key(plan.identity.namespace, name)
    frontends = [component for component in near if component.type.is_frontend]
    yield DiagramNode(pool, "pool", name, ("InferencePool",), key(plan)[0])
    yield DiagramEdge(pool, key(plan), "asks")
    for component in frontends if plan.release.picker.chooses == "frontends" else engines:
        yield DiagramEdge(pool, key(component), "requests")


def _adapter_key(namespace: str, name: str) -> NodeKey:
    """The key of a scaling adapter."""
    return namespace, "adapter", name


def _pool_key(namespace: str, name: str) -> NodeKey:
    """The key of an InferencePool."""
    return namespace, "pool", name


def _of_written_objects(resources: Sequence[Resource], default_namespace: str) -> Iterator[DiagramNode | DiagramEdge]:
    """The autoscalers, routes and LoRA adapters that users write beside their graphs. Their fields may have any type.

    `default_namespace` is the namespace of resources without one.
    """
    for resource in resources:
        address = results.ref(resource)
        namespace = address.namespace or default_namespace
        spec = resource.get("spec")
        if not isinstance(spec, dict):
            continue
        if address.kind == dynamo_api.MODEL and dynamo_api.is_dynamo(resource):
            yield from _lora(namespace, address.name, spec)
        elif address.kind == "HTTPRoute":
            yield from _route(namespace, address.name, spec)
        else:
            yield from _autoscaler(resource, namespace)


def _lora(namespace: str, name: str, spec: dict[str, Any]) -> Iterator[DiagramNode | DiagramEdge]:
    base = spec.get("baseModelName")
    if isinstance(base, str) and spec.get("modelType") == "lora":
        here: NodeKey = (namespace, "lora", name)
        yield DiagramNode(here, "lora", name, ("LoRA adapter",))
        yield DiagramEdge(here, (namespace, "model", base), "is loaded for")


def _route(namespace: str, name: str, spec: dict[str, Any]) -> Iterator[DiagramNode | DiagramEdge]:
    """A route of a Gateway to InferencePools."""
    hosts = spec.get("hostnames")
    here: NodeKey = (namespace, "HTTPRoute", name)
    title = ", ".join(str(host) for host in hosts) if isinstance(hosts, list) and hosts else name
    yield DiagramNode(here, "entry point", title, ("HTTPRoute",))
    for _, backend in paths.find(spec, [("rules", paths.EVERY, "backendRefs", paths.EVERY)]):
        if isinstance(backend, dict) and backend.get("kind") == "InferencePool":
            yield DiagramEdge(here, _pool_key(str(backend.get("namespace") or namespace), str(backend.get("name"))), "requests")


def _autoscaler(resource: Resource, namespace: str) -> Iterator[DiagramNode | DiagramEdge]:
    for target in dynamo_references.of(resource):
        if target.path == references.SCALED and target.kind == dynamo_api.ADAPTER:
            kind, name = results.ref(resource)[1:3]
            here: NodeKey = (namespace, kind, name)
            yield DiagramNode(here, "autoscaler", name, (kind,))
            yield DiagramEdge(here, _adapter_key(namespace, target.name), "scales")


def _state_diagram(state: Render, failed: frozenset[ObjectKey]) -> Diagram:
    namespace = cluster.default_namespace(state.config)
    return diagram([resource for resource in state.inputs if identity.key(resource, namespace) not in failed], state.config)


def _state(node: DiagramNode, old: DiagramNode | None, restarting: set[tuple[str, str]]) -> NodeState:
    if old is None:
        return "new"
    if node.kind == "service" and not restarting.isdisjoint({(node.group, node.title), (node.group, "")}):
        return "restarts"
    return "" if node.lines == old.lines else "changed"


def _restarting(old: Render, new: Render) -> Iterator[tuple[str, str]]:
    """The group and the title of each service whose pods are replaced. The title of a component without a graph is empty."""
    changes = comparison.compare_objects(old, new)
    result = forecast.forecast(changes)
    for change, outcome in zip(changes, result.outcomes, strict=True):
        for owner in dynamo_resources.owner_keys(change.new or change.old or {}, change.key.namespace):
            title = group(owner.kind, owner.namespace, owner.name)
            for service in outcome.services:
                if service in result.restarting:
                    yield title, "" if owner.kind == dynamo_api.COMPONENT else service.name
