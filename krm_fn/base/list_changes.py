"""The parts in which two lists of texts differ."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher


def differing_parts(old: Sequence[str | None], new: Sequence[str]) -> list[tuple[slice, slice]]:
    """Returns the parts of two lists between the items that they have in common, in their order.

    >>> differing_parts(["a", "b", "c"], ["a", "d", "e", "c", "f"])
    [(slice(1, 2, None), slice(1, 3, None)), (slice(3, 3, None), slice(4, 5, None))]
    """
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(slice(*of_old), slice(*of_new)) for kind, *ends in codes if kind != "equal" for of_old, of_new in [(ends[:2], ends[2:])]]
