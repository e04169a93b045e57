"""The spec of a DynamoComponentDeployment for one component of a graph.

Follows the reference's `internal/dynamo/graph.go` GenerateDynamoComponentsDeployments, which makes them as an intermediate step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.manifests import components
from krm_fn.resolve import pathway
from krm_fn.resolve.v1beta1.templates import with_pod

if TYPE_CHECKING:
    from krm_fn.plan import Identity
    from krm_fn.resolve.context import Shared
    from krm_fn.resolve.v1beta1.templates import Template


def spec(facts: Shared, who: Identity, template: Template) -> dict[str, Any] | None:
    """The component with everything that its graph adds; None if the configuration does not enable the inventory."""
    if not facts.config.components or who.standalone or not pathway.per_component(facts):
        return None
    written = {"replicas": 1, **template.component}
    if enforced := components.get(who.type).enforced:
        written = with_pod(written, lambda pod: {**pod, "spec": {**(pod.get("spec") or {}), **enforced}})
    return {**({"backendFramework": facts.framework} if facts.framework else {}), **written}
