"""Finds the cause of a syntax error in the lines above it: a quote that is not closed, a line at a wrong level, a colon.

The parser stops where it can go on no longer, which is often behind the mistake. A cause is only named if the text shows it.
"""

from __future__ import annotations

import itertools
import re

from krm_fn.base.records import NamedTuple
from krm_fn.base.yaml import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_KEY = re.compile(r"[\w./-]{1,100}:(?=\s|$)")
_WITHOUT_COLON = re.compile(r"([A-Za-z][\w-]*|<<)\s+[^\s:#][^:#]*")
_FLAG = re.compile(r"--[A-Za-z][\w-]*")
_NO_BLANK = re.compile(r"([A-Za-z][\w-]*):([^\s:/][^:#]*|[^\s:/][^\s#]*)")
"""A key and its value without a blank between them, as in `value:info`. The text of a URL is none."""
_TWO_KEYS = re.compile(r"[a-z][A-Za-z]*:[ ]+\S+[ ]+([a-z][A-Za-z]*)", re.ASCII)
"""A key, its value of one word, and another key."""
_SERVICES, _ENTRY_NAME = "services:", re.compile(r"- name:\s+([\w.-]+)", re.ASCII)
_NAMED_ENTRIES = ("components:", "containers:", "initContainers:", "volumes:")
"""Keys whose values are lists of objects with names."""
_CONFLICT = re.compile(r"^(?:<{7} |={7}$|>{7} )", re.MULTILINE)
"""The beginning of a line that git writes between the two parts of a conflict."""
_IMAGE = re.compile(r"image:[ ]+([\w./-]+)", re.ASCII)
_TAG = re.compile(r":[ ]+([\w.-]+)[ ]*(?:#|$)", re.ASCII | re.MULTILINE)
_OBJECTS = re.compile(r"(?:annotations|labels|limits|matchLabels|nodeSelector|requests|resources):", re.ASCII)
"""A key whose value is an object in each resource of Kubernetes."""
_OF_METADATA = ("annotations", "labels", "name", "namespace")
_ABOVE_METADATA = ("apiVersion:", "kind:")
_MOST_MARKERS = 6
"""The largest number of markers of conflicts that a message lists."""
_MOST_LINES = 2000
"""The largest number of lines above an error that are read."""


class Cause(NamedTuple):
    """The message about a cause, with the fix after a semicolon, and the offset where the mistake is."""

    message: str
    offset: int


class _Level(NamedTuple):
    """A column in which a line above begins, from 0: a key, or the dash of a list entry. `number` counts lines of the text from 0."""

    column: int
    text: str
    number: int
    is_dash: bool
    is_in_entry: bool = False


_ARGUMENT = re.compile(r"[ ]*-[ ]+--[\w-]+=\{[^'\n]*\}[ ]*$", re.MULTILINE)
"""An argument of a list with a JSON document, without quotes around it."""


def find(problem: str, text: str, offset: int, lines: int = 0) -> Cause | None:
    """Returns the cause of a problem that the parser reports at an offset of a text; None if the text does not show it.

    `lines` is the number of lines before the text in its file.

    >>> find("did not find expected key", "a: 'it's'", 7).message.partition(";")[0]
    'the quote that opens in column 4 is closed before the end of the text'
    """
    if conflict := _conflict(text, lines):
        return conflict
    start = text.rfind("\n", 0, offset) + 1
    if "\t" in text[start : start + _blanks(text[start : start + 1000])]:
        return Cause("a tab is used for indentation, where YAML allows only spaces; indent with spaces", offset)
    if "expected ':'" in problem:
        return _no_entry(text, start)
    if "mapping values" in problem:
        return _second_colon(text, start, offset, lines)
    if "did not find expected" not in problem:
        return None
    is_in_brackets = "','" in problem
    quote = _quote(text, start, offset, lines, is_in_brackets=is_in_brackets)
    return quote or (None if is_in_brackets else _level(text, start, offset, lines))


def _conflict(text: str, lines: int) -> Cause | None:
    """Returns the cause of the markers that git leaves in a file with a conflict."""
    markers = [*_CONFLICT.finditer(text)]
    if len({marker[0] for marker in markers}) < 2:
        return None
    numbers = [str(lines + text.count("\n", 0, marker.start()) + 1) for marker in markers[:_MOST_MARKERS]]
    listed = f"{', '.join(numbers[:-1])} and {numbers[-1]}"
    problem = f"a conflict of a git merge is not resolved, whose markers are on the lines {listed}"
    return Cause(f"{problem}; keep one of its two parts, and remove the other one and the markers", markers[0].start())


def _blanks(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _quote(text: str, start: int, offset: int, lines: int, *, is_in_brackets: bool) -> Cause | None:
    """Returns the cause of an error directly behind a closing quote: it closes a text that was to end before it, or after it."""
    before = text[start:offset].rstrip(" ")
    mark = before[-1:]
    if mark not in ("'", '"'):
        return None
    if _ARGUMENT.match(text, start):
        return Cause(
            "this argument has a colon and a blank, so YAML reads it as a mapping; put the whole argument behind the dash in single quotes",
            offset,
        )
    end = start + len(before) - 1
    opening = text.rfind(mark, 0, end)
    while opening > 0 and text[opening - 1] == ("\\" if mark == '"' else mark):
        opening = text.rfind(mark, 0, opening - 1)
    if opening < 0:
        return None
    if opening < start:
        number = lines + text.count("\n", 0, opening) + 1
        return Cause(f"the quote {mark} that opens on line {number} is not closed on its line; close it at the end of its text", opening)
    if is_in_brackets:
        return _comma(text, start, opening, lines) or Cause(
            f"the quote {mark} closes a text before its end; close the quote where the text ends, or put it in the other quotes", offset
        )
    if before != text[start:offset]:
        return Cause("text follows a closing quote; put the whole text in one pair of quotes", offset)
    inside = "write each quote inside of the text as ''" if mark == "'" else 'put the text in single quotes, or write \\" inside of it'
    problem = f"the quote that opens in column {opening - text.rfind(chr(10), 0, opening)} is closed before the end of the text"
    return Cause(f"{problem}; {inside}", offset)


def _comma(text: str, start: int, opening: int, lines: int) -> Cause | None:
    """Returns the cause of a quote at the beginning of a line in brackets, if the line above has no comma at its end."""
    above = next(_lines_above(text, start), None)
    if above is None or text[start:opening].strip() or "#" in above[1] or above[1].rstrip()[-1] in ",{[:":
        return None
    number, line = above
    problem = f"line {lines + number + 1} has no comma at its end, and an entry follows"
    return Cause(f"{problem}; write a comma behind it", text.rfind(line, 0, start) + len(line.rstrip()))


def _no_entry(text: str, start: int) -> Cause | None:
    """Returns the cause of a line that is neither a key nor an entry: a flag without its dash, or a key without a blank behind its colon.

    The parser reports it at the line below.
    """
    above = next(_lines_above(text, start), None)
    if above is None:
        return None
    line = above[1]
    content, at = line.strip(), text.rfind(line, 0, start) + _blanks(line)
    if _FLAG.fullmatch(content):
        return Cause(f"this line has no dash, and is no key; write - {content}", at)
    return _no_blank(content, at)


def _no_blank(content: str, offset: int) -> Cause | None:
    """Returns the cause of a key without a blank behind its colon. `content` is the text of its line, which begins at an offset."""
    match = _NO_BLANK.fullmatch(content.removeprefix("- "))
    if not match:
        return None
    return Cause(f"no blank stands behind the colon of {match[1]}; write {match[1]}: {match[2].rstrip()}", offset)


def _second_colon(text: str, start: int, offset: int, lines: int) -> Cause | None:
    """Returns the cause of a colon where no key can be."""
    before = text[start:offset].strip()
    if key := _KEY.match(before.removeprefix("- ")):
        image, tag = _IMAGE.fullmatch(before.removeprefix("- ")), _TAG.match(text, offset)
        if image and tag:
            return Cause(f"a blank stands before the tag of the image; remove it: write image: {image[1]}:{tag[1]}", offset)
        if two := _TWO_KEYS.fullmatch(before.removeprefix("- ")):
            problem = f"the line of {key[0]} has a second key, {two[1]}"
            return Cause(f"{problem}; write {two[1]}: on a line of its own, or put the text behind {key[0]} in quotes", offset)
        return Cause(f"the text behind {key[0]} contains a colon and a blank; put this text in quotes", offset)
    above = next(_lines_above(text, start), None)
    if above is None or " " in before:
        return None
    number, line = above
    content = line.strip().removeprefix("- ")
    column, own = _blanks(line) + (2 if line.lstrip().startswith("- ") else 0), _blanks(text[start:offset])
    if own == column and (cause := _no_blank(content, text.rfind(line, 0, start) + column)):
        return cause
    if own == column and (word := _WITHOUT_COLON.fullmatch(content)):
        at = text.rfind(line, 0, start) + column
        return Cause(f"line {lines + number + 1} has no colon; put a colon behind its key, {word[1]}", at)
    key = _KEY.match(content)
    if key and content[key.end() :].strip() and own > column:
        if key[0] in _ABOVE_METADATA and before in _OF_METADATA:
            return Cause(f"no line metadata: stands above {before}; write it there", start + own)
        if not line.lstrip().startswith("- ") and (empty := _empty_above(text, start, line)):
            fix = f"give it the {own} blanks of {before}"
            return Cause(f"the key {key[0][:-1]} belongs below {empty}; {fix}", text.rfind(line, 0, start) + column)
        problem = f"line {lines + number + 1} gives {key[0][:-1]} a value, so no key can be below it"
        return Cause(f"{problem}; give {before}: the {column} blanks of {key[0]}", start + own)
    return None


def _empty_above(text: str, start: int, line: str) -> str:
    """Returns the key without a value that stands directly above a line, in the column of its key; empty if none does.

    `start` is the offset of the line below `line`.
    """
    above = [*itertools.islice(_lines_above(text, start), 2)]
    other = above[1][1].strip() if len(above) > 1 and _blanks(above[1][1]) == _blanks(line) else ""
    return other[:-1] if (key := _KEY.match(other)) and key[0] == other else ""


def missing_dash(text: str, offset: int, key: str) -> str:
    r"""Returns the line at the offset of a key, with a dash before it, if a list entry above begins with the same key; else an empty text.

    >>> missing_dash("- name: a\n  value: b\n  name: c\n", 23, "name")
    '- name: c'
    """
    start = text.rfind("\n", 0, offset) + 1
    column = offset - start
    for _, line in _lines_above(text, start):
        blanks = _blanks(line)
        if blanks < column:
            content = line.strip()
            is_entry = content.startswith("- ") and content[1:].lstrip().startswith(f"{key}:")
            at = len(line.rstrip()) - len(content[1:].lstrip())
            end = text.find("\n", offset)
            return f"- {text[offset : end if end >= 0 else None].rstrip()}" if is_entry and at == column else ""
    return ""


def _lines_above(text: str, start: int) -> Iterator[tuple[int, str]]:
    """Yields number and text of the lines of the document above an offset, the last one first, without comments and empty lines."""
    number = text.count("\n", 0, start)
    for _ in range(min(number, _MOST_LINES)):
        begin = text.rfind("\n", 0, start - 1) + 1
        number, line, start = number - 1, text[begin : start - 1], begin
        if line.startswith("---"):
            return
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line


def _levels(text: str, start: int) -> list[_Level]:
    """Returns the columns of the objects and lists that are open at the line with an offset, the deepest first."""
    levels: list[_Level] = []
    for number, line in _lines_above(text, start):
        column, content = _blanks(line), line.strip()
        least = levels[-1] if levels else _Level(len(text), "", 0, is_dash=False)
        is_dash = content.startswith("- ") or content == "-"
        if column > least.column or (column == least.column and (is_dash or not least.is_dash)):
            continue
        if tokens.opens_block_scalar(content):
            levels.clear()
        if is_dash:
            inner = content[1:].lstrip()
            at = column + len(content) - len(inner)
            if _KEY.match(inner) and at < (levels[-1].column if levels else len(text)):
                levels.append(_Level(at, inner, number, is_dash=False, is_in_entry=True))
        levels.append(_Level(column, content, number, is_dash=is_dash))
        if column == 0 and not is_dash:
            break
    return levels


def _level(text: str, start: int, offset: int, lines: int) -> Cause | None:
    """Returns the cause of a line that begins at a level where it cannot: an entry among keys, a key among entries, or a level of none."""
    if text[start:offset].strip():
        return None
    column, content = offset - start, text[offset : text.find("\n", offset) % (len(text) + 1)]
    levels = _levels(text, start)
    is_dash = content.startswith("- ") or content.strip() == "-"
    same = [level for level in levels if level.column == column]
    deeper = next((level for level in reversed(levels) if level.column > column), None)
    sibling = same[0] if same else deeper if deeper and not deeper.is_in_entry else None
    if is_dash and sibling and not sibling.is_dash:
        return _entry_among_keys(text, offset, sibling, levels, lines)
    key = _KEY.match(content)
    if key and same and same[0].is_dash:
        if content.strip() == key[0] and "-" in key[0] and same[0].text.startswith("- name:"):
            return Cause(f"this list entry has no dash; write - name: {key[0][:-1]}", offset)
        if content.strip() == key[0] and (wrong := _map_of_names(text, start, same[0], levels, lines)):
            return wrong
        inner = next((level for level in levels if level.is_in_entry and level.number >= same[0].number), None)
        parent = next((level for level in levels if level.number < same[0].number and not level.is_dash), None)
        if parent and inner and _OBJECTS.fullmatch(parent.text):
            problem = f"the value of {parent.text[:-1]} is an object, and no list"
            return Cause(f"{problem}; remove the dash before {inner.text.partition(':')[0]}", text.rfind(same[0].text, 0, start))
        right = inner or parent
        if right is None:
            return None
        fix = f"give it the {right.column} blanks of {right.text.partition(':')[0]} on line {lines + right.number + 1}"
        return Cause(f"the key {key[0][:-1]} begins in the column of the dashes of a list; {fix}", offset)
    if key and not same and levels and column < levels[0].column:
        near = [level for level in levels if not level.is_dash]
        fits = [next((level for level in reversed(near) if level.column > column), None)]
        fits.append(next((level for level in near if level.column < column), None))
        choices = [f"the {level.column} blanks of line {lines + level.number + 1}" for level in fits if level]
        problem = f"the key {key[0][:-1]} has {column} blanks before it, and no line above it has as many"
        return Cause(f"{problem}; write {' or '.join(choices)}", offset) if choices else None
    return None


def _map_of_names(text: str, start: int, dash: _Level, levels: list[_Level], lines: int) -> Cause | None:
    """Returns the cause of a list entry in the `services` of a graph, which are a map, if a key of this map is below it."""
    parent = next((level for level in levels if level.number < dash.number and not level.is_dash), None)
    name = _ENTRY_NAME.fullmatch(dash.text)
    if parent is None or parent.text.partition("#")[0].rstrip() != _SERVICES or name is None:
        return None
    problem = f"line {lines + dash.number + 1} is a list entry, and services is a map from names to components"
    return Cause(f"{problem}; write {name[1]}: in place of - name: {name[1]}", text.rfind(dash.text, 0, start))


def _first(text: str, offset: int, level: _Level) -> tuple[int, str]:
    """Returns the number and the text of the first of the lines that begin in the column of a level above an offset, without a gap."""
    first = level.number, level.text
    for number, line in _lines_above(text, text.rfind("\n", 0, offset) + 1):
        if _blanks(line) < level.column:
            break
        if _blanks(line) == level.column and number <= level.number:
            first = number, line.strip()
    return first


def _entry_among_keys(text: str, offset: int, level: _Level, levels: list[_Level], lines: int) -> Cause:
    """Returns the cause of a list entry in the column of a key."""
    name, number = level.text.partition(":")[0], lines + level.number + 1
    if level.is_in_entry:
        dash = next(other for other in levels if other.is_dash and other.number == level.number)
        fix = f"give this dash the {dash.column} blanks of the dash on line {number}"
        return Cause(f"a list entry begins in the column of the key {name} of line {number}; {fix}", offset)
    first, content = _first(text, offset, level)
    if first < level.number and (key := _KEY.match(text[offset + 2 : offset + 200])) and content.startswith(key[0]):
        at = text.rfind(content, 0, offset)
        column = offset - text.rfind("\n", 0, offset) - 1
        return Cause(f"this list entry has no dash; write - {content}, with {column} blanks before the dash", at)
    entry = re.match(r"- name:[^\n]*\n\s*value:", text[offset : offset + 500])
    parent = next((other for other in levels if other.number < level.number and other.column < level.column), None)
    if parent and parent.text in _NAMED_ENTRIES and level.text == f"{name}:":
        problem = f"line {number} is a key, and {parent.text[:-1]} is a list of entries with names"
        return Cause(f"{problem}; write - name: {name} in place of {name}:", text.rfind(level.text, 0, offset))
    fix = f"write it as - name: {name}, and value: with its value below it" if entry else "begin it with a dash too"
    column = offset - text.rfind("\n", 0, offset) - 1
    problem = f"line {number} is a key, {name}, and line {lines + text.count(chr(10), 0, offset) + 1} is a list entry beside it"
    blanks = "" if column == level.column else f" with {column} blanks before it,"
    return Cause(
        f"{problem}, but a value is either an object or a list; on line {number},{blanks} {fix}", text.rfind(level.text, 0, offset)
    )
