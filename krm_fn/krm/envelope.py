"""What makes a value a ResourceList, and its items resources.

Not its business: what the resources say. Follows the KRM Functions Specification; like kpt, it wants of every item an apiVersion, a kind
and a name, and like kustomize no two items of one identity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from krm_fn import results
from krm_fn.krm import origin
from krm_fn.kube import identity, labels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.types import Resource
    from krm_fn.results import Ref, Result

API_VERSIONS = ("config.kubernetes.io/v1", "config.kubernetes.io/v1beta1")
KIND = "ResourceList"
_PLAIN_FILES = "plain files go through `krm-fn render`"


def around(value: Any) -> Iterator[Result]:
    """What keeps a value from being a ResourceList. With an error here there is no list that could be given back."""
    if not isinstance(value, dict):
        what = "a list" if isinstance(value, list) else "a text or a number"
        yield results.error("DYN012", f"the input is {what} and no {KIND}; {_PLAIN_FILES}")
        return
    address = results.ref(value)
    if address.kind != KIND or address.api_version not in API_VERSIONS:
        what = f"{address.kind or 'nameless kind'} of {address.api_version or 'no apiVersion'}"
        yield results.error("DYN012", f"the input is a {what} and no {KIND} of {API_VERSIONS[0]}; {_PLAIN_FILES}")
    elif not isinstance(value.get("items"), list):
        what = "is no list" if value.get("items") is not None else "is missing"
        yield results.error("DYN013", f"{what}; write `items: []` if there is nothing", path=("items",))


class _Item(NamedTuple):
    number: int
    value: Resource
    line: int


def within(fields: dict[str, Any], lines: dict[int, int]) -> Iterator[Result]:
    """What is wrong with the parts of a ResourceList. `lines` has the line of each item by its identity in memory."""
    config = fields.get("functionConfig")
    if config is not None and not isinstance(config, dict):
        yield results.error("DYN018", "is no resource; write a mapping with apiVersion, kind and metadata", path=("functionConfig",))
    seen: dict[identity.ObjectKey, _Item] = {}
    for number, value in enumerate(fields["items"]):
        if not isinstance(value, dict):
            yield results.error("DYN014", "is no mapping; every item is a resource", path=("items", number))
            continue
        item = _Item(number, value, lines.get(id(value), 0))
        address = results.ref(value)
        if not all(address[:3]):
            yield from _nameless(item, address)
        elif not _local(value) and (other := seen.setdefault(identity.key(value), item)) is not item:
            message = f"is the same object as {_where(other)}; rename or remove one of the two"
            yield results.error("DYN016", message, address, ("metadata", "name"), **origin.place(value, item.line))


def _nameless(item: _Item, address: Ref) -> Iterator[Result]:
    """An error for an item that lacks part of its address. Lists of resources need no name."""
    if address.api_version and address.kind.endswith("List") and isinstance(item.value.get("items"), list):
        return
    parts = {"apiVersion": address.api_version, "kind": address.kind, "metadata.name": address.name}
    missing = " and no ".join(part for part, text in parts.items() if not text)
    message = f"{address.kind or 'the item'} has no {missing}; every resource has all three, as texts"
    yield results.error("DYN015", message, path=("items", item.number), **origin.place(item.value, item.line))


def _local(item: Resource) -> bool:
    """Whether an item never reaches a cluster."""
    return labels.notes(item).get(labels.LOCAL_CONFIG) == "true"


def _where(item: _Item) -> str:
    place = origin.place(item.value, item.line)
    if "file" in place:
        return f"the one in {place['file']}"
    return f"the one on line {place['line']}" if place.get("line") else f"items[{item.number}]"
