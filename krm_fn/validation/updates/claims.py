"""Changes of PersistentVolumeClaims: storage class and access mode are immutable, and the size can only grow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.kube import quantity
from krm_fn.kube.values import mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.plan.address import GraphField
    from krm_fn.results import Result
    from krm_fn.validation.updates.change import Change

_FIXED: dict[str, GraphField] = {"storageClass": "claim.storage_class", "volumeAccessMode": "claim.access_mode"}


def check(change: Change) -> Iterator[Result]:
    """Warns of a change that Kubernetes refuses. It concerns the claim alone, and the rest of the graph is applied."""
    before = {name: claim for _, name, claim in _created(change.was.claims)}
    for index, name, claim in _created(change.now.claims):
        for key, field, why in _refused(before[name], claim) if name in before else ():
            old, new = before[name].get(key), claim.get(key)
            message = f"{key} cannot change from {shown(old)} to {shown(new)}, {why}; set it back, or list a claim with another name"
            yield results.warning("DYN407", message, path=change.book.at(field, index), current=new, proposed=old)


def shown(value: Any) -> str:
    """A value of a field in a message."""
    return repr(value) if value else "unset"


def _created(claims: list[Any]) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yields the claims that a graph creates, each with its index and name."""
    for index, claim in enumerate(claims):
        fields = mapping(claim)
        if fields.get("create") is True and isinstance(fields.get("name"), str):
            yield index, fields["name"], fields


def _refused(old: Any, new: Any) -> Iterator[tuple[str, GraphField, str]]:
    """Yields the changed fields of a claim that Kubernetes refuses, each with the reason."""
    for key, field in _FIXED.items():
        if old.get(key) != new.get(key):
            yield key, field, "because it is immutable"
    before, after = old.get("size"), new.get("size")
    if isinstance(before, str | int) and isinstance(after, str | int) and quantity.value(after) < quantity.value(before):
        yield "size", "claim.size", "because a claim cannot shrink"
