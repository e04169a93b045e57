"""What makes a value a ResourceList, and its items resources.

Not its business: what the resources say. Follows the KRM Functions Specification; like kpt, it wants of every item an apiVersion, a kind
and a name, and like kustomize no two items of one identity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from krm_fn import ownership, results
from krm_fn.kube import labels
from krm_fn.wire import origin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.types import Resource
    from krm_fn.ownership import Identity
    from krm_fn.results import Path, Result

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
    seen: dict[Identity, _Item] = {}
    for number, value in enumerate(fields["items"]):
        if not isinstance(value, dict):
            yield results.error("DYN014", "is no mapping; every item is a resource", path=("items", number))
            continue
        item = _Item(number, value, lines.get(id(value), 0))
        if missing := _missing(value):
            yield _finding("DYN015", f"items[{number}] has no {' and no '.join(missing)}; every resource has them, as texts", item)
        elif not _local(value) and (other := seen.setdefault(ownership.identity(value), item)) is not item:
            yield _finding("DYN016", f"is the same object as {_where(other)}; rename or remove one of the two", item, ("metadata", "name"))


def _missing(item: Resource) -> list[str]:
    """The parts of its address that an item lacks. Lists of resources have no names."""
    address = results.ref(item)
    parts = {"apiVersion": address.api_version, "kind": address.kind, "metadata.name": address.name}
    if address.kind.endswith("List") and isinstance(item.get("items"), list):
        del parts["metadata.name"]
    return [part for part, text in parts.items() if not text]


def _local(item: Resource) -> bool:
    """Whether an item never reaches a cluster, or is a list without a name: then it is nobody's double."""
    return labels.notes(item).get(labels.LOCAL_CONFIG) == "true" or not results.ref(item).name


def _finding(code: str, message: str, item: _Item, path: Path = ()) -> Result:
    return results.error(code, message, results.ref(item.value), path, **origin.place(item.value, item.line))


def _where(item: _Item) -> str:
    place = origin.place(item.value, item.line)
    if "file" in place:
        return f"the one in {place['file']}"
    return f"the one on line {place['line']}" if place.get("line") else f"items[{item.number}]"
