"""DynamoComponentDeployments as an inventory: nobody acts on them, but `kubectl get dcd` lists what a graph consists of.

Follows the reference's `internal/dynamo/graph.go` GenerateDynamoComponentsDeployments, whose intermediate resources these are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from krm_fn.kube import merge
from krm_fn.manifests import components as kinds

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.plan import ComponentPlan, GraphPlan, Ingress


def components(plan: GraphPlan, spec: dict[str, Any]) -> Iterator[Resource]:
    """One resource per service, where the configuration asks for it. `spec` is the graph's."""
    if not plan.config.components or plan.standalone:
        return
    for component in plan.components:
        if not component.placement.by_graph:
            yield {
                "apiVersion": plan.ref.api_version,
                "kind": "DynamoComponentDeployment",
                "metadata": {"name": component.who.name, "namespace": plan.namespace, "labels": component.who.labels},
                "spec": _spec(component, spec),
            }


def _spec(plan: ComponentPlan, spec: dict[str, Any]) -> dict[str, Any]:
    """The service as written, with what its graph decides."""
    service = (spec.get("services") or {}).get(plan.who.service) or {}
    kind = kinds.get(plan.who.type)
    extra = {**(service.get("extraPodSpec") or {}), **kind.enforce({})}
    opens = kind.is_entrance and service.get("ingress") is None
    decided = merge.some(
        backendFramework=spec.get("backendFramework"),
        serviceName=plan.who.service,
        dynamoNamespace=plan.who.dynamo_namespace,
        labels=plan.who.labels,
        annotations=plan.who.annotations or None,
        replicas=plan.placement.replicas,
        envs=list(plan.pod.envs) or None,
        extraPodSpec=extra or None,
        ingress=_default_ingress(plan.edge.ingress) if opens else None,
    )
    return {**service, **decided}


def _default_ingress(ingress: Ingress) -> dict[str, Any]:
    """The installation's ingress as the reference writes it."""
    return merge.some(
        enabled=ingress.enabled or None,
        host=ingress.host,
        hostSuffix=ingress.suffix,
        ingressControllerClassName=ingress.class_name,
        tls={"secretName": ingress.tls_secret} if ingress.tls else None,
        useVirtualService=ingress.virtual_service or None,
        virtualServiceGateway=ingress.gateway,
    )
