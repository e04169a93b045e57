"""Parts of the difference of two texts: what they are, and that any of them can be put back."""

from __future__ import annotations

from hypothesis import given, strategies

from krm_fn.origins import text_hunks
from krm_fn.origins.text_hunks import RevisionText, TextPair
from tests.support.cases import cases

LINES = strategies.lists(strategies.sampled_from(["a: 1\n", "a: 2\n", "  b: 1\n", "- c\n", "- c: d\n", "\n", "# e\n"]), max_size=12)
ENDS = strategies.sampled_from(["", "f: 1"])


def pair(old: str | None, new: str | None) -> TextPair:
    return TextPair(*(None if text is None else RevisionText("file", 1, text) for text in (old, new)))


def parts(texts: TextPair) -> list[text_hunks.Hunk]:
    return [part for hunk in text_hunks.between(0, texts) for part in text_hunks.parts(hunk, texts)]


ROWS = [
    # reason, the old text, the new text, the old and the new lines of each part
    ("nothing", "a: 1\n", "a: 1\n", []),
    ("lines with the same keys", "a: 1\nb: 1\n", "a: 2\nb: 2\n", [(["a: 1\n"], ["a: 2\n"]), (["b: 1\n"], ["b: 2\n"])]),
    ("a value and a new line", "a: 1\nc: 3\n", "a: 2\nb: 2\nc: 3\n", [(["a: 1\n"], ["a: 2\n"]), ([], ["b: 2\n"])]),
    ("entries of a list", "l:\n", "l:\n- a: 1\n  b: 2\n- a: 3\n", [([], ["- a: 1\n", "  b: 2\n"]), ([], ["- a: 3\n"])]),
    ("fields with blocks", "", "a:\n- 1\nb:\n  c: 2\n", [([], ["a:\n", "- 1\n"]), ([], ["b:\n", "  c: 2\n"])]),
    ("removed fields", "x: 1\na: 1\nb: 2\n", "x: 1\n", [(["a: 1\n"], []), (["b: 2\n"], [])]),
    ("a last line without a line break", "a: 1\nb: 1", "a: 2\nb: 1\n", [(["a: 1\n", "b: 1"], ["a: 2\n", "b: 1\n"])]),
    ("a new file", None, "a: 1\nb: 2\n", [([], ["a: 1\n", "b: 2\n"])]),
    ("a removed file", "a: 1\nb: 2\n", None, [(["a: 1\n", "b: 2\n"], [])]),
]


@cases(("old", "new", "expected"), ROWS)
def test_the_parts_of_a_difference(old, new, expected):
    texts = pair(old, new)
    lines = [
        tuple(text_hunks.lines(text)[indexes.start : indexes.stop] for text, indexes in ((texts.old, part.old), (texts.new, part.new)))
        for part in parts(texts)
    ]
    assert lines == expected


@given(LINES, ENDS, LINES, ENDS, strategies.data())
def test_all_parts_put_back_are_the_old_text(old, old_end, new, new_end, data):
    """Without parts, the text stays. Each line that differs is in one part."""
    texts = pair("".join(old) + old_end, "".join(new) + new_end)
    found = parts(texts)
    assert text_hunks.revert_hunks(texts, found) == "".join(old) + old_end
    assert text_hunks.revert_hunks(texts, []) == "".join(new) + new_end
    some = [part for part in found if data.draw(strategies.booleans())]
    assert text_hunks.revert_hunks(texts, some) is not None
    covered = [at for part in found for at in part.new]
    assert len(covered) == len({*covered})


def test_a_file_that_goes_or_comes():
    for texts, whole in ((pair(None, "a: 1\n"), None), (pair("a: 1\n", None), "a: 1\n")):
        assert text_hunks.revert_hunks(texts, parts(texts)) == whole
        assert text_hunks.revert_hunks(texts, []) == (texts.new.text if texts.new else None)


def test_a_large_difference_is_one_part():
    """Line by line, texts without common lines take quadratic time."""
    old, new = ("".join(f"{name}{number}\n" for number in range(3000)) for name in "ab")
    (hunk,) = text_hunks.between(0, pair(f"x\n{old}y\n", f"x\n{new}y\n"))
    assert (hunk.old, hunk.new) == (range(1, 3001), range(1, 3001))
