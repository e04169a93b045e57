"""Reports fields of graphs and components that no release of Dynamo acts on, although their schema has them.

Follows the operator's `internal/dynamo/graph.go` and `internal/controller/dynamocomponentdeployment_controller.go`, which do not read them.
"""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.render import dynamo_api

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from krm_fn.base.results import Path, Result
    from krm_fn.render.plan import GraphPlan

_FINALIZERS = "workloads make pods without finalizers of their own, so the field has no effect; remove it"
_ADAPTER = "a component without a graph has no scaling adapter, so the field has no effect; set replicas, or scale its workload"
_OPTIONAL = "an endpoint picker does not start without its configuration, so the field has no effect; remove it"
_PICKER = "only a graph generates the ConfigMap of its endpoint picker, so the configuration has no effect; set configMapRef"
_TOPOLOGY = "only a graph under Grove has a topology, so the field has no effect; remove it"


def check(plan: GraphPlan) -> Iterator[Result]:
    """Yields the findings about a graph or a standalone component, at the fields that its author wrote."""
    is_v1alpha1 = plan.ref.api_version == dynamo_api.V1ALPHA1
    for component in plan.components:
        written = component.paths.written
        of_standalone = _standalone(written, is_v1alpha1=is_v1alpha1) if plan.standalone else ()
        for field, message in (*_always(written), *of_standalone):
            yield results.warning(codes.FIELD_WITHOUT_EFFECT, message, plan.ref, (*component.paths.path, *field))


def _always(component: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    if ((component.get("eppConfig") or {}).get("configMapRef") or {}).get("optional"):
        yield ("eppConfig", "configMapRef", "optional"), _OPTIONAL
    if ((component.get("podTemplate") or {}).get("metadata") or {}).get("finalizers"):
        yield ("podTemplate", "metadata", "finalizers"), _FINALIZERS


def _standalone(component: dict[str, Any], *, is_v1alpha1: bool) -> Iterator[tuple[Path, str]]:
    adapter = component.get("scalingAdapter")
    if adapter is not None and (adapter.get("enabled") or not is_v1alpha1):
        yield ("scalingAdapter",), _ADAPTER
    if (component.get("eppConfig") or {}).get("config") is not None:
        yield ("eppConfig", "config"), _PICKER
    if component.get("topologyConstraint") is not None:
        yield ("topologyConstraint",), _TOPOLOGY
