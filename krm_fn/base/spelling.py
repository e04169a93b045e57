"""Finds the name that a misspelt one means, in a vocabulary such as the flags of a program, or among the names of objects.

Only typing mistakes count. In a vocabulary, these are at most two edits, abbreviated or inflected words such as `mem` for `memory`, also
with a slip in another word, and words in another order. Of names of objects, it is one edit (`is_slip`). Names that only share many letters
mean different things.
"""

from __future__ import annotations

import itertools
import re
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
_MOST_NAMES = 500
"""The largest number of names of objects with which one is compared."""
_SHORTEST_WORD = 4
"""Words with fewer letters are often similar by accident."""
_SEPARATORS = "-_."


def nearest(text: str, names: Iterable[str]) -> str:
    """Returns the name of a vocabulary that a text misspells; empty without one, or if several are equally near.

    >>> flags = ["--max-num-seqs", "--max-model-len", "--ubatch-size"]
    >>> [nearest(flag, flags) for flag in ("--max-num-seq", "--max-modle-length", "--max-batch-size")]
    ['--max-num-seqs', '--max-model-len', '']
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
    if abs(len(text) - len(name)) > 2:
        return 3
    letters, others = Counter(text), Counter(name)
    if (letters - others).total() > 2 or (others - letters).total() > 2:
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
    """True if the words of both are forms of the same words, with a slip in one of them, or the same words in another order."""
    words, others = (part.lower().replace("_", "-").strip("-").split("-") for part in (text, name))
    if len(words) != len(others):
        return False
    if sorted(words) == sorted(others):
        return True
    unlike = [pair for pair in zip(words, others, strict=True) if not _is_form(*pair)]
    return not unlike or (len(unlike) == 1 < len(words) and _is_slip_in_long_word(*unlike[0]))


def _is_slip_in_long_word(word: str, other: str) -> bool:
    """True for `modle` and `model`."""
    return min(len(word), len(other)) >= _SHORTEST_WORD and is_slip(word, other)


def _is_form(word: str, other: str) -> bool:
    """True for `mem` and `memory`, `cache` and `caching`: one of them is at most one letter longer than what both share."""
    shared = next((at for at, (letter, same) in enumerate(zip(word, other, strict=False)) if letter != same), min(len(word), len(other)))
    return word == other or (shared >= _STEM and min(len(word), len(other)) <= shared + 1)


def similar(name: str, names: Iterable[str]) -> str:
    """Returns the name that another one misspells, or the only one that has all its words, or all whose words it has; empty without one.

    >>> similar("VllmDecodeWorker", ["Frontend", "VllmWorker"]), similar("a", ["b"])
    ('VllmWorker', '')
    """
    listed, words = [*names], _words(name)
    parts = [other for other in listed if words <= _words(other) or _words(other) <= words]
    return nearest(name, listed) or (parts[0] if len(parts) == 1 else "")


def similar_or_only(name: str, names: Iterable[str]) -> str:
    """Returns the name that another one misspells, or the only name at all; empty without one.

    >>> similar_or_only("chat", ["agent"]), similar_or_only("chat", ["agent", "search"])
    ('agent', '')
    """
    listed = [*names]
    return similar(name, listed) or (listed[0] if len(listed) == 1 else "")


def _words(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", name)}


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


def nearest_name(name: str, names: Iterable[str]) -> str:
    """Returns the first of some names of objects that a name is a slip for; empty without one.

    Authors choose these names, so less is a slip than in a vocabulary: parts such as `a`, `eu` and `v2` differ on purpose.

    >>> nearest_name("modle-cache", ["data", "model-cache"]), nearest_name("cache-a", ["cache-b"]), nearest_name("reader", ["readers"])
    ('model-cache', '', 'readers')
    """
    alike = (known for known in itertools.islice(names, _MOST_NAMES) if abs(len(known) - len(name)) <= 1)
    return next((known for known in alike if name != known and _is_likely(name.lower(), known.lower())), "")


def _is_likely(name: str, known: str) -> bool:
    """True for two equal names, which differ in their case, and for a slip in a long word."""
    return name == known or (is_slip(name, known, _SEPARATORS) and _is_long(name, known))


def _is_long(name: str, known: str) -> bool:
    """True if the words in which two names differ are long. A word with another letter in place of one is longer."""
    words, others = (re.split(r"[-_.]", part) for part in (name, known))
    if len(words) != len(others):
        return min(len(name), len(known)) > _SHORTEST_WORD
    pairs = [(word, other) for word, other in zip(words, others, strict=True) if word != other]
    return all(min(map(len, pair)) >= _SHORTEST_WORD + (_is_replaced(*pair)) for pair in pairs)


def _is_replaced(word: str, other: str) -> bool:
    return len(word) == len(other) and sorted(word) != sorted(other)


def _common(text: str, other: str) -> int:
    """Returns the number of letters with which both texts begin."""
    return next((number for number, pair in enumerate(zip(text, other, strict=False)) if pair[0] != pair[1]), min(len(text), len(other)))
