"""Inputs for the rules about Grove, topology and shared GPUs of newer releases: some that break a rule, and similar ones that do not."""

from __future__ import annotations

from typing import Any

from krm_fn.kubernetes.types import Resource
from krm_fn.render import config
from tests.support import beta, given
from tests.support.faults import Case, fires, quiet

_GROVE: dict[str, Any] = {"orchestrator": "grove", "grove": config.GroveSettings(topology_aware_scheduling="enabled")}
_POLICY = "spec.experimental.kvTransferPolicy"
_GRAPH = "spec.topologyConstraint"
_AT = "spec.components[0]"
_COMPONENT = f"{_AT}.topologyConstraint.packDomain"


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

_ONE: dict[str, Any] = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
_MAIN = f"{_AT}.podTemplate.spec.containers[0]"


def claimed(*requests: Any, kind: str = "ResourceClaimTemplate", name: str = "gpus", namespace: str = given.NAMESPACE) -> Resource:
    """A claim with these requests, or a template of one."""
    devices = {"devices": {"requests": list(requests)}}
    spec = {"spec": devices} if kind == "ResourceClaimTemplate" else devices
    return given.item(kind, name, api="resource.k8s.io/v1", namespace=namespace, spec=spec)


def _claiming(engine: str = "vllm", nodes: int = 2, field: str = "resourceClaimTemplateName", shared: Any = None, **claim: Any) -> Resource:
    main = {
        "command": ["python3"],
        "args": ["-m", f"dynamo.{engine}", "--tensor-parallel-size", "16"],
        "resources": {"claims": [{"name": "mine", **claim}]},
    }
    spread: dict[str, Any] = {"multinode": {"nodeCount": nodes}} if nodes > 1 else {}
    if shared is not None:
        spread["experimental"] = {"gpuMemoryService": shared}
    pod = {"resourceClaims": [{"name": "mine", field: "gpus"}]}
    return beta.graph(beta.component("Worker", main=main, pod=pod, **spread), backendFramework=engine)


def _request(count: Any = 8, device: str = "gpu.nvidia.com", **more: Any) -> Resource:
    return {"name": "r", "exactly": {"deviceClassName": device, "count": count, **more}}


_CLAIMS = f"{_MAIN}.resources.claims"
_DIFFERENT = {
    "name": "r",
    "firstAvailable": [{"name": "a", "deviceClassName": "gpu.a", "count": 2}, {"name": "b", "deviceClassName": "gpu.b"}],
}

DEVICES = [
    fires(
        "DYN438",
        f"{_AT}.experimental.gpuMemoryService",
        "shared GPUs without Dynamic Resource Allocation",
        beta.graph(beta.component("Worker", main=_ONE, experimental={"gpuMemoryService": {}}), backendFramework="vllm"),
        dra=False,
    ),
    quiet("GPUs of one pod without Dynamic Resource Allocation", beta.graph(beta.component("Worker", main=_ONE)), dra=False),
    fires("DYN435", f"{_AT}.experimental.failover", "engines that no controller deletes together", _failing("InterPod"), **_GROVE),
    quiet("engines in one pod", _failing("IntraPod")),
    fires("DYN461", f"{_MAIN}.resources", "shared GPUs that the engine claims", _claiming(nodes=1, shared={}), claimed(_request())),
    fires("DYN439", _CLAIMS, "a claim that is not among the items", _claiming()),
    fires("DYN439", _CLAIMS, "a claim of another namespace", _claiming(), claimed(_request(), namespace="other")),
    fires("DYN439", _CLAIMS, "a claim in place of a template", _claiming(), claimed(_request(), kind="ResourceClaim")),
    fires("DYN439", _CLAIMS, "all devices of a node", _claiming(), claimed(_request(allocationMode="All"))),
    fires("DYN439", _CLAIMS, "a request that the claim lacks", _claiming(request="s"), claimed(_request())),
    fires("DYN439", _CLAIMS, "alternatives with different numbers", _claiming(), claimed(_DIFFERENT)),
    fires(
        "DYN439",
        _CLAIMS,
        "a claim without requests that are lists",
        _claiming(request="s"),
        {**claimed(), "spec": {"spec": {"devices": 5}}},
    ),
    quiet("a template among the items", _claiming(), claimed(_request())),
    quiet("a claim among the items", _claiming(field="resourceClaimName"), claimed(_request(), kind="ResourceClaim")),
    quiet("an unknown claim on one node", _claiming(nodes=1)),
    quiet("an unknown claim of an engine that does not count GPUs", _claiming("sglang")),
    fires(
        "DYN440",
        "",
        "two schedulers",
        beta.graph(),
        orchestrator="grove",
        grove=config.GroveSettings(
            kai_scheduler=config.KaiSchedulerSettings(enabled=True), volcano_scheduler=config.VolcanoSchedulerSettings(enabled=True)
        ),
    ),
]

_OFF: dict[str, Any] = {"orchestrator": "grove", "grove": config.GroveSettings(topology_aware_scheduling="disabled")}
_UNKNOWN: dict[str, Any] = {"orchestrator": "grove"}
_RAW = {"apiVersion": "grove.io/v1alpha1", "value": {"spec": {"template": {"topologyConstraint": {"pack": {"required": "rack"}}}}}}

SCHEDULING: list[Case] = [
    fires("DYN587", _GRAPH, "a topology of a graph that Grove rejects", _packed("rack"), **_OFF),
    fires("DYN587", f"{_AT}.topologyConstraint", "a topology of a component that Grove rejects", _packed(own="rack"), **_OFF),
    fires("DYN588", _GRAPH, "a topology that Grove may reject", _packed("rack"), **_UNKNOWN),
    fires("DYN588", "spec.providerOverride", "a raw topology that Grove may reject", beta.graph(providerOverride=_RAW), **_UNKNOWN),
    quiet("a topology that Grove accepts", _packed("rack"), **_GROVE),
    quiet("no topology under Grove without one", beta.graph(), **_OFF),
]

ALL: list[Case] = [*TOPOLOGY, *DEVICES, *SCHEDULING]
