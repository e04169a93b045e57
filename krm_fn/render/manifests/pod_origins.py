"""Origins of the entries of a pod's lists: the layer of the pod that added an entry."""

from __future__ import annotations

from krm_fn.base.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, Literal

    ListEntry = Mapping[str, Any]


class EntryOrigin(NamedTuple):
    """Origin of an entry of a list: the layer that added it, and its position in the list of that layer."""

    layer: Literal["defaults", "user", "claims", "cache", "shared memory", "engine"]
    position: int


class Origins:
    """The origins of volumes, mounts and containers. Entries without a recorded origin are the engine's, such as the main container."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[ListEntry, EntryOrigin]] = {}  # by id; the entry is kept, so that no other object gets its id

    def of(self, entry: ListEntry) -> EntryOrigin:
        """Returns the origin of an entry."""
        known = self._known.get(id(entry))
        return known[1] if known else EntryOrigin("engine", 0)

    def record(self, entry: ListEntry, origin: EntryOrigin) -> None:
        """Records the origin of an entry."""
        self._known[id(entry)] = entry, origin

    def record_all(self, layer: Literal["defaults", "user", "claims"], *lists: Iterable[ListEntry] | None) -> None:
        """Records the entries of lists that one layer adds."""
        for entries in lists:
            self._known.update({id(entry): (entry, EntryOrigin(layer, index)) for index, entry in enumerate(entries or ())})

    def inherit(self, entries: Iterable[ListEntry], earlier: Sequence[ListEntry]) -> None:
        """Gives each entry the origin of the first earlier entry of its name, if that has one."""
        by_name = {entry.get("name"): entry for entry in reversed(earlier)}
        for entry in entries:
            first = by_name.get(entry.get("name"), entry)
            if first is not entry and id(first) in self._known:
                self.record(entry, self.of(first))
