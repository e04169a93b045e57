"""Slips of the pen: names that differ from another one in one letter, or in the order of two letters that follow each other."""

from __future__ import annotations


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


def _common(text: str, other: str) -> int:
    """Returns the number of letters with which both texts begin."""
    return next((number for number, pair in enumerate(zip(text, other, strict=False)) if pair[0] != pair[1]), min(len(text), len(other)))
