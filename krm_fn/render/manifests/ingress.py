"""The external access to a component: an Ingress, an Istio VirtualService, or both.

Follows the operator's `internal/dynamo/graph.go` GenerateComponentIngress, GenerateComponentVirtualService and getIngressHost.
"""

from __future__ import annotations

from collections.abc import Iterator

from krm_fn.kubernetes import merge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.plan import ComponentPlan

DEFAULT_SUFFIX = "local"
"""The suffix of hosts if none is configured.

Rule ingress.suffix: A host without a configured suffix ends with `.local`. (operator: internal/consts/consts.go)
"""


def of(plan: ComponentPlan) -> Iterator[Resource]:
    """Yields the objects that the component's `ingress` requests."""
    if makes_ingress(plan):
        yield _ingress(plan)
    if makes_virtual_service(plan):
        yield _virtual_service(plan)


def makes_ingress(plan: ComponentPlan) -> bool:
    """Returns true if the component gets an Ingress, which needs a class."""
    return plan.exposure.ingress.enabled and bool(plan.exposure.ingress.class_name)


def makes_virtual_service(plan: ComponentPlan) -> bool:
    """Returns true if the component gets a VirtualService, which needs a gateway, and `ingress.istioGateway` in the configuration."""
    return (
        bool(plan.config.ingress.istio_gateway)
        and plan.exposure.ingress.virtual_service
        and plan.exposure.ingress.enabled
        and bool(plan.exposure.ingress.gateway)
    )


def host(plan: ComponentPlan) -> str:
    """Returns the host of the ingress of a component.

    Rule ingress.host: The host of an ingress is its prefix, its name and its suffix. (operator: internal/dynamo/graph.go getIngressHost)
    """
    suffix = DEFAULT_SUFFIX if plan.exposure.ingress.suffix is None else plan.exposure.ingress.suffix
    return f"{plan.exposure.ingress.prefix}{plan.exposure.ingress.host}.{suffix}"


def _metadata(plan: ComponentPlan) -> dict[str, Any]:
    """Returns the metadata of an Ingress or VirtualService, with the labels and annotations that the user wrote.

    The operator ignores these labels and annotations.

    Rule ingress.metadata: An Ingress or VirtualService has the name of its component, and the labels and annotations that the user wrote
    for it. (operator: internal/dynamo/graph.go GenerateComponentIngress)
    """
    wanted = plan.exposure.ingress
    return merge.present(
        name=plan.service_name,
        namespace=plan.identity.namespace,
        labels=wanted.labels or None,
        annotations=wanted.annotations or None,
    )


def _ingress(plan: ComponentPlan) -> Resource:
    """Makes the Ingress of a component.

    Rule ingress.object: A component with an ingress has an Ingress, unless the ingress is a VirtualService. (operator:
    internal/dynamo/graph.go GenerateComponentIngress)
    """
    backend = {"service": {"name": plan.service_name, "port": {"number": plan.release.ports.http}}}
    spec: dict[str, Any] = {
        "ingressClassName": plan.exposure.ingress.class_name,
        "rules": [{"host": host(plan), "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}],
    }
    if plan.exposure.ingress.tls:
        spec["tls"] = [{"hosts": [host(plan)], "secretName": plan.exposure.ingress.tls_secret}]
    return {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": _metadata(plan), "spec": spec}


def _virtual_service(plan: ComponentPlan) -> Resource:
    """Makes the VirtualService of a component.

    Rule ingress.virtual-service: A component with a gateway of Istio has a VirtualService. (operator: internal/dynamo/graph.go
    GenerateComponentVirtualService)
    """
    destination = {"host": plan.service_name, "port": {"number": plan.release.ports.http}}
    return {
        "apiVersion": "networking.istio.io/v1beta1",
        "kind": "VirtualService",
        "metadata": _metadata(plan),
        "spec": {
            "gateways": [plan.exposure.ingress.gateway],
            "hosts": [host(plan)],
            "http": [{"match": [{"uri": {"prefix": "/"}}], "route": [{"destination": destination}]}],
        },
    }
