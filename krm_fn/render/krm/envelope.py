"""Checks that a value is a ResourceList, and that its items are resources.

Follows the KRM Functions Specification. Like kpt, it requires apiVersion, kind and name of every item; like kustomize, it refuses two items
of one identity.
"""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import identity
from krm_fn.render import dynamo_api, labels
from krm_fn.render.krm import origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from krm_fn.base.results import Ref, Result
    from krm_fn.kubernetes.types import Resource

API_VERSIONS = ("config.kubernetes.io/v1", "config.kubernetes.io/v1beta1")
KIND = "ResourceList"
_PLAIN_FILES = "use `krm-fn render` for plain files"


def check_list(value: Any) -> Iterator[Result]:
    """Yields an error if a value is not a ResourceList. The function cannot write a list then."""
    if not isinstance(value, dict):
        what = "a list" if isinstance(value, list) else "a single value"
        yield results.error(codes.INPUT_NOT_RESOURCE_LIST, f"the input is {what}, not a {KIND}; {_PLAIN_FILES}")
        return
    address = results.ref(value)
    if address.kind != KIND or address.api_version not in API_VERSIONS:
        what = f"{address.kind or '(no kind)'} of {address.api_version or '(no apiVersion)'}"
        yield results.error(codes.INPUT_NOT_RESOURCE_LIST, f"the input is {what}, not a {KIND} of {API_VERSIONS[0]}; {_PLAIN_FILES}")
    elif not isinstance(value.get("items"), list):
        what = "items is not a list" if value.get("items") is not None else "items is missing"
        yield results.error(codes.RESOURCE_LIST_WITHOUT_ITEMS, f"{what}; write `items: []` if there are no resources", path=("items",))


class _Item(NamedTuple):
    number: int
    value: Resource
    line: int


def check_items(fields: dict[str, Any], lines: dict[int, int]) -> Iterator[Result]:
    """Yields the errors in the functionConfig and in the items. `lines` maps the id() of each item to its line, from 1."""
    config = fields.get("functionConfig")
    if config is not None and not isinstance(config, dict):
        message = "the functionConfig is not a resource; write a mapping with apiVersion, kind and metadata"
        yield results.error(codes.FUNCTION_CONFIG_NOT_RESOURCE, message, path=("functionConfig",))
    seen: dict[identity.ObjectKey, _Item] = {}
    for number, value in enumerate(fields["items"]):
        if not isinstance(value, dict):
            message = "the item is not a mapping; write a resource with apiVersion, kind and metadata"
            yield results.error(codes.DOCUMENT_NOT_RESOURCE, message, path=("items", number))
            continue
        item = _Item(number, value, lines.get(id(value), 0))
        address = results.ref(value)
        if not all(address[:3]):
            yield from _nameless(item, address)
        elif not _local(value) and (other := seen.setdefault(identity.key(value), item)) is not item:
            message = f"the item is the same object as {_where(other)}; rename or remove one of the two"
            yield results.error(codes.DUPLICATE_RESOURCE, message, address, ("metadata", "name"), **origin.location(value, item.line))
        if address.kind.endswith("List"):
            yield from _check_lists(item, address)
        yield from _check_item_path(item, address)


def _nameless(item: _Item, address: Ref) -> Iterator[Result]:
    """Yields an error for an item without a full address. A list of resources needs no name."""
    if address.api_version and address.kind.endswith("List") and isinstance(item.value.get("items"), list):
        return
    parts = {"apiVersion": address.api_version, "kind": address.kind, "metadata.name": address.name}
    missing = " and no ".join(part for part, text in parts.items() if not text)
    message = f"{address.kind or 'the item'} has no {missing}; write all three as strings"
    yield results.error(codes.RESOURCE_WITHOUT_KIND_OR_NAME, message, path=("items", item.number), **origin.location(item.value, item.line))


def _check_lists(item: _Item, address: Ref) -> Iterator[Result]:
    """Yields an error for each Dynamo resource inside a list, because only items of the ResourceList itself are expanded."""
    for inner in _listed_resources(item.value):
        ref = results.ref(inner)
        message = f"{address.kind} holds {ref.kind} {ref.name}, which is not expanded inside a list; write it as a resource of its own"
        yield results.error(codes.DYNAMO_RESOURCE_IN_LIST, message, path=("items", item.number), **origin.location(item.value, item.line))


def _listed_resources(value: Resource) -> Iterator[Resource]:
    """Yields the Dynamo resources in a list of resources, and in the lists in it."""
    listed = value.get("items")
    for inner in listed if isinstance(listed, list) else ():
        if isinstance(inner, dict):
            yield from [inner] if dynamo_api.is_dynamo(inner) else _listed_resources(inner)


def _check_item_path(item: _Item, address: Ref) -> Iterator[Result]:
    """Yields an error for a Dynamo resource whose path is outside the package, because generated objects get paths in the same folder."""
    annotations = labels.annotations(item.value) if dynamo_api.is_dynamo(item.value) else {}
    for key in (labels.PATH, labels.LEGACY_PATH):
        path = annotations.get(key)
        if isinstance(path, str) and _leaves(path):
            message = "the path is outside the package; write a path relative to the package, or remove the annotation"
            yield results.error(codes.PATH_OUTSIDE_PACKAGE, message, address, ("metadata", "annotations", key))


def _leaves(path: str) -> bool:
    """True for a path that is absolute or climbs above the folder that it is relative to."""
    depth = 0
    for step in path.replace("\\", "/").split("/"):
        depth += -1 if step == ".." else step not in ("", ".")
        if depth < 0:
            return True
    return path.startswith(("/", "\\"))


def _local(item: Resource) -> bool:
    """True for an item that never reaches a cluster."""
    return labels.annotations(item).get(labels.LOCAL_CONFIG) == "true"


def _where(item: _Item) -> str:
    location = origin.location(item.value, item.line)
    if "file" in location:
        return f"the one in {location['file']}"
    return f"the one on line {location['line']}" if location.get("line") else f"items[{item.number}]"
