"""The GPUs of pods and of nodes: requests of pods, capacity of nodes, and GPUs that running pods hold.

A scheduler of Kubernetes reads the same numbers: requests, which are the limits of extended resources, and `status.allocatable` of nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import gpu_demand, quantity, values
from krm_fn.kubernetes.gpu_demand import ClaimUse
from krm_fn.kubernetes.types import Resource
from krm_fn.review.forecast import gpu_products
from krm_fn.review.forecast.gpu_products import Products

Amounts = tuple[tuple[str, int], ...]
"""Numbers of GPUs by the name of their resource, sorted by name."""

Placement = tuple[str, ...]
"""The nodes of the pods of one unit, in the order of its pods."""


_ENDED = ("Succeeded", "Failed")
_KEEPS_AWAY = ("NoSchedule", "NoExecute")


class Demand(NamedTuple):
    """The demand of one pod on a node: GPUs, and the labels and taints that decide which nodes it may use.

    `products` are the GPU products that the pod chooses. `claims` are the ResourceClaims of its containers. The GPUs of claims are not
    among `amounts`, because nodes do not list them.
    """

    amounts: Amounts = ()
    selector: tuple[tuple[str, str], ...] = ()
    tolerated: tuple[str, ...] = ()
    products: Products = Products()
    claims: tuple[ClaimUse, ...] = ()

    @property
    def gpus(self) -> int:
        """The number of GPUs."""
        return sum(count for _, count in self.amounts)


def pod_demand(pod_spec: Any) -> Demand:
    """Demand of a pod spec, as a scheduler counts (PodRequests in Kubernetes' `component-helpers/resource`).

    The containers run together. Each init container runs alone before them. An init container with `restartPolicy: Always` runs beside
    all containers after it.
    """
    spec = values.mapping(pod_spec)
    total = _sum(_requests(container) for container in values.objects(spec.get("containers")))
    sidecars: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in values.objects(spec.get("initContainers")):
        running = _sum([sidecars, _requests(container)])
        if container.get("restartPolicy") == "Always":
            sidecars = running
        peak = {name: max(peak.get(name, 0), count) for name, count in {**peak, **running}.items()}
    total = _sum([total, sidecars])
    amounts = {name: max(total.get(name, 0), peak.get(name, 0)) for name in (*total, *peak)}
    selector = {key: value for key, value in values.mapping(spec.get("nodeSelector")).items() if isinstance(value, str)}
    tolerated = (_tolerated_key(container) for container in values.objects(spec.get("tolerations")))
    counted = tuple(sorted((name, count) for name, count in amounts.items() if count))
    return Demand(counted, tuple(sorted(selector.items())), tuple(tolerated), gpu_products.of_pod(spec), _claims(spec))


def _claims(spec: Mapping[str, Any]) -> tuple[ClaimUse, ...]:
    """Returns the claims of a pod; none if its containers use claims that the pod does not have, which an API server rejects."""
    try:
        return gpu_demand.claim_uses([(spec, 1)]) if spec.get("resourceClaims") else ()
    except (ValueError, AttributeError, TypeError):
        return ()


class _Node:
    """A node with its free GPUs by resource."""

    def __init__(self, name: str, free: dict[str, int], labels: Mapping[str, Any], taints: Sequence[str]) -> None:
        self.name, self.free = name, free
        self.free_gpus = sum(free.values())
        self._labels, self._taints = labels, taints

    def change(self, amounts: Amounts, sign: int) -> None:
        """Adds GPUs to those that are free; takes them if `sign` is -1."""
        for resource, count in amounts:
            self.free[resource] = self.free.get(resource, 0) + sign * count
            self.free_gpus += sign * count

    def copy(self) -> _Node:
        """Returns a node with the same free GPUs, which change separately."""
        return _Node(self.name, dict(self.free), self._labels, self._taints)

    def admits(self, demand: Demand) -> bool:
        """True if a pod with this demand may run on the node, as soon as enough GPUs are free."""
        if any(self._labels.get(key) != value for key, value in demand.selector):
            return False
        return "" in demand.tolerated or all(taint in demand.tolerated for taint in self._taints)


class Nodes:
    """Nodes on which units are placed. Each pod goes to the node with the fewest free GPUs that has enough."""

    def __init__(self, nodes: Iterable[_Node]) -> None:
        """Returns the names of the nodes are unique."""
        self._nodes = {node.name: node for node in nodes}
        self._admitting: dict[Demand, list[_Node]] = {}
        self._full: set[tuple[Demand, ...]] = set()

    def take(self, demands: tuple[Demand, ...], *, unbounded: bool = False) -> Placement | None:
        """Places the pods of one unit, and returns their nodes; None if one of them does not fit.

        If `unbounded`, a pod that fits nowhere goes to the first node: the pod runs, although the exported nodes have no room for it.
        """
        names: list[str] = []
        for demand in demands:
            if not demand.amounts:
                names.append("")
                continue
            target = self._tightest(demand)
            if target is None and unbounded:
                target = next(iter(self._nodes.values()), None)
            if target is None:
                self.give(demands[: len(names)], tuple(names))
                self._full.add(demands)
                return None
            self._change(target.name, demand, -1)
            names.append(target.name)
        return tuple(names)

    def copy(self) -> Nodes:
        """Returns nodes with the same free GPUs, which change separately."""
        return Nodes(node.copy() for node in self._nodes.values())

    def _tightest(self, demand: Demand) -> _Node | None:
        """Returns the node with the fewest free GPUs that has enough for a pod; None if no node has."""
        if demand not in self._admitting:
            self._admitting[demand] = [node for node in self._nodes.values() if node.admits(demand)]
        (name, count), *others = demand.amounts
        tightest = None
        for node in self._admitting[demand]:
            if node.free.get(name, 0) < count or (tightest is not None and node.free_gpus >= tightest.free_gpus):
                continue
            if all(node.free.get(other, 0) >= number for other, number in others):
                tightest = node
        return tightest

    def is_full(self, demands: tuple[Demand, ...]) -> bool:
        """True if a unit did not fit, and no GPU was freed since then."""
        return demands in self._full

    def give(self, demands: tuple[Demand, ...], placement: Placement) -> None:
        """Frees the GPUs of the pods of one unit."""
        self._full.clear()
        for demand, name in zip(demands, placement, strict=False):
            self._change(name, demand, 1)

    def hold(self, demand: Demand, name: str) -> None:
        """Takes the GPUs of a pod that runs on the node with this name."""
        self._change(name, demand, -1)

    def free(self) -> int:
        """Returns the number of free GPUs of all nodes."""
        return sum(max(count, 0) for node in self._nodes.values() for count in node.free.values())

    def _change(self, name: str, demand: Demand, sign: int) -> None:
        if name in self._nodes:
            self._nodes[name].change(demand.amounts, sign)


def pool(amounts: Mapping[str, int]) -> Nodes:
    """Returns one node with this many GPUs, for forecasts without nodes."""
    return Nodes([_AnyNode(dict(amounts))])


class _AnyNode(_Node):
    """The only node of a forecast without nodes: labels and taints do not matter."""

    def __init__(self, free: dict[str, int]) -> None:
        super().__init__("any", free, {}, ())

    def copy(self) -> _AnyNode:
        """Returns a node with the same free GPUs, which change separately."""
        return _AnyNode(dict(self.free))

    def admits(self, demand: Demand) -> bool:
        """True for every pod."""
        return True


def nodes_without_pods(resources: Iterable[Resource], pods: Iterable[Resource]) -> Nodes:
    """Nodes with their GPUs, less the GPUs of the pods that run on them. Cordoned nodes offer nothing."""
    result = Nodes(_node(resource) for resource in resources)
    for pod in pods:
        if runs(pod):
            result.hold(pod_demand(pod.get("spec")), f"{values.mapping(pod.get('spec'))['nodeName']}")
    return result


def runs(pod: Resource) -> bool:
    """True if a pod holds the resources of a node: the pod has a node, and has not ended."""
    return bool(values.mapping(pod.get("spec")).get("nodeName")) and values.mapping(pod.get("status")).get("phase") not in _ENDED


def node_gpus(resource: Resource) -> dict[str, int]:
    """GPUs of a node by the name of their resource. A node without `allocatable` offers its `capacity`."""
    status = values.mapping(resource.get("status"))
    return _gpus(status.get("allocatable") or status.get("capacity"))


def _node(resource: Resource) -> _Node:
    metadata, spec = values.mapping(resource.get("metadata")), values.mapping(resource.get("spec"))
    taints = [f"{taint.get('key')}" for taint in values.objects(spec.get("taints")) if taint.get("effect") in _KEEPS_AWAY]
    free = {} if spec.get("unschedulable") else node_gpus(resource)
    return _Node(f"{metadata.get('name')}", free, values.mapping(metadata.get("labels")), taints)


def _tolerated_key(toleration: Mapping[str, Any]) -> str:
    """Returns the key of the tolerated taints; empty for all taints."""
    return f"{toleration.get('key') or ''}"


def _requests(container: Mapping[str, Any]) -> dict[str, int]:
    resources = values.mapping(container.get("resources"))
    return {**_gpus(resources.get("limits")), **_gpus(resources.get("requests"))}


def _gpus(amounts: Any) -> dict[str, int]:
    names = (name for name in values.mapping(amounts) if quantity.is_gpu_resource(f"{name}"))
    return {name: quantity.value(f"{amounts[name]}") // quantity.UNIT for name in names}


def _sum(parts: Iterable[dict[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in parts:
        for name, count in part.items():
            total[name] = total.get(name, 0) + count
    return total
