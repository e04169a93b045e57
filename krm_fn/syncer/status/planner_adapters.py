"""The scaling adapters of a generated graph with a planner. The profiler writes none, and a planner scales only through adapters."""

from __future__ import annotations

from typing import Any

from krm_fn.kubernetes import values
from krm_fn.kubernetes.types import Resource
from krm_fn.render.kinds import types
from krm_fn.render.kinds.types import ComponentType


def enable(graph: Resource) -> tuple[Resource, list[str]]:
    """Enables the adapters of the engines of a graph with a planner. Returns the graph, and the names of the changed components.

    A component that has the field keeps it. The graph is a profiler's output, so that any field may have any type.
    """
    spec = values.mapping(graph, "spec")
    services = values.mapping(spec, "services")
    components = spec["components"] if isinstance(spec.get("components"), list) else []
    if not any(_type(component).scales for component in (*services.values(), *components)):
        return graph, []
    changed = [name for name, service in services.items() if _lacks_adapter(service)]
    changed += [values.text(component.get("name")) for component in components if _lacks_adapter(component)]
    enabled = {name: {**service, "scalingAdapter": {"enabled": True}} for name, service in services.items() if _lacks_adapter(service)}
    fields: dict[str, Any] = {"services": {**services, **enabled}} if enabled else {}
    if any(map(_lacks_adapter, components)):
        fields["components"] = [{**entry, "scalingAdapter": {}} if _lacks_adapter(entry) else entry for entry in components]
    return {**graph, "spec": {**spec, **fields}}, changed


def _type(component: Any) -> ComponentType:
    fields = values.mapping(component)
    return types.get(values.text(fields.get("type")) or values.text(fields.get("componentType")))


def _lacks_adapter(component: Any) -> bool:
    return isinstance(component, dict) and "scalingAdapter" not in component and _type(component).runs_engine
