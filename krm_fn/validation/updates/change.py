"""One change of a graph or a component, in the form that all rules compare: v1beta1, whatever the versions of the two states are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.convert import versions
from krm_fn.kube import identity, labels
from krm_fn.kube.values import mapping, objects
from krm_fn.records import NamedTuple
from krm_fn.resolve.v1alpha1 import fields as older
from krm_fn.resolve.v1beta1 import fields as newer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.types import Labels, Resource
    from krm_fn.plan import Address, Book


class State(NamedTuple):
    """A graph or a component in v1beta1, whose parts can have any type. A standalone component is the only one, with an empty name.

    `claims` are the PersistentVolumeClaims of a graph, which only v1alpha1 has.
    """

    spec: dict[str, Any]
    components: dict[str, dict[str, Any]]
    annotations: Labels
    claims: list[Any]


class Change(NamedTuple):
    """A change from one state to another. `book` has the fields of the new state where its author wrote them."""

    was: State
    now: State
    book: Book

    def both(self) -> Iterator[tuple[Address, dict[str, Any], dict[str, Any]]]:
        """Yields the components that are in both states: the address in the new one, and both of their specs."""
        for name, after in self.now.components.items():
            if name in self.was.components:
                yield self.book.component(name), self.was.components[name], after


def change(old: Resource, new: Resource) -> Change:
    """The change between two states of a resource. Any field may have any type."""
    return Change(_state(old), _state(new), _book(new))


def entries(value: Any) -> list[Any]:
    """The value if it is a list, otherwise an empty list."""
    return value if isinstance(value, list) else []


def _state(resource: Resource) -> State:
    spec = mapping(versions.to(versions.V1BETA1, resource).get("spec"))
    if results.ref(resource).kind == identity.COMPONENT:
        return State(spec, {"": spec}, labels.notes(resource), [])
    components = {entry["name"]: entry for entry in objects(spec.get("components")) if isinstance(entry.get("name"), str)}
    claims = entries(mapping(versions.to(versions.V1ALPHA1, resource).get("spec")).get("pvcs"))
    return State(spec, components, labels.notes(resource), claims)


def _book(resource: Resource) -> Book:
    """The addresses of a resource. They depend on the names of its components only, and the other fields may have any type."""
    spec, address = mapping(resource.get("spec")), results.ref(resource)
    plain = {key: resource.get(key) for key in ("apiVersion", "kind", "metadata")}
    if address.api_version == identity.V1ALPHA1:
        return older.book({**plain, "spec": {"services": {name: {} for name in mapping(spec.get("services"))}}})
    names = [mapping(entry).get("name") for entry in entries(spec.get("components"))]
    return newer.book({**plain, "spec": {"components": [{"name": name if isinstance(name, str) else ""} for name in names]}})
