"""Reports what a `v1alpha1` service says and its conversion to `v1beta1` drops without a word, so that no reader of v1beta1 sees it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.resolve import resources
from krm_fn.resolve.v1alpha1 import ignored_fields

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.plan import ComponentPlan, GraphPlan
    from krm_fn.results import Result

_SIDECAR = "sidecar-frontend"


def check(plan: GraphPlan, resource: Resource) -> Iterator[Result]:
    """The findings about a graph or a standalone component. `resource` is as its author wrote it."""
    spec = resource.get("spec") or {}
    for component in plan.components:
        written = spec if plan.standalone else (spec.get("services") or {}).get(component.who.service) or {}
        yield from ignored_fields.check_everywhere(component, written)
        yield from _check(component, written)


def _check(plan: ComponentPlan, written: dict[str, Any]) -> Iterator[Result]:
    found: list[Result] = []
    resources.native(written.get("resources") or {}, plan.ref, plan.address.path, found)
    yield from found
    names = [container.get("name") for container in (written.get("extraPodSpec") or {}).get("containers") or ()]
    if written.get("frontendSidecar") is not None and _SIDECAR in names:
        message = f"the container of the frontend is called {_SIDECAR}, and another container has the name; rename it"
        yield results.error("DYN460", message, plan.ref, (*plan.address.path, "extraPodSpec", "containers", names.index(_SIDECAR), "name"))
