"""Edits lists of texts by position: the items that two lists have in common at their beginning and at their end stay as they are."""

from __future__ import annotations

import re
from collections.abc import Sequence

from krm_fn.base import list_changes
from krm_fn.repository.files import text_nodes, text_scalars
from krm_fn.repository.files.text_nodes import NotEditableError, Replacement, TextNode

_DASH = re.compile(r"\s*-\s+")
_BETWEEN = re.compile(r",\s*")


def replacements(text: str, node: TextNode, new: Sequence[str]) -> list[Replacement]:
    """Returns the replacements that make a list another one. Raises NotEditableError if the list has no items of one line."""
    if node.kind != "list" or not node.items or not new:
        raise NotEditableError
    texts = [item.text if item.kind == "scalar" else None for item in node.items]
    return [part for old, wanted in list_changes.differing_parts(texts, new) for part in _part(text, node, old, new[wanted])]


def split_item(text: str, node: TextNode, number: int, new: Sequence[str]) -> Replacement:
    """Returns the replacement of an item by several. The first one stays as it is written if it is the same. Raises NotEditableError."""
    item = node.items[number]
    written = [text_scalars.write_scalar(value, is_json=text_scalars.is_json(text)) for value in new]
    if item.kind == "scalar" and item.text == new[0]:
        written[0] = text[item.start : item.end]
    if node.is_flow:
        return Replacement(item.start, item.end, ", ".join(written))
    dash = _DASH.fullmatch(text[text.rfind("\n", 0, item.start) + 1 : item.start])
    if dash is None or item.anchor:
        raise NotEditableError
    newline = "\r\n" if "\r\n" in text else "\n"
    return Replacement(item.start, item.end, f"{newline}{dash.group()}".join(written))


def _part(text: str, node: TextNode, part: slice, new: Sequence[str]) -> list[Replacement]:
    """Returns the replacements of some items that are next to each other.

    New items take the place of old ones, with their styles and comments, as long as there are both. The rest is inserted or removed.
    """
    old = node.items[part]
    replaced = [
        Replacement(item.start, item.end, text_scalars.replace_scalar(text, item, value)) for item, value in zip(old, new, strict=False)
    ]
    at, removed, added = part.start + len(replaced), old[len(replaced) :], new[len(replaced) :]
    if any(item.anchor for item in removed):
        raise NotEditableError
    if removed or added:
        replaced.append((_in_flow if node.is_flow else _in_block)(text, node, at, removed, added))
    return replaced


def _in_flow(text: str, node: TextNode, at: int, removed: Sequence[TextNode], added: Sequence[str]) -> Replacement:
    """Returns the removal or the insertion of items in a flow list. New items are separated as the first two items of the list are."""
    items = node.items
    between = _BETWEEN.fullmatch(text[items[0].end : items[1].start]) if len(items) > 1 else None
    comma = between.group() if between else ", "
    written = [text_scalars.write_scalar(value, is_json=text_scalars.is_json(text)) for value in added]
    if at:
        before = items[at - 1].end
        return Replacement(before, removed[-1].end if removed else before, "".join(comma + value for value in written))
    return Replacement(items[0].start, items[len(removed)].start, "".join(value + comma for value in written))


def _in_block(text: str, node: TextNode, at: int, removed: Sequence[TextNode], added: Sequence[str]) -> Replacement:
    """Returns the removal or the insertion of items in a block list: whole lines, with the dashes below each other."""
    begins = [text.rfind("\n", 0, item.start) + 1 for item in node.items]
    dashes = [_DASH.fullmatch(text[begin : item.start]) for begin, item in zip(begins, node.items, strict=True) if not item.anchor]
    if not dashes or not all(dashes):
        raise NotEditableError
    if removed:
        return Replacement(begins[at], text_nodes.line_end(text, removed[-1].end, newline=True), "")
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"{dashes[0].group() if dashes[0] else ''}{text_scalars.write_scalar(value, is_json=False)}" for value in added]
    if not at:
        return Replacement(begins[0], begins[0], "".join(line + newline for line in lines))
    end = text_nodes.line_end(text, node.items[at - 1].end)
    return Replacement(end, end, "".join(newline + line for line in lines))
