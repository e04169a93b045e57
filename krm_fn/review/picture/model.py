"""Makes the picture of graphs from their plans and objects."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from krm_fn import expand
from krm_fn.kube import names
from krm_fn.manifests import components, ingress, workloads
from krm_fn.plan import GraphPlan
from krm_fn.resolve import cluster
from krm_fn.review.picture import Edge, Node, Picture, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.config import Config
    from krm_fn.expand import Planned
    from krm_fn.kube.types import Resource
    from krm_fn.manifests.assemblies import Pods
    from krm_fn.plan import ComponentPlan
    from krm_fn.review.picture import Key

_BROKERS = {"NATS_SERVER": ("nats", "NATS", "messages"), "ETCD_ENDPOINTS": ("etcd", "etcd", "stores keys")}
"""The variables with the addresses of other programs: the kind and the title of the node, and the label of the edge."""
_CREDENTIALS = re.compile(r"//[^/,]*@")  # a picture is often posted where more people read it


def picture(resources: Sequence[Resource], config: Config) -> Picture:
    """The picture of all graphs and components among the resources. Resources with errors are left out."""
    planned = [each for each in expand.plans(resources, config) if isinstance(each.plan, GraphPlan)]
    home = config.namespace or cluster.NAMESPACE
    parts = [part for each in planned for part in _graph(each)]
    parts += [part for each in planned for part in _between(each.plan, planned)]
    parts += written.parts(resources, home)
    nodes = {part.key: part for part in reversed(parts) if isinstance(part, Node)}
    order = dict.fromkeys(part.key for part in parts if isinstance(part, Node))
    edges = dict.fromkeys(part for part in parts if isinstance(part, Edge) and part.source in nodes and part.target in nodes)
    return Picture(tuple(nodes[key] for key in order), tuple(edges))


def key(plan: ComponentPlan) -> Key:
    """The key of the node of a component."""
    return group(plan.ref.kind, plan.who.namespace, plan.ref.name), "service", plan.who.service


def group(kind: str, namespace: str, name: str) -> str:
    """The title of the nodes of one graph, or of one component without a graph."""
    return f"{kind} {namespace}/{name}"


def _graph(planned: Planned) -> Iterator[Node | Edge]:
    """The nodes of one graph, and the edges that begin or end at its services."""
    plan = planned.plan
    for pods in planned.made:
        yield _service(plan, pods)
    for pods in planned.made:
        yield from _entrances(pods.plan)
        yield from _scaling(plan, pods.plan)
        yield from _brokers(pods)
        yield from _claims(plan, pods)
        if pods.plan.edge.model:
            model: Key = (plan.namespace, "model", pods.plan.edge.model)
            yield Node(model, "model", pods.plan.edge.model, ("base model",))
            yield Edge(key(pods.plan), model, "serves")


def _service(graph: GraphPlan, pods: Pods) -> Node:
    plan = pods.plan
    return Node(key(plan), "service", plan.who.service, tuple(_facts(graph, pods)), key(plan)[0])


def _facts(graph: GraphPlan, pods: Pods) -> Iterator[str]:
    """The lines about a service: its type and engine, its pods, its GPUs and its ports."""
    plan = pods.plan
    kind, sub_type = plan.who.type or "no type", plan.who.sub_type
    engine = plan.placement.backend if _runs_engine(plan) else ""
    yield ", ".join(part for part in (kind, sub_type if sub_type != kind else "", engine) if part)
    number = plan.placement.replicas_or_one
    carriers = dict.fromkeys(entry.kind for entry in workloads.get(plan.placement.workload).entries(graph, plan))
    autoscaled = " at first, then autoscaled" if plan.placement.autoscaled else ""
    nodes = f" on {plan.placement.nodes} nodes each" if plan.placement.nodes > 1 else ""
    yield f"{_counted(number, 'replica')}{nodes}{autoscaled}"
    if carriers:
        yield ", ".join(carriers)
    gpus = plan.pod.gpus.number * plan.placement.nodes
    if gpus:
        yield f"{_counted(gpus * number, 'GPU')}{f', {gpus} each' if number > 1 else ''}"
    ports = [f"{port.get('name') or ''} {port['containerPort']}".strip() for pod in pods.roles[:1] for port in pod.main.get("ports") or ()]
    if ports:
        yield f"ports {', '.join(ports)}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _runs_engine(plan: ComponentPlan) -> bool:
    return components.get(plan.who.type).runs_engine


def _entrances(plan: ComponentPlan) -> Iterator[Node | Edge]:
    """The host of an Ingress or a VirtualService."""
    wanted = plan.edge.ingress
    if ingress.makes_ingress(plan):
        yield from _entrance(plan, "Ingress", f"class {wanted.class_name}{', TLS' if wanted.tls else ''}")
    if ingress.makes_virtual_service(plan):
        yield from _entrance(plan, "VirtualService", f"gateway {wanted.gateway}")


def _entrance(plan: ComponentPlan, kind: str, detail: str) -> Iterator[Node | Edge]:
    host = ingress.host(plan)
    there: Key = (plan.who.namespace, kind, host)
    yield Node(there, "entrance", host, (f"{kind}, {detail}",))
    yield Edge(there, key(plan), "requests")


def _scaling(graph: GraphPlan, plan: ComponentPlan) -> Iterator[Node | Edge]:
    """The scaling adapter of a service, and the component that scales all engines of the graph."""
    if not plan.placement.autoscaled or graph.standalone:
        return
    adapter = written.adapter(plan.who.namespace, plan.who.name)
    yield Node(adapter, "adapter", plan.who.name, ("scaling adapter",), key(plan)[0])
    yield Edge(adapter, key(plan), "sets replicas")
    for other in graph.components:
        if components.get(other.who.type).scales and _runs_engine(plan):
            yield Edge(key(other), adapter, "scales")


def _brokers(pods: Pods) -> Iterator[Node | Edge]:
    """NATS and etcd, whose addresses are in variables of the main container."""
    listed: Any = pods.roles[0].main.get("env") or () if pods.roles else ()
    for variable in listed:
        if variable.get("name") in _BROKERS and isinstance(address := variable.get("value"), str) and address:
            kind, title, label = _BROKERS[variable["name"]]
            broker: Key = ("", kind, address)
            yield Node(broker, "nats" if kind == "nats" else "etcd", title, (_CREDENTIALS.sub("//", address),))
            yield Edge(key(pods.plan), broker, label)


def _claims(graph: GraphPlan, pods: Pods) -> Iterator[Node | Edge]:
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
            there: Key = (pods.plan.who.namespace, "claim", name)
            folders = [mount.get("mountPath") or "" for mount in mounts if mount.get("name") == volume.get("name")]
            yield Node(there, "claim", name, (detail,))
            yield Edge(key(pods.plan), there, f"mounts {', '.join(folders)}" if folders else "mounts")


def _between(graph: GraphPlan, planned: Sequence[Planned]) -> Iterator[Node | Edge]:
    """The connections between services of one Dynamo namespace, which can have several graphs."""
    known: list[ComponentPlan] = [component for each in planned for component in each.plan.components]
    for plan in graph.components:
        near = [
            each for each in known if (each.who.namespace, each.who.dynamo_namespace) == (plan.who.namespace, plan.who.dynamo_namespace)
        ]
        engines = [each for each in near if _runs_engine(each)]
        if components.get(plan.who.type).is_frontend:
            yield from (Edge(key(plan), key(each), f"discovery by {plan.placement.discovery}") for each in engines)
        if _phase(plan) == "prefill":
            yield from (Edge(key(plan), key(each), "key-value cache") for each in engines if _phase(each) == "decode")
        if components.get(plan.who.type).picks_workers:
            yield from _pool(plan, near, engines)


def _phase(plan: ComponentPlan) -> str:
    """`prefill` or `decode` for an engine that does one half of the work."""
    return plan.who.sub_type or plan.who.type


def _pool(plan: ComponentPlan, near: Sequence[ComponentPlan], engines: Sequence[ComponentPlan]) -> Iterator[Node | Edge]:
    """The InferencePool of an endpoint picker, and the components that it selects."""
    name = names.pool(plan.who.graph)
    pool = written.pool(plan.who.namespace, name)
    frontends = [each for each in near if components.get(each.who.type).is_frontend]
    yield Node(pool, "pool", name, ("InferencePool",), key(plan)[0])
    yield Edge(pool, key(plan), "asks")
    for each in frontends if plan.behaviour.picker.chooses == "frontends" else engines:
        yield Edge(pool, key(each), "requests")
