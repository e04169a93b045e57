"""One component in the other version, together with the fields to keep beside it, so that the opposite conversion restores it."""

from __future__ import annotations

from typing import Any

from krm_fn.convert import component_leftovers, components, service_leftovers
from krm_fn.records import NamedTuple

Fields = dict[str, Any]


class Exchanged(NamedTuple):
    """A component or service, and the fields of the other one that it cannot say."""

    fields: Fields
    leftovers: Fields


def to_component(service: Fields, before: Fields, name: str | None) -> Exchanged:
    """Converts a service. `before` are the kept fields of the component that it was; they are dropped if they contradict the service."""
    component = component_leftovers.restored(service, before, name)
    leftovers = service_leftovers.kept_of(service, component, name)
    if before and service_leftovers.restored(component, leftovers, name) != service:
        component = components.to_component(service, name)
        leftovers = service_leftovers.kept_of(service, component, name)
    return Exchanged(component, leftovers)


def to_service(component: Fields, before: Fields, name: str | None) -> Exchanged:
    """Converts a component. `before` are the kept fields of the service that it was; they are dropped if they contradict the component."""
    service = service_leftovers.restored(component, before, name)
    leftovers = component_leftovers.kept_of(component, service, name)
    if before and component_leftovers.restored(service, leftovers, name) != component:
        service = components.to_service(component)
        leftovers = component_leftovers.kept_of(component, service, name)
    return Exchanged(service, leftovers)
