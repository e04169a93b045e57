"""The parts of a diagram that users write beside their graphs: autoscalers, routes and LoRA adapters. Fields may have any type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.kube import identity, paths
from krm_fn.review.diagram import DiagramEdge, DiagramNode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.review.diagram import Key


def adapter(namespace: str, name: str) -> Key:
    """The key of a scaling adapter."""
    return namespace, "adapter", name


def pool(namespace: str, name: str) -> Key:
    """The key of an InferencePool."""
    return namespace, "pool", name


def parts(resources: Sequence[Resource], default_namespace: str) -> Iterator[DiagramNode | DiagramEdge]:
    """The nodes and edges of all these resources. `home` is the namespace of resources without one."""
    for resource in resources:
        address = results.ref(resource)
        namespace = address.namespace or default_namespace
        spec = resource.get("spec")
        if not isinstance(spec, dict):
            continue
        if address.kind == identity.MODEL and identity.is_dynamo(resource):
            yield from _lora(namespace, address.name, spec)
        elif address.kind == "HTTPRoute":
            yield from _route(namespace, address.name, spec)
        else:
            yield from _autoscaler(namespace, address, spec)


def _lora(namespace: str, name: str, spec: dict[str, Any]) -> Iterator[DiagramNode | DiagramEdge]:
    base = spec.get("baseModelName")
    if isinstance(base, str) and spec.get("modelType") == "lora":
        here: Key = (namespace, "lora", name)
        yield DiagramNode(here, "lora", name, ("LoRA adapter",))
        yield DiagramEdge(here, (namespace, "model", base), "is loaded for")


def _route(namespace: str, name: str, spec: dict[str, Any]) -> Iterator[DiagramNode | DiagramEdge]:
    """A route of a Gateway to InferencePools."""
    hosts = spec.get("hostnames")
    here: Key = (namespace, "HTTPRoute", name)
    shown = ", ".join(str(host) for host in hosts) if isinstance(hosts, list) and hosts else name
    yield DiagramNode(here, "entrance", shown, ("HTTPRoute",))
    for _, backend in paths.find(spec, [("rules", paths.EVERY, "backendRefs", paths.EVERY)]):
        if isinstance(backend, dict) and backend.get("kind") == "InferencePool":
            yield DiagramEdge(here, pool(str(backend.get("namespace") or namespace), str(backend.get("name"))), "requests")


def _autoscaler(namespace: str, address: results.Ref, spec: dict[str, Any]) -> Iterator[DiagramNode | DiagramEdge]:
    target = spec.get("scaleTargetRef")
    if isinstance(target, dict) and target.get("kind") == identity.ADAPTER:
        here: Key = (namespace, address.kind, address.name)
        yield DiagramNode(here, "autoscaler", address.name, (address.kind,))
        yield DiagramEdge(here, adapter(namespace, str(target.get("name"))), "scales")
