"""Writes another value in place of a part of a YAML text, and moves the comments of the part to the fields of the new value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from yaml.error import YAMLError

from krm_fn.base import escaping
from krm_fn.base.results import Path
from krm_fn.base.yaml import emitter, reader
from krm_fn.kubernetes import paths
from krm_fn.repository.files import text_nodes
from krm_fn.repository.files.text_nodes import TextNode

_COMMENT = re.compile(r"(?:(?<=\s)|(?<![\s\S]))#[^\r\n]*")


class Comment(NamedTuple):
    """A comment of a text, with the path of its field: the one on its line, or the one below it. `is_line`: it has a line of its own."""

    text: str
    path: Path
    is_line: bool


def replace_mapping(text: str, at: Path, new: Any, moved: Callable[[Path], Path]) -> str | None:
    """Returns the first document of a text with another mapping at a path, written as kubectl does. JSON and flow style stay as one.

    `moved` returns the path of a field in the new mapping, for its path in the old one; both begin at `at`. Comments before and behind the
    mapping stay where they are. Returns None if the text has no mapping of its own there.
    """
    try:
        tree = text_nodes.parse(text)
    except YAMLError:
        return None
    location = tree.find(at) if tree else None
    if location is None or location.rest or location.aliases or location.node.kind != "mapping" or not location.node.entries:
        return None
    node = location.node
    end = node.end if node.is_flow else text_nodes.line_end(text, node.end)
    if node.is_flow:
        indent = 2 if "\n" in text[node.start : node.end] else None
        part = escaping.json_text(new, indent).replace("\n", "\n" + " " * _indent(text, node.start))
    else:
        comments = [*_comments(text, node, end)]
        part = _with_comments(emitter.text(new, node.column), [entry._replace(path=moved(entry.path)) for entry in comments])
        part = part[node.column :].rstrip("\n")
    newline = "\r\n" if "\r\n" in text else "\n"
    result = text[: node.start] + part.replace("\n", newline) + text[end:]
    documents, findings = reader.read(result)
    wanted = paths.replace_at(reader.read(text)[0][0].value, at, new)
    return result if documents and not findings and documents[0].value == wanted else None


def _indent(text: str, offset: int) -> int:
    line = text[text.rfind("\n", 0, offset) + 1 :]
    return len(line) - len(line.lstrip(" "))


def _comments(text: str, node: TextNode, end: int) -> Iterator[Comment]:
    """Yields the comments of a block mapping."""
    entries = [*node.fields()]
    scalars = [(scalar.start, scalar.end) for _, first, last in entries for scalar in (first, last) if scalar.kind == "scalar"]
    scalars = [(text.find("\n", start) if text[start : start + 1] in ("|", ">") else start, stop) for start, stop in scalars]
    for match in _COMMENT.finditer(text, node.start, end):
        if any(start <= match.start() < stop for start, stop in scalars):
            continue
        before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        is_line = not before.strip()
        if is_line:
            path = next((path for path, first, _ in entries if first.start > match.start()), entries[-1][0])
        else:
            path = next(path for path, first, _ in reversed(entries) if first.start < match.start())
        yield Comment(match[0], path, is_line)


def _with_comments(text: str, comments: list[Comment]) -> str:
    """Returns a block text with comments at the lines of their fields. A comment at the end of a block scalar gets a line of its own."""
    tree = text_nodes.parse(text)
    if not comments or tree is None:
        return text
    starts = {path: (first, last) for path, first, last in tree.root.fields()}
    lines = text.split("\n")
    above: dict[int, list[str]] = {}
    behind: dict[int, list[str]] = {}
    for comment in comments:
        path = next((comment.path[:length] for length in range(len(comment.path), 0, -1) if comment.path[:length] in starts), ())
        first, last = starts.get(path, (tree.root, tree.root))
        number = text.count("\n", 0, first.start)
        is_behind = not comment.is_line and (last.kind != "scalar" or text.count("\n", 0, last.end) == number)
        (behind if is_behind else above).setdefault(number, []).append(comment.text)
    result: list[str] = []
    for number, line in enumerate(lines):
        pad = " " * (len(line) - len(line.lstrip(" ")))
        result += [f"{pad}{comment}" for comment in above.get(number, ())]
        result.append(" ".join((line, *behind.get(number, ()))))
    return "\n".join(result)
