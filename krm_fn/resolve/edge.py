"""Reads the ingress, the base model and the endpoint picker of a component. Both API versions write them alike.

Follows the reference's `internal/dynamo/graph.go` GenerateDefaultIngressSpec and `internal/dynamo/epp/config.go`.
"""

from __future__ import annotations

from typing import Any

from krm_fn.manifests import components
from krm_fn.plan import Edge, EndpointPicker, Identity, Ingress
from krm_fn.resolve import pathway
from krm_fn.resolve.context import Shared


def edge(facts: Shared, who: Identity, written: dict[str, Any]) -> Edge:
    """Ingress, base model and endpoint picker of one component."""
    return Edge(
        ingress=_ingress(facts, who, written),
        model=(written.get("modelRef") or {}).get("name") or "",
        picker=_endpoint_picker(written.get("eppConfig") or {}),
    )


def _ingress(facts: Shared, who: Identity, written: dict[str, Any]) -> Ingress:
    """The component's own ingress. A frontend without one gets the configured ingress (reference: GenerateDefaultIngressSpec)."""
    own, default, kind = written.get("ingress"), facts.config.ingress, components.get(who.type)
    if not pathway.allows_ingress(facts, kind):
        return Ingress()
    if own is not None:
        return Ingress(
            enabled=bool(own.get("enabled")),
            host=own.get("host") or "",
            prefix=own.get("hostPrefix") or "",
            suffix=own.get("hostSuffix"),
            class_name=own.get("ingressControllerClassName"),
            tls=own.get("tls") is not None,
            tls_secret=(own.get("tls") or {}).get("secretName") or "",
            virtual_service=bool(own.get("useVirtualService")),
            gateway=own.get("virtualServiceGateway"),
            labels=own.get("labels"),
            annotations=own.get("annotations"),
        )
    if not kind.is_frontend or not facts.name:
        return Ingress()
    return Ingress(
        enabled=bool(default.class_name or default.istio_gateway),
        host=facts.name,
        suffix=default.host_suffix or None,
        class_name=default.class_name or None,
        tls=bool(default.tls_secret_name),
        tls_secret=default.tls_secret_name,
        virtual_service=bool(default.istio_gateway),
        gateway=default.istio_gateway or None,
    )


def _endpoint_picker(written: dict[str, Any]) -> EndpointPicker:
    by_name = written.get("configMapRef")
    return EndpointPicker(
        config=written.get("config"),
        by_reference=by_name is not None,
        config_map=(by_name or {}).get("name") or "",
        key=(by_name or {}).get("key") or "",
    )
