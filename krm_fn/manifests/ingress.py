"""The external access to a component: an Ingress, an Istio VirtualService, or both.

Follows the reference's `internal/dynamo/graph.go` GenerateComponentIngress, GenerateComponentVirtualService and getIngressHost.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from krm_fn.kube import merge

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.plan import ComponentPlan

DEFAULT_SUFFIX = "local"


def of(plan: ComponentPlan) -> Iterator[Resource]:
    """Yields the objects that the component's `ingress` requests."""
    if makes_ingress(plan):
        yield _ingress(plan)
    if makes_virtual_service(plan):
        yield _virtual_service(plan)


def makes_ingress(plan: ComponentPlan) -> bool:
    """True if the component gets an Ingress, which needs a class."""
    return plan.edge.ingress.enabled and bool(plan.edge.ingress.class_name)


def makes_virtual_service(plan: ComponentPlan) -> bool:
    """True if the component gets a VirtualService, which needs a gateway, and `ingress.istioGateway` in the configuration."""
    return (
        bool(plan.config.ingress.istio_gateway)
        and plan.edge.ingress.virtual_service
        and plan.edge.ingress.enabled
        and bool(plan.edge.ingress.gateway)
    )


def host(plan: ComponentPlan) -> str:
    """The full host name."""
    suffix = DEFAULT_SUFFIX if plan.edge.ingress.suffix is None else plan.edge.ingress.suffix
    return f"{plan.edge.ingress.prefix}{plan.edge.ingress.host}.{suffix}"


def _metadata(plan: ComponentPlan) -> dict[str, Any]:
    """The metadata with the user's labels and annotations, which the reference ignores."""
    wanted = plan.edge.ingress
    return merge.present(
        name=plan.service_name,
        namespace=plan.who.namespace,
        labels=wanted.labels or None,
        annotations=wanted.annotations or None,
    )


def _ingress(plan: ComponentPlan) -> Resource:
    backend = {"service": {"name": plan.service_name, "port": {"number": plan.behaviour.ports.http}}}
    spec: dict[str, Any] = {
        "ingressClassName": plan.edge.ingress.class_name,
        "rules": [{"host": host(plan), "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}],
    }
    if plan.edge.ingress.tls:
        spec["tls"] = [{"hosts": [host(plan)], "secretName": plan.edge.ingress.tls_secret}]
    return {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": _metadata(plan), "spec": spec}


def _virtual_service(plan: ComponentPlan) -> Resource:
    destination = {"host": plan.service_name, "port": {"number": plan.behaviour.ports.http}}
    return {
        "apiVersion": "networking.istio.io/v1beta1",
        "kind": "VirtualService",
        "metadata": _metadata(plan),
        "spec": {
            "gateways": [plan.edge.ingress.gateway],
            "hosts": [host(plan)],
            "http": [{"match": [{"uri": {"prefix": "/"}}], "route": [{"destination": destination}]}],
        },
    }
