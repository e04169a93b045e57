"""Slips of the pen: names that differ from another one in one letter, or in the order of two letters that follow each other."""

from __future__ import annotations

import itertools
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST = 500
"""The largest number of names with which one is compared."""
_SHORTEST = 4
"""Words with fewer letters are often similar by accident."""
_SEPARATORS = "-_."


def is_slip(text: str, known: str, separators: str = "") -> bool:
    """Returns true if a text differs from a known one in one letter or separator, or in the order of two. Upper case counts as a slip.

    Digits are no slips, because names that differ in a number often mean two things.

    >>> [is_slip(text, "runtime") for text in ("runtme", "runtimes", "rutnime", "RUNTIME", "runtime2", "runtime")]
    [True, True, True, True, False, False]
    """
    if text == known:
        return False
    lower = text.lower()
    start = _common(lower, known)
    end = _common(lower[start:][::-1], known[start:][::-1])
    ours, theirs = lower[start : len(lower) - end], known[start : len(known) - end]
    if len(ours) <= 1 >= len(theirs):
        return all(letter.isalpha() or letter in separators for letter in ours + theirs)
    return len(ours) == 2 and ours == theirs[::-1]


def nearest(name: str, names: Iterable[str]) -> str:
    """Returns the first of some names that a name is a slip for; empty without one. Parts such as `a`, `eu` and `v2` are no slips.

    >>> nearest("modle-cache", ["data", "model-cache"]), nearest("cache-a", ["cache-b"]), nearest("reader", ["readers"])
    ('model-cache', '', 'readers')
    """
    alike = (known for known in itertools.islice(names, _MOST) if abs(len(known) - len(name)) <= 1)
    return next((known for known in alike if name != known and _is_likely(name.lower(), known.lower())), "")


def _is_likely(name: str, known: str) -> bool:
    """True for two equal names, which differ in their case, and for a slip in a long word."""
    return name == known or (is_slip(name, known, _SEPARATORS) and _is_long(name, known))


def _is_long(name: str, known: str) -> bool:
    """True if the words in which two names differ are long. A word with another letter in place of one is longer."""
    words, others = (re.split(r"[-_.]", part) for part in (name, known))
    if len(words) != len(others):
        return min(len(name), len(known)) > _SHORTEST
    pairs = [(word, other) for word, other in zip(words, others, strict=True) if word != other]
    return all(min(map(len, pair)) >= _SHORTEST + (_is_replaced(*pair)) for pair in pairs)


def _is_replaced(word: str, other: str) -> bool:
    return len(word) == len(other) and sorted(word) != sorted(other)


def _common(text: str, other: str) -> int:
    """Returns the number of letters with which both texts begin."""
    return next((number for number, pair in enumerate(zip(text, other, strict=False)) if pair[0] != pair[1]), min(len(text), len(other)))
