"""The spec of a DynamoComponentDeployment for one service of a graph.

Follows the reference's `internal/dynamo/graph.go` GenerateDynamoComponentsDeployments, which makes them as an intermediate step.
"""

from __future__ import annotations

from typing import Any

from krm_fn.kube import merge
from krm_fn.manifests import components
from krm_fn.plan import Edge, Identity, Ingress, Placement, PodFacts
from krm_fn.resolve import pathway
from krm_fn.resolve.context import Shared


def spec(facts: Shared, who: Identity, parts: tuple[Placement, PodFacts, Edge], written: dict[str, Any]) -> dict[str, Any] | None:
    """The service as written, with the facts that it takes from its graph; None if the configuration does not enable the inventory."""
    placed, pods, edge = parts
    if not facts.config.components or who.standalone or not pathway.per_component(facts):
        return None
    kind = components.get(who.type)
    extra = {**(written.get("extraPodSpec") or {}), **kind.enforced}
    opens = kind.is_frontend and written.get("ingress") is None
    decided = merge.present(
        backendFramework=facts.framework or None,
        serviceName=who.service,
        dynamoNamespace=who.dynamo_namespace,
        labels=who.labels,
        annotations=who.annotations or None,
        replicas=placed.replicas,
        envs=list(pods.envs) or None,
        extraPodSpec=extra or None,
        ingress=_default_ingress(edge.ingress) if opens else None,
    )
    return {**written, **decided}


def _default_ingress(ingress: Ingress) -> dict[str, Any]:
    """The configured ingress as the reference writes it."""
    return merge.present(
        enabled=ingress.enabled or None,
        host=ingress.host,
        hostSuffix=ingress.suffix,
        ingressControllerClassName=ingress.class_name,
        tls={"secretName": ingress.tls_secret} if ingress.tls else None,
        useVirtualService=ingress.virtual_service or None,
        virtualServiceGateway=ingress.gateway,
    )
