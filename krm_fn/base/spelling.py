"""Finds the name that a misspelt one means.

Only typing mistakes count: at most two edits, an abbreviated or inflected word such as `mem` for `memory`, and words in another order.
Names that only share many letters mean different things, so none of them is returned.
"""

from __future__ import annotations

from collections import Counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST = 60
"""The longest text that can be a misspelt name, in characters."""
_TWO_EDITS = 7
"""The least number of characters of a name that may differ in two edits. A shorter one may differ in one, and a single letter in none."""
_STEM = 3
"""The least number of letters that two forms of a word share."""


def nearest(text: str, names: Iterable[str]) -> str:
    """Returns the name that a text misspells; empty without one, or if several are equally near.

    >>> nearest("--max-num-seq", ["--max-num-seqs", "--max-model-len"]), nearest("--max-batch-size", ["--ubatch-size"])
    ('--max-num-seqs', '')
    """
    if len(text) > _LONGEST:
        return ""
    listed = [*names]
    edits = {name: _edits(text.lower(), name.lower()) for name in listed}
    near = {name: count for name, count in edits.items() if count <= _limit(name)}
    least = min(near.values(), default=0)
    candidates = [name for name, count in near.items() if count == least] or [name for name in listed if _has_alike_words(text, name)]
    return candidates[0] if len(candidates) == 1 else ""


def _limit(name: str) -> int:
    length = len(name.strip("-"))
    return 2 if length >= _TWO_EDITS else min(1, length - 1)


def _edits(text: str, name: str) -> int:
    """Returns the number of inserted, deleted, replaced and swapped letters; 3 for more than two."""
    letters, others = Counter(text), Counter(name)
    if abs(len(text) - len(name)) > 2 or (letters - others).total() > 2 or (others - letters).total() > 2:
        return 3
    rows: list[list[int]] = [[*range(len(name) + 1)]]
    for row, letter in enumerate(text, 1):
        above = rows[-1]
        current = [row]
        for column, other in enumerate(name, 1):
            count = min(above[column] + 1, current[-1] + 1, above[column - 1] + (letter != other))
            if row > 1 < column and letter == name[column - 2] != other == text[row - 2]:
                count = min(count, rows[-2][column - 2] + 1)
            current.append(count)
        rows.append(current)
    return min(rows[-1][-1], 3)


def _has_alike_words(text: str, name: str) -> bool:
    """True if the words of both are forms of the same words, or the same words in another order."""
    words, others = (part.lower().replace("_", "-").strip("-").split("-") for part in (text, name))
    if len(words) != len(others):
        return False
    return sorted(words) == sorted(others) or all(map(_is_form, words, others))


def _is_form(word: str, other: str) -> bool:
    """True for `mem` and `memory`, `cache` and `caching`: one of them is at most one letter longer than what both share."""
    shared = next((at for at, (letter, same) in enumerate(zip(word, other, strict=False)) if letter != same), min(len(word), len(other)))
    return word == other or (shared >= _STEM and min(len(word), len(other)) <= shared + 1)
