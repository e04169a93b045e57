"""The nodes of a YAML or JSON text with their offsets, for edits that leave the rest of the text as it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamStartEvent,
)

from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path
from krm_fn.base.yaml import stream

_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")
_MERGE = "<<"


class Replacement(NamedTuple):
    """A part of a text, and the text in its place."""

    start: int
    end: int
    new: str


class NotEditableError(Exception):
    """An edit that has no position in the text."""


class TextNode:
    """A node of a text: a scalar, a mapping, a list or an alias.

    `start` is the offset of its first character behind an anchor and a tag, and `end` that behind its last character. A block mapping or a
    block list ends with its last entry. `text` is the value of a scalar or the name of an alias, and `style` that of a scalar: the empty
    text, a quote, `|` or `>`. `column` is the column of a block mapping or of a list.
    """

    def __init__(self, kind: str, start: int, end: int, column: int) -> None:
        self.kind, self.start, self.end, self.column = kind, start, end, column
        self.text, self.style, self.anchor, self.is_flow = "", "", "", False
        self.entries: list[tuple[TextNode, TextNode]] = []
        self.items: list[TextNode] = []

    def entry(self, name: str) -> TextNode | None:
        """Returns the value of a key that the mapping itself has; None without it."""
        return next((value for key, value in self.entries if key.kind == "scalar" and key.text == name), None)

    def fields(self, path: Path = ()) -> Iterator[tuple[Path, TextNode, TextNode]]:
        """Yields the path, the key or the entry, and the value of each field below the node, in the order of the text."""
        for key, value in self.entries:
            yield (*path, key.text), key, value
            yield from value.fields((*path, key.text))
        for index, item in enumerate(self.items):
            yield (*path, index), item, item
            yield from item.fields((*path, index))


class Location(NamedTuple):
    """The node at a path, or the deepest node above it: `rest` are then the steps that are missing below the node.

    `aliases` are the aliases and the merged mappings on the way.
    """

    node: TextNode
    rest: Path
    aliases: tuple[TextNode, ...]


class TextTree(NamedTuple):
    """The first document of a text: its root, and its nodes with anchors."""

    root: TextNode
    anchors: dict[str, TextNode]

    def find(self, path: Path) -> Location:
        """Returns the node at a path, through aliases and merge keys; or the deepest node on the way."""
        node, aliases = self._resolve_alias(self.root, ())
        for depth, step in enumerate(path):
            below, merged = self._below(node, step)
            if below is None:
                return Location(node, path[depth:], aliases)
            if depth == len(path) - 1:
                return Location(below, (), (*aliases, *merged))
            node, aliases = self._resolve_alias(below, (*aliases, *merged))
        return Location(node, (), aliases)

    def _resolve_alias(self, node: TextNode, aliases: tuple[TextNode, ...]) -> tuple[TextNode, tuple[TextNode, ...]]:
        if node.kind == "alias" and node.text in self.anchors:
            return self.anchors[node.text], (*aliases, node)
        return node, aliases

    def _below(self, node: TextNode, step: str | int) -> tuple[TextNode | None, tuple[TextNode, ...]]:
        if isinstance(step, int):
            return (node.items[step] if node.kind == "list" and step < len(node.items) else None), ()
        value = node.entry(step)
        if value is not None:
            return value, ()
        for merged in self._merged_mappings(node):
            target, aliases = self._resolve_alias(merged, ())
            below, more = self._below(target, step)
            if below is not None:
                return below, (*aliases, *more)
        return None, ()

    def _merged_mappings(self, node: TextNode) -> Iterator[TextNode]:
        """Yields the mappings behind the merge key of a mapping."""
        value = node.entry(_MERGE)
        if value is not None:
            yield from value.items if value.kind == "list" else (value,)


def parse(text: str) -> TextTree | None:
    """Returns the nodes of the first document of a text; None for an empty text. Raises yaml.error.YAMLError if it is not YAML."""
    following = stream.events(text)
    event = following()
    while type(event) in (StreamStartEvent, DocumentStartEvent):
        event = following()
    if not hasattr(event, "anchor"):
        return None
    tree = TextTree(TextNode("scalar", 0, 0, 0), {})
    return tree._replace(root=_node(text, event, following, tree))


def line_end(text: str, offset: int, *, newline: bool = False) -> int:
    """Returns the offset of the end of the line with an offset: before its line break, or with `newline` behind it."""
    end = text.find("\n", offset)
    if end < 0:
        return len(text)
    if newline:
        return end + 1
    return end - 1 if text[end - 1] == "\r" else end


def _node(text: str, event: Any, following: Callable[[], Any], tree: TextTree) -> TextNode:
    """Reads the node that an event begins, and consumes the events up to its end."""
    mark, last, kind = event.start_mark, event.end_mark, type(event)
    if kind is AliasEvent:
        node = TextNode("alias", mark.index, last.index, mark.column)
        node.text = event.anchor
        return node
    properties = _PROPERTIES.match(text, mark.index) if event.anchor or event.tag else None
    start = properties.end() if properties else mark.index
    if kind is ScalarEvent:
        node = TextNode("scalar", start, last.index, mark.column)
        node.text, node.style = event.value, event.style or ""
        if node.style in ("|", ">"):
            node.end = start + len(text[start : node.end].rstrip())
    elif kind is MappingStartEvent:
        node = _mapping(text, event, following, tree, start)
    else:
        node = _sequence(text, event, following, tree, start)
    if event.anchor:
        node.anchor = event.anchor
        tree.anchors[event.anchor] = node
    return node


def _mapping(text: str, event: Any, following: Callable[[], Any], tree: TextTree, start: int) -> TextNode:
    node = TextNode("mapping", start, start, event.start_mark.column)
    node.is_flow = bool(event.flow_style)
    inner: Any = following()
    while type(inner) is not MappingEndEvent:
        key = _node(text, inner, following, tree)
        node.entries.append((key, _node(text, following(), following, tree)))
        inner = following()
    last: Any = inner.end_mark
    if node.is_flow:
        node.end = last.index
    elif node.entries:
        node.start = node.entries[0][0].start
        node.column = node.start - (text.rfind("\n", 0, node.start) + 1)
        node.end = max(max(key.end, value.end) for key, value in node.entries)
    return node


def _sequence(text: str, event: Any, following: Callable[[], Any], tree: TextTree, start: int) -> TextNode:
    node = TextNode("list", start, start, event.start_mark.column)
    node.is_flow = event.flow_style is True
    inner: Any = following()
    while type(inner) is not SequenceEndEvent:
        node.items.append(_node(text, inner, following, tree))
        inner = following()
    last: Any = inner.end_mark
    if node.is_flow:
        node.end = last.index
    elif node.items:
        node.end = max(item.end for item in node.items)
    return node
