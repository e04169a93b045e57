"""The fields of a graph that only v1alpha1 has. Its conversion to v1beta1 keeps them in an annotation, and the reference acts on them.

Follows the reference's `internal/dynamo/v1beta1_helpers.go` getDGDAlphaComponent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import labels
from krm_fn.records import NamedTuple
from krm_fn.resolve.claims import claims

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krm_fn.kube.types import Resource
    from krm_fn.plan import Claim


class Older(NamedTuple):
    """The services of a graph in v1alpha1, by name, and its claims."""

    services: Mapping[str, dict[str, Any]] = {}
    claims: tuple[Claim, ...] = ()


def read(resource: Resource) -> Older:
    """The fields of a v1beta1 graph that only v1alpha1 has; empty if its annotation has none."""
    if labels.PRESERVED_GRAPH not in labels.notes(resource):
        return Older()
    from krm_fn.convert import versions  # noqa: PLC0415 - few graphs have the annotation

    spec = versions.to(versions.V1ALPHA1, resource).get("spec") or {}
    services = {name: service for name, service in (spec.get("services") or {}).items() if service}
    return Older(services, tuple(claims(spec)))


def of_component(resource: Resource) -> dict[str, Any]:
    """The fields of a v1beta1 standalone component in v1alpha1; empty if its annotation has none."""
    if labels.PRESERVED_COMPONENT not in labels.notes(resource):
        return {}
    from krm_fn.convert import versions  # noqa: PLC0415 - few components have the annotation

    found: dict[str, Any] = versions.to(versions.V1ALPHA1, resource).get("spec") or {}
    return found
