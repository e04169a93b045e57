"""The settings of Istio, from live objects that an operator makes only with such a setting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import identity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from krm_fn.kube.identity import ObjectKey
    from krm_fn.kube.types import Resource

_TLS = {"mode": "tlsMode", "clientCertificate": "clientCertificate", "privateKey": "privateKey", "caCertificates": "caCertificates"}
_MODE = "SIMPLE"


def gateway(rendered: Iterable[Resource], live: Mapping[ObjectKey, Resource]) -> str:
    """The gateway of a live VirtualService that a render makes too; empty without one. Without the setting, a render makes none."""
    gateways = (gateway for spec in _specs("VirtualService", rendered, live) for gateway in spec.get("gateways") or ())
    return str(next(gateways, ""))


def mesh(rendered: Iterable[Resource], live: Mapping[ObjectKey, Resource]) -> dict[str, Any]:
    """The setting `serviceMesh` of a live DestinationRule that a render with a mesh makes too; empty without one."""
    rule = next(iter(_specs("DestinationRule", rendered, live)), None)
    if rule is None:
        return {}
    tls = (rule.get("trafficPolicy") or {}).get("tls") or {}
    istio = {ours: tls[theirs] for theirs, ours in _TLS.items() if tls.get(theirs) and tls[theirs] != _MODE}
    if not tls.get("insecureSkipVerify"):
        istio["insecureSkipVerify"] = False
    return {"enabled": True, **({"istio": istio} if istio else {})}


def _specs(kind: str, rendered: Iterable[Resource], live: Mapping[ObjectKey, Resource]) -> list[dict[str, Any]]:
    """The specs of the live objects of a kind that are also rendered."""
    return [live[key].get("spec") or {} for resource in rendered if resource["kind"] == kind and (key := identity.key(resource)) in live]
