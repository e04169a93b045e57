"""Hunks: the parts of texts that differ between two states. A hunk is the unit that a search for the origin of a change reverts."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from krm_fn.base.records import NamedTuple

_LARGEST = 4_000_000
"""The largest product of the numbers of lines that are compared line by line. Larger differences are one hunk."""
_KEY = re.compile(r"\s*(?:-\s+)*+(?:(?:\"[^\"]*\"|'[^']*')\s*|[^\s:#'\"{}\[\]][^:#]*):(?=\s|$)")
"""The beginning of a line of YAML or JSON, up to the colon behind its key."""
_OPERATION = re.compile(r"\s*-\s+(?:\{\s*)?[\"']?op[\"']?:\s")
"""The first line of an operation of a JSON patch (RFC 6902)."""
_ENTRY = re.compile(r"\s*-(\s|$)")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


class RevisionText(NamedTuple):
    """A text of one state: a file, or a document of a file. `line` is the number of its first line in the file."""

    file: str
    line: int
    text: str


class TextPair(NamedTuple):
    """The same text in both states. None in the state that does not have it."""

    old: RevisionText | None
    new: RevisionText | None


class Hunk(NamedTuple):
    """Lines that differ between both states of a text. Ranges are those of indexes of lines; an empty range is where lines are missing.

    `pair` is the number of the pair of texts.
    """

    pair: int
    old: range
    new: range


def between(number: int, pair: TextPair) -> list[Hunk]:
    """Returns the hunks of a pair of texts, from top to bottom. `number` is that of the pair."""
    old, new = lines(pair.old), lines(pair.new)
    if old == new and (pair.old is None) == (pair.new is None):
        return []
    if pair.old is None or pair.new is None:
        return [Hunk(number, range(len(old)), range(len(new)))]
    first = _common(zip(old, new, strict=False))
    last = min(_common(zip(reversed(old), reversed(new), strict=False)), len(old) - first, len(new) - first)
    old_end, new_end = len(old) - last, len(new) - last
    if (old_end - first) * (new_end - first) > _LARGEST:
        return [Hunk(number, range(first, old_end), range(first, new_end))]
    blocks = _blocks(old[first:old_end], new[first:new_end])
    return [Hunk(number, range(a + first, b + first), range(c + first, d + first)) for a, b, c, d in blocks]


def lines(text: RevisionText | None) -> list[str]:
    """Returns the lines of a text with their line breaks, counted as git counts them; none for a text that does not exist."""
    return _LINE.findall(text.text) if text else []


def _common(pairs: Iterable[tuple[str, str]]) -> int:
    count = 0
    for one, other in pairs:
        if one != other:
            break
        count += 1
    return count


def _blocks(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yields the first and the last indexes, in both lists, of the parts that differ.

    If two blocks of one size change places, git shows the first one as removed. So does a matcher whose first list is the new one.
    """
    for kind, *block in difflib.SequenceMatcher(None, new, old, autojunk=False).get_opcodes():
        if kind != "equal":
            yield block[2], block[3], block[0], block[1]


def parts(hunk: Hunk, pair: TextPair) -> list[Hunk]:
    """Returns the smaller hunks of a hunk: lines with the same key, or as many as before, change each other; others are blocks.

    A text that only one state has is one hunk, because a part of a resource is no resource. So is a last line without a line break.
    """
    old, new = (lines(text)[indexes.start : indexes.stop] for text, indexes in ((pair.old, hunk.old), (pair.new, hunk.new)))
    if pair.old is None or pair.new is None or not all(line.endswith("\n") for line in (*old[-1:], *new[-1:])):
        return [hunk]
    matcher = difflib.SequenceMatcher(None, [*map(_key, old)], [*map(_key, new)], autojunk=False)
    smaller: list[Hunk] = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal" or (kind == "replace" and b - a == d - c):
            smaller += [_below(hunk, at, at + 1, c + at - a, c + at - a + 1) for at in range(a, b) if old[at] != new[c + at - a]]
        elif kind == "replace":
            smaller.append(_below(hunk, a, b, c, d))
        elif kind == "delete":
            smaller += [_below(hunk, *block, c, c) for group in _groups(old, a, b) for block in _operations(old, *group)]
        else:
            smaller += [_below(hunk, a, a, *block) for group in _groups(new, c, d) for block in _operations(new, *group)]
    return smaller


def _below(hunk: Hunk, old_start: int, old_end: int, new_start: int, new_end: int) -> Hunk:
    old, new = hunk.old.start, hunk.new.start
    return Hunk(hunk.pair, range(old + old_start, old + old_end), range(new + new_start, new + new_end))


def _key(line: str) -> str:
    match = _KEY.match(line)
    return match.group() if match else line


def _groups(texts: Sequence[str], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yields the blocks of added or removed lines: each begins with a line of the smallest indentation."""
    indents = [len(texts[at]) - len(texts[at].lstrip()) for at in range(start, end) if texts[at].strip()]
    least, begin = min(indents, default=0), start
    is_list = bool(_ENTRY.match(texts[start]))
    for at in range(start + 1, end):
        text = texts[at]
        if text.strip() and len(text) - len(text.lstrip()) == least and bool(_ENTRY.match(text)) == is_list:
            yield begin, at
            begin = at
    yield begin, end


def _operations(texts: Sequence[str], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yields the parts of a block: each operation of a JSON patch in it, the first one with all before it, and what is behind them."""
    columns = {at: len(texts[at]) - len(texts[at].lstrip()) for at in range(start, end) if texts[at].strip()}
    operations = [at for at in columns if _OPERATION.match(texts[at])]
    last = next((at for at in columns if operations and at > operations[-1] and columns[at] < columns[operations[0]]), end)
    borders = [start, *(at for at in operations[1:] if columns[at] == columns[operations[0]]), last, end]
    yield from ((begin, stop) for begin, stop in itertools.pairwise(borders) if begin < stop)


def revert_hunks(pair: TextPair, hunks: Iterable[Hunk]) -> str | None:
    """Returns the new text with some hunks of the pair as in the old text; None if the text then does not exist."""
    if pair.old is None or pair.new is None:
        text = pair.old if any(True for _ in hunks) else pair.new
        return text.text if text else None
    old, new = lines(pair.old), lines(pair.new)
    for hunk in sorted(hunks, key=lambda hunk: (hunk.new.start, hunk.old.start), reverse=True):
        new[hunk.new.start : hunk.new.stop] = old[hunk.old.start : hunk.old.stop]
    return "".join(new)
