"""Inputs for the rules about Grove, topology and shared GPUs of newer releases: some that break a rule, and similar ones that do not."""

from __future__ import annotations

from typing import Any

from krm_fn.kube.types import Resource
from tests.support import beta, given
from tests.support.faults import Case, fires, quiet

_GROVE: dict[str, Any] = {"orchestrator": "grove"}
_POLICY = "spec.experimental.kvTransferPolicy"
_GRAPH = "spec.topologyConstraint"
_COMPONENT = "spec.components[0].topologyConstraint.packDomain"


def binding(*domains: str, name: str = "racks") -> Resource:
    """A ClusterTopologyBinding, its widest domain first."""
    levels = [{"domain": domain, "key": f"example.com/{domain}"} for domain in domains]
    return given.item("ClusterTopologyBinding", name, api="grove.io/v1alpha1", namespace="", spec={"levels": levels})


def _moving(**policy: Any) -> Resource:
    return beta.graph(backendFramework="vllm", experimental={"kvTransferPolicy": {"domain": "rack", **policy}})


def _packed(domain: str = "", own: str = "") -> Resource:
    whole = {"clusterTopologyName": "racks", **({"packDomain": domain} if domain else {})}
    limited: dict[str, Any] = {"topologyConstraint": {"packDomain": own}} if own else {}
    return beta.graph(beta.component("Worker", **limited), topologyConstraint=whole)


def _failing(mode: str) -> Resource:
    main = {"command": ["python3"], "args": ["-m", "dynamo.vllm"], "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    component = beta.component("Worker", main=main, experimental={"gpuMemoryService": {"mode": mode}, "failover": {"mode": mode}})
    return beta.graph(component, backendFramework="vllm", annotations={"nvidia.com/dynamo-kube-discovery-mode": "container"})


_LEVELS = binding("zone", "rack", "host")


def _unplaced(code: str, field: str, reason: str, *items: Resource) -> Case:
    """A graph whose policy reads the labels of a topology. No controller copies them, either."""
    return Case(reason, [(code, field), ("DYN435", _POLICY)], [_moving(clusterTopologyName="racks"), *items], _GROVE)


TOPOLOGY = [
    fires("DYN435", _POLICY, "labels that no controller copies to pods", _moving(labelKey="a/b")),
    fires("DYN435", _POLICY, "labels of a topology that nobody copies", _moving(clusterTopologyName="racks"), _LEVELS, **_GROVE),
    _unplaced("DYN436", f"{_POLICY}.clusterTopologyName", "a topology that is not among the items"),
    _unplaced("DYN436", f"{_POLICY}.clusterTopologyName", "a topology that is no object of Grove", {**_LEVELS, "apiVersion": "v1"}),
    _unplaced("DYN437", f"{_POLICY}.domain", "a domain that the topology lacks", binding("zone")),
    quiet("a topology among the items", _packed("rack", "host"), _LEVELS, **_GROVE),
    quiet("a topology that the cluster may have", _packed("row"), **_GROVE),
    quiet("another topology among the items", _packed("row"), binding("zone", name="zones"), **_GROVE),
    quiet("a domain of the graph for a component", _packed("rack", "rack"), _LEVELS, **_GROVE),
    quiet("a domain for a component alone", _packed("", "zone"), _LEVELS, **_GROVE),
    fires("DYN437", f"{_GRAPH}.packDomain", "a domain of the graph that the topology lacks", _packed("row"), _LEVELS, **_GROVE),
    fires("DYN437", _COMPONENT, "a domain of a component that the topology lacks", _packed("rack", "row"), _LEVELS, **_GROVE),
    fires("DYN437", _COMPONENT, "a component with a wider domain than its graph", _packed("rack", "zone"), _LEVELS, **_GROVE),
]

ALL: list[Case] = [*TOPOLOGY]
